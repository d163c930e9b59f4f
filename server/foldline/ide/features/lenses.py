"""Code lenses and inlay hints: token counts next to prompts and sections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.ide.analysis.model import Span, Visibility
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.static_render import summarized_sections

if TYPE_CHECKING:
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.token_counter import TokenCounter


@dataclass(frozen=True, slots=True)
class Lens:
    """A line above a prompt or section; a click opens `section_key`, if set."""

    place: Span
    prompt: str
    section_key: str | None = None


@dataclass(frozen=True, slots=True)
class Inlay:
    """An inline hint: the number of a section and its token count."""

    offset: int
    label: str
    tooltip: str


def lenses(analysis: ModuleAnalysis) -> tuple[Lens, ...]:
    """Return the places of the lenses: prompts and folded sections. See `title`."""
    found: list[Lens] = []
    opened: set[Span] = set()
    for prompt in sorted(analysis.prompts, key=lambda prompt: not prompt.bound):
        name = prompt.name.id
        found.append(Lens(span_of(prompt.name).span, name))
        for path, section in summarized_sections(prompt.value):
            place = span_of(section.node)
            # A section shared by several prompts has one lens, that of the first bound prompt.
            if place.file == analysis.file and place.span not in opened:
                opened.add(place.span)
                found.append(Lens(place.span, name, ".".join(path)))
    return tuple(sorted(found, key=lambda lens: lens.place))


def title(
    analysis: ModuleAnalysis, counter: TokenCounter, name: str, section_key: str | None
) -> str:
    """Return the title of a lens: `Preview · N tokens · k summarized`, or `Open · +N tokens`.

    Without the counts, if the file doesn't have the prompt or the section any more.
    """
    prompt = analysis.prompt(name)
    if section_key is not None:
        found = prompt.summarized_section(section_key) if prompt is not None else None
        return f"Open · {counter.format_change(found.cost(counter))} tokens" if found else "Open"
    parts = ["Preview"]
    if prompt is not None and prompt.render.blocks:
        parts.append(f"{counter.format(prompt.render.tokens(counter))} tokens")
        if folded := sum(block.visibility is Visibility.SUMMARY for block in prompt.render.blocks):
            parts.append(f"{folded} summarized")
    return " · ".join(parts)


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
            summarized = " summarized" if block.visibility is Visibility.SUMMARY else ""
            found[place.end] = Inlay(
                place.end,
                f"{number}{tokens} tok{summarized}",
                f"`{'.'.join(block.path)}` in `{prompt.name.id}`",
            )
    return tuple(found[offset] for offset in sorted(found))
