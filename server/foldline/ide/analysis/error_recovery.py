"""Recovers statements from unparsable code, such as a call whose bracket isn't closed yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.analysis.lowering.expressions import DEEPEST
from foldline.ide.analysis.syntax import (
    Assign,
    Call,
    Display,
    Evaluate,
    Expression,
    Keyword,
    Name,
    Statement,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import tree_sitter

    from foldline.ide.analysis.lowering.statements import Reader

_EXPRESSIONS = frozenset(
    {
        "attribute",
        "call",
        "concatenated_string",
        "dictionary",
        "false",
        "float",
        "identifier",
        "integer",
        "lambda",
        "list",
        "list_splat",
        "none",
        "string",
        "subscript",
        "true",
        "tuple",
    }
)


def recover_statements(reader: Reader, node: tree_sitter.Node) -> Iterator[Statement]:
    """Yield the assignments and calls recognizable among the children of an error node."""
    children = [child for child in node.children if child.type != "comment"]
    parts = _Parts(reader, children)
    while not parts.done:
        statement = parts.statement()
        if statement is not None:
            yield statement


class _Parts:
    """Parses `name = call(…[…` from a flat list of nodes, as far as it goes."""

    def __init__(self, reader: Reader, nodes: list[tree_sitter.Node]) -> None:
        self.reader = reader
        self.nodes = nodes
        self.at = 0
        self._depth = 0

    @property
    def done(self) -> bool:
        return self.at >= len(self.nodes)

    def _kind(self, ahead: int = 0) -> str:
        index = self.at + ahead
        return self.nodes[index].type if index < len(self.nodes) else ""

    def statement(self) -> Statement | None:
        first = self.nodes[self.at]
        if self._kind() == "identifier" and self._kind(1) == "=":
            target = self.reader.expression(first)
            self.at += 2
            value = self._expression()
            end = value.end if value is not None else target.end
            return Assign(target.anchor, target.start, end, (target,), value)
        if self._kind() in _EXPRESSIONS:
            value = self._expression()
            if value is not None:
                return Evaluate(value.anchor, value.start, value.end, value)
        self.at += 1
        for statement in self.reader.statement(first) if first.is_named else ():
            return statement
        return None

    def _expression(self) -> Expression | None:
        if self.done:
            return None
        node = self.nodes[self.at]
        if node.type in ("[", "("):
            self.at += 1
            items, _ = self._items()
            anchor, start = self.reader.anchor, node.start_byte - self.reader.base
            return Display(anchor, start, self._end(), tuple(items))
        if node.type not in _EXPRESSIONS:
            return None
        self.at += 1
        value = self.reader.expression(node)
        if self._kind() == "(":
            self.at += 1
            items, keywords = self._items()
            return Call(
                value.anchor, value.start, self._end(), value, tuple(items), tuple(keywords)
            )
        return value

    def _end(self) -> int:
        last = self.nodes[min(self.at, len(self.nodes)) - 1]
        return last.end_byte - self.reader.base

    def _items(self) -> tuple[list[Expression], list[Keyword]]:
        self._depth += 1
        try:
            return self._read_items()
        finally:
            self._depth -= 1

    def _read_items(self) -> tuple[list[Expression], list[Keyword]]:
        items: list[Expression] = []
        keywords: list[Keyword] = []
        if self._depth > DEEPEST:
            self.at = len(self.nodes)
        while not self.done:
            node = self.nodes[self.at]
            if node.type in (")", "]"):
                self.at += 1
                break
            if node.type == "keyword_argument":
                keywords.extend(self.reader.arguments([node])[1])
                self.at += 1
            elif node.type == "identifier" and self._kind(1) == "=":
                name = self.reader.expression(node)
                self.at += 2
                value = self._expression()
                if value is not None and isinstance(name, Name):
                    keywords.append(Keyword(name.anchor, name.start, value.end, name, value))
            elif node.type in _EXPRESSIONS or node.type in ("[", "("):
                item = self._expression()
                if item is not None:
                    items.append(item)
            else:
                if node.type == "ERROR":
                    inner, named = self.reader.arguments([node])
                    items.extend(inner)
                    keywords.extend(named)
                self.at += 1
        return items, keywords
