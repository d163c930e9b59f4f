"""The names that a module's scopes bind, and the parts of its syntax tree that tell of prompts."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

from foldline.ide.analysis.model import LineTable
from foldline.plugins.adopt.model import JinjaOptions, Style, Use
from foldline.records import record

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
SCALARS = ("str", "int", "float", "bool")
RETURN = "return"
"""The name to which a function binds what it returns."""


@record
class Calls:
    """The calls that fill in a text, and the styles in which they and templates read it."""

    uses: list[Use] = field(default_factory=list)
    styles: set[Style] = field(default_factory=set)

    def add(self, other: Calls, file: str = "") -> None:
        """Add the calls of a module."""
        self.uses.extend(replace(use, file=file) for use in other.uses)
        self.styles.update(other.styles)


class Bound(NamedTuple):
    """One binding of a name: its value, None for one that isn't an expression of its own."""

    value: ast.expr | None
    is_direct: bool
    """It stands in no branch or loop."""


@record(eq=False)
class Scope:
    """The names that a module, class or function binds, in the order of the source."""

    node: ast.Module | ast.ClassDef | Function
    name: str = ""
    """The names of the classes and functions around it, and its own."""
    outer: Scope | None = None
    bound: dict[str, list[Bound]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Those of its module."""

    def bind(self, name: str, value: ast.expr | None = None, column: int = -1) -> None:
        is_direct = column == self.node.body[0].col_offset
        self.bound.setdefault(name, []).append(Bound(value, is_direct))

    @property
    def function(self) -> Function | None:
        """The innermost function that it is or stands in."""
        if isinstance(self.node, Function) or self.outer is None:
            return self.node if isinstance(self.node, Function) else None
        return self.outer.function

    def home(self, node: ast.expr) -> Scope | None:
        """Return the scope that binds a name which is read here; None for one from elsewhere."""
        name, scope = dotted(node), self
        while name and scope.outer is not None:
            # A name in a class is read by its functions as an attribute.
            is_seen = scope is self or not isinstance(scope.node, ast.ClassDef)
            if name in scope.bound and is_seen is isinstance(node, ast.Name):
                return scope
            scope = scope.outer
        return scope if isinstance(node, ast.Name) and name in scope.bound else None

    def value_of(self, name: str, line: float = math.inf) -> ast.expr | None:
        """Return the last value of a name above a line; None if another one is possible."""
        bound = self.bound.get(name, [])
        before = [one.value for one in bound if one.value is None or one.value.lineno < line]
        return before[-1] if before and all(one.is_direct for one in bound) else None

    def parameters(self) -> Iterator[tuple[str, str, ast.expr | None]]:
        """Yield the parameters that have a plain type, with the type and the default."""
        if not isinstance(self.node, Function):
            return
        arguments = self.node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        missing = [None] * (len(positional) - len(arguments.defaults))
        defaults = [*missing, *arguments.defaults, *arguments.kw_defaults]
        for argument, default in zip([*positional, *arguments.kwonlyargs], defaults, strict=True):
            kind = parameter_type(argument.annotation, default)
            if kind is not None:
                is_kept = (scalar_of(default) or "None") in kind.split(" | ")
                yield argument.arg, kind, default if is_kept else None


Key: TypeAlias = tuple[Scope | None, str]
"""A name and the scope that binds it; None for imports, attributes and keys."""


@dataclass
class Module:
    """A parsed module."""

    text: str
    tree: ast.Module
    scopes: dict[ast.AST, Scope] = field(default_factory=dict)
    calls: dict[Key, Calls] = field(default_factory=dict)
    """The calls that fill in a text, by the variable that has it."""
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The module that a name is imported from, with a dot for each level, and its name there."""
    jinja: JinjaOptions = field(default_factory=JinjaOptions)

    @cached_property
    def lines(self) -> LineTable:
        """Its lines, by which `ast` counts."""
        return LineTable(self.text)

    @property
    def scope(self) -> Scope:
        """That of the module itself."""
        return self.scopes.setdefault(self.tree, Scope(self.tree, imports=self.imports))

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Return the offsets of an expression, which `ast` has in bytes of a line."""
        ends = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset)
        first, last = (
            self.lines.offset(line - 1, len(self.lines.line(line - 1).encode()[:column].decode()))
            for line, column in ends
        )
        return first, last

    def calls_of(self, scope: Scope, name: str) -> Calls:
        """Return the calls that fill in the text of a variable of a scope."""
        last = name.rpartition(".")[2]
        keys: list[Key] = [(scope, last), *([] if scope.function else [(None, name)])]
        if isinstance(scope.node, ast.ClassDef):
            keys += [(None, last), *([(None, f".{last}")] if scope.node.bases else [])]
        calls = Calls()
        for key in dict.fromkeys(keys):
            calls.add(self.calls.get(key, Calls()))
        calls.uses.sort(key=lambda use: use.line)
        return calls


def walk(module: Module) -> Iterator[tuple[ast.AST, Scope]]:
    """Yield each node with its scope, outer ones first; note what the scopes bind and import."""
    pending: list[tuple[ast.AST, Scope]] = [(module.tree, module.scope)]
    while pending:
        node, scope = pending.pop()
        bound = None
        if isinstance(node, Function | ast.ClassDef):
            scope.bind(node.name)
            name = f"{scope.name}.{node.name}".lstrip(".")
            scope = module.scopes[node] = Scope(node, name, scope, imports=module.imports)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            origin = ""
            if isinstance(node, ast.ImportFrom):
                origin = "." * node.level + (node.module or "")
            for alias in node.names:
                module.imports[alias.asname or alias.name] = origin or alias.name, alias.name
        elif isinstance(node, ast.Global | ast.Nonlocal):
            for name in node.names:
                (scope.outer or scope).bind(name)
                module.scope.bind(name)
        elif isinstance(node, ast.Return):
            scope.bind(RETURN, node.value)
        elif (pair := assigned(node)) and isinstance(node, ast.Assign | ast.AnnAssign):
            scope.bind(*pair, node.col_offset)
            bound = node.targets[0] if isinstance(node, ast.Assign) else node.target
        elif isinstance(node, ast.AugAssign) and not isinstance(node.target, ast.Attribute):
            scope.bind(dotted(node.target) or "")
            bound = node.target
        elif not isinstance(getattr(node, "ctx", node), ast.Load | ast.alias):
            for name in _names_of(node):
                scope.bind(name)
        yield node, scope
        children = [child for child in ast.iter_child_nodes(node) if child is not bound]
        pending += [(child, scope) for child in reversed(children)]


def dotted(node: ast.expr) -> str | None:
    """Return a name with its owners, `self` and `cls` left out; `D["key"]` is `D.key`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value)):
        return node.attr if owner in ("self", "cls") else f"{owner}.{node.attr}"
    if isinstance(node, ast.Subscript) and (owner := dotted(node.value)):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        return f"{owner}.{key}" if isinstance(key, str) else None
    return None


