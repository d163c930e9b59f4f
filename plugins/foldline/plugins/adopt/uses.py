"""Finds the calls that fill in a text: in its module, and in the workspace.

Modules are parsed, and never imported or executed.
"""

from __future__ import annotations

import ast
import math
import re
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from foldline.backends.base.python_ast import parse_module
from foldline.backends.errors import PathError
from foldline.ide.analysis.modules import with_line_feeds
from foldline.plugins.adopt.model import AdoptError, JinjaOptions, Style, Use
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.backends.files.base import FileBackend

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
SECONDS = 5.0
"""The time limit of a search of the workspace."""

MOST_VARIABLES = 40
"""As many variables are followed from a call to its text."""
_FORMATS = ("format", "format_map")
_FILLING = {*_FORMATS, "substitute", "safe_substitute", "render", "render_async"}
SCALARS = ("str", "int", "float", "bool")
TEMPLATES = {
    "from_string": Style.JINJA,
    "from_template": Style.FORMAT,
    "PromptTemplate": Style.FORMAT,
    "Template": Style.TEMPLATE,
}
"""The calls that make a template of a text, and the style of the text."""
MESSAGE_LISTS = ("from_messages", "ChatPromptTemplate")
_NEWER = {
    14: re.compile(r"\b[rR]?[tT][rR]?[\"']|\bexcept\s+[\w.]+\s*,"),
    13: re.compile(r"\b(?:class|def|type)\s+\w+\[[^\]]*="),
    12: re.compile(r"^\s*type\s+\w|\b(?:class|def)\s+\w+\[|\b[rR]?[fF][rR]?[\"']"),
}
"""What a Python 3 of this minor version reads, and none before."""
_HOLE = re.compile(r"[<{\[$%@#_*|].*\w.*", re.DOTALL)
_LANGCHAIN = {"f-string": Style.FORMAT, "jinja2": Style.JINJA, "mustache": Style.JINJA}
TOO_DEEP = (
    "an expression of the module is nested too deep to be read, such as thousands of texts joined "
    "by `+`: write them as one text"
)
RETURN = "return"
"""The name to which a function binds what it returns."""


class Calls(NamedTuple):
    """The calls that fill in a text, and the styles in which they and templates read it."""

    uses: list[Use]
    styles: set[Style]

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


@dataclass(slots=True)
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
    starts: list[int] = field(default_factory=list)
    """The offset of each line."""

    @property
    def scope(self) -> Scope:
        """That of the module itself."""
        return self.scopes.setdefault(self.tree, Scope(self.tree, imports=self.imports))

    def segment(self, node: ast.expr) -> str:
        """Return the source of an expression; `ast` splits the whole module for each."""
        return self.text[slice(*self.span(node))]

    def span(self, node: ast.expr) -> tuple[int, int]:
        """Return the offsets of an expression, which `ast` has in bytes of a line."""
        ends = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset)
        first, last = (
            self.starts[line - 1]
            + len(self.text[self.starts[line - 1] : self.starts[line]].encode()[:column].decode())
            for line, column in ends
        )
        return first, last

    def calls_of(self, scope: Scope, name: str) -> Calls:
        """Return the calls that fill in the text of a variable of a scope."""
        last = name.rpartition(".")[2]
        keys: list[Key] = [(scope, last), *([] if scope.function else [(None, name)])]
        if isinstance(scope.node, ast.ClassDef):
            keys += [(None, last), *([(None, f".{last}")] if scope.node.bases else [])]
        calls = Calls([], set())
        for key in dict.fromkeys(keys):
            calls.add(self.calls.get(key, Calls([], set())))
        calls.uses.sort(key=lambda use: use.line)
        return calls


def parse(text: str) -> Module:
    """Parse a module.

    Raises:
        AdoptError: It isn't Python.
    """
    try:
        tree = parse_module(text)
    except (RecursionError, MemoryError):
        raise AdoptError(TOO_DEEP) from None
    except (SyntaxError, ValueError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) else ""
        fault = error.msg if isinstance(error, SyntaxError) else error
        runs = f"Python {sys.version_info[0]}.{sys.version_info[1]}, which runs foldline"
        raise AdoptError(f"{where}this isn't {runs}: {fault}{_newer(text, error)}") from None
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    module = Module(text, tree, starts=starts)
    fills = [fill for node, scope in _walk(module) for fill in _fills(module, node, scope)]
    for scope, owner, style, use in fills:
        for key, shown, doubt, is_template in _texts(scope, owner, set()):
            calls = module.calls.setdefault(key, Calls([], set()))
            if style is not None and not (is_template and use):
                calls.styles.add(style)
            # The first of several `replace` is a part of the last one, which was noted before.
            parts = (one.source.startswith(f"{use.source}.replace(") for one in calls.uses if use)
            if use is not None and not any(parts):
                calls.uses.append(replace(use, owner=shown, doubt=doubt or use.doubt))
    return module


