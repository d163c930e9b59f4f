"""Checks of what is evaluated, and of how the answer is parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.syntax import Attribute, Call, Name
from foldline.ide.analysis.values import (
    External,
    InstanceValue,
    MethodValue,
    PromptValue,
    SectionValue,
    TemplateValue,
)
from foldline.ide.checks.certain import LITERALS, certain
from foldline.ide.checks.diagnostic import Code, LazyDiagnostic, at_node
from foldline.prompts import refusals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.module_analysis import CallSite
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.syntax import Expression

_ADAPTERS = ("OpenAIAdapter", "AnthropicAdapter", "ScriptedAdapter", "RecordingAdapter")
_PARSERS = ("parse_structured_output", "parse_output")


def check_evaluated_value(call: CallSite, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Report what an adapter of the library can't evaluate."""
    func = call.node.func
    if not isinstance(func, Attribute) or func.attr.id != "evaluate" or not call.node.args:
        return
    made = _made_by(func.value, call.scope)
    adapter = evaluator.value(made.func, call.scope) if made is not None else None
    if not isinstance(adapter, External) or adapter.library_name not in _ADAPTERS:
        return
    argument = call.node.args[0]
    value = evaluator.value(argument, call.scope)
    kind = certain(argument, value, call.scope)
    wrong = kind is not None and (
        kind.type in LITERALS or isinstance(value, SectionValue | InstanceValue)
    )
    if kind is not None and wrong:
        yield LazyDiagnostic(
            Code.INVALID_ARGUMENT, refusals.not_evaluable(kind.shown), at_node(argument)
        )


def check_parsed(call: CallSite, evaluator: Evaluator) -> Iterator[LazyDiagnostic]:
    """Report that an answer is parsed for a prompt that declares no structured output."""
    func = evaluator.value(call.node.func, call.scope)
    if not isinstance(func, External) or func.library_name not in _PARSERS:
        return
    keyword = call.node.keyword("rendered")
    if keyword is not None:
        rendered: Expression = keyword.value
    elif len(call.node.args) == 2:
        rendered = call.node.args[1]
    else:
        return
    made = _made_by(rendered, call.scope)
    method = evaluator.value(made.func, call.scope) if made is not None else None
    owner = method.owner if isinstance(method, MethodValue) and method.name == "render" else None
    template = owner.template if isinstance(owner, PromptValue) else owner
    if not isinstance(template, TemplateValue) or template.maybe or template.output is not None:
        return
    if isinstance(owner, PromptValue) and owner.maybe:
        return
    yield LazyDiagnostic(Code.OUTPUT_NOT_DATACLASS, refusals.UNDECLARED_OUTPUT, at_node(rendered))


def _made_by(node: Expression, scope: Scope) -> Call | None:
    """Return the call that a value certainly comes from: itself, or that of a name bound once."""
    if isinstance(node, Call):
        return node
    bound = scope.names.get(node.id, ()) if isinstance(node, Name) else ()
    if len(bound) != 1 or not bound[0].sure or bound[0].index is not None:
        return None
    value = bound[0].value
    return value if isinstance(value, Call) else None
