"""Checks of type arguments: of sections, tools and templates, and of types without a JSON form."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import TYPE_CHECKING

from foldline.ide.analysis import names
from foldline.ide.analysis.instances import SECTION_KINDS
from foldline.ide.analysis.params import dataclass_of, params_of
from foldline.ide.analysis.scopes import ModuleScope
from foldline.ide.analysis.syntax import Assign, Name, Operation, String, Subscript
from foldline.ide.analysis.values import (
    UNKNOWN,
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
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import LazyDiagnostic, at_node, replacement
from foldline.prompts import refusals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.module_analysis import CallSite
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.syntax import Expression, Node
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
    if kind is None or kind.type in ("NoneType", "str", "type") or isinstance(value, Items):
        return
    message = (
        f"Tool: {refusals.not_a_tool_params_type(kind.shown)}"
        if constructor.name == "Tool"
        else refusals.not_a_params_type(kind.shown)
    )
    yield LazyDiagnostic(Code.PARAMS_NOT_DATACLASS, message, at_node(node))


def _unquoted(
    node: Expression, value: Text, call: CallSite, evaluator: Evaluator
) -> Iterator[Repair]:
    text = value.known
    if text is None or not text.isidentifier() or not isinstance(node, String):
        return
    if not isinstance(names.lookup(evaluator, text, call.scope, node), Unknown):
        yield replacement(f"Change to `{text}`", at_node(node), text, preferred=True)


def _output(
    node: Expression, value: Value, scope: Scope, evaluator: Evaluator
) -> Iterator[LazyDiagnostic]:
    kind, item = certain(node, value, scope), value
    if isinstance(value, Specialised):
        is_list = isinstance(value.origin, External) and value.origin.dotted == "builtins.list"
        item = value.arguments[0] if is_list and value.arguments else value.origin
    params = params_of(evaluator, item)
    is_type = kind is None or kind.type in ("NoneType", "str", "type") or isinstance(value, Items)
    wrong = not is_type or getattr(params, "is_dataclass", True) is False
    if wrong or len(_members(node, value, scope, evaluator)) > 1:
        yield LazyDiagnostic(
            Code.OUTPUT_NOT_DATACLASS,
            f"`{node.source}` cannot be an output: {refusals.NO_OUTPUT}",
            at_node(node),
        )
        return
    yield from _formless_fields(evaluator, item, node)


def _members(node: Expression, value: Value, scope: Scope, evaluator: Evaluator) -> set[object]:
    """Return the identities of the known members of a union; any other type is its only member."""
    if isinstance(node, Operation) and node.operator == "|":
        return {
            member
            for side in (node.left, node.right)
            for member in _members(side, evaluator.value(side, scope), scope, evaluator)
        }
    if isinstance(value, Specialised) and isinstance(value.origin, External):
        name, arguments = value.origin.dotted, value.arguments
        if name in ("typing.Optional", "typing.Union"):
            members = {identity for identity in map(_identity, arguments) if identity is not None}
            return members | {"None"} if name == "typing.Optional" else members
    identity = _identity(value)
    return set() if identity is None else {identity}


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
    yield from _formless_fields(evaluator, origin, node)


_FORMLESS = frozenset(
    {
        *(f"builtins.{name}" for name in ("bytearray", "bytes", "complex", "memoryview", "range")),
        *(f"pathlib.{name}" for name in ("Path", "PosixPath", "PurePath", "WindowsPath")),
        *(f"datetime.{name}" for name in ("time", "timedelta", "timezone", "tzinfo")),
        *("collections.abc.Callable", "typing.Callable", "re.Pattern", "typing.Pattern"),
    }
)
"""Types of the standard library without a JSON form that people use for fields."""

_TRANSPARENT = frozenset(
    f"{module}.{name}"
    for module in ("typing", "typing_extensions")
    for name in ("Annotated", "Required", "NotRequired", "Final")
)
_UNIONS = frozenset({"typing.Optional", "typing.Union"})
_LISTS = frozenset(
    {
        *(f"builtins.{name}" for name in ("frozenset", "list", "set")),
        *(f"typing.{name}" for name in ("FrozenSet", "Iterable", "List", "Sequence", "Set")),
        *(f"collections.abc.{name}" for name in ("Collection", "Iterable", "Sequence", "Set")),
    }
)
_TUPLES = frozenset({"builtins.tuple", "typing.Tuple"})
_MAPPINGS = frozenset({"builtins.dict", "typing.Dict", "typing.Mapping", "collections.abc.Mapping"})
_NOT_STRINGS = frozenset(f"builtins.{name}" for name in ("bool", "bytes", "float", "int", "tuple"))
_BUILT_IN = frozenset((*dir(builtins), *keyword.kwlist))
_WORD = re.compile(r"(?<![\w.])[^\W\d]\w*")
_LITERAL = re.compile(r"\bLiteral\[[^]]*\]")


def _formless_fields(evaluator: Evaluator, kind: Value, use: Node) -> Iterator[LazyDiagnostic]:
    """Report the fields of a dataclass that certainly have no JSON form, at any depth.

    At run time nothing is checked while an annotation names something that isn't defined yet, or
    never is: what is imported for type checkers alone. `use` is the code that needs the form.
    """
    search = _Search(evaluator, use)
    fields = list(search.dataclass(kind, "$")) if isinstance(kind, ClassValue) else []
    if search.resolves:
        yield from fields


class _Search:
    def __init__(self, evaluator: Evaluator, use: Node) -> None:
        self.evaluator = evaluator
        self.use = use
        self.resolves = True
        """True if every annotation certainly can be resolved."""
        self.open: list[object] = []

    def dataclass(self, kind: ClassValue, where: str) -> Iterator[LazyDiagnostic]:
        definition = kind.definition
        info = dataclass_of(self.evaluator, kind)
        if definition in self.open or not info.is_dataclass or not info.complete or info.model:
            return
        self.open.append(definition)
        fields = {id(field.name) for field in info.fields if field.init}
        for ancestor in self._lineage(kind):
            yield from self._own_fields(ancestor, fields, where)
        self.open.pop()

    def _formless(self, message: str, annotation: Expression) -> LazyDiagnostic:
        related = ((at_node(annotation), "The field is here."),)
        return LazyDiagnostic(Code.NO_JSON_FORM, message, at_node(self.use), related=related)

    def _lineage(self, kind: ClassValue) -> Iterator[ClassValue]:
        """Yield a class and its base classes."""
        yield kind
        for base in kind.definition.bases:
            value = self.evaluator.value(base, kind.scope)
            if isinstance(value, ClassValue):
                yield from self._lineage(value)
            else:
                self.resolves = False

    def _own_fields(
        self, kind: ClassValue, fields: set[int], where: str
    ) -> Iterator[LazyDiagnostic]:
        module = kind.scope
        if not isinstance(module, ModuleScope):
            self.resolves = False  # Types are looked up among the module's names.
            return
        for statement in kind.definition.body:
            if not isinstance(statement, Assign) or statement.annotation is None:
                continue
            annotation, target = statement.annotation, statement.targets[0]
            self.resolves = self.resolves and self._resolved(annotation, module)
            if isinstance(target, Name) and id(target) in fields:
                yield from self.type(annotation, module, f"{where}.{target.id}", annotation)

    def _resolved(self, annotation: Expression, module: ModuleScope) -> bool:
        """Return True if all names of an annotation are certainly defined when it's resolved."""
        words = _WORD.findall(_LITERAL.sub("", annotation.source))
        return all(word in _BUILT_IN or self._defined(word, module) for word in words)

    def _defined(self, name: str, module: ModuleScope) -> bool:
        here = module.file == self.use.file
        return any(
            bound.sure and (not here or bound.before(self.use))
            for bound in module.names.get(name, ())
        )

    def type(
        self, node: Expression, scope: Scope, where: str, annotation: Expression
    ) -> Iterator[LazyDiagnostic]:
        if isinstance(node, Operation) and node.operator == "|":
            yield from self.type(node.left, scope, where, annotation)
            yield from self.type(node.right, scope, where, annotation)
            return
        value = self._value(node, scope)
        if isinstance(value, Specialised) and isinstance(node, Subscript):
            yield from self._specialised(node, value, scope, where, annotation)
        elif isinstance(value, External) and value.dotted in _FORMLESS:
            name = value.dotted.rpartition(".")[2]
            yield self._formless(refusals.no_json_form(where, name), annotation)
        elif isinstance(value, ClassValue):
            info = dataclass_of(self.evaluator, value)
            if info.is_dataclass:
                yield from self.dataclass(value, where)
            elif info.is_dataclass is False and info.complete and not value.definition.bases:
                yield self._formless(refusals.no_json_form(where, info.name), annotation)

    def _value(self, node: Expression, scope: Scope) -> Value:
        if isinstance(node, String):
            text = self.evaluator.value(node, scope)
            name = text.known if isinstance(text, Text) else None
            plain = name is not None and name.isidentifier()
            return names.lookup(self.evaluator, name, scope) if name and plain else UNKNOWN
        return self.evaluator.value(node, scope)

    def _specialised(
        self,
        node: Subscript,
        value: Specialised,
        scope: Scope,
        where: str,
        annotation: Expression,
    ) -> Iterator[LazyDiagnostic]:
        origin = value.origin.dotted if isinstance(value.origin, External) else ""
        items = node.items
        if origin in _FORMLESS:
            name = node.source
            yield self._formless(refusals.no_json_form(where, f"`{name}`"), annotation)
        elif origin in _TRANSPARENT or origin in _UNIONS:
            for item in items if origin in _UNIONS else items[:1]:
                yield from self.type(item, scope, where, annotation)
        elif origin in _LISTS and len(items) == 1:
            yield from self.type(items[0], scope, f"{where}[*]", annotation)
        elif origin in _TUPLES and items:
            if items[-1].source == "...":
                yield from self.type(items[0], scope, f"{where}[*]", annotation)
            else:
                for index, item in enumerate(items):
                    yield from self.type(item, scope, f"{where}[{index}]", annotation)
        elif origin in _MAPPINGS and len(items) == 2:
            key = self._value(items[0], scope)
            if isinstance(key, External) and key.dotted in _NOT_STRINGS:
                name = key.dotted.rpartition(".")[2]
                yield self._formless(refusals.no_json_keys(where, name), annotation)
            else:
                yield from self.type(items[1], scope, f"{where}.*", annotation)