def _newer(text: str, error: Exception) -> str:
    """Return which Python may read a line that this one doesn't, and what to do."""
    number = error.lineno or 1 if isinstance(error, SyntaxError) else 1
    line = "".join(text.split("\n")[number - 1 : number])
    for minor, marks in _NEWER.items():
        if sys.version_info < (3, minor) and marks.search(line):
            install = f"`uv tool install --python 3.{minor} '.[all]'`"
            return f"; Python 3.{minor} may read it: install foldline with that, {install}"
    return ""


def _walk(module: Module) -> Iterator[tuple[ast.AST, Scope]]:
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


def in_workspace(
    files: FileBackend, texts: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], Calls]:
    """Return the calls in other modules that fill in texts.

    Each text is given by its file and its name: a constant, or an attribute as `Class.name`.
    """
    fillings = {text: Calls([], set()) for text in texts}
    lasts: dict[str, list[tuple[str, str]]] = {}
    for text in fillings:
        lasts.setdefault(text[1].rpartition(".")[2], []).append(text)
    word = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(lasts)))})\b")
    end = time.monotonic() + SECONDS
    for stamp in files.walk_folder(".") if fillings else ():
        if time.monotonic() > end:
            break
        if not stamp.path.endswith(".py"):
            continue
        with suppress(PathError, AdoptError):
            source = files.load(stamp.path).text
            if not word.search(source):
                continue
            module = parse(with_line_feeds(source))
            for (home, name), calls in module.calls.items():
                first, dot, _ = name.partition(".")
                origin, real = module.imports.get(first, ("", name))
                is_known = (first and dot) or {first, "*"} & module.imports.keys()
                last = name.rpartition(".")[2] if dot else real
                for path, attribute in lasts.get(last, ()) if home is None else ():
                    # An attribute of a class may be that of one in another module.
                    is_other = path != stamp.path and (is_known or attribute != last)
                    if is_other and _is_from(path, origin, real):
                        fillings[path, attribute].add(calls, stamp.path)
    return fillings


def _is_from(path: str, origin: str, real: str) -> bool:
    """Return True if a file may have what a module imports from another one."""
    parts = ("", *PurePosixPath(path).with_suffix("").parts)
    return origin.rpartition(".")[2] in parts or real in parts


def use_of(node: ast.AST, scope: Scope | None = None) -> tuple[ast.expr, Use] | None:
    """Return the text that an expression fills in, and how; None for another expression."""
    match node:
        case ast.BinOp(left=owner, op=ast.Mod(), right=ast.Dict() as values):
            named = {key: ast.unparse(value) for key, value in by_key(values).items()}
            return owner, Use(Style.PERCENT, ast.unparse(node), node.lineno, keywords=named)
        case ast.BinOp(left=owner, op=ast.Mod(), right=values):
            parts = values.elts if isinstance(values, ast.Tuple) else [values]
            arguments = tuple(map(ast.unparse, parts))
            return owner, Use(Style.PERCENT, ast.unparse(node), node.lineno, arguments)
        case ast.Call(func=ast.Attribute(attr="replace")):
            owner, holes, once = _replaced(node, scope)
            source = ast.unparse(node)
            doubt = f"`{source[:60]}` replaces a part that isn't known" * ("" in holes)
            use = Use(
                Style.REPLACE,
                source,
                node.lineno,
                keywords={hole: ast.unparse(new) for hole, new in holes.items()},
                doubt=doubt or _filled_later(holes, scope),
                once=frozenset(once),
            )
            return (owner, use) if holes else None
        case ast.Call(func=ast.Attribute(value=owner, attr=callee)) if callee in _FILLING:
            words = [(word.arg, word.value) for word in node.keywords if word.arg]
            types = {name: kind for name, value in words if (kind := type_of(value))}
            keywords = {name: ast.unparse(value) for name, value in words}
            style = Style.FORMAT if callee in _FORMATS else Style.TEMPLATE
            arguments = tuple(map(ast.unparse, node.args)) if callee == "format" else ()
            return owner, Use(style, ast.unparse(node), node.lineno, arguments, keywords, types)
    return None


def _replaced(
    node: ast.expr, scope: Scope | None
) -> tuple[ast.expr, dict[str, ast.expr], set[str]]:
    """Return the text of which calls of `replace` replace parts, and these, in their order.

    A part that isn't known is empty. The last are those that are replaced a number of times.
    """
    match node:
        case ast.Call(func=ast.Attribute(value=inner, attr="replace"), args=[part, new, *count]):
            owner, holes, once = _replaced(inner, scope)
            value = _value_of(part, scope)
            hole = value.value if isinstance(value, ast.Constant) else ""
            if not isinstance(hole, str):
                return node, {}, set()  # `date.replace(2024, 1)`, for example.
            if count or node.keywords:
                once.add(hole)
            return owner, {**holes, hole: new}, once
    return node, {}, set()


def _value_of(node: ast.expr, scope: Scope | None) -> ast.expr | None:
    home = scope.home(node) if scope and isinstance(node, ast.Name) else None
    return home.value_of(node.id) if home and isinstance(node, ast.Name) else node


