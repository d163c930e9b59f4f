"""A comparison of two versions of a prompt, as lines for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide import cost_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.backends.formatting.parts import Line
    from foldline.ide.render.diff import Comparison, SectionChange, ToolChange

MARKS = {"added": "+", "removed": "-", "changed": "~"}
NOW = "as it is now"
STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff_lines(found: Comparison) -> Iterator[Line]:
    """Yield the unified diff and the changes' token counts."""
    tokens = found.tokens
    if not (found.unified or found.changes or found.tools):
        yield [(f"no change since {found.before}: {tokens.after:,} tokens, tools included", "")]
        return
    for line in found.unified.split("\n") if found.unified else ():
        yield [(line, STYLES.get(line[:1], ""))]
    for section in found.changes:
        yield _change(section.key, section)
    for tool in found.tools:
        yield _change(f"tool {tool.name}", tool)
    sides = f"{tokens.before:,} {_at(found.before)}, {tokens.after:,} {_at(found.after)}"
    yield [
        (f"{cost_texts.change(tokens.delta)} tokens", "bold"),
        (f", tools included: {sides}", ""),
    ]


def _at(label: str) -> str:
    return label if label == NOW else f"at {label}"


def _change(name: str, change: SectionChange | ToolChange) -> Line:
    mark = MARKS[change.change]
    return [
        (f"{mark} {name}", STYLES.get(mark, "yellow")),
        (f": {cost_texts.change(change.tokens)} tokens", ""),
    ]
