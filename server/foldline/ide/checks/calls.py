"""Checks of single calls: of constructors, and of methods of known objects."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from foldline.ide.analysis.syntax import Attribute
from foldline.ide.analysis.values import TEXT_KINDS, SectionValue, ToolValue
from foldline.ide.checks.argument_values import (
    check_argument_values,
    check_chosen_summary,
    check_default_params,
)
from foldline.ide.checks.evaluation import check_evaluated_value, check_parsed
from foldline.ide.checks.mutations import check_chapter_render
from foldline.ide.checks.prompts import check_call
from foldline.ide.checks.signatures import (
    CLASSES,
    Constructor,
    check_constructor_keywords,
    check_method_keywords,
    constructor_of,
    is_library_section,
)
from foldline.ide.checks.tools import check_tool
from foldline.ide.checks.type_arguments import check_type_arguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.module_analysis import CallSite
    from foldline.ide.checks.diagnostic import LazyDiagnostic


def check_calls(calls: Iterable[CallSite], evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Check calls; each is checked again only after something that it uses has changed."""
    for call in calls:
        node = call.node
        compute = partial(_checked, call, evaluator)
        yield from evaluator.memo.fact(node.anchor, f"checks of {node.start}-{node.end}", compute)


def _checked(call: CallSite, evaluator: Evaluator) -> tuple[LazyDiagnostic, ...]:
    return tuple(_check(call, evaluator))


def _check(call: CallSite, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    if isinstance(call.node.func, Attribute):
        yield from check_call(call, evaluator)
        yield from check_method_keywords(call, evaluator)
        yield from check_chapter_render(call, evaluator)
        yield from check_evaluated_value(call, evaluator)
        yield from _clone(call, evaluator)
    yield from check_parsed(call, evaluator)
    constructor = constructor_of(call, evaluator)
    if constructor is None:
        return
    yield from check_type_arguments(call, constructor, evaluator)
    yield from check_constructor_keywords(call, constructor)
    arguments, opaque = evaluator.keywords(call.node, call.scope)
    if constructor.name == "Prompt" and call.node.args:
        arguments["template"] = evaluator.argument(call.node.args[0], call.scope)
    yield from check_argument_values(call, constructor, arguments, evaluator)
    if constructor.name == "Tool":
        yield from check_tool(arguments, call.scope)
    if constructor.name in _WITH_TEXTS and not opaque:
        yield from check_chosen_summary(arguments, evaluator)
    made = evaluator.value(call.node, call.scope)
    if isinstance(made, SectionValue) and "default_params" in arguments:
        yield from check_default_params(made, arguments["default_params"], call.scope)


_WITH_TEXTS = frozenset(CLASSES[kind].__name__ for kind in TEXT_KINDS)


def _clone(call: CallSite, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Check the arguments of `clone`, which are checked like those of the constructor."""
    func = call.node.func
    if not isinstance(func, Attribute) or func.attr.id != "clone":
        return
    owner = evaluator.value(func.value, call.scope)
    arguments, _ = evaluator.keywords(call.node, call.scope)
    if isinstance(owner, ToolValue):
        tool = Constructor("Tool", "clone", None, own=True)
        yield from check_argument_values(call, tool, arguments, evaluator)
        yield from check_tool(arguments, call.scope)
    elif isinstance(owner, SectionValue) and is_library_section(owner, evaluator):
        section = Constructor(CLASSES[owner.kind].__name__, "clone", None, own=True)
        yield from check_argument_values(call, section, arguments, evaluator)
