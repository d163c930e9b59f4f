"""The library's errors, with fields that locate the cause.

PromptError
├── PromptValidationError (ValueError)    a prompt that is built or bound incorrectly
│   ├── PromptConfigurationError          an evaluation with incorrect arguments
│   └── OverrideConflictError             overrides that another writer changed first
├── PromptRenderError (RuntimeError)      a prompt that can't be rendered with its parameters
├── PromptEvaluationError (RuntimeError)  an evaluation that failed
│   ├── EvaluationTimeoutError (TimeoutError)  the deadline passed first
│   └── ExpansionLimitError               the model asked for more than the budget allows
├── StoreUnavailableError (ConnectionError)  a team's store that can't be reached, or refuses
├── OutputParseError (ValueError)         an answer that doesn't fit the declared output
├── ToolValidationError (ValueError)      a tool call with unusable parameters
└── VisibilityExpansionRequired           control flow: the model asked for sections to be opened

`EvaluationFailure` says why an evaluation failed; an `ErrorHandler` replaces sections that can't be
rendered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Self, TypeAlias

if TYPE_CHECKING:
    from foldline.prompts.visibility import SectionPath, SectionVisibility

__all__ = [
    "ErrorHandler",
    "EvaluationFailure",
    "EvaluationTimeoutError",
    "ExpansionLimitError",
    "OutputParseError",
    "OverrideConflictError",
    "PromptConfigurationError",
    "PromptError",
    "PromptEvaluationError",
    "PromptRenderError",
    "PromptValidationError",
    "StoreUnavailableError",
    "ToolValidationError",
    "VisibilityExpansionRequired",
    "did_you_mean",
    "near_names",
]


class PromptError(Exception):
    """Base class of the library's errors; its fields let an editor show the location.

    Args:
        message: What is wrong and what to do about it.
        section_path: The keys from the root to the section; only its own key before the section is
            part of a template; empty if no section is concerned.
        placeholder: The name between `${` and `}`.
        dataclass_type: The parameter or output type that doesn't fit.
        near: Existing names that resemble the unknown one, best first.
    """

    def __init__(
        self,
        message: str = "",
        *,
        section_path: SectionPath = (),
        placeholder: str | None = None,
        dataclass_type: type | None = None,
        near: Iterable[str] = (),
    ) -> None:
        super().__init__(message)
        self.section_path = section_path
        self.placeholder = placeholder
        self.dataclass_type = dataclass_type
        self.near = tuple(near)

    @classmethod
    def of_section(
        cls,
        key: str,
        problem: str,
        *,
        placeholder: str | None = None,
        dataclass_type: type | None = None,
        near: Iterable[str] = (),
    ) -> Self:
        """Return the error of a section, which knows its own key alone."""
        return cls(
            f"Section {key!r}: {problem}",
            section_path=(key,),
            placeholder=placeholder,
            dataclass_type=dataclass_type,
            near=near,
        )

    @classmethod
    def unknown(
        cls, message: str, name: str, known: Iterable[str], *, section_path: SectionPath = ()
    ) -> Self:
        """Return the error of a name that isn't known; the message ends with near names."""
        near = near_names(name, known)
        return cls(message + did_you_mean(near, "."), section_path=section_path, near=near)

    def __reduce__(self) -> tuple[object, ...]:
        # The default would pass only positional arguments to the class, and lose the rest.
        return (_restore, (type(self), self.args, dict(self.__dict__)))


ErrorHandler: TypeAlias = "Callable[[SectionPath, PromptError], str]"
"""Returns the text to show for a section that can't be rendered, from its path and the error."""


class PromptValidationError(PromptError, ValueError):
    """A template, section, tool or binding that can never work."""


class PromptConfigurationError(PromptValidationError):
    """An evaluation whose arguments don't fit the prompt, such as an unknown goal section."""


class OverrideConflictError(PromptValidationError):
    """Overrides that weren't saved, as another writer changed them first."""


class StoreUnavailableError(PromptError, ConnectionError):
    """A store in PostgreSQL that can't be reached, or refuses."""

    def __new__(cls, *args: object, **_: object) -> Self:
        # Only OSError's `__new__` fits the layout of both bases.
        return ConnectionError.__new__(cls, *args)


class PromptRenderError(PromptError, RuntimeError):
    """A prompt that can't be rendered with its parameters."""


class EvaluationFailure(StrEnum):
    """The reason why an evaluation failed."""

    PROVIDER = "provider"
    """The provider returned an error; see `status`."""
    CONNECTION = "connection"
    """The provider couldn't be reached, or the connection broke."""
    TIMEOUT = "timeout"
    """The deadline passed, or the provider sent nothing for too long."""
    CANCELLED = "cancelled"
    """The caller cancelled it."""
    MALFORMED = "malformed"
    """The provider's answer violates its protocol."""
    REFUSAL = "refusal"
    """The model declined to answer; `text` has its message."""
    TRUNCATED = "truncated"
    """The answer reached a length limit; `text` has the part before it."""
    TURN_LIMIT = "turn_limit"
    """The model kept calling tools, beyond `max_turns`."""
    SCRIPT = "script"
    """The prompt differs from the recorded transcript."""
    EXPANSION_LIMIT = "expansion_limit"
    """The model asked for more sections than the budget allows."""
    UNKNOWN = "unknown"


