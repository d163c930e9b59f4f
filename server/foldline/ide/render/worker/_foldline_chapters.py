"""Describes a prompt's chapters, and opens some of them."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

from _foldline_values import Values
from foldline.prompts import Chapter, Prompt, Section
from foldline.prompts.errors import PromptError


class NestedChapter(NamedTuple):
    """A chapter and the keys of its enclosing chapters, its own last."""

    chapter: Chapter[Any]
    keys: tuple[str, ...]


def open_chapters(
    prompt: Prompt[Any], values: Values, wanted: Collection[str] | None
) -> tuple[Prompt[Any], list[dict[str, object]]]:
    """Open the `wanted` chapters and their enclosing ones; returns the prompt and descriptions.

    None opens all, as `evaluate` does by default. A chapter that its `enabled` forbids, or whose
    parameters are missing, stays closed: its description says why.
    """
    places = list(_chapters(prompt.template.sections, ()))
    if not places:
        return prompt, []
    bound = values.bind(prompt)
    wanted = [placed.chapter.key for placed in places] if wanted is None else wanted
    wanted_keys = {key for placed in places if placed.chapter.key in wanted for key in placed.keys}
    descriptions: list[dict[str, object]] = []
    opening: set[str] = set()
    for placed in places:
        may_open, reasons = _decision(bound, placed)
        is_open = may_open and set(placed.keys) <= wanted_keys
        if is_open:
            opening.add(placed.chapter.key)
        descriptions.append(
            {
                "key": placed.chapter.key,
                "title": placed.chapter.title,
                "description": placed.chapter.description,
                "around": placed.keys[:-1],
                "sections": [section.key for section in placed.chapter.sections],
                "open": is_open,
                "may_open": may_open,
                "reasons": reasons,
            }
        )
    return (bound.expand_chapters(only=opening) if opening else prompt), descriptions


def _chapters(
    sections: Iterable[Section[object]], around: tuple[str, ...]
) -> Iterator[NestedChapter]:
    for section in sections:
        inside = around
        if isinstance(section, Chapter):
            inside = (*around, section.key)
            yield NestedChapter(section, inside)
        yield from _chapters(section.children, inside)


def _decision(prompt: Prompt[Any], place: NestedChapter) -> tuple[bool, tuple[str, ...]]:
    """Return True if the library lets a chapter open with its enclosing ones, and the reasons."""
    try:
        expanded = prompt.expand_chapters(only=place.keys).template
    except PromptError as error:
        return False, (str(error),)
    decision = next(
        decision for decision in expanded.chapter_decisions if decision.key == place.chapter.key
    )
    return decision.opened, decision.reasons
