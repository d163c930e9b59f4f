"""Which chapters a prompt has, which of them may open, and the prompt with some of them open."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from foldline.prompts import Chapter, Prompt, Section
from foldline.prompts.errors import PromptError


@dataclass(frozen=True)
class Place:
    """A chapter, with the keys of the chapters around it."""

    chapter: Chapter[Any]
    around: tuple[str, ...]


def open_chapters(
    prompt: Prompt[Any], values: dict[type, object], wanted: Collection[str]
) -> tuple[Prompt[Any], list[dict[str, object]]]:
    """The prompt with the wanted chapters and those around them open, and what all of them are.

    One that its `enabled` forbids, or that is gone, stays closed: its description says why.
    """
    places = list(_places(prompt.template.sections, ()))
    if not places:
        return prompt, []
    held = {type(value): value for value in prompt.params}
    bound = Prompt(prompt.template).bind(*{**held, **values}.values())
    asked = {key for place in places if place.chapter.key in wanted for key in _all_of(place)}
    told: list[dict[str, object]] = []
    opening: set[str] = set()
    for place in places:
        may_open, reasons = _decision(bound, place)
        is_open = may_open and set(_all_of(place)) <= asked
        if is_open:
            opening.add(place.chapter.key)
        told.append(
            {
                "key": place.chapter.key,
                "title": place.chapter.title,
                "description": place.chapter.description,
                "around": place.around,
                "sections": [section.key for section in place.chapter.sections],
                "open": is_open,
                "may_open": may_open,
                "reasons": reasons,
            }
        )
    return (bound.expand_chapters(only=opening) if opening else prompt), told


def _places(sections: Iterable[Section[object]], around: tuple[str, ...]) -> Iterator[Place]:
    for section in sections:
        inside = around
        if isinstance(section, Chapter):
            yield Place(section, around)
            inside = (*around, section.key)
        yield from _places(section.children, inside)


def _all_of(place: Place) -> tuple[str, ...]:
    return (*place.around, place.chapter.key)


def _decision(prompt: Prompt[Any], place: Place) -> tuple[bool, tuple[str, ...]]:
    """Whether a chapter may open with those around it, by the library's own rules, and why."""
    try:
        expanded = prompt.expand_chapters(only=_all_of(place)).template
    except PromptError as error:
        return False, (str(error),)
    decision = next(
        decision for decision in expanded.chapter_decisions if decision.key == place.chapter.key
    )
    return decision.opened, decision.reasons
