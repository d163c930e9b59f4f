"""The names that a module, class or function body binds, and what each is bound to."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from foldline.ide.analysis import syntax
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
    `passed` if code may change a list through another name, `given` if a call gets the list, `*` if
    a star import may bind it, and `?` if the value is unknown.
    """

    name: str
    node: syntax.Node
    """The statement or call that binds it."""
    conditional: bool
    value: syntax.Expression | None = None
    index: int | None = None
    change: str = ""

    @property
    def sure(self) -> bool:
        """True if it certainly gives the name a new value."""
        return not (self.change or self.conditional)

    def before(self, node: syntax.Node) -> bool:
        """Return True if the binding precedes a node of the same file."""
        return self.offset < node.anchor.at(node.start)

    @property
    def offset(self) -> int:
        """Its offset in the file."""
        return self.node.anchor.at(self.node.start)


EVERY_NAME = "*"
"""Stands for all names of a module: one of its star imports changed."""

Bindings: TypeAlias = "Mapping[str, tuple[Bound, ...]]"


def bindings(statements: Iterable[syntax.Statement]) -> Iterator[Bound]:
    """Yield the bindings of a body, in source order."""
    for statement in statements:
        yield from _bindings(statement, conditional=False)


def _bindings(statement: syntax.Statement, *, conditional: bool) -> Iterator[Bound]:
    if isinstance(statement, syntax.Assign):
        yield from _assigned(statement, conditional=conditional)
        yield from _given(statement.value, conditional=conditional)
    elif isinstance(statement, syntax.Import):
        star = EVERY_NAME if statement.bound == EVERY_NAME else ""
        yield Bound(statement.bound, statement, conditional, change=star)
    elif isinstance(statement, syntax.ClassDefinition | syntax.FunctionDefinition):
        yield Bound(statement.name.id, statement, conditional)
    elif isinstance(statement, syntax.Compound):
        for name in statement.bound:
            yield Bound(name, statement, conditional)
        for inner in statement.body:
            sure = statement.keyword == "with"
            yield from _bindings(inner, conditional=conditional or not sure)
    elif isinstance(statement, syntax.Evaluate) and isinstance(statement.value, syntax.Call):
        yield from _changed(statement.value, conditional=conditional)
        yield from _given(statement.value, conditional=conditional)


def _assigned(node: syntax.Assign, *, conditional: bool) -> Iterator[Bound]:
    for target in node.targets:
        if isinstance(target, syntax.Name):
            if node.value is not None:
                yield Bound(target.id, node, conditional, node.value, None, node.operator)
        elif isinstance(target, syntax.Display):
            for index, item in enumerate(target.items):
                if isinstance(item, syntax.Starred):
                    break
                if isinstance(item, syntax.Name):
                    yield Bound(item.id, node, conditional, node.value, index)
        elif isinstance(target, syntax.Attribute | syntax.Subscript) and isinstance(
            target.value, syntax.Name
        ):
            change = "=" if isinstance(target, syntax.Attribute) else "?"
            yield Bound(target.value.id, node, conditional, change=change)


def _changed(call: syntax.Call, *, conditional: bool) -> Iterator[Bound]:
    func = call.func
    if not (isinstance(func, syntax.Attribute) and isinstance(func.value, syntax.Name)):
        return
    name, method = func.value.id, func.attr.id
    if method in ("append", "extend") and len(call.args) == 1:
        yield Bound(name, call, conditional, call.args[0], change=method)
    elif method == "bind":
        yield Bound(name, call, conditional, call, change=method)
    elif method in ("insert", "remove", "clear", "pop", "sort", "reverse", "update", "setdefault"):
        yield Bound(name, call, conditional, change="?")


def _given(value: syntax.Expression | None, *, conditional: bool) -> Iterator[Bound]:
    if isinstance(value, syntax.Call):
        for item in (*value.args, *(keyword.value for keyword in value.keywords)):
            if isinstance(item, syntax.Name):
                yield Bound(item.id, item, conditional, value, change="given")


_HIDDEN = re.compile(r"\b(?:global|exec|vars|globals|setattr|delattr|modules|__dict__)\b|:=")
_NEUTRAL = ("bind", "given", EVERY_NAME)
_SETTERS = ("vars", "setattr", "delattr")


