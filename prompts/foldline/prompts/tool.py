"""Tools that a model can call, with typed parameters and results."""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

from foldline.prompts import refusals
from foldline.prompts.errors import PromptValidationError, ToolValidationError
from foldline.prompts.forms.fields import declared_fields
from foldline.prompts.output.structured_output import check_schema
from foldline.prompts.specialise import (
    Argument,
    Specialised,
    argument,
    dataclass_of,
    type_name,
    with_constructor,
)

if TYPE_CHECKING:
    from foldline.prompts.bus import EventBus
    from foldline.prompts.context import ContextPolicy, Priority
    from foldline.prompts.deadline import Deadline
    from foldline.prompts.output.schema import JsonSchema

__all__ = [
    "NAME_PATTERN",
    "AsyncToolHandler",
    "Tool",
    "ToolContext",
    "ToolExample",
    "ToolHandler",
    "ToolResult",
    "ToolTelemetry",
]

NAME_PATTERN = re.compile(r"[a-z0-9_-]{1,64}")
"""Matches a whole tool name."""

ParamsT_co = TypeVar("ParamsT_co", covariant=True)
ResultT_co = TypeVar("ResultT_co", covariant=True)
HandledT_contra = TypeVar("HandledT_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class ToolTelemetry:
    """A call of a tool that raises instead of returning, reported right before it raises.

    `error` is the refusal that the tool raises; None for a request to open sections.
    """

    tool: str
    params: object
    metadata: Mapping[str, object]
    error: ToolValidationError | None = None


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The evaluation that a tool handler is called in, as far as there is one."""

    prompt: object | None = None
    rendered: object | None = None
    session: object | None = None
    bus: EventBus | None = None
    """Gets a `ToolInvoked` for each call."""
    deadline: Deadline | None = None
    telemetry: Callable[[ToolTelemetry], None] | None = None
    """Called by tools that raise instead of returning, before they raise."""
    evaluation_id: str | None = None
    provider: str | None = None
    turn: int = 1
    """The model's message that asked for the call, counted from 1."""
    call_id: str | None = None
    """The provider's name for the call; None where the handler is called without dispatch."""


@dataclass(frozen=True, slots=True)
class ToolResult(Generic[ResultT_co]):
    """A tool call's result: a message for the model, and a value.

    A `ContextPolicy` shows `summary` in place of a result that is some turns old, and removes
    results of low `priority` first; without one a result has the priority MEDIUM.
    """

    message: str = ""
    value: ResultT_co | None = None
    success: bool = True
    summary: str | None = None
    priority: Priority | None = None


class ToolHandler(Protocol[HandledT_contra, ResultT_co]):
    """A function that implements a tool."""

    def __call__(self, params: HandledT_contra, *, context: ToolContext) -> ToolResult[ResultT_co]:
        """Run the tool; an exception becomes a failed result, except an expansion request."""
        ...


class AsyncToolHandler(Protocol[HandledT_contra, ResultT_co]):
    """An asynchronous function that implements a tool; evaluations run it in a loop of its own."""

    def __call__(
        self, params: HandledT_contra, *, context: ToolContext
    ) -> Awaitable[ToolResult[ResultT_co]]:
        """Run the tool, as a `ToolHandler` does."""
        ...


@dataclass(frozen=True, slots=True)
class ToolExample(Generic[ParamsT_co, ResultT_co]):
    """An example call, for the model."""

    description: str
    params: ParamsT_co
    result: ResultT_co | None = field(default=None)


@with_constructor
class Tool(Specialised, Generic[ParamsT_co, ResultT_co]):
    """A function that a model can call: a name, a description and a handler.

    Specialise it with the dataclass of its parameters (None if it has none) and with the type of
    its result: `Tool[SearchParams, SearchResult](…)`.

    Args:
        name: 1 to 64 characters of a-z, 0-9, `_` and `-`.
        description: Tells the model what the tool does.
        handler: Called as `handler(params, context=context)`; it may be asynchronous.
        examples: Example calls, which the model reads after the description.
        accepts_overrides: Let stored overrides replace the descriptions.
        context_policy: How much a conversation with this tool keeps of results, unless an
            evaluation or its adapter says otherwise. Of several tools' the first one counts.

    Raises:
        PromptValidationError: An argument can never work.
    """

    constructor_arguments: ClassVar[tuple[str, ...]]
    """Arguments that `clone` can replace, and that are attributes of that name."""

    name: str
    description: str
    handler: Argument[
        ToolHandler[ParamsT_co, ResultT_co] | AsyncToolHandler[ParamsT_co, ResultT_co],
        ToolHandler[ParamsT_co, ResultT_co],
    ]
    examples: Argument[
        Sequence[ToolExample[ParamsT_co, ResultT_co]],
        tuple[ToolExample[ParamsT_co, ResultT_co], ...],
    ] = argument(default=())
    accepts_overrides: bool = True
    context_policy: ContextPolicy | None = None

    def __post_init__(self) -> None:
        attributes = vars(self)
        attributes["name"] = _checked_name(self.name)
        for name, check in _CHECKS.items():
            attributes[name] = check(attributes[name], self.name)
        self._check_types()

    @property
    def params_type(self) -> type | None:
        """The dataclass of the parameters; None for a tool without parameters."""
        if self.type_arguments is None:
            return None
        return dataclass_of(self.type_arguments[0])

    @property
    def param_descriptions(self) -> Mapping[str, str]:
        """The `description` metadata of the parameters' fields, by field name."""
        kind = self.params_type
        if kind is None:
            return {}
        described = ((f.name, f.metadata.get("description")) for f in declared_fields(kind))
        return {name: text for name, text in described if text}

    @property
    def parameters(self) -> JsonSchema:
        """The JSON Schema of the parameters with the examples, as a new object."""
        from foldline.prompts.tool_calls import parameters_schema

        return parameters_schema(self)

    @property
    def result_type(self) -> object:
        """The type argument for the result."""
        return None if self.type_arguments is None else self.type_arguments[1]

    def decode(self, arguments: str | Mapping[str, object]) -> ParamsT_co:
        """Decode a model's arguments, as JSON text or a parsed mapping.

        Raises:
            ToolValidationError: They don't fit; the message has the location and near keys.
        """
        from foldline.prompts.tool_calls import decode_arguments

        return cast("ParamsT_co", decode_arguments(self, arguments))

    def clone(self, **kwargs: object) -> Self:
        """Return a copy with other constructor arguments, such as `description=`.

        They are checked like those. Other keywords are runtime objects: an attribute with the name
        of one, such as `session`, gets its value. Override it in a tool whose handler is a closure
        over runtime objects.

        Raises:
            PromptValidationError: A value can never work, or the tool has no use for a keyword.
        """
        from foldline.prompts.sections.cloning import clone_tool

        return clone_tool(self, kwargs)

    def set_arguments(self, values: Mapping[str, object]) -> None:
        """Set constructor arguments of a tool under construction.

        Raises:
            PromptValidationError: A value can never work.
        """
        vars(self).update(values)
        self.__post_init__()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def _check_types(self) -> None:
        if self.type_arguments is None:
            raise PromptValidationError(
                f"Tool {self.name!r} must be specialised: {refusals.UNSPECIALISED_TOOL}"
            )
        argument = self.type_arguments[0]
        kind = self.params_type
        if kind is None and argument is not None and argument is not type(None):
            raise PromptValidationError(
                f"Tool {self.name!r}: {refusals.not_a_tool_params_type(type_name(argument))}"
            )
        if kind is not None:
            check_schema(argument, f"Tool {self.name!r}:")
        for example in self.examples:
            if kind is not None and not isinstance(example.params, kind):
                raise PromptValidationError(
                    f"Tool {self.name!r}: the example {example.description!r} gives "
                    f"{type_name(type(example.params))} where {type_name(kind)} is needed.",
                    dataclass_type=kind,
                )


def _checked_name(name: object) -> str:
    if not isinstance(name, str) or NAME_PATTERN.fullmatch(name) is None:
        raise PromptValidationError(refusals.tool_name_rule(repr(name)))
    return name


def _checked_description(description: object, name: str) -> str:
    if not isinstance(description, str) or not description.strip():
        raise PromptValidationError(f"Tool {name!r}: {refusals.NO_DESCRIPTION}")
    return description.strip()


def _checked_handler(handler: object, name: str) -> object:
    if not callable(handler):
        raise PromptValidationError(
            f"Tool {name!r}: {refusals.not_callable('handler', repr(handler))}"
        )
    try:
        signature = inspect.signature(handler)
    except ValueError:
        return handler  # Some callables of C have no signature to look at.
    refused = handler_refused(signature)
    if refused:
        raise PromptValidationError(f"Tool {name!r}: {refused}")
    return handler


def handler_refused(signature: inspect.Signature) -> str:
    """Return why a handler of this signature can't be called; empty if it can."""
    try:
        signature.bind(None, context=None)
    except TypeError as error:
        return f"`handler` is called as `handler(params, context=context)`: {error}."
    return ""


def _checked_examples(examples: Any, name: str) -> tuple[object, ...]:
    checked = tuple(examples)
    for example in checked:
        if not isinstance(example, ToolExample):
            raise PromptValidationError(f"Tool {name!r}: {example!r} is not a ToolExample.")
    return checked


_CHECKS: Mapping[str, Callable[[object, str], object]] = {
    "description": _checked_description,
    "handler": _checked_handler,
    "examples": _checked_examples,
}
