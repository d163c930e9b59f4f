"""How a prompt is to be rendered."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from foldline.ide.errors import ToolRefused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.ide.render.render import Chapter

TOKENS, BYTES = "tokens", "bytes"


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """What a user chose for a render, and the step that led there.

    Attributes:
        overrides: `FULL` or `SUMMARY` by section key.
        opened: The sections that were opened in this preview.
        params: Values for fields by dataclass name or section key.
        parameter_set: The parameter set; None for the one that a preview begins with.
        chapters: The chapters that are open, as far as the prompt lets them; None for all, as
            `evaluate` opens them by default.
        budget: The most that the text may cost; None for the project's budget, 0 for none.
        budget_unit: What it costs: `tokens` or UTF-8 `bytes`.
        instructions: What opening the sections told the prompt's tasks to go on with.
        action: The step: `start`, `open`, `close`, `params`, `reset`.
        section_keys: The sections and chapters that the step opened or closed.
        reason: Why, where the step has a reason.
    """

    overrides: Mapping[str, str] = field(default_factory=dict)
    opened: frozenset[str] = frozenset()
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    parameter_set: str | None = None
    chapters: frozenset[str] | None = None
    budget: int | None = None
    budget_unit: str = TOKENS
    instructions: str | None = None
    action: str = "start"
    section_keys: tuple[str, ...] = ()
    reason: str | None = None

    def opening(
        self, opened: Mapping[str, str], *, section_keys: tuple[str, ...], reason: str
    ) -> RenderOptions:
        """These options with sections opened, by the visibility that each gets."""
        return replace(
            self,
            overrides={**self.overrides, **opened},
            opened=self.opened | set(opened),
            action="open",
            section_keys=section_keys,
            reason=reason,
        )

    def with_chapters(self, chapters: Sequence[str], reason: str) -> RenderOptions:
        """These options with chapters opened."""
        return replace(
            self,
            chapters=None if self.chapters is None else self.chapters | set(chapters),
            action="open",
            section_keys=tuple(chapters),
            reason=reason,
        )

    def with_values(
        self,
        params: Mapping[str, Mapping[str, Any]] | None,
        *,
        parameter_set: str | None,
        budget: int | None,
        budget_unit: str | None,
    ) -> RenderOptions:
        """These options with other values, another parameter set or budget.

        What is None stays as it is.
        """
        return replace(
            self,
            params=self.params if params is None else params,
            parameter_set=parameter_set or self.parameter_set,
            budget=self.budget if budget is None else budget,
            budget_unit=budget_unit or self.budget_unit,
            action="params",
            section_keys=(),
            reason=None,
        )

    def closing(
        self,
        section_keys: Sequence[str] | None,
        chapters: Sequence[str] | None,
        known: Sequence[Chapter],
    ) -> RenderOptions:
        """These options with sections and chapters closed; if none are named, all opened sections.

        `known` are the prompt's chapters. A chapter that closes closes those in it.

        Raises:
            ToolRefused: One of them isn't open.
        """
        everything = section_keys is None and chapters is None
        keys = tuple(sorted(self.opened) if everything else section_keys or ())
        ended = tuple(chapters or ())
        opened = [*sorted(self.opened), *(chapter.key for chapter in known if chapter.open)]
        unknown = [key for key in (*keys, *ended) if key not in opened]
        if unknown:
            raise ToolRefused(
                f"{', '.join(unknown)}: not open in this preview; open are: "
                f"{', '.join(opened) or 'none'}",
                near=opened,
            )
        left = self.opened - set(keys)
        left_open = frozenset(
            chapter.key
            for chapter in known
            if (self.chapters is None or chapter.open)
            and not {chapter.key, *chapter.around} & set(ended)
        )
        return replace(
            self,
            overrides={k: value for k, value in self.overrides.items() if k not in keys},
            opened=left,
            chapters=left_open if ended else self.chapters,
            instructions=self.instructions if left else None,
            action="close",
            section_keys=(*keys, *ended),
            reason=None,
        )

    def request(self) -> dict[str, Any]:
        """The fields of a worker's request."""
        return {
            "overrides": self.overrides,
            "params": self.params,
            "parameter_set": self.parameter_set,
            "chapters": None if self.chapters is None else sorted(self.chapters),
            "instructions": self.instructions,
        }
