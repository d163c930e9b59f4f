"""Finds the prompts in a Python module that are strings, and what the module says of their values.

The module is parsed, and never imported or executed.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from foldline.ide.adopt.model import AdoptError, Guess, JinjaOptions, Style
from foldline.ide.adopt.write import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHORTEST = 40
"""The shortest text without placeholders that looks like a prompt, in characters."""
SHORTEST_WITH_VALUES = 12
"""The shortest text with placeholders that does."""

_JINJA = re.compile(r"\{%-?\s*\w+[^{}]*-?%\}|\{\{-?\s*[A-Za-z_][^{}\n]*-?\}\}")
_DOLLAR = re.compile(r"\$\{[A-Za-z_]\w*\}")
_SCALARS = ("str", "int", "float", "bool")
_FILLING = {"format", "format_map", "substitute", "safe_substitute", "render", "render_async"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place in a module with a prompt that can be adopted."""

    name: str
    line: int
    style: Style
    node: ast.expr
    start: int
    """The offset of the statement's line."""
    end: int
    scope: ast.FunctionDef | ast.AsyncFunctionDef | None = None
    is_likely: bool = True
    """It looks like a prompt; other texts have to be named."""


@dataclass(slots=True)
class Module:
    """A parsed module."""

    text: str
    tree: ast.Module
    constants: dict[str, ast.expr] = field(default_factory=dict)
    uses: dict[str, list[ast.Call]] = field(default_factory=dict)
    """The calls that fill in a text, by the name of the variable that has it."""
    styles: dict[str, Style] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    jinja: JinjaOptions = field(default_factory=JinjaOptions)
    starts: list[int] = field(default_factory=list)
    """The offset of each line."""


def parse(text: str) -> Module:
    """Parse a module.

    Raises:
        AdoptError: It isn't Python.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        where = f"line {error.lineno}: " if isinstance(error, SyntaxError) else ""
        fault = error.msg if isinstance(error, SyntaxError) else error
        runs = f"Python {sys.version_info[0]}.{sys.version_info[1]}, which runs foldline"
        newer = "if it is for a newer Python, install foldline with that"
        raise AdoptError(f"{where}this isn't {runs}: {fault}; {newer}") from None
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    module = Module(text, tree, starts=starts)
    for statement in tree.body:
        if name := _assigned(statement):
            module.constants[name[0]] = name[1]
    for node in ast.walk(tree):
        _note(module, node)
    # A call of `template.render` says what the variables of the text are that `template` is from.
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and (pair := _assigned(node)):
            inner = _named_text(pair[1])
            if inner is not None:
                module.uses.setdefault(inner, []).extend(module.uses.get(pair[0], ()))
    return module


def candidates(module: Module) -> list[Candidate]:
    """Return the texts of a module, in the order of the source; not all are likely prompts."""
    found: dict[str, Candidate] = {}
    for candidate in _candidates(module, module.tree.body, "", None):
        known = found.get(candidate.name)
        if known is None or (candidate.is_likely and not known.is_likely):
            found[candidate.name] = candidate
    return sorted(found.values(), key=lambda candidate: candidate.start)


def guesses(module: Module, candidate: Candidate) -> dict[str, Guess]:
    """Return the types and defaults that the module tells of a prompt's variables."""
    found: dict[str, Guess] = {}
    for name, value in module.constants.items():
        if isinstance(value, ast.Constant) and (kind := _scalar(value)):
            found[name] = Guess(kind, _written(value))
    if candidate.scope is not None:
        found.update(_of_function(candidate.scope))
    for call in module.uses.get(candidate.name, ()):
        scope = _scope_of(module.tree, call)
        parameters = {} if scope is None else _of_function(scope)
        for keyword in call.keywords:
            if keyword.arg is None:
                continue
            kind = _type_of(keyword.value, parameters)
            if kind is not None:
                found.setdefault(keyword.arg, Guess(kind))
    return found


def style_of_text(text: str) -> Style:
    """Return the style that a text without any code around it seems to be written in."""
    if _JINJA.search(text):
        return Style.JINJA
    return Style.TEMPLATE if _DOLLAR.search(text) else Style.TEXT