def names_in(owner: ast.AST) -> set[str]:
    """Return the names that an expression or a module binds or reads."""
    return {name for node in ast.walk(owner) for name in _names_of(node)}


def _names_of(node: ast.AST) -> list[str]:
    names = [getattr(node, part, None) for part in ("id", "arg", "name", "asname")]
    return [name for name in names if isinstance(name, str) and not isinstance(node, ast.keyword)]


def callee_of(node: ast.Call) -> str:
    """Return the last name of what is called."""
    func = node.func
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def keyword_of(node: ast.Call, name: str) -> ast.expr | None:
    """Return the value of a keyword argument."""
    return next((keyword.value for keyword in node.keywords if keyword.arg == name), None)


def assigned(statement: ast.AST) -> tuple[str, ast.expr] | None:
    """Return the variable that a statement assigns, and the value."""
    match statement:
        case (
            ast.Assign(targets=[ast.Name() | ast.Subscript() as target], value=value)
            | ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value)
        ) if name := dotted(target):
            return name, value
    return None


def by_key(node: ast.expr) -> dict[str, ast.expr]:
    """Return the values of a dictionary by the keys that are texts; none of another expression."""
    pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
    return {
        key.value: value
        for key, value in pairs
        if isinstance(key, ast.Constant) and isinstance(key.value, str)
    }


def scalar_of(node: ast.expr | None) -> str | None:
    """Return the type of a constant that a field can have; None for another expression."""
    kind = type(node.value).__name__ if isinstance(node, ast.Constant) else ""
    return kind if kind in SCALARS else None


def parameter_type(annotation: ast.expr | None, default: ast.expr | None) -> str | None:
    """Return the type of a parameter that a field can have; None for another one."""
    written = (scalar_of(default) or "") if annotation is None else ast.unparse(annotation)
    is_none = isinstance(default, ast.Constant) and default.value is None
    plain = re.sub(r"^(?:typing\.)?Optional\[(\w+)\]$|^None \| | \| None$", r"\1", written)
    plain = plain or ("str" if is_none else "")
    if plain not in SCALARS:
        return None
    return f"{plain} | None" if is_none or plain != written else plain


def type_of(node: ast.expr) -> str | None:
    """Return the type of an expression; None if nothing tells."""
    match node:
        case ast.JoinedStr():
            return "str"
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return "bool"
        case ast.Call():
            kinds = {"len": "int", "str": "str", "join": "str", "int": "int", "bool": "bool"}
            return kinds.get(callee_of(node))
    return scalar_of(node)
