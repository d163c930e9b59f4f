"""What a rendered prompt costs in tokens, and what of it a provider's cache keeps."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from foldline.ide.token_counter import TokenCounter


def with_costs(render: Mapping[str, Any], counter: TokenCounter) -> dict[str, Any]:
    """A worker's render with the tokens of each block, each tool, and the whole.

    A block has those of its own text (`self`), with the blocks below it (`subtree`), and for a
    summary those that it has with the ones below it once it is opened (`if_opened`). The sums are
    of blocks: a tokenizer may save a few where it reads across their borders.
    """
    own = {tuple(block["path"]): counter.count(block["text"]) for block in render["blocks"]}
    subtree: Counter[tuple[str, ...]] = Counter()
    for path, count in own.items():
        for end in range(1, len(path) + 1):
            subtree[path[:end]] += count
    blocks = []
    for block in render["blocks"]:
        path = tuple(block["path"])
        opened = block["opened_text"]
        tokens = {
            "self": own[path],
            "subtree": subtree[path],
            "if_opened": None if opened is None else counter.count(opened),
        }
        told = {key: value for key, value in block.items() if key != "opened_text"}
        blocks.append({**told, "tokens": tokens})
    tools = [{**tool, "tokens": _of_json(tool, counter)} for tool in render["tools"]]
    output = render["output"]
    totals = {
        "text": sum(own.values()),
        "tools": sum(tool["tokens"] for tool in tools),
        "output": 0 if output is None else counter.count(json.dumps(output["schema"])),
    }
    return {
        **render,
        "blocks": blocks,
        "tools": tools,
        "tokens": {
            **totals,
            "total": sum(totals.values()),
            "encoding": counter.encoding,
            "exact": counter.exact,
        },
    }


def spent(block: Mapping[str, Any], unit: str) -> int:
    """What a block costs by itself, in `tokens` or UTF-8 `bytes`."""
    if unit == "bytes":
        return len(block["text"].encode("utf-8", "replace"))
    return int(block["tokens"]["self"])


def kept(
    before: Iterable[Mapping[str, Any]],
    after: Iterable[Mapping[str, Any]],
    tools_before: Sequence[Mapping[str, Any]],
    tools_after: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """What two versions of a prompt begin with alike, as a provider's cache compares them.

    `characters` are those of the text, `tokens` those of the blocks that are alike as a whole, and
    `tools` says whether the tools are: providers read them before the text.
    """
    old, new = list(before), list(after)
    characters = _common("".join(b["text"] for b in old), "".join(b["text"] for b in new))
    end = tokens = 0
    for block in new:
        end += len(block["text"])
        if end > characters:
            break
        tokens += block["tokens"]["self"]
    return {
        "characters": characters,
        "tokens": tokens,
        "tools": list(tools_before) == list(tools_after),
    }


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _of_json(tool: Mapping[str, Any], counter: TokenCounter) -> int:
    """The tokens of a tool as providers are sent it, apart from what each puts around it."""
    sent = {name: tool[name] for name in ("name", "description", "schema")}
    return counter.count(json.dumps(sent, ensure_ascii=False))
