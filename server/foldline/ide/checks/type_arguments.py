"""Checks of type arguments: of sections, tools and templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis import names
from foldline.ide.analysis.instances import SECTION_KINDS
from foldline.ide.analysis.params import params_of
from foldline.ide.analysis.syntax import Operation, String
from foldline.ide.analysis.values import (
    ClassValue,
    Dataclass,
    External,
    Items,
    Nothing,
    Specialised,
    Text,
    Unknown,
)
from foldline.ide.checks.certain import certain
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, at_node, replacement
from foldline.ide.checks.json_forms import formless_fields
from foldline.prompts import refusals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.module_analysis import CallSite
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.syntax import Expression
    from foldline.ide.analysis.values import Value
    from foldline.ide.checks.diagnostic import Repair
    from foldline.ide.checks.signatures import Constructor


def check_type_arguments(
    call: CallSite, constructor: Constructor, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    """Check the type arguments that a call's own class has."""
    types = constructor.types
    if not constructor.own:
        return  # The arguments may be those of a base class, in another order.
    if constructor.name == "Tool":
        yield from _tool(call, constructor, evaluator)
    if types is None or constructor.name not in (*SECTION_KINDS, "Tool", "PromptTemplate"):
        return
    about = (
        Code.OUTPUT_NOT_DATACLASS
        if constructor.name == "PromptTemplate"
        else Code.PARAMS_NOT_DATACLASS
    )
    for node, value in zip(types.nodes, types.arguments, strict=False):
        if isinstance(value, Text):
            yield LazyDiagnostic(
                about,
                f"`{node.source}`: {refusals.QUOTED_TYPE}",
                at_node(node),
                tuple(_unquoted(node, value, call, evaluator)),
            )
    if not types.arguments:
        return
    node, value = types.nodes[0], types.arguments[0]
    if constructor.name == "PromptTemplate":
        yield from _output(node, value, call.scope, evaluator)
        return
    kind = certain(node, value, call.scope)
    if kind is None or kind.type in ("NoneType", "str", "type") or _is_generic(value):
        return
    message = (
        f"Tool: {refusals.not_a_tool_params_type(kind.shown)}"
        if constructor.name == "Tool"
        else refusals.not_a_params_type(kind.shown)
    )
    yield LazyDiagnostic(Code.PARAMS_NOT_DATACLASS, message, at_node(node))


def _is_generic(value: Value) -> bool:
    return isinstance(value, Items)


def _unquoted(
    node: Expression, value: Text, call: CallSite, evaluator: Evaluator
) -> Iterator[Repair]:
    known = value.known
    if known is None or not known.isidentifier() or not isinstance(node, String):
        return
    if not isinstance(names.lookup(evaluator, known, call.scope, node), Unknown):
        yield replacement(f"Change to `{known}`", at_node(node), known, preferred=True)


def _output(
    node: Expression, value: Value, scope: Scope, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    kind, item = certain(node, value, scope), value
    if isinstance(value, Specialised):
        is_list = isinstance(value.origin, External) and value.origin.dotted == "builtins.list"
        item = value.arguments[0] if is_list and value.arguments else value.origin
    params = params_of(evaluator, item)
    wrong = kind is not None and kind.type not in ("NoneType", "str", "type")
    wrong = (wrong and not _is_generic(value)) or getattr(params, "is_dataclass", True) is False
    if wrong or len(_members(node, value, scope, evaluator)) > 1:
        yield LazyDiagnostic(
            Code.OUTPUT_NOT_DATACLASS,
            f"`{node.source}` cannot be an output: {refusals.NO_OUTPUT}",
            at_node(node),
        )
        return
    for formless in formless_fields(evaluator, item, node):
        yield _formless(formless.message, node, formless.node)


def _members(node: Expression, value: Value, scope: Scope, evaluator: Evaluator) -> set[object]:
    """Return what identifies the known members of a union: a union of one type is that type."""
    if isinstance(node, Operation) and node.operator == "|":
        return {
            member
            for side in (node.left, node.right)
            for member in _members(side, evaluator.value(side, scope), scope, evaluator)
        }
    if isinstance(value, Specialised) and isinstance(value.origin, External):
        name, arguments = value.origin.dotted, value.arguments
        if name in ("typing.Optional", "typing.Union"):
            members = {found for found in map(_identity, arguments) if found is not None}
            return members | {"None"} if name == "typing.Optional" else members
    found = _identity(value)
    return set() if found is None else {found}


def _identity(value: Value) -> object:
    match value:
        case Nothing():
            return "None"
        case ClassValue():
            return value.definition
        case External() if value.dotted.startswith("builtins."):
            return value.dotted
    return None


def _tool(
    call: CallSite, constructor: Constructor, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    types = constructor.types
    if types is None or len(types.arguments) != 2:
        yield LazyDiagnostic(
            Code.UNSPECIALISED_TOOL,
            f"The tool must be specialised: {refusals.UNSPECIALISED_TOOL}",
            at_node(call.node.func),
        )
        return
    node, value = types.nodes[0], types.arguments[0]
    params = params_of(evaluator, value)
    if isinstance(params, Dataclass) and params.is_dataclass is False:
        yield LazyDiagnostic(
            Code.PARAMS_NOT_DATACLASS,
            f"Tool: {refusals.not_a_tool_params_type(f'`{params.name}`')}",
            at_node(node),
        )
        return
    origin = value.origin if isinstance(value, Specialised) else value
    for formless in formless_fields(evaluator, origin, node):
        yield _formless(formless.message, node, formless.node)


def _formless(message: str, node: Expression, annotation: Expression) -> LazyDiagnostic:
    return LazyDiagnostic(
        Code.NO_JSON_FORM,
        message,
        at_node(node),
        related=((at_node(annotation), "The field is here."),),
    )