def text_of(module: Module, node: ast.expr | None, depth: int = 0) -> str | None:
    """Return the text of an expression without placeholders; None if it has some or isn't one."""
    pieces = None if node is None else pieces_of(module, node, depth)
    if pieces is None or not all(isinstance(piece, str) for piece in pieces):
        return None
    return "".join(piece for piece in pieces if isinstance(piece, str))


def pieces_of(module: Module, node: ast.expr, depth: int = 0) -> list[str | ast.expr] | None:
    """Return the texts of an expression, and the expressions between them; None for no text."""
    if depth > 40:
        return None
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return [
            value.value
            if isinstance(value, ast.Constant) and isinstance(value.value, str)
            else value
            for value in node.values
        ]
    if isinstance(node, ast.Name) and node.id in module.constants and depth:
        inner = module.constants[node.id]
        is_text = isinstance(inner, ast.Constant | ast.JoinedStr | ast.BinOp)
        return pieces_of(module, inner, depth + 1) if is_text else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left = pieces_of(module, node.left, depth + 1)
        right = pieces_of(module, node.right, depth + 1)
        if left is None and right is None:
            return None
        return [*(left or [node.left]), *(right or [node.right])]
    if isinstance(node, ast.Call):
        return _called_text(module, node, depth)
    return None


def messages_in(node: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """Return the roles and contents of a list of chat messages; None if it isn't one."""
    if isinstance(node, ast.Call) and _callee(node) in ("from_messages", "ChatPromptTemplate"):
        node = node.args[0] if node.args else node
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        return None
    found = []
    for item in node.elts:
        message = _message(item)
        if message is None:
            return None
        found.append(message)
    return found


def _candidates(
    module: Module,
    body: Iterable[ast.stmt],
    prefix: str,
    scope: ast.FunctionDef | ast.AsyncFunctionDef | None,
) -> Iterator[Candidate]:
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from _candidates(module, statement.body, f"{prefix}{statement.name}.", scope)
        elif isinstance(statement, _FUNCTIONS):
            yield from _candidates(module, statement.body, f"{prefix}{statement.name}.", statement)
        elif pair := _assigned(statement):
            yield from _candidate(module, f"{prefix}{pair[0]}", pair[1], statement, scope)
        elif isinstance(statement, ast.Return) and statement.value is not None:
            name = prefix.rstrip(".")
            yield from _candidate(module, name, statement.value, statement, scope)
        else:
            for name in ("body", "orelse", "finalbody"):
                yield from _candidates(module, getattr(statement, name, ()), prefix, scope)


def _candidate(
    module: Module,
    name: str,
    node: ast.expr,
    statement: ast.stmt,
    scope: ast.FunctionDef | ast.AsyncFunctionDef | None,
) -> Iterator[Candidate]:
    style = _style(module, name, node)
    if style is None:
        return
    starts = module.starts
    last = statement.end_lineno or statement.lineno
    yield Candidate(
        name,
        statement.lineno,
        style,
        node,
        starts[statement.lineno - 1],
        starts[min(last, len(starts) - 1)],
        scope,
        style is Style.MESSAGES or _is_likely(module, node, style),
    )


def _is_likely(module: Module, node: ast.expr, style: Style) -> bool:
    pieces = pieces_of(module, node) or []
    length = sum(len(piece.strip()) for piece in pieces if isinstance(piece, str))
    if style is Style.FSTRING:
        return length >= SHORTEST_WITH_VALUES
    return length >= (SHORTEST if style is Style.TEXT else SHORTEST_WITH_VALUES)


def _style(module: Module, name: str, node: ast.expr) -> Style | None:
    if messages_in(node):
        return Style.MESSAGES
    style = module.styles.get(name)
    if isinstance(node, ast.Call):
        callee = _callee(node)
        if callee == "Template":
            style = _template_style(module, node)
        elif callee in ("format", "format_map"):
            return None
        style = _STYLES.get(callee, style)
    pieces = pieces_of(module, node)
    if pieces is None:
        return None
    text = "".join(piece if isinstance(piece, str) else "\0" for piece in pieces)
    if any(not isinstance(piece, str) for piece in pieces):
        return Style.FSTRING
    if style is None:
        style = style_of_text(text)
        if style is Style.TEMPLATE:
            # Without a `Template` around it, the text is sent as it is.
            style = Style.TEXT
    return style


def _called_text(module: Module, node: ast.Call, depth: int) -> list[str | ast.expr] | None:
    callee = _callee(node)
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    plain = text_of(module, receiver, depth + 1)
    if callee in ("strip", "lstrip", "rstrip") and plain is not None and not node.args:
        return [getattr(plain, callee)()]
    if callee == "join" and plain is not None and len(node.args) == 1:
        return _joined(module, plain, node.args[0], depth)
    argument = node.args[0] if node.args else _keyword(node, "template")
    if callee in ("dedent", "cleandoc"):
        import inspect
        import textwrap

        inner = text_of(module, argument, depth + 1)
        if inner is not None:
            return [textwrap.dedent(inner) if callee == "dedent" else inspect.cleandoc(inner)]
        return None
    if callee in ("Template", "from_string", "from_template", "PromptTemplate") and argument:
        return pieces_of(module, argument, depth + 1)
    return None


def _joined(
    module: Module, separator: str, node: ast.expr, depth: int
) -> list[str | ast.expr] | None:
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        return None
    found: list[str | ast.expr] = []
    for item in node.elts:
        if isinstance(item, ast.Starred):
            return None
        found += [separator] if found else []
        found += pieces_of(module, item, depth + 1) or [item]
    return found if any(isinstance(piece, str) and piece != separator for piece in found) else None


def _message(node: ast.expr) -> tuple[str, ast.expr] | None:
    if isinstance(node, ast.Dict):
        values = {
            key.value: value
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant)
        }
        role, content = values.get("role"), values.get("content")
        if isinstance(role, ast.Constant) and isinstance(role.value, str):
            return role.value, content if content is not None else node
    if isinstance(node, ast.Tuple) and len(node.elts) == 2:
        role = node.elts[0]
        if isinstance(role, ast.Constant) and role.value in _ROLES:
            return _ROLES[role.value], node.elts[1]
    if isinstance(node, ast.Call):
        role_name = _MESSAGE_CLASSES.get(_callee(node))
        content = _keyword(node, "content") or (node.args[0] if node.args else None)
        if role_name is not None and content is not None:
            return role_name, content
    return None