class PromptEvaluationError(PromptError, RuntimeError):
    """An evaluation that failed: the provider couldn't be reached or gave no usable answer.

    Args:
        message: What is wrong and what to do about it.
        kind: The reason.
        provider: The provider, such as `openai`.
        status: The HTTP status, if there was one.
        request_id: The request's id, for the provider's support.
        retry_after: Seconds after which the provider asks to try again.
        text: The model's text so far; without a stream or `on_text`, that of a finished message.
    """

    usual_kind: ClassVar[EvaluationFailure] = EvaluationFailure.UNKNOWN

    def __init__(
        self,
        message: str = "",
        *,
        kind: EvaluationFailure | None = None,
        provider: str | None = None,
        status: int | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        text: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = self.usual_kind if kind is None else kind
        self.provider = provider
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.text = text


class EvaluationTimeoutError(PromptEvaluationError, TimeoutError):
    """An evaluation whose deadline passed, or whose provider sent nothing for too long."""

    usual_kind = EvaluationFailure.TIMEOUT

    def __new__(cls, *args: object, **_: object) -> Self:
        # Only OSError's `__new__` fits the layout of both bases.
        return TimeoutError.__new__(cls, *args)


class ExpansionLimitError(PromptEvaluationError):
    """A model that asked for more expansions than the caller's budget allows."""

    usual_kind = EvaluationFailure.EXPANSION_LIMIT


class OutputParseError(PromptError, ValueError):
    """An answer that isn't the structured output that the prompt declares.

    Args:
        message: What is wrong, starting with the location in the answer.
        raw_response: The provider's whole answer.
        json_path: The location in the answer, such as `$.steps[2].title`.
        dataclass_type: The type expected there.
        near: Existing keys that resemble the unknown one.
    """

    def __init__(
        self,
        message: str = "",
        *,
        raw_response: str = "",
        json_path: str = "$",
        dataclass_type: type | None = None,
        near: Iterable[str] = (),
    ) -> None:
        super().__init__(message, dataclass_type=dataclass_type, near=near)
        self.raw_response = raw_response
        self.json_path = json_path


class ToolValidationError(PromptError, ValueError):
    """A tool call with unusable parameters; the message tells the model how to fix them."""


class VisibilityExpansionRequired(PromptError):  # noqa: N818 - The specified name; a request.
    """The model's request to open summarized sections: render again with these overrides.

    Args:
        message: A note of the caller, kept in `args`; `str()` is the same with or without it.
        requested_overrides: Visibilities (always FULL) by section path, for
            `render(visibility_overrides=…)`. Summarized ancestors are included.
        reason: Why the model needs the content.
        section_keys: The dotted keys as the model wrote them.
        expansion_instructions: Instructions for the model once the sections are open.
        prompt: The `ns/key` of the prompt that shows them; empty if it isn't known.
    """

    def __init__(
        self,
        message: str | None = None,
        *,
        requested_overrides: Mapping[SectionPath, SectionVisibility],
        reason: str,
        section_keys: Iterable[str],
        expansion_instructions: str | None = None,
        prompt: str = "",
    ) -> None:
        super().__init__(message or "")
        self.add_note("`evaluate_with_disclosure`, or `aevaluate_…`, opens them and goes on.")
        self._requested = dict(requested_overrides)
        self.reason = reason
        self.section_keys = tuple(section_keys)
        self.expansion_instructions = expansion_instructions
        self.prompt = prompt

    def __str__(self) -> str:
        keys = ", ".join(".".join(path) for path in self.requested_overrides)
        return f"Visibility expansion required for sections: {keys}. Reason: {self.reason}"

    @property
    def requested_overrides(self) -> Mapping[SectionPath, SectionVisibility]:
        """The visibilities by section path."""
        return MappingProxyType(self._requested)


def check_at_least(lowest: float, **numbers: float | None) -> None:
    """Return if no number is lower; None has no bound.

    Raises:
        PromptConfigurationError: One is, or isn't finite; the message has its name.
    """
    for name, number in numbers.items():
        if isinstance(number, str) or (number is not None and not lowest <= number < float("inf")):
            raise PromptConfigurationError(f"`{name}` must be {lowest} or more, not {number!r}.")


def near_names(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Return at most three of `names` that resemble `name`, best first."""
    from difflib import get_close_matches

    return tuple(get_close_matches(name, list(dict.fromkeys(names)), n=3, cutoff=0.6))


def did_you_mean(near: Iterable[str], otherwise: str = "") -> str:
    """Return the end of a message that suggests these names; `otherwise` if there are none."""
    names = " or ".join(map(repr, near))
    return f"; did you mean {names}?" if names else otherwise


def _restore(
    kind: type[PromptError], args: tuple[object, ...], state: dict[str, object]
) -> PromptError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error
