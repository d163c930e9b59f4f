"""The certain types of expressions, for checks of arguments that have one right type."""

from __future__ import annotations

import re
from collections.abc import Iterable
from inspect import Parameter as SignatureParameter
from inspect import Signature
from typing import NamedTuple

from foldline.ide.analysis import syntax, values
from foldline.ide.analysis.evaluator import Evaluator
from foldline.ide.analysis.scopes import BodyScope, Scope

LITERALS = frozenset({"NoneType", "bool", "int", "float", "str", "list", "tuple", "set", "dict"})
"""Types of literals: nothing of them can be called, and nothing of them is a section."""

PATHS = frozenset(f"pathlib.{name}" for name in ("Path", "PosixPath", "PurePath", "WindowsPath"))

_LONGEST = 40
_POSITIONAL_ONLY = re.compile(r",\s*/\s*[,):]")
_SIGN = len(",  /  ):")


class Certain(NamedTuple):
    """The type of a value by its name, and the value as messages show it."""

    type: str
    shown: str


def certain(node: syntax.Expression, value: values.Value, scope: Scope) -> Certain | None:
    """Return what an expression certainly is; None where only running the code would tell."""
    if isinstance(node, syntax.Name) and not _is_surely_bound(node.id, scope):
        return None
    kind = _literal(node, value) or _of_library(value)
    if kind is None:
        if isinstance(value, values.LambdaValue | values.FunctionValue):
            kind = "function"
        elif isinstance(value, values.ClassValue):
            # Another name than the class's own may stand for several.
            is_named = node.source.rpartition(".")[2] == value.definition.name.id
            kind = "type" if is_named else None
    return None if kind is None else Certain(kind, _shown(node, value))


def is_path(node: syntax.Expression, scope: Scope, evaluator: Evaluator) -> bool:
    """Return True for `Path(…)`."""
    if not isinstance(node, syntax.Call):
        return False
    func = evaluator.value(node.func, scope)
    return isinstance(func, values.External) and func.dotted in PATHS


def signature_of(value: values.Value) -> Signature | None:
    """Return the signature of a function or lambda; None if it isn't certain."""
    if not isinstance(value, values.LambdaValue | values.FunctionValue):
        return None
    definition = value.definition
    # The sign may follow the last parameter.
    last = max((parameter.end for parameter in definition.parameters), default=definition.start)
    if _POSITIONAL_ONLY.search(definition.source[: last - definition.start + _SIGN]):
        return None
    stars = [parameter.kind for parameter in definition.parameters if parameter.kind]
    if len(stars) != len({*stars}):
        return None  # That isn't Python: one of them is being typed.
    try:
        return Signature(list(_parameters(definition.parameters)))
    except ValueError:
        return None


def _parameters(parameters: Iterable[syntax.Parameter]) -> Iterable[SignatureParameter]:
    kinds = {"*": SignatureParameter.VAR_POSITIONAL, "**": SignatureParameter.VAR_KEYWORD}
    for parameter in parameters:
        kind = kinds.get(parameter.kind) or (
            SignatureParameter.KEYWORD_ONLY
            if parameter.keyword_only
            else SignatureParameter.POSITIONAL_OR_KEYWORD
        )
        default = SignatureParameter.empty if parameter.default is None else None
        yield SignatureParameter(parameter.name.id, kind, default=default)


def _is_surely_bound(name: str, scope: Scope) -> bool:
    """Return False for a name that only a condition, a loop or a handler binds."""
    inner: Scope | None = scope
    while inner is not None:
        bound = inner.names.get(name)
        if bound is not None:
            return any(one.sure for one in bound)
        inner = inner.parent if isinstance(inner, BodyScope) else None
    return True


def _literal(node: syntax.Expression, value: values.Value) -> str | None:
    match value:
        case values.Nothing():
            return "NoneType"
        case values.Plain():
            return type(value.value).__name__
        case values.Text() if value.known is not None or isinstance(node, syntax.String):
            return "str"  # Otherwise it may be the result of any method of a string.
        case values.Items() if isinstance(node, syntax.Display):
            return {"[": "list", "{": "set"}.get(node.source[:1], "tuple")
        case values.Items() if value.complete:
            return "list"
        case values.Record() if isinstance(node, syntax.Dictionary):
            return "dict"
    return None


def _of_library(value: values.Value) -> str | None:
    match value:
        case values.SectionValue() if not value.maybe:
            return value.class_name
        case values.TemplateValue() if not value.maybe:
            return "PromptTemplate"
        case values.PromptValue() if not (value.maybe or value.template.maybe):
            return "Prompt"
        case values.ToolValue():
            return "Tool"
        case values.InstanceValue():
            return value.dataclass.name
    return None


def _shown(node: syntax.Expression, value: values.Value) -> str:
    if isinstance(value, values.Nothing):
        return "None"
    if isinstance(value, values.Plain):
        return repr(value.value)
    if isinstance(value, values.Text) and value.known is not None and len(value.known) <= _LONGEST:
        return repr(value.known)
    return code(node)


def code(node: syntax.Expression) -> str:
    """Return an expression's code as a message shows it: short, and on one line."""
    text = " ".join(node.source.split())
    return f"`{text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}`"
