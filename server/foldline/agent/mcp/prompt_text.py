"""Texts for models beside a prompt's own: how its sections and tools are reached over MCP."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from foldline import prompts
from foldline.agent.mcp.prompt_needs import CALL_TOOL
from foldline.prompts.layout import layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foldline.agent.mcp.prompt_requests import PromptRequest
    from foldline.ide.render.render import OpenedSections, Render, RenderedTool
    from foldline.ide.render.static_disclosure import StaticText

DISCLOSURE = (layout.OPEN_SECTIONS, layout.READ_SECTION)
# A longer argument isn't repeated: the prompt has it.
LONGEST_ARGUMENT = 300


def with_usage(request: PromptRequest, render: Render) -> str:
    """Return the prompt's text, and how a model calls the tools that it names, if there are any."""
    tools = own_tools(render)
    folded = [tool.name for tool in render.tools if tool.name in DISCLOSURE]
    if not (tools or folded):
        return render.text
    names = [*folded, *([CALL_TOOL] if tools else [])]
    shown = {
        name: text if len(text) <= LONGEST_ARGUMENT else "…"
        for name, text in request.arguments.items()
    }
    call = {"prompt": request.prompt.name, **({"arguments": shown} if shown else {})}
    cut = "; write the values shown as … in full" if "…" in shown.values() else ""
    note = (
        f"[This prompt comes from an MCP server. To call its {_listed(names)}, pass {_json(call)} "
        f"together with the tool's own arguments{cut}.]"
    )
    return "\n\n".join([render.text, "---\n" + note, *_tools(tools)])


def opened_text(before: Sequence[str], answer: OpenedSections) -> str:
    """Return the sections that were opened, and the tools that came with them.

    The model has the rest of the prompt already.
    """
    paths = [
        block.path for block in answer.render.blocks if block.key in answer.requested_overrides
    ]
    outermost = [path for path in paths if not any(path[:end] in paths for end in range(len(path)))]
    texts = [
        "".join(
            block.text for block in answer.render.blocks if block.path[: len(path)] == path
        ).rstrip("\n")
        for path in outermost
    ]
    new = [tool for tool in own_tools(answer.render) if tool.name in answer.new_tools]
    parts = [
        answer.expansion_instructions or "",
        *texts,
        "---\n" + _now_open(before, answer.section_keys),
        *_tools(new),
    ]
    return "\n\n".join(part for part in parts if part)


def static_text(answer: StaticText, remedy: str) -> str:
    """Return sections as the source shows them, and what they lack."""
    lacks = []
    if answer.unknown:
        lacks.append(f"{', '.join(answer.unknown)} stand for values that its code knows")
    if answer.has_tools:
        lacks.append("the tools of these sections can't be called")
    note = f"[Read from the source: {'; '.join(lacks)}. {remedy}.]" if lacks else ""
    return "\n\n".join([answer.text, f"---\n{note}"] if note else [answer.text])


def static_opened_text(
    before: Sequence[str], answer: StaticText, keys: tuple[str, ...], reason: str, remedy: str
) -> str:
    """Return opened sections as the source shows them.

    The sentence around them is the library's: a prompt with other words is left to its code.
    """
    instructions = prompts.build_expansion_instructions(keys, reason)
    now = f"---\n{_now_open(before, keys)}"
    return "\n\n".join([instructions, static_text(answer, remedy), now])


def own_tools(render: Render) -> list[RenderedTool]:
    """Return the tools of the prompt's author."""
    return [tool for tool in render.tools if tool.name not in DISCLOSURE]


def _now_open(before: Sequence[str], keys: Iterable[str]) -> str:
    opened = list(dict.fromkeys((*before, *keys)))
    return f'[Add "open": {_json(opened)} to later calls for this prompt.]'


def _tools(tools: list[RenderedTool]) -> list[str]:
    if not tools:
        return []
    lines = []
    for tool in tools:
        schema = json.dumps(tool.schema, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"- {tool.name}: {' '.join(tool.description.split())} Input: {schema}")
    return [f"Tools of this prompt, for `{CALL_TOOL}`:\n" + "\n".join(lines)]


def _listed(names: list[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
