"""Helpers for evaluation loops: catch an expansion, apply it, evaluate again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from foldline.prompts import errors
from foldline.prompts.layout.binding import Bindings
from foldline.prompts.layout.rendering import RenderPass
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.sections.task import Task
from foldline.prompts.visibility import SectionPath, SectionVisibility, named_to

if TYPE_CHECKING:
    from foldline.prompts.layout.tree import Plan
    from foldline.prompts.prompt import Prompt

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

    def spend(self, request: errors.VisibilityExpansionRequired) -> None:
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
                raise errors.ExpansionLimitError(
                    f"The model {what.format(asked)}; {most} are allowed."
                ) from request

    def check(self, rendered: RenderedPrompt[object]) -> None:
        """Check the length of a rendered prompt.

        Raises:
            ExpansionLimitError: Its text is longer than `max_characters`.
        """
        size = len(rendered.text)
        if self.max_characters is not None and size > self.max_characters:
            raise errors.ExpansionLimitError(
                f"The prompt has grown to {size} characters; {self.max_characters} are allowed."
            )


def apply_expansion(
    request: errors.VisibilityExpansionRequired,
    overrides: MutableMapping[SectionPath, SectionVisibility] | None = None,
    *,
    session: VisibilityOverrideSink | None = None,
) -> None:
    """Apply a caught request to the caller's overrides and to the session, if given.

    In a `Session`, the sections are open in the prompt that showed them, and in no other.
    Explicit overrides take precedence over the session's, so a request that reached only one of
    them could be undone by the other.

    Raises:
        PromptConfigurationError: The overrides have it all already, so the evaluation didn't use
            them; it would raise the same request for ever.
    """
    if overrides is not None:
        wanted = request.requested_overrides
        if all(overrides.get(path) is shown for path, shown in wanted.items()):
            raise errors.PromptConfigurationError(
                f"{', '.join(map(repr, request.section_keys))} was opened before, and asked for "
                "again: evaluate with these overrides, as `visibility_overrides`."
            ) from request
        overrides.update(wanted)
    if session is not None:
        named = named_to(session, request.prompt)
        session.apply_visibility_overrides(request.requested_overrides, *named)


def rebind_tasks(
    prompt: Prompt[OutputT], request: errors.VisibilityExpansionRequired
) -> Prompt[OutputT]:
    """Return the prompt with the request's expansion instructions in its tasks."""
    return with_instructions(prompt, request.expansion_instructions)


def with_instructions(prompt: Prompt[OutputT], instructions: str | None) -> Prompt[OutputT]:
    """Return the prompt with these expansion instructions in its tasks."""
    bound = Bindings({type(param): param for param in prompt.params}, prompt.section_params)
    told = instructed(bound, prompt.template.plan, instructions)
    return prompt.bind(*told.by_type.values(), section_params=told.by_section)


def instructed(bindings: Bindings, plan: Plan, instructions: str | None) -> Bindings:
    """Return bindings with these instructions in each task, bound or the default of a section."""
    by_type, by_section = dict(bindings.by_type), dict(bindings.by_section)
    source = RenderPass(plan, bindings)
    for node in plan.by_path.values():
        if issubclass(node.params_type or object, Task):
            with suppress(errors.PromptRenderError):  # Hidden sections may lack their parameters.
                task, bound = source.params(node)
                if not bound and task == plan.defaults.get(type(task), task):
                    by_type[type(task)] = task
                elif not bound:
                    by_section[node.dotted] = task

    def told(value: object) -> object:
        if isinstance(value, Task):
            return replace(value, expansion_instructions=instructions)
        return value

    return replace(
        bindings,
        by_type={kind: told(value) for kind, value in by_type.items()},
        by_section={key: told(value) for key, value in by_section.items()},
    )


def evaluate_with_expansions(
    evaluate: Callable[[Overrides], ResultT],
    *,
    overrides: Overrides | None = None,
    budget: ExpansionBudget | None = None,
    on_expansion: Callable[[errors.VisibilityExpansionRequired], object] | None = None,
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
        except errors.VisibilityExpansionRequired as request:
            if budget is not None:
                budget.spend(request)
            apply_expansion(request, current)
            if on_expansion is not None:
                on_expansion(request)
