"""The arguments of an evaluation that stay the same when its prompt is rendered again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from foldline.prompts.errors import PromptConfigurationError
from foldline.prompts.sections.expansion import ChaptersExpansionPolicy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foldline.prompts.context import ContextPolicy
    from foldline.prompts.deadline import Deadline
    from foldline.prompts.errors import VisibilityExpansionRequired
    from foldline.prompts.overrides.overrides import OverrideSource
    from foldline.prompts.runtime.bounded import Cancellation
    from foldline.prompts.runtime.conversation import Conversation
    from foldline.prompts.runtime.events import EventBus
    from foldline.prompts.runtime.session import Session
    from foldline.prompts.sections.intent import IntentClassifier
    from foldline.prompts.visibility import SectionPath
    from foldline.prompts.wording import Wording

__all__ = ["EvaluationOptions", "Opener"]


# An attribute that each has.
_WANTED = {
    "session": ("bus", "a Session"),
    "deadline": ("expired", "a Deadline, such as Deadline.after(30)"),
    "cancellation": ("is_set", "a threading.Event, or has its method `is_set`"),
    "context_policy": ("apply", "a ContextPolicy"),
    "conversation": ("turns", "a Conversation, such as Conversation().user(…)"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """The arguments of `BaseAdapter.evaluate` except the prompt, its parameters and overrides."""

    session: Session | None = None
    bus: EventBus | None = None
    goal_section_key: str | None = None
    chapters_expansion_policy: ChaptersExpansionPolicy = ChaptersExpansionPolicy.ALL_INCLUDED
    parse_output: bool = True
    deadline: Deadline | None = None
    chapter_params: Mapping[str, object] | None = None
    intent_classifier: IntentClassifier | None = None
    cancellation: Cancellation | None = None
    on_text: Callable[[str], object] | None = None
    context_policy: ContextPolicy | None = None
    conversation: Conversation | None = None
    section_params: Mapping[str, object] | None = None
    overrides: OverrideSource | None = None
    tag: str | None = None
    wording: Wording | None = None

    def __post_init__(self) -> None:
        for name, (attribute, wanted) in _WANTED.items():
            value = getattr(self, name)
            if value is not None and not hasattr(value, attribute):
                raise PromptConfigurationError(f"`{name}` is {wanted}, not {value!r}.")


class Opener(Protocol):
    """Decides about the sections that a model asks for during an evaluation."""

    append: bool
    """False if the prompt is to be rendered anew in any case."""
    opened: list[SectionPath]
    """The sections that it granted so far."""
    why: str
    """The reason why the last request was raised instead of appended."""
    publish: Callable[..., object] | None
    """Publishes an event of the evaluation that runs."""

    def grant(self, request: VisibilityExpansionRequired, *, appended: bool) -> None:
        """Open the sections of a request.

        Raises:
            ExpansionLimitError: The model asked too often or for too much.
        """
        ...