_STYLES = {"from_string": Style.JINJA, "from_template": Style.FORMAT}
_ROLES = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
}
_MESSAGE_CLASSES = {
    "SystemMessage": "system",
    "HumanMessage": "user",
    "UserMessage": "user",
    "AIMessage": "assistant",
    "AssistantMessage": "assistant",
}


def _note(module: Module, node: ast.AST) -> None:
    """Record what an import or a call tells about the texts."""
    if isinstance(node, ast.ImportFrom):
        for alias in node.names:
            module.imports[alias.asname or alias.name] = node.module or ""
    elif isinstance(node, ast.Import):
        for alias in node.names:
            module.imports[alias.asname or alias.name] = alias.name
    elif isinstance(node, ast.Call):
        callee = _callee(node)
        if callee in _FILLING and isinstance(node.func, ast.Attribute):
            _note_filling(module, node, node.func.value, callee)
        elif callee in ("Environment", "Template", "SandboxedEnvironment"):
            _note_options(module, node)
        named = _named_text(node)
        if named is not None:
            module.styles[named] = _STYLES.get(callee) or _template_style(module, node)


def _note_filling(module: Module, call: ast.Call, owner: ast.expr, callee: str) -> None:
    name = _named_text(owner) if isinstance(owner, ast.Call) else _dotted(owner)
    if name:
        module.uses.setdefault(name, []).append(call)
        if callee.startswith("format"):
            module.styles.setdefault(name, Style.FORMAT)


