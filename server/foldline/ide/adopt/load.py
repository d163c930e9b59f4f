"""Builds the prompt of an adopted module from its syntax tree, without running the module.

What a module of `write.py` may have is evaluated, and nothing else: classes of fields, calls of the
library's constructors, and functions of one expression over names, attributes, constants and
comparisons.
"""

from __future__ import annotations

import ast
import dataclasses
import operator
from collections import ChainMap
from typing import TYPE_CHECKING, Annotated, Any

from foldline.prompts import (
    EachSection,
    Heading,
    MarkdownSection,
    PromptTemplate,
    joined,
    or_else,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

_LIBRARY: Mapping[str, object] = {
    "EachSection": EachSection,
    "Heading": Heading,
    "MarkdownSection": MarkdownSection,
    "PromptTemplate": PromptTemplate,
    "joined": joined,
    "or_else": or_else,
}
_NAMES: Mapping[str, object] = {
    "Annotated": Annotated,
    "bool": bool,
    "float": float,
    "int": int,
    "str": str,
    "tuple": tuple,
}
_COMPARISONS: Mapping[type, Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


class LoadError(ValueError):
    """A module has something that adopted modules don't have."""


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded:
    """The prompt of a module, and its dataclasses by name."""

    template: PromptTemplate[Any]
    classes: Mapping[str, type]


def load(text: str) -> Loaded:  # noqa: PLR0912 - A table of statements.
    """Build the prompt of an adopted module.

    Raises:
        LoadError: It has something else.
        PromptValidationError: The library refuses the prompt.
    """
    scope: dict[str, object] = dict(_NAMES)
    classes: dict[str, type] = {}
    template = None
    for statement in ast.parse(text).body:
        match statement:
            case ast.Expr(value=ast.Constant(value=str())):
                pass
            case ast.ImportFrom(module="foldline.prompts", names=imported):
                for alias in imported:
                    if alias.name not in _LIBRARY or alias.asname is not None:
                        raise LoadError(f"line {statement.lineno}: {alias.name} isn't known")
                    scope[alias.name] = _LIBRARY[alias.name]
            case ast.ImportFrom(module="dataclasses" | "typing"):
                pass
            case ast.ClassDef(name=name):
                scope[name] = classes[name] = _class(statement, scope)
            case ast.FunctionDef(name=name) if name.startswith("preview_"):
                pass
            case ast.FunctionDef(name=name, args=ast.arguments(args=[argument])):
                returned = statement.body[-1]
                if not isinstance(returned, ast.Return) or returned.value is None:
                    raise LoadError(f"line {statement.lineno}: {name} isn't one expression")
                scope[name] = _function(argument.arg, returned.value, scope)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                scope[name] = made = evaluate(value, scope)
                if isinstance(made, PromptTemplate):
                    template = made
            case _:
                raise LoadError(f"line {statement.lineno}: {type(statement).__name__} isn't known")
    if template is None:
        raise LoadError("the module has no prompt")
    return Loaded(template, classes)


def evaluate(  # noqa: PLR0912 - A table of expressions.
    node: ast.expr, scope: MutableMapping[str, object]
) -> Any:
    """Return the value of an expression.

    Raises:
        LoadError: It has a part that isn't known.
    """
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in scope:
            return scope[name]
        case ast.Tuple(elts=items):
            return tuple(evaluate(item, scope) for item in items)
        case ast.List(elts=items):
            return [evaluate(item, scope) for item in items]
        case ast.Dict(keys=keys, values=values):
            return {
                evaluate(key, scope): evaluate(value, scope)
                for key, value in zip(keys, values, strict=True)
                if key is not None
            }
        case ast.Lambda(args=ast.arguments(args=[argument]), body=body):
            return _function(argument.arg, body, scope)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not evaluate(operand, scope)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -evaluate(operand, scope)
        case ast.BoolOp(op=op, values=values):
            result: object = None
            for part in values:
                result = evaluate(part, scope)
                if bool(result) is isinstance(op, ast.Or):
                    break
            return result
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return evaluate(left, scope) | evaluate(right, scope)
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARISONS:
            return _COMPARISONS[type(op)](evaluate(left, scope), evaluate(right, scope))
        case ast.Attribute(value=ast.Name(id=name), attr=attribute):
            owner = scope.get(name)
            # Fields alone: never a method, and nothing of Python's own.
            if dataclasses.is_dataclass(owner) and attribute in {
                known.name for known in dataclasses.fields(owner)
            }:
                return getattr(owner, attribute)
        case ast.Subscript(value=ast.Name() | ast.Attribute() as value, slice=place):
            return evaluate(value, scope)[evaluate(place, scope)]
        case ast.Call(func=func, args=arguments, keywords=keywords):
            return _call(func, arguments, keywords, scope)
        case _:
            pass
    raise LoadError(f"line {node.lineno}: `{ast.unparse(node)}` isn't known")


def _call(
    func: ast.expr,
    arguments: list[ast.expr],
    keywords: list[ast.keyword],
    scope: MutableMapping[str, object],
) -> object:
    given = [evaluate(argument, scope) for argument in arguments]
    if isinstance(func, ast.Attribute) and func.attr == "get":
        table = evaluate(func.value, scope)
        if isinstance(table, dict):
            return table.get(*given)
    name = func.value if isinstance(func, ast.Subscript) else func
    if isinstance(name, ast.Name) and scope.get(name.id) in _LIBRARY.values():
        call = evaluate(func, scope)
        named = {word.arg: evaluate(word.value, scope) for word in keywords if word.arg}
        return call(*given, **named)
    raise LoadError(f"line {func.lineno}: `{ast.unparse(func)}` isn't known")


def _function(
    argument: str, body: ast.expr, scope: MutableMapping[str, object]
) -> Callable[[object], object]:
    return lambda value: evaluate(body, ChainMap({argument: value}, dict(scope)))


def _class(statement: ast.ClassDef, scope: MutableMapping[str, object]) -> type:
    fields: list[tuple[str, Any, Any]] = []
    for line in statement.body:
        match line:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=None):
                fields.append((name, evaluate(annotation, scope), dataclasses.field()))
            case ast.AnnAssign(
                target=ast.Name(id=name), annotation=annotation, value=ast.expr() as value
            ):
                default = dataclasses.field(default=evaluate(value, scope))
                fields.append((name, evaluate(annotation, scope), default))
            case _:
                raise LoadError(f"line {line.lineno}: a field was expected")
    return dataclasses.make_dataclass(statement.name, fields, frozen=True)
