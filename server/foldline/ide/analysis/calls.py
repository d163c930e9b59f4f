"""The values of calls: of workspace functions, of known values' methods, and of the library."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from foldline.ide.analysis import instances, operators
from foldline.ide.analysis.memo import STEP, text_cost
from foldline.ide.analysis.syntax import Call, Compound, Expression, Return, Statement
from foldline.ide.analysis.values import (
    TYPE_VARIABLE,
    UNKNOWN,
    External,
    FunctionValue,
    Item,
    Items,
    LambdaValue,
    MethodValue,
    Nothing,
    PromptValue,
    Record,
    SectionValue,
    TemplateValue,
    Text,
    Value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.values import Argument

_DEDENT = frozenset({"textwrap.dedent", "inspect.cleandoc"})
_TYPE_VARIABLES = frozenset({"typing.TypeVar", "typing_extensions.TypeVar"})
_NEW_TYPE = re.compile(r"typing(_extensions)?\.(NewType|TypeAliasType)")
_REPLACE = frozenset({"dataclasses.replace", "copy.replace"})


def evaluate_call(evaluator: Evaluator, node: Call, scope: Scope) -> Value:
    """Return the value of a call expression."""
    func = evaluator.value(node.func, scope)
    if isinstance(func, FunctionValue):
        return function_result(evaluator, func, node, scope)
    if isinstance(func, LambdaValue):
        return evaluator.value(func.definition.body, func.scope) if not node.args else UNKNOWN
    if isinstance(func, MethodValue):
        return _method(evaluator, func, node, scope)
    if isinstance(func, External):
        if func.dotted in _DEDENT and len(node.args) == 1:
            text = evaluator.value(node.args[0], scope)
            if isinstance(text, Text):
                clean = func.dotted == "inspect.cleandoc"
                make = text.mapped.cleandoc if clean else text.mapped.dedent
                lines = text.mapped.text.count("\n") + 1
                return evaluator.text(node, text_cost(text.mapped) + STEP * lines, make)
            return UNKNOWN
        if func.dotted in _TYPE_VARIABLES:
            return External(TYPE_VARIABLE)
        if func.dotted in _REPLACE:
            return instances.with_replaced_fields(evaluator, node, scope)
        if _NEW_TYPE.fullmatch(func.dotted) and len(node.args) == 2:
            return evaluator.value(node.args[1], scope)
        if func.dotted in ("builtins.list", "builtins.tuple"):
            items = evaluator.value(node.args[0], scope) if node.args else Items(())
            return items if isinstance(items, Items) and not items.is_set else UNKNOWN
        if func.dotted in ("builtins.set", "builtins.frozenset"):
            items = evaluator.value(node.args[0], scope) if node.args else Items(())
            return operators.as_set(items) if isinstance(items, Items) else UNKNOWN
        if func.dotted.startswith("builtins."):
            return UNKNOWN
    return instances.instance(evaluator, node, func, scope)


def function_result(evaluator: Evaluator, func: FunctionValue, node: Call, scope: Scope) -> Value:
    """Return the value of calling a workspace function, as far as its source tells."""
    definition = func.definition
    if not definition.simple:
        return UNKNOWN
    arguments = evaluator.arguments(definition, node, scope, skip=0)
    inner = evaluator.function_scope(definition, func.scope, arguments)
    values = [
        evaluator.value(expression, inner)
        for expression in returned(definition.body)
        if expression is not None
    ]
    return reduce(operators.one_of, values) if values else UNKNOWN


def _method(evaluator: Evaluator, func: MethodValue, node: Call, scope: Scope) -> Value:
    owner, name = func.owner, func.name
    if isinstance(owner, Text):
        items = evaluator.value(node.args[0], scope) if len(node.args) == 1 else None
        cost = operators.method_cost(owner, items)
        return (
            operators.text_method(owner, name, node, items) if evaluator.affords(cost) else UNKNOWN
        )
    if isinstance(owner, TemplateValue | PromptValue) and name == "bind":
        prompt = owner if isinstance(owner, PromptValue) else PromptValue(owner, node)
        return bound(evaluator, replace(prompt, node=node), node, scope)
    if isinstance(owner, SectionValue) and name == "clone":
        return instances.clone(evaluator, owner, node, scope)
    return UNKNOWN


def returned(body: tuple[Statement, ...]) -> Iterator[Expression | None]:
    """Yield the values of a function's `return` statements; None for one without a value."""
    for statement in body:
        if isinstance(statement, Return):
            yield statement.value
        elif isinstance(statement, Compound):
            yield from returned(statement.body)


SECTION_PARAMS = "section_params"
"""The keyword of parameters for single sections."""

_OTHER_TEXTS = ("overrides", "tag", "wording")


def bound(evaluator: Evaluator, prompt: PromptValue, call: Call, scope: Scope) -> PromptValue:
    """Return the prompt after a call of its `bind`.

    Overrides are files that may change at any time, so what they make of a prompt isn't certain.
    """
    items = tuple(Item(argument, evaluator.value(argument, scope)) for argument in call.args)
    keywords, opaque = evaluator.keywords(call, scope)
    return replace(
        prompt,
        bound=(*prompt.bound, *items),
        section_params=_merged(prompt.section_params, section_params(keywords, opaque=opaque)),
        maybe=prompt.maybe or opaque or any(_is_given(keywords, name) for name in _OTHER_TEXTS),
    )


def section_params(keywords: Mapping[str, Argument], *, opaque: bool) -> Record:
    """Return the parameters for single sections that a call gives; `complete` if they are all.

    With `opaque`, there may be others than its keywords.
    """
    if not _is_given(keywords, SECTION_PARAMS):
        return Record({}, complete=not opaque)
    value = keywords[SECTION_PARAMS].value
    # In an incomplete record, an unknown item may replace one with a known key.
    return value if isinstance(value, Record) and value.complete else Record({}, complete=False)


def _merged(before: Record, after: Record) -> Record:
    if not after.complete:
        return after
    return Record({**before.arguments, **after.arguments}, before.complete)


def _is_given(keywords: Mapping[str, Argument], name: str) -> bool:
    return name in keywords and not isinstance(keywords[name].value, Nothing)
