"""Finds the calls that fill in a text: in its module, and in the workspace.

Modules are parsed, and never imported or executed.
"""

from __future__ import annotations

import ast
import re
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from foldline.backends.errors import PathError
from foldline.ide.adopt.model import AdoptError, JinjaOptions, Style, Use
from foldline.ide.analysis.module_analysis import with_line_feeds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.backends.files.base import FileBackend

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
SECONDS = 5.0
"""The time limit of a search of the workspace."""

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


class Calls(NamedTuple):
    """The calls that fill in a text, and the styles in which they and templates read it."""

    uses: list[Use]
    styles: set[Style]


@dataclass(slots=True)
class Module:
    """A parsed module."""

    text: str
    tree: ast.Module
    constants: dict[str, ast.expr] = field(default_factory=dict)
    uses: dict[str, list[Use]] = field(default_factory=dict)
    """The calls that fill in a text, by the name of the variable that has it."""
    styles: dict[str, Style] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    """The modules that imported names are from, with a dot for each level of a relative one."""
    renamed: dict[str, str] = field(default_factory=dict)
    """The names of imported things here, by their own name."""
    jinja: JinjaOptions = field(default_factory=JinjaOptions)
    starts: list[int] = field(default_factory=list)
    """The offset of each line."""
    bound: Counter[str] = field(default_factory=Counter)
    """How often each name is bound or added to."""

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
        raise AdoptError(f"{where}this isn't {runs}: {fault}{_newer(text, error)}") from None
    starts = [0, *(match.end() for match in re.finditer("\n", text)), len(text)]
    module = Module(text, tree, starts=starts)
    for statement in tree.body:
        if name := assigned(statement):
            module.constants[name[0]] = name[1]
    for node in ast.walk(tree):
        _note(module, node)
        if pair := assigned(node):
            module.bound[pair[0]] += 1
        elif isinstance(node, ast.AugAssign) and (added := dotted(node.target)):
            module.bound[added] += 1
    # A call of `template.render` says what the variables of the text are that `template` is from;
    # so does one of `text.format` after `text = NAME` or `text = NAME.replace(…)`.
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign | ast.AnnAssign) and (pair := assigned(node)):
            filled = use_of(pair[1])
            is_part = filled is not None and filled[1].style is Style.REPLACE
            owner = filled[0] if filled is not None and is_part else pair[1]
            inner = _named_text(owner) or dotted(owner)
            if inner is not None and inner != pair[0]:
                module.uses.setdefault(inner, []).extend(module.uses.get(pair[0], ()))
                if pair[0] in module.styles:
                    module.styles.setdefault(inner, module.styles[pair[0]])
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


def in_workspace(files: FileBackend, names: Mapping[str, str]) -> dict[str, Calls]:
    """Return the calls in other modules that fill in texts, by the texts' names.

    Args:
        files: The files of the workspace.
        names: The texts, constants or attributes as `Class.name`, with the file of each.
    """
    found = {name: Calls([], set()) for name in names}
    lasts = {name.rpartition(".")[2] for name in names}
    word = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(lasts)))})\b")
    end = time.monotonic() + SECONDS
    for stamp in files.walk_folder(".") if names else ():
        if time.monotonic() > end:
            break
        if not stamp.path.endswith(".py"):
            continue
        with suppress(PathError, AdoptError):
            text = files.load(stamp.path).text
            if word.search(text):
                _gather(found, parse(with_line_feeds(text)), stamp.path, names)
    return found


def _gather(found: dict[str, Calls], module: Module, path: str, names: Mapping[str, str]) -> None:
    """Add the calls of a module to those of the texts that it doesn't have itself."""
    for name, calls in found.items():
        last = name.rpartition(".")[2]
        if path == names[name] or last in module.constants:
            continue
        for known in {*module.uses, *module.styles}:
            is_it = known == module.renamed.get(last) or known.endswith(f".{last}")
            if is_it or (last != name and known == last):
                calls.uses.extend(replace(use, file=path) for use in module.uses.get(known, ()))
                if known in module.styles:
                    calls.styles.add(module.styles[known])


