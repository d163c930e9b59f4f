"""Reads the texts of expressions, with the parts that aren't known, and lists of chat messages."""

from __future__ import annotations

import ast
import inspect
import textwrap
from typing import NamedTuple

from foldline.plugins.adopt.model import MARK, Style, unmarked
from foldline.plugins.adopt.scopes import Module, Scope, by_key, callee_of, dotted, keyword_of

TEMPLATES = {
    "from_string": Style.JINJA,
    "from_template": Style.FORMAT,
    "PromptTemplate": Style.FORMAT,
    "Template": Style.TEMPLATE,
}
"""The calls that make a template of a text, and the style of the text."""
MESSAGE_LISTS = ("from_messages", "ChatPromptTemplate")
_LANGCHAIN = {"f-string": Style.FORMAT, "jinja2": Style.JINJA, "mustache": Style.JINJA}
ROLES = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
}
_DEDENTS = {"dedent": textwrap.dedent, "cleandoc": inspect.cleandoc}
_STRIPS = {"strip": str.strip, "lstrip": str.lstrip, "rstrip": str.rstrip}
AFTER = {**_DEDENTS, **_STRIPS}
"""Functions that a source may apply to a text, by name."""


class ChatMessage(NamedTuple):
    """A message in a source: its role, empty if only the program knows it, and its content."""

    role: str
    content: ast.expr
    is_template: bool = True


def text_of(scope: Scope, node: ast.expr | None, depth: int = 0) -> str | None:
    """Return the text of an expression without placeholders; None if it has some or isn't one."""
    pieces = None if node is None else pieces_of(scope, node, depth)
    if pieces is None or not all(isinstance(piece, str) for piece in pieces):
        return None
    return "".join(piece for piece in pieces if isinstance(piece, str))


def pieces_of(scope: Scope, node: ast.expr, depth: int = 0) -> list[str | ast.expr] | None:
    """Return the texts of an expression, and the expressions between them; None for no text."""
    # Names may be defined by one another.
    if depth > 40:
        return None
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr(values=values):
            return [str(one.value) if isinstance(one, ast.Constant) else one for one in values]
        case ast.Name(id=name) if depth and (home := scope.home(node)) and home.outer is None:
            inner = home.value_of(name)
            is_text = isinstance(inner, ast.Constant | ast.JoinedStr | ast.BinOp | ast.Call)
            return pieces_of(home, inner, depth + 1) if inner is not None and is_text else None
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            parts = [pieces_of(scope, side, depth + 1) for side in (left, right)]
            return (
                None if parts == [None, None] else [*(parts[0] or [left]), *(parts[1] or [right])]
            )
        case ast.Call():
            return _called_text(scope, node, depth)
    return None


def calls_after(scope: Scope, node: ast.expr) -> tuple[ast.expr, tuple[str, ...]]:
    """Return a text, and the calls that the source makes with it once it is filled in."""
    inner = _inner(scope, node)
    if inner is None or not isinstance(node, ast.Call) or text_of(scope, node) is not None:
        return node, ()
    text, calls = calls_after(scope, inner)
    return text, (*calls, callee_of(node))


def messages_in(node: ast.expr) -> list[ChatMessage] | None:
    """Return the messages of a list of chat messages; None if it isn't one."""
    is_template = isinstance(node, ast.Call)
    if isinstance(node, ast.Call) and callee_of(node) in MESSAGE_LISTS:
        node = (node.args[0] if node.args else keyword_of(node, "messages")) or node
    if isinstance(node, ast.BinOp):
        parts: list[ast.expr] = []
        inner: ast.expr = node
        while isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Add):
            parts, inner = [*items_of(inner.right), *parts], inner.left
        node = ast.List([*items_of(inner), *parts], ast.Load())
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        return None
    messages = [message_of(item) for item in node.elts]
    if not any(messages) or any(isinstance(item, ast.Constant) for item in node.elts):
        return None
    # What else is in the list is known when the program runs: earlier messages, for example.
    items = [one or ChatMessage("", item) for one, item in zip(messages, node.elts, strict=True)]
    return [one._replace(is_template=is_template and one.is_template) for one in items]