def doubts(statement: TopLevel) -> Iterator[str]:
    """Yield the module's names that a statement may change where no binding shows it.

    With a `.`, only an attribute may be another: `Settings.`. `EVERY_NAME` stands for code that
    may change any of them.
    """
    yield from _changed_inside(statement.nodes, frozenset())
    if _HIDDEN.search(statement.text) is None:
        return
    try:
        nodes = [*ast.walk(ast.parse(statement.text))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    functions = (one for one in nodes if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef)))
    local = {id(inner) for function in functions for inner in ast.walk(function)}
    for node in nodes:
        match node:
            case ast.Global(names):
                yield from names
            case ast.NamedExpr(ast.Name(name)) if id(node) not in local:
                yield name
            case ast.Call(
                ast.Name(function), [ast.Name(name) | ast.Attribute(ast.Name(name)), *_]
            ) if function in _SETTERS:
                yield name
            case ast.Attribute(ast.Name(name), "__dict__"):
                yield name
            case ast.Call(ast.Name("globals" | "vars" | "setattr" | "delattr")):
                yield EVERY_NAME
            case ast.Call(ast.Name("exec"), [_], []):
                yield EVERY_NAME
            case ast.Subscript(ast.Attribute(_, "modules"), ast.Name("__name__")):
                yield EVERY_NAME


def _changed_inside(statements: Iterable[syntax.Statement], local: frozenset[str]) -> Iterator[str]:
    """Yield the names that functions change without binding them: `SECTIONS.append(…)`."""
    for statement in statements:
        if isinstance(statement, syntax.FunctionDefinition):
            bound_inside = [*bindings(statement.body)]
            names = {bound.name for bound in bound_inside if not bound.change}
            inside = local | names | {parameter.name.id for parameter in statement.parameters}
            for one in bound_inside:
                if one.change not in ("", "+=", *_NEUTRAL) and one.name not in inside:
                    yield f"{one.name}." if one.change == "=" else one.name
            yield from _changed_inside(statement.body, inside)
        elif isinstance(statement, syntax.ClassDefinition | syntax.Compound):
            yield from _changed_inside(statement.body, local)


def table(found: Iterable[Bound]) -> dict[str, tuple[Bound, ...]]:
    """Group bindings by name, each in source order; a star import is one of the names above it."""
    result: dict[str, list[Bound]] = {}
    same: dict[str, str] = {}
    """The names that were given the value of another name, and that one."""
    for bound in found:
        if bound.name == EVERY_NAME:
            for bounds in result.values():
                bounds.append(bound)
        stars = () if bound.sure or bound.name == EVERY_NAME else result.get(EVERY_NAME, ())
        result.setdefault(bound.name, [*stars]).append(bound)
        if not bound.change:
            same.pop(bound.name, None)
            if isinstance(bound.value, syntax.Name) and bound.index is None:
                same[bound.name] = same.get(bound.value.id, bound.value.id)
        elif bound.name in same or bound.name in same.values():
            if bound.change in ("bind", "=", EVERY_NAME):
                continue
            change = bound.change if bound.change == "given" else "passed"
            origin = same.get(bound.name, bound.name)
            for name in {origin, *(one for one in same if same[one] == origin)} - {bound.name}:
                value = bound.value if change == "given" else None
                result.setdefault(name, []).append(
                    Bound(name, bound.node, bound.conditional, value, change=change)
                )
    return {name: tuple(bounds) for name, bounds in result.items()}


@dataclass(slots=True, eq=False)
class ModuleScope:
    """The names of a file."""

    file: str
    names: Bindings
    stars: tuple[syntax.Import, ...]
    doubts: frozenset[str] = frozenset()
    """Names that may have another value: see `doubts`."""

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
    function: syntax.FunctionDefinition | None = None
    entries: dict[int, Entry] = field(default_factory=dict)
    """Values evaluated in this scope, by the `id` of the node."""

    @property
    def module(self) -> ModuleScope:
        return self.parent.module


Scope: TypeAlias = ModuleScope | BodyScope


class ScopeCache:
    """Caches the bindings of statements that stay the same between edits."""

    def __init__(self) -> None:
        self._bound: dict[int, tuple[TopLevel, tuple[Bound, ...], tuple[str, ...]]] = {}

    def update(self, scope: ModuleScope, parsed: Parsed) -> frozenset[str]:
        """Update a module's names, and return those whose meaning changed."""
        kept: dict[int, tuple[TopLevel, tuple[Bound, ...], tuple[str, ...]]] = {}
        found: list[Bound] = []
        for statement in parsed.statements:
            key = id(statement.nodes)
            entry = self._bound.get(key)
            if entry is None or entry[0].nodes is not statement.nodes:
                entry = (statement, tuple(bindings(statement.nodes)), tuple(doubts(statement)))
            kept[key] = entry
            found.extend(entry[1])
        self._bound = kept
        bound = {one.name for one in found if one.change != "given"}
        old, new = scope.names, table(one for one in found if one.name in bound)
        scope.names = new
        was = scope.doubts
        scope.doubts = frozenset(name for _, _, names in kept.values() for name in names)
        doubtful = was ^ scope.doubts
        scope.stars = tuple(
            bound.node for bound in new.get("*", ()) if isinstance(bound.node, syntax.Import)
        )
        if old.get("*") != new.get("*") or EVERY_NAME in doubtful:
            return frozenset({*old, *new, EVERY_NAME})
        names = (name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
        return frozenset((*names, *(name.removesuffix(".") for name in doubtful)))
