"""The names that a module, class or function body binds, and what each is bound to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from foldline.ide.analysis.syntax import (
    Assign,
    Attribute,
    Call,
    ClassDefinition,
    Compound,
    Display,
    Evaluate,
    Expression,
    FunctionDefinition,
    Import,
    Name,
    Node,
    Starred,
    Statement,
    Subscript,
)
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from foldline.ide.analysis.memo import Entry
    from foldline.ide.analysis.top_level import Parsed, TopLevel
    from foldline.ide.analysis.values import Value


@record(eq=False)
class Bound:
    """One binding of a name.

    `index` selects an item of the value (`a, b = …`). `change` is `+=`, `append` or `extend` if the
    binding adds to the earlier value, `bind` if it binds params, `=` if it sets an attribute,
    `passed` if code may change a list through another name, and `?` if the value is unknown.
    """

    name: str
    node: Node
    """The statement or call that binds it."""
    conditional: bool
    value: Expression | None = None
    index: int | None = None
    change: str = ""

    @property
    def sure(self) -> bool:
        """True if it certainly gives the name a new value."""
        return not (self.change or self.conditional)

    def before(self, node: Node) -> bool:
        """Return True if the binding precedes a node of the same file."""
        return self.offset < node.anchor.at(node.start)

    @property
    def offset(self) -> int:
        """Its offset in the file."""
        return self.node.anchor.at(self.node.start)


EVERY_NAME = "*"
"""Stands for all names of a module: one of its star imports changed."""

Bindings: TypeAlias = "Mapping[str, tuple[Bound, ...]]"


def bindings(statements: Iterable[Statement]) -> Iterator[Bound]:
    """Yield the bindings of a body, in source order."""
    for statement in statements:
        yield from _bindings(statement, conditional=False)


def _bindings(statement: Statement, *, conditional: bool) -> Iterator[Bound]:
    if isinstance(statement, Assign):
        yield from _assigned(statement, conditional=conditional)
    elif isinstance(statement, Import):
        yield Bound(statement.bound, statement, conditional)
    elif isinstance(statement, ClassDefinition | FunctionDefinition):
        yield Bound(statement.name.id, statement, conditional)
    elif isinstance(statement, Compound):
        for name in statement.bound:
            yield Bound(name, statement, conditional)
        for inner in statement.body:
            sure = statement.keyword == "with"
            yield from _bindings(inner, conditional=conditional or not sure)
    elif isinstance(statement, Evaluate) and isinstance(statement.value, Call):
        yield from _changed(statement.value, conditional=conditional)


def _assigned(node: Assign, *, conditional: bool) -> Iterator[Bound]:
    for target in node.targets:
        if isinstance(target, Name):
            if node.value is not None:
                yield Bound(target.id, node, conditional, node.value, None, node.operator)
        elif isinstance(target, Display):
            for index, item in enumerate(target.items):
                if isinstance(item, Starred):
                    break
                if isinstance(item, Name):
                    yield Bound(item.id, node, conditional, node.value, index)
        elif isinstance(target, Attribute | Subscript) and isinstance(target.value, Name):
            change = "=" if isinstance(target, Attribute) else "?"
            yield Bound(target.value.id, node, conditional, change=change)


def _changed(call: Call, *, conditional: bool) -> Iterator[Bound]:
    func = call.func
    # A call whose result nobody takes changes something.
    for argument in call.args:
        if isinstance(argument, Name):
            yield Bound(argument.id, call, conditional, change="passed")
    if not (isinstance(func, Attribute) and isinstance(func.value, Name)):
        return
    name, method = func.value.id, func.attr.id
    if method in ("append", "extend") and len(call.args) == 1:
        yield Bound(name, call, conditional, call.args[0], change=method)
    elif method == "bind":
        yield Bound(name, call, conditional, call, change=method)
    elif method in ("insert", "remove", "clear", "pop", "sort", "reverse", "update", "setdefault"):
        yield Bound(name, call, conditional, change="?")


def table(found: Iterable[Bound]) -> dict[str, tuple[Bound, ...]]:
    """Group bindings by name, each in source order."""
    result: dict[str, list[Bound]] = {}
    same: dict[str, str] = {}
    """The names that were given the value of another name, and that one."""
    for bound in found:
        result.setdefault(bound.name, []).append(bound)
        if not bound.change:
            same.pop(bound.name, None)
            if isinstance(bound.value, Name) and bound.index is None:
                same[bound.name] = same.get(bound.value.id, bound.value.id)
        elif bound.name in same or bound.name in same.values():
            origin = same.get(bound.name, bound.name)
            for name in {origin, *(one for one in same if same[one] == origin)} - {bound.name}:
                result.setdefault(name, []).append(
                    Bound(name, bound.node, bound.conditional, change="passed")
                )
    return {name: tuple(bounds) for name, bounds in result.items()}


@dataclass(slots=True, eq=False)
class ModuleScope:
    """The names of a file."""

    file: str
    names: Bindings
    stars: tuple[Import, ...]

    @property
    def module(self) -> ModuleScope:
        return self


@dataclass(slots=True, eq=False)
class BodyScope:
    """The names of a function or class body; `arguments` holds a function's argument values.

    Functions nested in a class body don't see the class's names.
    """

    parent: Scope
    names: Bindings
    arguments: Mapping[str, Value] = field(default_factory=dict)
    function: FunctionDefinition | None = None
    entries: dict[int, Entry] = field(default_factory=dict)
    """Values evaluated in this scope, by the `id` of the node."""

    @property
    def module(self) -> ModuleScope:
        return self.parent.module


Scope: TypeAlias = ModuleScope | BodyScope


class ScopeCache:
    """Caches the bindings of statements that stay the same between edits."""

    def __init__(self) -> None:
        self._bound: dict[int, tuple[TopLevel, tuple[Bound, ...]]] = {}

    def update(self, scope: ModuleScope, parsed: Parsed) -> frozenset[str]:
        """Update a module's names, and return those whose meaning changed."""
        kept: dict[int, tuple[TopLevel, tuple[Bound, ...]]] = {}
        found: list[Bound] = []
        for statement in parsed.statements:
            key = id(statement.nodes)
            entry = self._bound.get(key)
            if entry is None or entry[0].nodes is not statement.nodes:
                entry = (statement, tuple(bindings(statement.nodes)))
            kept[key] = entry
            found.extend(entry[1])
        self._bound = kept
        old, new = scope.names, table(found)
        scope.names = new
        scope.stars = tuple(
            bound.node for bound in new.get("*", ()) if isinstance(bound.node, Import)
        )
        if old.get("*") != new.get("*"):
            return frozenset({*old, *new, EVERY_NAME})
        return frozenset(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