def is_plain_list(node: ast.expr) -> bool:
    """Return True for a list of dictionaries with a role and a text, and nothing else."""
    items = node.elts if isinstance(node, ast.List) else [None]
    return all(isinstance(item, ast.Dict) and len(item.keys) == 2 for item in items)


def starred(node: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Starred(node, ast.Load()), node)


def items_of(node: ast.expr) -> list[ast.expr]:
    """Return what a list has; one starred expression for what isn't known to be one."""
    if isinstance(node, ast.List):
        return node.elts
    return [starred(node)]


def applied(callee: str, pieces: list[str | ast.expr]) -> list[str | ast.expr]:
    """Return pieces of a text after `dedent` or `strip`, as if each value were one word."""
    text = "".join(piece if isinstance(piece, str) else MARK for piece in pieces)
    values = [piece for piece in pieces if not isinstance(piece, str)]
    return list(unmarked(AFTER[callee](text), values))


def _inner(scope: Scope, node: ast.expr) -> ast.expr | None:
    """Return the text with which `dedent` or `strip` is called; None for another expression."""
    match node:
        case ast.Call(func=ast.Attribute(value=text, attr=callee), args=[]) if callee in _STRIPS:
            return text
        case ast.Call(func=ast.Name() | ast.Attribute(value=ast.Name()) as func, args=[text]) if (
            callee_of(node) in _DEDENTS and scope.home(func) is None
        ):
            # Another function of that name does something else.
            first = ast.unparse(func).partition(".")[0]
            origin, real = scope.imports.get(first, scope.imports.get("*", ("", "")))
            home = _DEDENTS[callee_of(node)].__module__
            return text if origin == home and real in (callee_of(node), home, "*") else None
    return None


def _called_text(scope: Scope, node: ast.Call, depth: int) -> list[str | ast.expr] | None:
    callee = callee_of(node)
    if callee == "join" and isinstance(node.func, ast.Attribute) and len(node.args) == 1:
        plain = text_of(scope, node.func.value, depth + 1)
        return None if plain is None else _joined(scope, plain, node.args[0], depth)
    if (text := _inner(scope, node)) is not None:
        inner = pieces_of(scope, text, depth + 1)
        return None if inner is None else applied(callee, inner)
    if callee in TEMPLATES and (argument := text_argument(node)) is not None:
        return pieces_of(scope, argument, depth + 1)
    return None


def _joined(
    scope: Scope, separator: str, node: ast.expr, depth: int
) -> list[str | ast.expr] | None:
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        return None
    parts: list[str | ast.expr] = []
    for item in node.elts:
        if isinstance(item, ast.Starred):
            return None
        parts += [separator] if parts else []
        parts += pieces_of(scope, item, depth + 1) or [item]
    return parts if any(isinstance(piece, str) and piece != separator for piece in parts) else None


def message_of(node: ast.expr) -> ChatMessage | None:
    match node:
        case ast.Dict():
            values = by_key(node)
            match values.get("role"):
                case ast.Constant(value=str(name)):
                    return _with_text(ROLES.get(name, name), values.get("content", node))
        case ast.Tuple(elts=[ast.Constant(value=str(name)), content]) if name in ROLES:
            return _with_text(ROLES[name], content)
        case ast.Call():
            name = callee_of(node)
            is_template = name == "from_template"
            if is_template and isinstance(node.func, ast.Attribute):
                name = (dotted(node.func.value) or "").removesuffix("PromptTemplate")
            text = keyword_of(node, "content") or text_argument(node)
            role = ROLES.get(name.removesuffix("Message").lower())
            if name.endswith("Message") and text is not None and role is not None:
                return _with_text(role, text, is_template)
    return None


def _with_text(role: str, content: ast.expr, is_template: bool = True) -> ChatMessage:
    """Return a message; a list of parts is its text if it has no part but one text."""
    match content:
        case ast.List(elts=[part]) if text := by_key(part).get("text"):
            return ChatMessage(role, text, is_template)
        case ast.List() | ast.ListComp():
            return ChatMessage(f"{role} with parts, such as images", content)
    return ChatMessage(role, content, is_template)


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