def _filled_later(holes: dict[str, ast.expr], scope: Scope | None) -> str:
    """Return why a value may be filled in by the `replace` of a later part; empty if it can't."""
    later = list(holes)
    for new in holes.values():
        later = later[1:]
        value = _value_of(new, scope)
        text = str(value.value) if isinstance(value, ast.Constant) else None
        if hole := next((one for one in later if text is None or one in text), None):
            shown = ast.unparse(new)
            return f"`{shown}` may have `{hole}` in it, which the call replaces, too"
    return ""


_Fill: TypeAlias = tuple[Scope, ast.expr, Style | None, Use | None]


def _fills(module: Module, node: ast.AST, scope: Scope) -> Iterator[_Fill]:
    """Yield the texts that an expression fills in or makes a template of, and how."""
    if filling := use_of(node, scope):
        owner, use = filling
        kinds = {name: kind for name, kind, _ in scope.parameters()} if use.keywords else {}
        types = {name: kinds[value] for name, value in use.keywords.items() if value in kinds}
        # What a `replace` replaces may be some word of a text, and not a hole.
        is_told = use.style is not Style.TEMPLATE and (
            use.style is not Style.REPLACE
            or any(
                _HOLE.fullmatch(hole) or (re.search(r"\w", hole) and new[0] not in "'\"")
                for hole, new in use.keywords.items()
            )
        )
        use = replace(use, types={**types, **use.types})
        yield scope, owner, use.style if is_told else None, use
    elif isinstance(node, ast.Call):
        callee = callee_of(node)
        known_options = [one.name for one in fields(JinjaOptions)]
        options = {
            name: bool(word.value.value)
            for word in node.keywords
            if (name := word.arg) and name in known_options and isinstance(word.value, ast.Constant)
        }
        if options and callee in ("Environment", "Template", "SandboxedEnvironment"):
            module.jinja = JinjaOptions(**options)
        texts = [text_argument(node)] if callee in TEMPLATES else []
        if callee in MESSAGE_LISTS:
            pairs = [part.elts for part in ast.walk(node) if isinstance(part, ast.Tuple)]
            texts = [pair[1] for pair in pairs if len(pair) == 2]
        for text in filter(None, texts):
            yield scope, text, template_style(module, node), None


def _texts(
    scope: Scope,
    node: ast.expr | None,
    seen: set[Key],
    doubt: str = "",
    *,
    is_template: bool = False,
) -> Iterator[tuple[Key, str, str, bool]]:
    """Yield the variables whose text an expression may stand for, through templates and variables.

    Each is yielded with its name as written, why it may be another text, and whether a template is
    made of it in between.
    """
    if isinstance(node, ast.Call):
        if callee_of(node) in TEMPLATES:
            func = ast.unparse(node.func)
            if "Chat" in func or "Message" in func:
                doubt = doubt or f"`{func}` makes messages: send `.render(…).messages` yourself"
            yield from _texts(scope, text_argument(node), seen, doubt, is_template=True)
        elif (filling := use_of(node, scope)) and filling[1].style is Style.REPLACE:
            yield from _texts(scope, filling[0], seen, doubt, is_template=is_template)
        return
    name = None if node is None else dotted(node)
    if node is None or name is None or len(seen) > MOST_VARIABLES:
        return
    if (key := (scope.home(node), name)) in seen:
        return
    seen.add(key)
    home, shown = key[0], ast.unparse(node)
    bound = home.bound[name] if home is not None else []
    if len(bound) > 1:
        doubt = doubt or f"`{name}` is assigned in several places"
    yield key, shown, doubt, is_template
    if home is not None and not isinstance(node, ast.Name):
        yield (None, f".{name}"), shown, doubt, is_template  # Of a class derived from this one.
        doubt = doubt or f"`{shown}` may be another text"
    for value, _ in bound:
        # `prompt = prompt` in a class is that of its module.
        inner = home and home.outer if value is not None and dotted(value) == name else home
        yield from _texts(inner or scope, value, seen, doubt, is_template=is_template)


def template_style(module: Module, node: ast.Call) -> Style:
    """Return the style in which a call of `TEMPLATES` or `from_messages` reads its text."""
    form = keyword_of(node, "template_format")
    if isinstance(form, ast.Constant):
        return _LANGCHAIN.get(str(form.value), Style.FORMAT)
    callee = callee_of(node)
    if callee != "Template":
        return TEMPLATES.get(callee, Style.FORMAT)
    func = node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        origin, _ = module.imports.get(func.value.id, (func.value.id, ""))
    else:
        origin, _ = module.imports.get("Template", ("string", ""))
    return Style.JINJA if origin.startswith("jinja") else Style.TEMPLATE


def text_argument(node: ast.Call) -> ast.expr | None:
    """Return the text of which a call makes a template."""
    return node.args[0] if node.args else keyword_of(node, "template")


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


def by_key(node: ast.Dict) -> dict[str, ast.expr]:
    """Return the values of a dictionary whose keys are texts."""
    return {
        key.value: value
        for key, value in zip(node.keys, node.values, strict=True)
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
