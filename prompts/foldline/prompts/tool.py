"""Tools: what a model can call, with typed parameters and results."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.specialise import Specialised, dataclass_of, type_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self

    from foldline.prompts.deadline import Deadline

__all__ = [
    "NAME_PATTERN",
    "Tool",
    "ToolContext",
    "ToolExample",
    "ToolHandler",
    "ToolResult",
    "ToolTelemetry",
]

NAME_PATTERN = re.compile(r"[a-z0-9_-]{1,64}")
"""What a tool's name looks like, as a whole."""

ParamsT_co = TypeVar("ParamsT_co", covariant=True)
ResultT_co = TypeVar("ResultT_co", covariant=True)
HandledT_contra = TypeVar("HandledT_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class ToolTelemetry:
    """What a tool tells about a call that does not return, at the moment before it raises."""

    tool: str
    params: object
    metadata: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool handler may know about the evaluation that it is called in."""

    prompt: object | None = None
    rendered: object | None = None
    session: object | None = None
    bus: object | None = None
    deadline: Deadline | None = None
    telemetry: Callable[[ToolTelemetry], None] | None = None
    """Called by tools that raise instead of returning, before they do."""


@dataclass(frozen=True, slots=True)
class ToolResult(Generic[ResultT_co]):
    """What a tool call gave: a message for the model, and the value behind it."""

    message: str = ""
    value: ResultT_co | None = None
    success: bool = True


class ToolHandler(Protocol[HandledT_contra, ResultT_co]):
    """A function that does what a tool says."""

    def __call__(self, params: HandledT_contra, *, context: ToolContext) -> ToolResult[ResultT_co]:
        """Do it; what it raises becomes a failed result, except an expansion request."""
        ...


@dataclass(frozen=True, slots=True)
class ToolExample(Generic[ParamsT_co, ResultT_co]):
    """A call that shows a model how a tool is used."""

    description: str
    params: ParamsT_co
    result: ResultT_co | None = field(default=None)


class Tool(Specialised, Generic[ParamsT_co, ResultT_co]):
    """Something that a model can call: a name, a description, a handler.

    Specialise it with the dataclass of its parameters (None if it has none) and with the type of
    its result: `Tool[SearchParams, SearchResult](…)`.

    Args:
        name: 1 to 64 characters of a-z, 0-9, `_` and `-`.
        description: What the tool does, for the model.
        handler: Called as `handler(params, context=context)`.
        examples: Calls that show how it is used.
        accepts_overrides: Whether stored overrides may replace the descriptions.

    Raises:
        PromptValidationError: Something can never work as it is given.
    """

    def __init__(
        self,
        *,
        name: str,
        description: str,
        handler: ToolHandler[ParamsT_co, ResultT_co],
        examples: Sequence[ToolExample[ParamsT_co, ResultT_co]] = (),
        accepts_overrides: bool = True,
    ) -> None:
        if not isinstance(name, str) or NAME_PATTERN.fullmatch(name) is None:
            raise PromptValidationError(
                f"Tool name {name!r} must be 1 to 64 characters of a-z, 0-9, `_` and `-`."
            )
        if not isinstance(description, str) or not description.strip():
            raise PromptValidationError(
                f"Tool {name!r}: `description` must tell the model what the tool does."
            )
        if not callable(handler):
            raise PromptValidationError(f"Tool {name!r}: `handler` must be a callable.")
        self.name = name
        self.description = description.strip()
        self.handler = handler
        self.examples = tuple(examples)
        self.accepts_overrides = accepts_overrides
        self._check_types()

    @property
    def params_type(self) -> type | None:
        """The dataclass of the parameters; None for a tool without parameters."""
        if self.type_arguments is None:
            return None
        return dataclass_of(self.type_arguments[0])

    @property
    def result_type(self) -> object:
        """The type argument for the result, as it was given."""
        return None if self.type_arguments is None else self.type_arguments[1]

    def clone(self, **kwargs: object) -> Self:
        """The tool itself: it has no state. A tool that is bound to a runtime overrides this."""
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def _check_types(self) -> None:
        if self.type_arguments is None:
            raise PromptValidationError(
                f"Tool {self.name!r} must be specialised: `Tool[Params, Result](…)`, "
                "with None for a tool without parameters."
            )
        argument = self.type_arguments[0]
        kind = self.params_type
        if kind is None and argument is not None and argument is not type(None):
            raise PromptValidationError(
                f"Tool {self.name!r}: the parameters must be a dataclass or None, "
                f"not {type_name(argument)}."
            )
        for example in self.examples:
            if kind is not None and not isinstance(example.params, kind):
                raise PromptValidationError(
                    f"Tool {self.name!r}: the example {example.description!r} gives "
                    f"{type_name(type(example.params))} where {type_name(kind)} is needed.",
                    dataclass_type=kind,
                )
