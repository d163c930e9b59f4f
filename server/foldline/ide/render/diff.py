"""What differs between two versions of a prompt, section by section and as one text."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from foldline.ide.render.token_costs import kept

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

CONTEXT_LINES = 3


@dataclass(frozen=True, slots=True)
class Side:
    """One of the versions; `label` is what people call it."""

    label: str
    blocks: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]]
    tokens: Mapping[str, Any] | None

    @classmethod
    def of(cls, label: str, render: Mapping[str, Any]) -> Side:
        return cls(label, render["blocks"], render["tools"], render["tokens"])

    @property
    def text(self) -> str:
        return "".join(block["text"] for block in self.blocks)

    @property
    def total(self) -> int:
        return 0 if self.tokens is None else int(self.tokens["total"])


def compare(before: Side, after: Side) -> dict[str, Any]:
    """The sections and tools that were added, removed or changed, and the texts as a unified diff.

    `tokens` are those of each change (what `after` has more), and of all of it with the tools;
    `kept` is what a provider's prompt cache keeps.
    """
    return {
        "before": before.label,
        "after": after.label,
        "changes": list(_sections(before, after)),
        "tools": list(_tools(before, after)),
        "tokens": {
            "before": before.total,
            "after": after.total,
            "delta": after.total - before.total,
        },
        "kept": kept(before.blocks, after.blocks, before.tools, after.tools),
        "unified": _unified(before.text, after.text, before.label, after.label),
    }


def _sections(before: Side, after: Side) -> Iterator[dict[str, Any]]:
    old = {block["id"]: block for block in before.blocks}
    new = {block["id"]: block for block in after.blocks}
    for id_ in dict.fromkeys((*new, *old)):
        was, now = old.get(id_), new.get(id_)
        if was is not None and now is not None and _same(was, now):
            continue
        shown = now or was
        assert shown is not None
        yield {
            "id": id_,
            "key": shown["key"],
            "title": shown["title"],
            "change": "added" if was is None else "removed" if now is None else "changed",
            "visibility": {
                "before": was and was["visibility"],
                "after": now and now["visibility"],
            },
            "tokens": _own_tokens(now) - _own_tokens(was),
            "unified": _unified(
                was["text"] if was else "", now["text"] if now else "", before.label, after.label
            ),
        }


def _same(was: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    return all(was[name] == now[name] for name in ("text", "visibility", "enabled"))


def _own_tokens(block: Mapping[str, Any] | None) -> int:
    return 0 if block is None else int(block["tokens"]["self"])


def _tools(before: Side, after: Side) -> Iterator[dict[str, Any]]:
    old = {tool["name"]: tool for tool in before.tools}
    new = {tool["name"]: tool for tool in after.tools}
    for name in dict.fromkeys((*new, *old)):
        was, now = old.get(name), new.get(name)
        if was != now:
            yield {
                "name": name,
                "change": "added" if was is None else "removed" if now is None else "changed",
                "tokens": (now["tokens"] if now else 0) - (was["tokens"] if was else 0),
            }


def _unified(before: str, after: str, old_label: str, new_label: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), old_label, new_label, "", "", CONTEXT_LINES, ""
    )
    return "".join(f"{line}\n" for line in lines)
