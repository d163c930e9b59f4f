"""Code lenses and inlay hints: token counts next to prompts and sections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.ide import cost_texts
from foldline.ide.analysis.model import Span, Visibility
from foldline.ide.analysis.section_tree import span_of
from foldline.ide.analysis.static_render import summarized_sections

if TYPE_CHECKING:
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.static_render import SummarizedBlock
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


@dataclass(frozen=True, slots=True)
class LensTitle:
    """The text of a lens; `tooltip` says what its `~` means, if it has one."""

    text: str
    tooltip: str = ""


def lenses(analysis: ModuleAnalysis) -> tuple[Lens, ...]:
    """Return the places of the lenses: prompts and summarized sections. See `title`."""
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
) -> LensTitle:
    """Return the title of a lens: `Preview · 135 tokens · 1 summarized`, or that of a section.

    Without the counts, if the file doesn't have the prompt or the section any more.
    """
    prompt = analysis.prompt(name)
    if section_key is not None:
        found = prompt.summarized_section(section_key) if prompt is not None else None
        return _section_title(found, counter) if found else LensTitle("Open")
    if prompt is None or not prompt.render.blocks:
        return LensTitle("Preview")
    render = prompt.render
    parts = ["Preview", cost_texts.tokens(render.tokens(counter), counter, certain=render.exact)]
    if summarized := sum(block.visibility is Visibility.SUMMARY for block in render.blocks):
        parts.append(f"{summarized} {cost_texts.SUMMARIZED}")
    return LensTitle(" · ".join(parts), cost_texts.approximation(counter, certain=render.exact))


def _section_title(found: SummarizedBlock, counter: TokenCounter) -> LensTitle:
    certain = found.block.exact and found.exact
    own = counter.count(found.block.text)
    cost = cost_texts.section_cost(own, counter, gain=found.gain(counter), certain=certain)
    return LensTitle(f"Open · {cost}", cost_texts.approximation(counter, certain=certain))


def inlays(analysis: ModuleAnalysis, counter: TokenCounter) -> tuple[Inlay, ...]:
    """Return the heading number and token count of each section, placed after its title."""
    found: dict[int, Inlay] = {}
    for prompt in analysis.prompts:
        numbers, subtrees = prompt.described.numbers, prompt.render.subtrees(counter)
        for block in prompt.render.blocks:
            section = block.section
            argument = section.arguments.get("title") or section.arguments.get("key")
            if argument is None or argument.name is None:
                continue
            place = span_of(argument.node)
            if place.file != analysis.file or place.end in found:
                continue
            own = counter.count(block.text)
            below = subtrees[block.path]
            cost = cost_texts.section_cost(own, counter, below=below, certain=block.exact)
            number = numbers.get(block.path)
            summarized = block.visibility is Visibility.SUMMARY
            about = cost_texts.approximation(counter, certain=block.exact)
            found[place.end] = Inlay(
                place.end,
                (f"{number}. · " if number else "")
                + cost
                + (f", {cost_texts.SUMMARIZED}" if summarized else ""),
                f"`{'.'.join(block.path)}` in `{prompt.name.id}`{about and f'. {about}'}",
            )
    return tuple(found[offset] for offset in sorted(found))
