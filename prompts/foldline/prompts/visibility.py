"""Visibilities of sections, and the selectors that decide them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from foldline.prompts.errors import PromptValidationError

__all__ = [
    "SectionPath",
    "SectionVisibility",
    "Selector",
    "SessionVisibilitySelector",
    "VisibilityOverrideSource",
    "VisibilitySelector",
]

SectionPath: TypeAlias = tuple[str, ...]
"""The keys from a root section down to a section."""

ParamsT_contra = TypeVar("ParamsT_contra", contravariant=True)
ParamsT = TypeVar("ParamsT")


class SectionVisibility(enum.Enum):
    """The form of a rendered section: its full body, or its summary."""

    FULL = enum.auto()
    SUMMARY = enum.auto()


class SessionVisibilitySelector(Protocol[ParamsT_contra]):
    """A visibility selector that also gets the render's session, if any."""

    def __call__(
        self, params: ParamsT_contra, /, *, session: object | None
    ) -> SectionVisibility: ...


VisibilitySelector: TypeAlias = (
    SectionVisibility
    | Callable[[ParamsT], SectionVisibility]
    | Callable[[], SectionVisibility]
    | SessionVisibilitySelector[ParamsT]
)
"""The type of a section's `visibility`."""


@runtime_checkable
class VisibilityOverrideSource(Protocol):
    """A session that stores which sections were opened or closed."""

    def visibility_overrides(self) -> Mapping[SectionPath, SectionVisibility]:
        """Return the overrides; a render's explicit ones take precedence."""
        ...


def session_overrides(session: Any, prompt: str) -> Mapping[SectionPath, SectionVisibility]:
    """Return a copy of the overrides that a session has for the prompt of this name."""
    if not isinstance(session, VisibilityOverrideSource):
        return {}
    return dict(session.visibility_overrides(*named_to(session, prompt)))


def named_to(session: object, prompt: str) -> Any:
    """Return the arguments that name a prompt to a session that keeps prompts apart."""
    return (prompt,) if getattr(session, "keeps_prompts_apart", False) else ()


class Selector:
    """An author's callable, called with the arguments that it declares.

    It may accept the parameters or nothing, and the session if it has a parameter of that name. An
    optional parameter with another name than `params` keeps its default, so that
    `lambda flag=flag: flag` works.
    """

    __slots__ = ("_call", "_takes_params", "_takes_session")

    def __init__(self, call: Callable[..., object], *, what: str, key: str) -> None:
        self._call = call
        self._takes_params, self._takes_session = _shape(call, what, key)

    def __call__(self, params: object, session: object | None) -> object:
        """Call the author's callable; its exceptions propagate."""
        if self._takes_session:
            if self._takes_params:
                return self._call(params, session=session)
            return self._call(session=session)
        return self._call(params) if self._takes_params else self._call()


def _shape(call: Callable[..., object], what: str, key: str) -> tuple[bool, bool]:
    try:
        parameters = list(signature(call).parameters.values())
    except (TypeError, ValueError):
        return True, False  # Some callables written in C have no signature.
    refused = selector_refused(parameters, what)
    if refused:
        raise PromptValidationError.of_section(key, refused)
    takes_session, others, positional, required = _parts(parameters)
    takes_params = (
        bool(required)
        or any(p.name == "params" for p in positional)
        or any(p.kind is p.VAR_POSITIONAL for p in others)
    )
    return takes_params, takes_session


def selector_refused(parameters: Sequence[Parameter], what: str) -> str:
    """Return why a callable with these parameters can't be called; empty if it can."""
    _, others, _, required = _parts(parameters)
    if len(required) > 1 or any(p.kind is p.KEYWORD_ONLY and p.default is p.empty for p in others):
        return (
            f"`{what}` must take nothing or the parameters, and may take `session`; it asks for "
            f"{', '.join(p.name for p in others)}."
        )
    return ""


def _parts(
    parameters: Sequence[Parameter],
) -> tuple[bool, list[Parameter], list[Parameter], list[Parameter]]:
    """Return if the session is among them, the others, and of those the positional and required."""
    takes_session = any(p.name == "session" and p.kind is not p.POSITIONAL_ONLY for p in parameters)
    others = [p for p in parameters if not (takes_session and p.name == "session")]
    positional = [p for p in others if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return takes_session, others, positional, [p for p in positional if p.default is p.empty]
