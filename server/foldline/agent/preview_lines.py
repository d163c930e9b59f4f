"""A rendered prompt for people: its sections as a tree with their costs, or its changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from foldline.backends.formatting.parts import Line
from foldline.backends.formatting.visible import visible
from foldline.ide import cost_texts
from foldline.ide.prompts.request import TOKENS
from foldline.ide.render.diff import Comparison, SectionChange, ToolChange
from foldline.ide.render.render import Block, Render, chapters_shown
from foldline.ide.token_counter import TokenCounter

FOLDED, SHOWN, OFF = "▸", "▾", "·"
MARKS = {"added": "+", "removed": "-", "changed": "~"}
STYLES = {"+": "green", "-": "red", "@": "cyan"}


def tree_lines(render: Render, counter: TokenCounter) -> Iterator[Line]:
    """Yield the prompt, its set and its cost in a line, its sections, and what else is to know.

    `render` has its costs.
    """
    descriptor, counted = render.descriptor, render.tokens
    whole, *parts = counted.words if counted else ("",)
    if counted and render.token_budget:
        whole = cost_texts.of_budget(
            counted.total, render.token_budget, TOKENS, exact=counted.exact
        )
    name = f"{descriptor.ns}/{descriptor.key}" if descriptor else render.name
    shown = (render.parameter_set or "no set") if render.parameter_sets else ""
    heading = " · ".join(one for one in (shown, whole) if one)
    yield [(visible(name), "bold"), (visible(f" · {heading}"), "")]
    for block in render.blocks:
        yield _section_line(block, counter, render.cache)
    notes = [" · ".join(parts)]
    if len(render.parameter_sets) > 1:
        others = [one.name for one in render.parameter_sets if one.name != shown]
        notes.append(f"Other values: --set {' or '.join(others)}")
    if render.chapters:
        notes.append(f"Chapters: {chapters_shown(render.chapters)}")
    notes.append(render.cache["sentence"] if render.cache else "")
    notes.append(" · ".join(render.fits and ("With Fit", *render.fits)))
    summarized = any(block.is_summarized for block in render.blocks)
    opening = "--open-sections KEY opens a section. " if summarized else ""
    notes.append(f"{opening}--text prints the text.")
    yield from ([(visible(note), "dim")] for note in notes if note)


def _section_line(block: Block, counter: TokenCounter, plan: Mapping[str, Any] | None) -> Line:
    """Return the line of one section: its tokens, number, title and key; `plan` as `if_opened`."""
    indent = "  " * (len(block.path) - 1)
    number = f"{block.number}. " if block.number else ""
    title = visible(f"{number}{block.title}")
    if not block.enabled:
        off = (f"{'off':>9}  ", f"{indent}{OFF} ", title, f"  {visible(block.key)}")
        return [(part, "dim") for part in off]
    if block.error is not None:
        message = visible(block.error.message.splitlines()[0])
        parts = (f"{'failed':>9}  ", f"{indent}! ", title)
        return [*((part, "red") for part in parts), (f"  {message}", "")]
    mark, style = (FOLDED, "") if block.is_summarized else (SHOWN, "bold")
    return [
        (f"{counter.format(block.own_tokens):>9}  ", "cyan"),
        (f"{indent}{mark} ", "dim"),
        (title, style),
        (f"  {visible(block.key)}", "dim"),
        (_more(block, plan), "yellow"),
    ]


def _more(block: Block, plan: Mapping[str, Any] | None) -> str:
    """Return what the sections below cost with it, or what opening it costs."""
    costs = block.tokens
    if costs is None:
        return ""
    if costs.if_opened is not None:
        return f"  {cost_texts.if_opened(costs.if_opened, plan)}"
    return f"  {costs.subtree:,} in all" if costs.subtree != block.own_tokens else ""


def diff_lines(found: Comparison) -> Iterator[Line]:
    """Yield the unified diff and the changes' token counts."""
    tokens = found.tokens
    if found.is_empty:
        yield [(f"No change since {found.before}: {tokens.after:,} tokens with tools", "")]
        if found.caveat:
            yield [(found.caveat, "yellow")]
        return
    for line in found.unified.split("\n") if found.unified else ():
        yield [(line, STYLES.get(line[:1], ""))]
    for section in found.changes:
        yield _change(section.key, section)
    for tool in found.tools:
        yield _change(f"tool {tool.name}", tool)
    if found.output:
        mark = MARKS[found.output]
        yield [(f"{mark} the answer's schema", STYLES.get(mark, "yellow"))]
    yield [(tokens.words, "bold")]
    if found.caveat:
        yield [(found.caveat, "yellow")]


def _change(name: str, change: SectionChange | ToolChange) -> Line:
    mark = MARKS[change.change]
    return [
        (f"{mark} {name}", STYLES.get(mark, "yellow")),
        (f": {cost_texts.change(change.tokens)} tokens", ""),
    ]
