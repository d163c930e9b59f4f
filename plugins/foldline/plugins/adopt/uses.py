"""Finds the calls that fill in a text: in its module, and in the workspace.

Modules are parsed, and never imported or executed.
"""

from __future__ import annotations

import ast
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import PurePosixPath
from typing import TypeAlias

from foldline.backends.base.python_ast import parse_module
from foldline.backends.errors import PathError
from foldline.backends.files.base import FileBackend
from foldline.ide.analysis.modules import with_line_feeds
from foldline.plugins.adopt import scopes
from foldline.plugins.adopt.model import AdoptError, JinjaOptions, Style, Use
from foldline.plugins.adopt.texts import MESSAGE_LISTS, TEMPLATES, template_style, text_argument

SECONDS = 5.0
"""The time limit of a search of the workspace."""

MOST_VARIABLES = 40
"""As many variables are followed from a call to its text."""
_FORMATS = ("format", "format_map")
_FILLING = {*_FORMATS, "substitute", "safe_substitute", "render", "render_async"}
_NEWER = {
    14: re.compile(r"\b[rR]?[tT][rR]?[\"']|\bexcept\s+[\w.]+\s*,"),
    13: re.compile(r"\b(?:class|def|type)\s+\w+\[[^\]]*="),
    12: re.compile(r"^\s*type\s+\w|\b(?:class|def)\s+\w+\[|\b[rR]?[fF][rR]?[\"']"),
}
"""Syntax that Python 3 reads from this minor version on."""
_HOLE = re.compile(r"[<{\[$%@#_*|].*\w.*", re.DOTALL)
TOO_DEEP = (
    "an expression of the module is nested too deep to be read, such as thousands of texts joined "
    "by `+`: write them as one text"
)


def parse(text: str) -> scopes.Module:
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
    module = scopes.Module(text, tree)
    fills = [fill for node, scope in scopes.walk(module) for fill in _fills(module, node, scope)]
    for scope, owner, style, use in fills:
        for key, shown, doubt, is_template in _texts(scope, owner, set()):
            calls = module.calls.setdefault(key, scopes.Calls())
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


def in_workspace(
    files: FileBackend, texts: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], scopes.Calls]:
    """Return the calls in other modules that fill in texts.

    Each text is given by its file and its name: a constant, or an attribute as `Class.name`.
    """
    fillings = {text: scopes.Calls() for text in texts}
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


def use_of(node: ast.AST, scope: scopes.Scope | None = None) -> tuple[ast.expr, Use] | None:
    """Return the text that an expression fills in, and how; None for another expression."""
    match node:
        case ast.BinOp(left=owner, op=ast.Mod(), right=values):
            keywords = {key: ast.unparse(value) for key, value in scopes.by_key(values).items()}
            parts = values.elts if isinstance(values, ast.Tuple) else [values]
            arguments = () if isinstance(values, ast.Dict) else tuple(map(ast.unparse, parts))
            return owner, Use(Style.PERCENT, ast.unparse(node), node.lineno, arguments, keywords)
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
            types = {name: kind for name, value in words if (kind := scopes.type_of(value))}
            keywords = {name: ast.unparse(value) for name, value in words}
            style = Style.FORMAT if callee in _FORMATS else Style.TEMPLATE
            arguments = tuple(map(ast.unparse, node.args)) if callee == "format" else ()
            return owner, Use(style, ast.unparse(node), node.lineno, arguments, keywords, types)
    return None


def _replaced(
    node: ast.expr, scope: scopes.Scope | None
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


def _value_of(node: ast.expr, scope: scopes.Scope | None) -> ast.expr | None:
    home = scope.home(node) if scope and isinstance(node, ast.Name) else None
    return home.value_of(node.id) if home and isinstance(node, ast.Name) else node


def _filled_later(holes: dict[str, ast.expr], scope: scopes.Scope | None) -> str:
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


_Fill: TypeAlias = tuple[scopes.Scope, ast.expr, Style | None, Use | None]


def _fills(module: scopes.Module, node: ast.AST, scope: scopes.Scope) -> Iterator[_Fill]:
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
        callee = scopes.callee_of(node)
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
    scope: scopes.Scope,
    node: ast.expr | None,
    seen: set[scopes.Key],
    doubt: str = "",
    *,
    is_template: bool = False,
) -> Iterator[tuple[scopes.Key, str, str, bool]]:
    """Yield the variables whose text an expression may stand for, through templates and variables.

    Each is yielded with its name as written, why it may be another text, and whether a template is
    made of it in between.
    """
    if isinstance(node, ast.Call):
        if scopes.callee_of(node) in TEMPLATES:
            func = ast.unparse(node.func)
            if "Chat" in func or "Message" in func:
                doubt = doubt or f"`{func}` makes messages: send `.render(…).messages` yourself"
            yield from _texts(scope, text_argument(node), seen, doubt, is_template=True)
        elif (filling := use_of(node, scope)) and filling[1].style is Style.REPLACE:
            yield from _texts(scope, filling[0], seen, doubt, is_template=is_template)
        return
    name = None if node is None else scopes.dotted(node)
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
        inner = home and home.outer if value is not None and scopes.dotted(value) == name else home
        yield from _texts(inner or scope, value, seen, doubt, is_template=is_template)
