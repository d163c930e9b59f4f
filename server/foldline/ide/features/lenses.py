"""Code lenses and inlay hints: token counts next to prompts and sections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.ide.analysis.model import Span, Visibility
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.features.hover import opened_costs

if TYPE_CHECKING:
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.token_counter import TokenCounter


@dataclass(frozen=True, slots=True)
class Lens:
    """A line above a prompt or section; a click opens `section_key`, if set."""

    place: Span
    title: str
    prompt: str
    section_key: str | None = None


@dataclass(frozen=True, slots=True)
class Inlay:
    """An inline hint: the number of a section and its token count."""

    offset: int
    label: str
    tooltip: str


def lenses(analysis: ModuleAnalysis, counter: TokenCounter) -> tuple[Lens, ...]:
    """`Preview · N tokens · k summarized` on prompts, `Open · +N tokens` on folded sections."""
    found: list[Lens] = []
    opened: set[Span] = set()
    described = [(prompt, prompt.described) for prompt in analysis.prompts if prompt.described]
    for prompt, static in sorted(described, key=lambda pair: not pair[1].bound):
        name = prompt.name.id
        render = prompt.render
        parts = ["Preview"]
        if render.blocks:
            parts.append(f"{counter.format(render.tokens(counter))} tokens")
        summarized = [block for block in render.blocks if block.visibility is Visibility.SUMMARY]
        if summarized:
            parts.append(f"{len(summarized)} summarized")
        found.append(Lens(static.name_range, " · ".join(parts), name))
        costs = opened_costs(prompt, counter) if summarized else {}
        for block in summarized:
            place = block.source
            # A section shared by several prompts has one lens, that of the first bound prompt.
            if place.file == analysis.file and place.span not in opened:
                opened.add(place.span)
                title = f"Open · {counter.format_change(costs[block.path])} tokens"
                found.append(Lens(place.span, title, name, ".".join(block.path)))
    return tuple(sorted(found, key=lambda lens: lens.place))


def inlays(analysis: ModuleAnalysis, counter: TokenCounter) -> tuple[Inlay, ...]:
    """Return the heading number and token count of each section, placed after its title."""
    found: dict[int, Inlay] = {}
    for prompt in analysis.prompts:
        for block in prompt.render.blocks:
            section = block.section
            argument = section.arguments.get("title") or section.arguments.get("key")
            if argument is None or argument.name is None:
                continue
            place = span_of(argument.node)
            if place.file != analysis.file or place.end in found:
                continue
            tokens = counter.format(counter.count(block.text))
            number = f"{block.number}. · " if prompt.render.certain else ""
            folded = " folded" if block.visibility is Visibility.SUMMARY else ""
            found[place.end] = Inlay(
                place.end,
                f"{number}{tokens} tok{folded}",
                f"`{'.'.join(block.path)}` in `{prompt.name.id}`",
            )
    return tuple(found[offset] for offset in sorted(found))