def use_of(node: ast.AST) -> tuple[ast.expr, Use] | None:
    """Return the text that an expression fills in, and how; None for another expression."""
    match node:
        case ast.BinOp(left=owner, op=ast.Mod(), right=ast.Dict() as given):
            named = {key: ast.unparse(value) for key, value in by_key(given).items()}
            return owner, Use(Style.PERCENT, ast.unparse(node), node.lineno, keywords=named)
        case ast.BinOp(left=owner, op=ast.Mod(), right=given):
            parts = given.elts if isinstance(given, ast.Tuple) else [given]
            arguments = tuple(map(ast.unparse, parts))
            return owner, Use(Style.PERCENT, ast.unparse(node), node.lineno, arguments)
        case ast.Call(func=ast.Attribute(attr="replace")):
            owner, holes = _replaced(node)
            use = Use(Style.REPLACE, ast.unparse(node), node.lineno, holes=holes)
            return (owner, use) if holes else None
        case ast.Call(func=ast.Attribute(value=owner, attr=callee)) if callee in _FILLING:
            words = [(word.arg, word.value) for word in node.keywords if word.arg]
            types = {name: kind for name, value in words if (kind := type_of(value))}
            keywords = {name: ast.unparse(value) for name, value in words}
            style = Style.FORMAT if callee in _FORMATS else Style.TEMPLATE
            arguments = tuple(map(ast.unparse, node.args)) if callee == "format" else ()
            return owner, Use(style, ast.unparse(node), node.lineno, arguments, keywords, types)
    return None


def _replaced(node: ast.expr) -> tuple[ast.expr, tuple[tuple[str, str], ...]]:
    """Return the text of which calls of `replace` replace parts, and these, in their order."""
    match node:
        case ast.Call(
            func=ast.Attribute(value=inner, attr="replace"),
            args=[ast.Constant(value=str(hole)), given],
        ):
            owner, holes = _replaced(inner)
            return owner, (*holes, (hole, ast.unparse(given)))
    return node, ()


def _note(module: Module, node: ast.AST) -> None:
    """Record what an import or a call tells about the texts."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            own, origin = alias.asname or alias.name, alias.name
            if isinstance(node, ast.ImportFrom):
                origin = "." * node.level + (node.module or "")
                module.renamed[alias.name] = own
            module.imports[own] = origin
    elif found := use_of(node):
        owner, use = found
        name = (_named_text(owner) if isinstance(owner, ast.Call) else None) or dotted(owner)
        known = module.uses.setdefault(name, []) if name else []
        # The first of several `replace` is a part of the last one, which was noted before.
        if name and not any(one.source.startswith(f"{use.source}.replace(") for one in known):
            known.append(use)
            # It may be the repair of some word of a text.
            is_repair = use.style is Style.REPLACE and not any(
                _HOLE.fullmatch(hole) for hole, _ in use.holes
            )
            if use.style is not Style.TEMPLATE and not is_repair:
                module.styles.setdefault(name, use.style)
    elif isinstance(node, ast.Call):
        _note_template(module, node)


def _note_template(module: Module, node: ast.Call) -> None:
    """Record the options of a Jinja environment, and the texts of which templates are made."""
    callee = callee_of(node)
    options = {
        word.arg: bool(word.value.value)
        for word in node.keywords
        if word.arg in ("trim_blocks", "lstrip_blocks") and isinstance(word.value, ast.Constant)
    }
    if options and callee in ("Environment", "Template", "SandboxedEnvironment"):
        module.jinja = JinjaOptions(**options)
    if (name := _named_text(node)) is not None:
        module.styles[name] = template_style(module, node)
    if callee in MESSAGE_LISTS:
        for part in ast.walk(node):
            match part:
                case ast.Tuple(elts=[_, text]) if name := dotted(text):
                    module.styles.setdefault(name, template_style(module, node))


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
        origin = module.imports.get(func.value.id, func.value.id)
    else:
        origin = module.imports.get("Template", "string")
    return Style.JINJA if origin.startswith("jinja") else Style.TEMPLATE


def text_argument(node: ast.Call) -> ast.expr | None:
    """Return the text of which a call makes a template."""
    return node.args[0] if node.args else keyword_of(node, "template")


def _named_text(node: ast.expr) -> str | None:
    """Return the variable that holds a template's text: `NAME` in `Template(NAME)`."""
    if isinstance(node, ast.Call) and callee_of(node) in TEMPLATES:
        argument = text_argument(node)
        return None if argument is None else dotted(argument)
    return None


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


def scope_of(tree: ast.Module, line: int) -> Function | None:
    """Return the innermost function around a line."""
    found = None
    for node in ast.walk(tree):
        if isinstance(node, Function) and node.lineno <= line <= (node.end_lineno or 0):
            found = node
    return found


def bound_in(owner: ast.AST) -> Counter[str]:
    """Return how often a function or a module binds each name, imports left out."""
    found: Counter[str] = Counter()
    for node in ast.walk(owner):
        if not isinstance(node, ast.alias) and not isinstance(getattr(node, "ctx", 0), ast.Load):
            found.update(_names_of(node))
    return found


def names_in(owner: ast.AST) -> set[str]:
    """Return the names that an expression or a module binds or reads."""
    return {name for node in ast.walk(owner) for name in _names_of(node)}


def _names_of(node: ast.AST) -> list[str]:
    found = [getattr(node, part, None) for part in ("id", "arg", "name", "asname")]
    return [name for name in found if isinstance(name, str) and not isinstance(node, ast.keyword)]


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
