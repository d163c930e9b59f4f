"""Every error of the library, with fields that say where it happened.

PromptError
├── PromptValidationError (ValueError)    a prompt that is built or bound wrongly
│   └── PromptConfigurationError          an evaluation that is asked for wrongly
├── PromptRenderError (RuntimeError)      a prompt that cannot be rendered with what is bound
├── PromptEvaluationError (RuntimeError)  an evaluation that came to no answer
│   ├── EvaluationTimeoutError (TimeoutError)  the deadline passed first
│   └── ExpansionLimitError               the model asked for more than the budget allows
├── OutputParseError (ValueError)         an answer that does not fit the declared output
├── ToolValidationError (ValueError)      a tool call with unusable parameters
└── VisibilityExpansionRequired           control flow: the model asked for sections to be opened

`EvaluationFailure` says why an evaluation came to no answer; an `ErrorHandler` stands in for
sections that cannot be rendered.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Self

    from foldline.prompts.visibility import SectionPath, SectionVisibility

__all__ = [
    "ErrorHandler",
    "EvaluationFailure",
    "EvaluationTimeoutError",
    "ExpansionLimitError",
    "OutputParseError",
    "PromptConfigurationError",
    "PromptError",
    "PromptEvaluationError",
    "PromptRenderError",
    "PromptValidationError",
    "ToolValidationError",
    "VisibilityExpansionRequired",
    "near_names",
]


class PromptError(Exception):
    """The root of the library's errors; its fields name the place, so that an editor can show it.

    Args:
        message: What is wrong and what to do about it.
        section_path: The keys from the root to the section; just its own key while the section
            is not yet part of a template; empty where no section is concerned.
        placeholder: The name between `${` and `}`.
        dataclass_type: The parameter or output type that does not fit.
        near: Names that exist and resemble the one that does not, best first.
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

    def __reduce__(self) -> tuple[object, ...]:
        # The default would call the class with positional arguments alone and lose the rest.
        return (_restore, (type(self), self.args, self._state()))

    def _state(self) -> dict[str, object]:
        return dict(self.__dict__)


ErrorHandler: TypeAlias = "Callable[[SectionPath, PromptError], str]"
"""Gives the text that stands for a section which cannot be rendered, by its path and the error."""


class PromptValidationError(PromptError, ValueError):
    """A template, section, tool or binding that can never work as it is written."""


class PromptConfigurationError(PromptValidationError):
    """An evaluation whose arguments do not fit the prompt, such as an unknown goal section."""


class PromptRenderError(PromptError, RuntimeError):
    """A prompt that cannot be rendered with the parameters that are bound to it."""


class EvaluationFailure(StrEnum):
    """Why an evaluation came to no answer."""

    PROVIDER = "provider"
    """The provider answered with an error; `status` says which."""
    CONNECTION = "connection"
    """The provider could not be reached, or the connection broke."""
    TIMEOUT = "timeout"
    """The deadline passed, or the provider kept quiet for too long."""
    CANCELLED = "cancelled"
    """The caller called it off."""
    MALFORMED = "malformed"
    """The provider's answer is not what its protocol says."""
    REFUSAL = "refusal"
    """The model declined to answer; `text` is what it said instead."""
    TRUNCATED = "truncated"
    """The answer ran into a limit of its length; `text` is what there is of it."""
    TURN_LIMIT = "turn_limit"
    """The model went on calling tools."""
    SCRIPT = "script"
    """A recorded transcript does not go with the prompt."""
    EXPANSION_LIMIT = "expansion_limit"
    """The model asked for more sections than it may have."""
    UNKNOWN = "unknown"


class PromptEvaluationError(PromptError, RuntimeError):
    """An evaluation that came to no answer: a provider could not be asked or did not reply.

    Args:
        message: What is wrong and what to do about it.
        kind: Why there is no answer.
        provider: Who was asked, such as `openai`.
        status: The HTTP status, if there was one.
        request_id: What to tell the provider's support.
        retry_after: After how many seconds the provider asks to try again.
        text: What the model had said by then.
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
    """An evaluation whose deadline passed, or whose provider kept quiet for too long."""

    usual_kind = EvaluationFailure.TIMEOUT

    def __new__(cls, *args: object, **_: object) -> Self:
        # Of the two bases' ways to make an instance, only that of OSError fits its layout.
        return TimeoutError.__new__(cls, *args)


class ExpansionLimitError(PromptEvaluationError):
    """A model that asked for more expansions than the caller's budget allows."""

    usual_kind = EvaluationFailure.EXPANSION_LIMIT


class OutputParseError(PromptError, ValueError):
    """An answer that is not the structured output which the prompt declares.

    Args:
        message: What is wrong, beginning with the place inside the answer.
        raw_response: The whole answer, as the provider gave it.
        json_path: The place inside the answer, such as `$.steps[2].title`.
        dataclass_type: The type that was expected there.
        near: Keys that exist and resemble the one that does not.
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
    """A tool call whose parameters are unusable; the message tells the model how to mend them."""


class VisibilityExpansionRequired(PromptError):  # noqa: N818 - the specified name; a request
    """The model asks for summarized sections to be opened: render again with these overrides.

    Args:
        message: Replaces the text that `str()` gives.
        requested_overrides: Section paths and the visibility to give them, always FULL; ready
            for `render(visibility_overrides=…)`. Summarized ancestors are included.
        reason: Why the model needs the content.
        section_keys: The dotted keys exactly as the model gave them.
        expansion_instructions: What to tell the model after the sections are open.
    """

    requested_overrides: Mapping[SectionPath, SectionVisibility]
    reason: str
    section_keys: tuple[str, ...]
    expansion_instructions: str | None

    def __init__(
        self,
        message: str | None = None,
        *,
        requested_overrides: Mapping[SectionPath, SectionVisibility],
        reason: str,
        section_keys: Iterable[str],
        expansion_instructions: str | None = None,
    ) -> None:
        keys = ", ".join(".".join(path) for path in requested_overrides)
        super().__init__(
            f"Visibility expansion required for sections: {keys}. Reason: {reason}"
            if message is None
            else message
        )
        self.requested_overrides = MappingProxyType(dict(requested_overrides))
        self.reason = reason
        self.section_keys = tuple(section_keys)
        self.expansion_instructions = expansion_instructions

    def _state(self) -> dict[str, object]:
        return {**self.__dict__, "requested_overrides": dict(self.requested_overrides)}

    def __setstate__(self, state: dict[str, object] | None) -> None:
        for name, value in (state or {}).items():
            setattr(self, name, MappingProxyType(value) if isinstance(value, dict) else value)


def near_names(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """The names that resemble `name`, best first, at most three."""
    from difflib import get_close_matches

    return tuple(get_close_matches(name, list(dict.fromkeys(names)), n=3, cutoff=0.6))


def _restore(
    kind: type[PromptError], args: tuple[object, ...], state: dict[str, object]
) -> PromptError:
    error = kind.__new__(kind, *args)
    error.args = args
    if isinstance(error, VisibilityExpansionRequired):
        error.__setstate__(state)
    else:
        error.__dict__.update(state)
    return error
