"""Places for parameters: a dataclass for all its sections, or one section alone."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from _foldline_failures import RequestError
from foldline.prompts import Chapter, Prompt, Section


@dataclass(frozen=True)
class Slot:
    """A place for an instance of `kind`; `section` is the dotted key if it is for that alone."""

    kind: type
    section: str | None = None

    @property
    def name(self) -> str:
        """The name under which requests, files and errors have it."""
        return self.kind.__name__ if self.section is None else self.section


class Slots:
    """The slots of a prompt by name; those of dataclasses win over those of sections."""

    def __init__(self, prompt: Prompt[Any]) -> None:
        declared = prompt.template.plan.declared
        sections = list(walk(prompt.template.sections))
        self._sections = {
            key: Slot(section.params_type, key)
            for key, section in declared.items()
            if section.params_type
        }
        self._kinds = [kind for kind in dict.fromkeys(s.params_type for s in sections) if kind]
        # A chapter has the parameters of its type, whatever its sections have.
        self._of_chapters = {s.params_type for s in sections if isinstance(s, Chapter)}
        # Where only chapters need a type and it can't be had, they stay closed.
        self.optional = self._of_chapters - {slot.kind for slot in self._sections.values()}
        self._own = prompt.section_params
        self.by_name = self._sections | {kind.__name__: Slot(kind) for kind in self._kinds}

    @property
    def names(self) -> list[str]:
        """The names to give values for; each section with parameters has one, too."""
        return sorted(kind.__name__ for kind in self._kinds)

    def used(self, given: Iterable[str]) -> list[Slot]:
        """Return the slots that a render needs, and those among the names `given`."""
        named = {self.by_name[name] for name in given if name in self.by_name}
        own_slots = {Slot(type(value), key) for key, value in self._own.items()} | {
            slot for slot in named if slot.section is not None
        }
        covered = {slot.section for slot in own_slots}
        shared = {
            *(slot.kind for key, slot in self._sections.items() if key not in covered),
            *(slot.kind for slot in named if slot.section is None),
            *self._of_chapters,
        }
        return [
            *(Slot(kind) for kind in self._kinds if kind in shared),
            *(slot for slot in self._sections.values() if slot in own_slots),
        ]

    def slot(self, value: object, section: str | None) -> Slot | None:
        """Return the slot for an instance, for that section alone if it is given; None if none."""
        if section is None:
            return Slot(type(value)) if type(value) in self._kinds else None
        slot = self._sections.get(section)
        return slot if slot is not None and slot.kind is type(value) else None

    def check(self, params: Mapping[str, object]) -> None:
        """Refuse values under other names.

        Raises:
            RequestError: There are some.
        """
        if unknown := [name for name in params if name not in self.by_name]:
            raise RequestError(
                "prompt",
                f"params: the prompt has no parameters {', '.join(unknown)}; it has "
                f"{', '.join(self.names)}",
                near=sorted(self.by_name),
            )


def walk(sections: Iterable[Section[object]]) -> Iterable[Section[object]]:
    for section in sections:
        yield section
        yield from walk(section.children)
