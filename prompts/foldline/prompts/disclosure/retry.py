"""Helpers for evaluation loops: catch an expansion, apply it, evaluate again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from foldline.prompts.errors import (
    ExpansionLimitError,
    PromptConfigurationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.sections.task import Task
from foldline.prompts.visibility import SectionPath, SectionVisibility

if TYPE_CHECKING:
    from foldline.prompts.prompt import Prompt
    from foldline.prompts.rendered import RenderedPrompt

__all__ = [
    "ExpansionBudget",
    "VisibilityOverrideSink",
    "apply_expansion",
    "evaluate_with_expansions",
    "rebind_tasks",
]

ResultT = TypeVar("ResultT")
OutputT = TypeVar("OutputT")
Overrides: TypeAlias = Mapping[SectionPath, SectionVisibility]


class VisibilityOverrideSink(Protocol):
    """A session that stores visibility overrides."""

    def apply_visibility_overrides(self, overrides: Overrides, /) -> None:
        """Store these overrides, replacing earlier ones for the same sections."""
        ...


@dataclass(slots=True)
class ExpansionBudget:
    """The limits of a model's expansions in one evaluation; None for no limit.

    Args:
        max_requests: Number of requests.
        max_sections: Number of opened sections in total.
        max_characters: Length of a rendered prompt.
    """

    max_requests: int | None = None
    max_sections: int | None = None
    max_characters: int | None = None
    requests: int = 0
    sections: int = 0

    def spend(self, request: VisibilityExpansionRequired) -> None:
        """Count one request of the model.

        Raises:
            ExpansionLimitError: It exceeds the budget; its cause is the request.
        """
        self.requests += 1
        self.sections += len(request.requested_overrides)
        for most, asked, what in (
            (self.max_requests, self.requests, "asked {} times for expansions"),
            (self.max_sections, self.sections, "asked for {} sections to be opened"),
        ):
            if most is not None and asked > most:
                raise ExpansionLimitError(
                    f"The model {what.format(asked)}; {most} are allowed."
                ) from request

    def check(self, rendered: RenderedPrompt[object]) -> None:
        """Check the length of a rendered prompt.

        Raises:
            ExpansionLimitError: Its text is longer than `max_characters`.
        """
        size = len(rendered.text)
        if self.max_characters is not None and size > self.max_characters:
            raise ExpansionLimitError(
                f"The prompt has grown to {size} characters; {self.max_characters} are allowed."
            )


def apply_expansion(
    request: VisibilityExpansionRequired,
    overrides: MutableMapping[SectionPath, SectionVisibility] | None = None,
    *,
    session: VisibilityOverrideSink | None = None,
) -> None:
    """Apply a caught request to the caller's overrides and to the session, if given.

    Explicit overrides take precedence over the session's, so a request that reached only one of
    them could be undone by the other.

    Raises:
        PromptConfigurationError: The overrides have it all already, so the evaluation didn't use
            them; it would raise the same request for ever.
    """
    if overrides is not None:
        wanted = request.requested_overrides
        if all(overrides.get(path) is shown for path, shown in wanted.items()):
            raise PromptConfigurationError(
                f"{', '.join(map(repr, request.section_keys))} was opened before, and asked for "
                "again: evaluate with these overrides, as `visibility_overrides`."
            ) from request
        overrides.update(wanted)
    if session is not None:
        session.apply_visibility_overrides(request.requested_overrides)


def rebind_tasks(prompt: Prompt[OutputT], request: VisibilityExpansionRequired) -> Prompt[OutputT]:
    """Return the prompt with the request's expansion instructions in its bound tasks."""

    def instructed(task: Task) -> Task:
        return replace(task, expansion_instructions=request.expansion_instructions)

    return prompt.bind(
        *(instructed(param) for param in prompt.params if isinstance(param, Task)),
        section_params={
            key: instructed(param)
            for key, param in prompt.section_params.items()
            if isinstance(param, Task)
        },
    )


def evaluate_with_expansions(
    evaluate: Callable[[Overrides], ResultT],
    *,
    overrides: Overrides | None = None,
    budget: ExpansionBudget | None = None,
    on_expansion: Callable[[VisibilityExpansionRequired], object] | None = None,
) -> ResultT:
    """Call `evaluate` until it raises no more requests for expansion, and return its result.

    Args:
        evaluate: Renders and evaluates with the overrides in its argument.
        overrides: The overrides of the first round.
        budget: The limits; unlimited by default.
        on_expansion: Called with each request before the next round, to log it or to rebind.

    Raises:
        ExpansionLimitError: The model asked for more than the budget allows.
        PromptConfigurationError: `evaluate` doesn't use the overrides that it is given.
    """
    current = dict(overrides or {})
    while True:
        try:
            return evaluate(dict(current))
        except VisibilityExpansionRequired as request:
            if budget is not None:
                budget.spend(request)
            apply_expansion(request, current)
            if on_expansion is not None:
                on_expansion(request)
