"""Types of fields that JSON can't express, found as the library's `schema_of` finds them."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import TYPE_CHECKING, NamedTuple

from foldline.ide.analysis import names
from foldline.ide.analysis.params import dataclass_of
from foldline.ide.analysis.scopes import ModuleScope
from foldline.ide.analysis.syntax import (
    Assign,
    Name,
    Operation,
    String,
    Subscript,
)
from foldline.ide.analysis.values import (
    UNKNOWN,
    ClassValue,
    External,
    Specialised,
    Text,
)
from foldline.prompts import refusals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.syntax import Expression, Node
    from foldline.ide.analysis.values import Value

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


class Formless(NamedTuple):
    """A type without a JSON form: what is wrong with it, and its annotation."""

    message: str
    node: Expression


def formless_fields(evaluator: Evaluator, kind: Value, use: Node) -> Iterator[Formless]:
    """Yield the fields of a dataclass that certainly have no JSON form, at any depth.

    At run time nothing is checked while an annotation names something that isn't defined yet, or
    never is: what is imported for type checkers alone.

    Args:
        evaluator: Evaluates the annotations.
        kind: The type.
        use: The code that needs its JSON form.
    """
    search = _Search(evaluator, use)
    found = list(search.dataclass(kind, "$")) if isinstance(kind, ClassValue) else []
    if search.resolves:
        yield from found


class _Search:
    def __init__(self, evaluator: Evaluator, use: Node) -> None:
        self.evaluator = evaluator
        self.use = use
        self.resolves = True
        """True if every annotation certainly can be resolved."""
        self.open: list[object] = []

    def dataclass(self, kind: ClassValue, where: str) -> Iterator[Formless]:
        definition = kind.definition
        info = dataclass_of(self.evaluator, kind)
        if definition in self.open or not info.is_dataclass or not info.complete or info.model:
            return
        self.open.append(definition)
        fields = {id(field.name) for field in info.fields if field.init}
        for ancestor in self._lineage(kind):
            yield from self._own_fields(ancestor, fields, where)
        self.open.pop()

    def _lineage(self, kind: ClassValue) -> Iterator[ClassValue]:
        """Yield a class and its base classes."""
        yield kind
        for base in kind.definition.bases:
            value = self.evaluator.value(base, kind.scope)
            if isinstance(value, ClassValue):
                yield from self._lineage(value)
            else:
                self.resolves = False

    def _own_fields(self, kind: ClassValue, fields: set[int], where: str) -> Iterator[Formless]:
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
    ) -> Iterator[Formless]:
        if isinstance(node, Operation) and node.operator == "|":
            yield from self.type(node.left, scope, where, annotation)
            yield from self.type(node.right, scope, where, annotation)
            return
        value = self._value(node, scope)
        if isinstance(value, Specialised) and isinstance(node, Subscript):
            yield from self._specialised(node, value, scope, where, annotation)
        elif isinstance(value, External) and value.dotted in _FORMLESS:
            name = value.dotted.rpartition(".")[2]
            yield Formless(refusals.no_json_form(where, name), annotation)
        elif isinstance(value, ClassValue):
            info = dataclass_of(self.evaluator, value)
            if info.is_dataclass:
                yield from self.dataclass(value, where)
            elif info.is_dataclass is False and info.complete and not value.definition.bases:
                yield Formless(refusals.no_json_form(where, info.name), annotation)

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
    ) -> Iterator[Formless]:
        origin = value.origin.dotted if isinstance(value.origin, External) else ""
        items = node.items
        if origin in _FORMLESS:
            name = node.source
            yield Formless(refusals.no_json_form(where, f"`{name}`"), annotation)
        elif origin in _TRANSPARENT:
            yield from self.type(items[0], scope, where, annotation)
        elif origin in _UNIONS:
            for item in items:
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
                yield Formless(refusals.no_json_keys(where, name), annotation)
            else:
                yield from self.type(items[1], scope, f"{where}.*", annotation)
