"""The arguments of evaluations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict, TypeVar, Unpack, cast

from foldline.prompts.bus import EventBus
from foldline.prompts.context import ContextPolicy
from foldline.prompts.deadline import Deadline
from foldline.prompts.errors import PromptConfigurationError, did_you_mean, near_names
from foldline.prompts.expansion import ChaptersExpansionPolicy
from foldline.prompts.prompt import Prompt
from foldline.prompts.runtime.bounded import Cancellation
from foldline.prompts.runtime.conversation import Conversation
from foldline.prompts.runtime.redaction import Redact
from foldline.prompts.sections.intent import IntentClassifier
from foldline.prompts.specialise import field_names
from foldline.prompts.visibility import SectionPath, SectionVisibility
from foldline.prompts.wording import Wording

if TYPE_CHECKING:
    from foldline.prompts.layout.fitting import Fit, Fitted
    from foldline.prompts.overrides.overrides import OverrideSource
    from foldline.prompts.runtime.session import Session

OutputT = TypeVar("OutputT")

# An attribute that each has.
_WANTED = {
    "session": ("bus", "a Session"),
    "visibility_overrides": ("items", "a mapping of paths to visibilities"),
    "chapter_params": ("items", "a mapping of chapters' keys to instances"),
    "deadline": ("expired", "a Deadline, such as Deadline.after(30)"),
    "cancellation": ("is_set", "a threading.Event, or has its method `is_set`"),
    "context_policy": ("apply", "a ContextPolicy"),
    "fit": ("tokens", "a Fit, such as Fit(tokens=8000)"),
    "conversation": ("turns", "a Conversation, such as Conversation().user(…)"),
    "capture_requests": ("__call__", "a function of a text, such as Redaction()"),
}


class EvaluationKeywords(TypedDict, total=False):
    """The keyword arguments of `evaluate`, for functions that pass them on.

    `EvaluationOptions` says what each means.
    """

    session: Session | None
    bus: EventBus | None
    visibility_overrides: Mapping[SectionPath, SectionVisibility] | None
    goal_section_key: str | None
    chapters_expansion_policy: ChaptersExpansionPolicy
    parse_output: bool
    deadline: Deadline | None
    chapter_params: Mapping[str, object] | None
    intent_classifier: IntentClassifier | None
    cancellation: Cancellation | None
    on_text: Callable[[str], object] | None
    context_policy: ContextPolicy | None
    conversation: Conversation | None
    section_params: Mapping[str, object] | None
    overrides: OverrideSource | None
    tag: str | None
    wording: Wording | None
    capture_requests: Redact | None
    fit: Fit | Fitted | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """The arguments of an evaluation besides the prompt and its parameters.

    Raises:
        PromptConfigurationError: One is of the wrong type.
    """

    session: Session | None = None
    """Passed to tools; explicit visibility overrides take precedence over its own."""
    bus: EventBus | None = None
    """The bus for events; the session's by default."""
    visibility_overrides: Mapping[SectionPath, SectionVisibility] | None = None
    """Sections to show in full or summarized."""
    goal_section_key: str | None = None
    """The section with the user's goal."""
    chapters_expansion_policy: ChaptersExpansionPolicy = ChaptersExpansionPolicy.ALL_INCLUDED
    """The policy that opens chapters."""
    parse_output: bool = True
    """Parse the structured output."""
    deadline: Deadline | None = None
    """The deadline; by default that of a rendered prompt."""
    chapter_params: Mapping[str, object] | None = None
    """Parameters of chapters, by key."""
    intent_classifier: IntentClassifier | None = None
    """Replaces the default classifier."""
    cancellation: Cancellation | None = None
    """Anything with `is_set()`, such as a `threading.Event`."""
    on_text: Callable[[str], object] | None = None
    """Called in the caller's thread with each piece of the model's text as it arrives. Without it,
    answers aren't streamed."""
    context_policy: ContextPolicy | None = None
    """The policy for old tool results, in place of the adapter's."""
    conversation: Conversation | None = None
    """The earlier turns, to which the prompt's messages are added. If it has begun already, text
    that the prompt shows now and didn't then is appended, or the beginning is rendered anew. The
    response and the session have the conversation with all later turns."""
    section_params: Mapping[str, object] | None = None
    """Instances to bind to single sections for this evaluation only, by dotted key."""
    overrides: OverrideSource | None = None
    """Stored overrides for this evaluation only; see `Prompt.bind`. Those that aren't applied are
    in the answer's `rendered.override_issues`."""
    tag: str | None = None
    """Their tag; also without `overrides`, for those that are bound."""
    wording: Wording | None = None
    """The library's own sentences for this evaluation only."""
    capture_requests: Redact | None = None
    """Publish a `RequestSent` for each request, its texts as this returns them: `Redaction()` takes
    out keys, tokens and addresses, `str` nothing."""
    fit: Fit | Fitted | None = None
    """The budget of the prompt's text. What has to be folded is decided once in an evaluation: what
    the model opens comes on top, and stays."""

    def __post_init__(self) -> None:
        for name, (attribute, wanted) in _WANTED.items():
            value = getattr(self, name)
            if value is not None and not hasattr(value, attribute):
                raise PromptConfigurationError(f"`{name}` is {wanted}, not {value!r}.")

    @classmethod
    def of(cls, function: str, **keywords: Unpack[EvaluationKeywords]) -> EvaluationOptions:
        """Return the options from the keyword arguments of a function of this name.

        Raises:
            TypeError: There is no such argument; the message has near names.
            PromptConfigurationError: One is of the wrong type.
        """
        for name in keywords:
            if name not in field_names(cls):
                near = did_you_mean(near_names(name, field_names(cls)))
                raise TypeError(f"{function}() got an unexpected keyword argument {name!r}{near}")
        return cls(**keywords)

    def keywords(self) -> EvaluationKeywords:
        """Return the options that are set, as keywords: adapters needn't know the others."""
        values = {name: getattr(self, name) for name in field_names(type(self))}
        values_given = {name: value for name, value in values.items() if value is not None}
        return cast("EvaluationKeywords", values_given)

    def bind(self, prompt: Prompt[OutputT], *params: object) -> Prompt[OutputT]:
        """Bind these parameters and what the options have for `Prompt.bind`."""
        return prompt.bind(
            *params,
            section_params=self.section_params,
            overrides=self.overrides,
            tag=self.tag,
            wording=self.wording,
        )