def _note_options(module: Module, call: ast.Call) -> None:
    options = {
        keyword.arg: bool(keyword.value.value)
        for keyword in call.keywords
        if keyword.arg in ("trim_blocks", "lstrip_blocks")
        and isinstance(keyword.value, ast.Constant)
    }
    if options:
        module.jinja = JinjaOptions(
            options.get("trim_blocks", False), options.get("lstrip_blocks", False)
        )


def _template_style(module: Module, node: ast.Call) -> Style:
    func = node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name):
        origin = module.imports.get(func.value.id, func.value.id)
    else:
        origin = module.imports.get("Template", "string")
    return Style.JINJA if origin.startswith("jinja") else Style.TEMPLATE


def _named_text(node: ast.expr) -> str | None:
    """Return the variable that holds a template's text: `NAME` in `Template(NAME)`."""
    if isinstance(node, ast.Call) and _callee(node) in ("Template", "from_string", "from_template"):
        return _dotted(node.args[0]) if node.args else None
    return None


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := _dotted(node.value)):
        return node.attr if owner in ("self", "cls") else f"{owner}.{node.attr}"
    return None


def _callee(node: ast.Call) -> str:
    func = node.func
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


def _keyword(node: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in node.keywords if keyword.arg == name), None)


def _assigned(statement: ast.AST) -> tuple[str, ast.expr] | None:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target, value = statement.target, statement.value
    else:
        return None
    return (target.id, value) if isinstance(target, ast.Name) else None


def _of_function(scope: ast.FunctionDef | ast.AsyncFunctionDef) -> dict[str, Guess]:
    arguments = scope.args
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults: dict[str, ast.expr] = {}
    if arguments.defaults:
        last = positional[-len(arguments.defaults) :]
        for argument, default in zip(last, arguments.defaults, strict=True):
            defaults[argument.arg] = default
    for argument, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if given is not None:
            defaults[argument.arg] = given
    found = {}
    for argument in [*positional, *arguments.kwonlyargs]:
        kind = "" if argument.annotation is None else ast.unparse(argument.annotation)
        value = defaults.get(argument.arg)
        scalar = _scalar(value) if isinstance(value, ast.Constant) else None
        if not kind and scalar:
            kind = scalar
        if kind in _SCALARS:
            is_fitting = isinstance(value, ast.Constant) and scalar == kind
            text = _written(value) if is_fitting and isinstance(value, ast.Constant) else None
            found[argument.arg] = Guess(kind, text)
    return found


def _written(node: ast.Constant) -> str:
    return one_line(node.value) if isinstance(node.value, str) else repr(node.value)


def _scalar(node: ast.Constant) -> str | None:
    kind = type(node.value).__name__
    return kind if kind in _SCALARS else None


def _type_of(node: ast.expr, parameters: dict[str, Guess]) -> str | None:
    if isinstance(node, ast.Constant):
        return _scalar(node)
    if isinstance(node, ast.JoinedStr):
        return "str"
    if isinstance(node, ast.Compare) or (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    ):
        return "bool"
    if isinstance(node, ast.Call):
        return {"len": "int", "str": "str", "join": "str", "int": "int", "bool": "bool"}.get(
            _callee(node)
        )
    if isinstance(node, ast.Name) and node.id in parameters:
        return parameters[node.id].type
    return None


def _scope_of(tree: ast.Module, call: ast.Call) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    found = None
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS) and node.lineno <= call.lineno <= (node.end_lineno or 0):
            found = node
    return found


LONGEST = 200_000
"""The longest module that is parsed for this, in characters."""


def candidates_at(text: str, start: int, end: int) -> list[Candidate]:
    """Return the likely prompts of a module that a range touches."""
    if len(text) > LONGEST:
        return []
    return [
        candidate for candidate in _likely(text) if candidate.start <= end and start < candidate.end
    ]


@lru_cache(maxsize=4)
def _likely(text: str) -> tuple[Candidate, ...]:
    try:
        found = candidates(parse(text))
    except AdoptError:
        return ()
    return tuple(candidate for candidate in found if candidate.is_likely)
