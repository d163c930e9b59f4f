"""Reads Jinja templates into nodes, by Jinja's own lexer and parser; nothing is rendered.

It can only be imported where Jinja is installed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jinja2 import Environment, TemplateSyntaxError, nodes
from jinja2.idtracking import symbols_for_node

from foldline.plugins.adopt import model
from foldline.plugins.adopt.write import one_line
from foldline.records import record

LONGEST_TEST = 500
"""The longest condition that is written in Python, in characters."""

_ENDED = {"macro", "filter", "call", "with", "autoescape", "trans", "block", "if", "for"}
_SIGNS = {"eq": "==", "ne": "!=", "gt": ">", "gteq": ">=", "lt": "<", "lteq": "<="}


@record
class JinjaText:
    """A template as nodes; the preamble shows nothing: macros, assignments, imports."""

    nodes: tuple[model.Node, ...]
    preamble: str
    comments: tuple[str, ...]


def environment(options: model.JinjaOptions) -> Environment:
    """Return an environment for parsing; it renders nothing."""
    return Environment(
        trim_blocks=options.trim_blocks,
        lstrip_blocks=options.lstrip_blocks,
        keep_trailing_newline=True,
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        cache_size=0,
    )


def read_jinja(source: str, options: model.JinjaOptions) -> JinjaText:
    """Read a template.

    Raises:
        AdoptError: It isn't a template, or is a part of another one.
    """
    jinja = environment(options)
    try:
        jinja.parse(source)
        reader = _Reader(jinja, list(_tokens(jinja, source)))
        nodes_read, _ = reader.read((), ())
    except TemplateSyntaxError as error:
        raise model.AdoptError(
            f"line {error.lineno}: this isn't a Jinja template: {error.message}"
        ) from None
    except RecursionError:
        raise model.AdoptError("the template is nested too deeply") from None
    return JinjaText(tuple(nodes_read), "".join(reader.preamble), tuple(reader.comments))


def constants_of(source: str, options: model.JinjaOptions) -> dict[str, list[str | int | float]]:
    """Return what a template compares its variables and attributes with, by their last names."""
    constants: dict[str, list[str | int | float]] = {}
    for node in environment(options).parse(source).find_all(nodes.Compare):
        name = (_path_of(node.expr) or "").rpartition(".")[2]
        for operand in node.ops:
            items = [item for item in _items(operand.expr) if isinstance(item, nodes.Const)]
            values = constants.setdefault(name, [])
            values += [item.value for item in items if isinstance(item.value, str | int | float)]
    return constants


@record
class _Token:
    """Text, a value, or a statement; `raw` is the source of it, delimiters included."""

    kind: str
    text: str
    raw: str
    name: str = ""


def _tokens(jinja: Environment, source: str) -> Iterator[_Token]:
    kind = raw = inner = ""
    for _, token, value in jinja.lex(source):
        raw += value
        if token.endswith("_begin"):
            kind, inner = token.removesuffix("_begin"), ""
        elif not token.endswith("_end") and kind:
            inner += value
        else:
            if kind == "block" and (words := re.match(r"\s*(\w+)(.*)", inner, re.DOTALL)):
                yield _Token(kind, words[2].strip(), raw, words[1])
            elif kind in ("", "raw"):
                yield _Token("text", inner if kind else value, raw)
            else:
                yield _Token(kind, inner.strip(), raw)
            kind = raw = inner = ""


@dataclass(slots=True)
class _Reader:
    """Reads tokens; `hidden` are the variables that only a part of the template has."""

    environment: Environment
    tokens: Sequence[_Token]
    position: int = 0
    preamble: list[str] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    made: dict[str, list[str]] = field(default_factory=dict)
    """The variables and macros that the template itself makes, with the statements that do."""

    def read(
        self, ends: Sequence[str], hidden: tuple[str, ...]
    ) -> tuple[list[model.Node], _Token | None]:
        """Return the nodes before one of the statements `ends`, and that statement."""
        nodes_read: list[model.Node] = []
        while self.position < len(self.tokens):
            token = self.tokens[self.position]
            self.position += 1
            if token.kind == "text":
                before = nodes_read[-1] if nodes_read else None
                if isinstance(before, model.Text):
                    # Only a part that shows nothing is between them, such as a comment.
                    nodes_read[-1] = model.Text(before.text + token.text)
                elif token.text:
                    nodes_read.append(model.Text(token.text))
            elif token.kind == "variable":
                nodes_read.append(self._value(token.text, hidden))
            elif token.kind == "comment":
                self.comments.append(token.text)
            elif token.name in ends:
                return nodes_read, token
            else:
                nodes_read += self._statement(token, hidden)
        return nodes_read, None

    def _statement(self, token: _Token, hidden: tuple[str, ...]) -> Iterator[model.Node]:
        start = self.position - 1
        if token.name == "extends":
            raise model.AdoptError(
                f"the template extends another one ({token.text}): adopt the text that they make "
                "together"
            )
        if token.name == "if":
            yield self._if(token, start, hidden)
        elif token.name == "for":
            yield self._for(token, start, hidden)
        elif token.name == "block":
            yield from self.read(("endblock",), hidden)[0]
        else:
            self._skip(token)
            raw = self._raw(start)
            if token.name in ("macro", "import", "from") or (token.name == "set" and not hidden):
                for name in symbols_for_node(self.environment.parse(raw)).stores:
                    self.made.setdefault(name, []).append(raw)
                self.preamble.append(raw)
            else:
                reason = f"sections have nothing like `{{% {token.name} %}}`"
                yield model.Slot(raw, model.Kind.REMAINDER, reason, f"{token.name} {token.text}")

    def _skip(self, token: _Token) -> None:
        is_block_set = token.name == "set" and "=" not in token.text
        depth = int(token.name in _ENDED or is_block_set)
        while depth and self.position < len(self.tokens):
            inner = self.tokens[self.position]
            self.position += 1
            if inner.kind == "block":
                depth += (inner.name == token.name) - (inner.name == f"end{token.name}")

    def _raw(self, start: int) -> str:
        return "".join(token.raw for token in self.tokens[start : self.position])

    def _if(self, token: _Token, start: int, hidden: tuple[str, ...]) -> model.Node:
        branches: list[tuple[model.Test | None, tuple[model.Node, ...]]] = []
        end: _Token | None = token
        while end is not None and end.name != "endif":
            test = None if end.name == "else" else self._test(end.text, hidden)
            inner, end = self.read(("elif", "else", "endif"), (*hidden, ""))
            branches.append((test, tuple(inner)))
        raw = self._raw(start)
        if _sets([node for _, inner in branches for node in inner]):
            return model.Slot(raw, model.Kind.REMAINDER, _SETS, token.text)
        return model.If(raw, tuple(branches))

    def _for(self, token: _Token, start: int, hidden: tuple[str, ...]) -> model.Node:
        loop = self.environment.parse(f"{{% for {token.text} %}}{{% endfor %}}").body[0]
        assert isinstance(loop, nodes.For)
        names = _names(loop.target)
        body, end = self.read(("else", "endfor"), (*hidden, *names, "loop"))
        otherwise: list[model.Node] = []
        if end is not None and end.name == "else":
            otherwise, _ = self.read(("endfor",), hidden)
        raw = self._raw(start)
        if _sets([*body, *otherwise]):
            return model.Slot(raw, model.Kind.REMAINDER, _SETS, token.text)
        if loop.recursive:
            return model.Slot(
                raw, model.Kind.REMAINDER, "sections have no recursive loops", token.text
            )
        # The `xs` of `x in xs`, a filter included.
        items = token.text.split(" in ", 1)[1].strip()
        is_plain = isinstance(loop.iter, nodes.Name) and loop.test is None
        is_plain = is_plain and not self._is_local(loop.iter, hidden)
        head = f"for {token.text}"
        return model.For(raw, head, names, items, tuple(body), tuple(otherwise), is_plain=is_plain)

    def _value(self, text: str, hidden: tuple[str, ...]) -> model.Slot:
        node = self._expression(text)
        if derived := [name for name in _names(node) if name in self.made]:
            # It needs what the template defines, so that the definitions go with it.
            needed = {raw for name in derived for raw in self.made[name]}
            source = "".join(raw for raw in self.preamble if raw in needed)
            reason = "it needs what the template defines"
            return model.Slot(f"{source}{{{{ {text} }}}}", model.Kind.REMAINDER, reason, text)
        if self._is_local(node, hidden):
            return model.Slot(text, model.Kind.COMPUTED)
        match node:
            case nodes.Name():
                return model.Slot(node.name)
            case _ if "loop" in hidden:
                # The field of an item is a text.
                return model.Slot(text, model.Kind.COMPUTED)
            case nodes.Filter(
                node=nodes.Name(name=name), name="join", args=[nodes.Const(value=str(joint))]
            ) if not node.kwargs:
                return model.Slot(name, form=f"joined({one_line(joint)})")
            case (
                nodes.Filter(
                    node=nodes.Name(name=name),
                    name="default" | "d",
                    args=[nodes.Const(value=str(other)), nodes.Const(value=True)],
                    kwargs=[],
                )
                | nodes.Or(left=nodes.Name(name=name), right=nodes.Const(value=str(other)))
            ) if other:
                return model.Slot(name, form=f"or_else({one_line(other)})")
        return model.Slot(text, model.Kind.COMPUTED)

    def _test(self, text: str, hidden: tuple[str, ...]) -> model.Test:
        node = self._expression(text)
        if len(text) <= LONGEST_TEST and not self._is_local(node, hidden):
            try:
                return model.Test(text, tuple(_condition(node)))
            except _NotPythonError:
                pass
        return model.Test(text, ((text, "bool"),))

    def _is_local(self, node: nodes.Node, hidden: Sequence[str]) -> bool:
        """Return True if an expression needs variables that the template makes."""
        return any(name in hidden or name in self.made for name in _names(node))

    def _expression(self, text: str) -> nodes.Node:
        output = self.environment.parse("{{ " + text + " }}").body
        if not output or not isinstance(output[0], nodes.Output) or not output[0].nodes:
            return nodes.Const(None)
        return output[0].nodes[0]


_SETS = "it assigns variables, which sections can't"


def _sets(inner: Sequence[model.Node]) -> bool:
    return any(
        isinstance(node, model.Slot)
        and node.kind is model.Kind.REMAINDER
        and node.hint.startswith(("set ", "do "))
        for node in inner
    )


class _NotPythonError(Exception):
    """Python has no condition that is true for the same values."""


def _condition(node: nodes.Node) -> Iterator[str | tuple[str, str]]:
    """Yield a condition in Python, with the path and type of each field, or `_NotPythonError`."""
    match node:
        case nodes.And() | nodes.Or():
            yield "("
            yield from _condition(node.left)
            yield " and " if isinstance(node, nodes.And) else " or "
            yield from _condition(node.right)
            yield ")"
        case nodes.Not():
            yield "(not "
            yield from _condition(node.node)
            yield ")"
        case nodes.Const():
            yield repr(bool(node.value))
        case nodes.Compare(ops=[operand]):
            is_list = isinstance(operand.expr, nodes.List | nodes.Tuple)
            items = _items(operand.expr)
            values = tuple(item.value for item in items if isinstance(item, nodes.Const))
            kinds = {type(value).__name__ for value in values}
            types = {"str", "int"} if is_list else {"str", "int", "float", "bool"}
            if len(values) != len(items) or len(kinds) != 1 or not kinds <= types:
                raise _NotPythonError
            if is_list != (operand.op in ("in", "notin")):
                raise _NotPythonError
            sign = _SIGNS.get(operand.op, "in" if operand.op == "in" else "not in")
            yield "("
            yield _field_of(node.expr, kinds.pop())
            yield f" {sign} {values if is_list else values[0]!r})"
        case _:
            yield _field_of(node, "truth")


def _items(node: nodes.Expr) -> list[nodes.Expr]:
    """Return the items of a list or tuple; another expression is the only one."""
    return node.items if isinstance(node, nodes.List | nodes.Tuple) else [node]


def _field_of(node: nodes.Node, kind: str) -> tuple[str, str]:
    path = _path_of(node)
    if path is None:
        raise _NotPythonError
    return path, kind


def _path_of(node: nodes.Node) -> str | None:
    """Return `a.b` for a variable and its attributes; None for anything else."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr):
        owner = _path_of(node.node)
        return None if owner is None else f"{owner}.{node.attr}"
    return None


def _names(node: nodes.Node) -> tuple[str, ...]:
    """Return the variables of an expression."""
    every = [node, *node.find_all(nodes.Name)]
    return tuple(dict.fromkeys(one.name for one in every if isinstance(one, nodes.Name)))
