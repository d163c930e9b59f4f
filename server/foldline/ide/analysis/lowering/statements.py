"""Lowers the parser's tree of one top-level statement to our own nodes.

From code that doesn't parse, such as a call whose bracket isn't closed yet, it takes what it can.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from foldline.ide.analysis import syntax
from foldline.ide.analysis.lowering.expressions import DEEPEST, ExpressionReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import tree_sitter

_BLOCKS = {
    "if_statement": "if",
    "try_statement": "try",
    "with_statement": "with",
    "for_statement": "for",
    "while_statement": "while",
    "match_statement": "match",
}
_CLAUSES = frozenset(
    {"elif_clause", "else_clause", "except_clause", "finally_clause", "case_clause", "block"}
)
_DEFINITIONS = frozenset({"decorated_definition", "class_definition", "function_definition"})
_LOOPS = ("for_statement", "with_statement")


class Reader(ExpressionReader):
    """Lowers statements and the expressions in them."""

    __slots__ = ()

    def statements(self, node: tree_sitter.Node) -> tuple[syntax.Statement, ...]:
        lowered: list[syntax.Statement] = []
        for child in node.named_children:
            lowered.extend(self.statement(child))
        return tuple(lowered)

    def statement(self, node: tree_sitter.Node) -> Iterable[syntax.Statement]:
        """Lower a node to statements; to none if it is nested too deep."""
        if self._depth > DEEPEST:
            return ()
        self._depth += 1
        before, self._whole = self._whole, self._whole or node.type in _DEFINITIONS
        try:
            # Exhaust the generator now, while `_depth` is right.
            return tuple(self._statement(node))
        finally:
            self._depth -= 1
            self._whole = before

    def _statement(self, node: tree_sitter.Node) -> Iterable[syntax.Statement]:
        kind = node.type
        at = self.at(node)
        if kind == "expression_statement":
            return self._expression_statement(node)
        if kind == "decorated_definition":
            definition = node.child_by_field_name("definition")
            if definition is None:
                return ()
            decorators = tuple(
                self.expression(child.named_children[0])
                for child in node.named_children
                if child.type == "decorator" and child.named_children
            )
            return self._definition(definition, decorators)
        if kind in ("class_definition", "function_definition"):
            return self._definition(node, ())
        if kind == "import_from_statement":
            return self._import_from(node)
        if kind == "import_statement":
            return self._import(node)
        if kind == "delete_statement":
            parts = [self.expression(child) for child in node.named_children]
            targets = [one.items if isinstance(one, syntax.Display) else (one,) for one in parts]
            return (syntax.Assign(*at, tuple(chain(*targets)), syntax.Opaque(*at)),)
        if kind == "type_alias_statement":
            name, value = self.field(node, "left"), self.field(node, "right")
            return () if name is None else (syntax.Assign(*at, (name,), value),)
        if kind == "return_statement":
            named = node.named_children
            return (syntax.Return(*at, self.expression(named[0]) if named else None),)
        if kind in _BLOCKS:
            return (self._block(node, _BLOCKS[kind]),)
        if kind == "ERROR":
            return recover_statements(self, node)
        inner = self.inner(node.named_children)
        return (syntax.Evaluate(*at, syntax.Opaque(*at, inner)),) if inner else ()

    def _expression_statement(self, node: tree_sitter.Node) -> Iterable[syntax.Statement]:
        named = node.named_children
        if len(named) != 1:
            return [syntax.Evaluate(*self.at(child), self.expression(child)) for child in named]
        child = named[0]
        if child.type == "assignment":
            return (self._assignment(child),)
        if child.type == "augmented_assignment":
            left, right = self.field(child, "left"), self.field(child, "right")
            operator = child.child_by_field_name("operator")
            if left is None or right is None or operator is None:
                return ()
            sign = self.text(operator) or "+="
            return (syntax.Assign(*self.at(child), (left,), right, None, sign),)
        return (syntax.Evaluate(*self.at(child), self.expression(child)),)

    def _assignment(self, node: tree_sitter.Node) -> syntax.Assign:
        targets: list[syntax.Expression] = []
        annotation: syntax.Expression | None = None
        value: tree_sitter.Node | None = node
        while value is not None and value.type == "assignment":
            left = self.field(value, "left")
            if left is not None:
                targets.append(left)
            annotation = self.field(value, "type") or annotation
            value = value.child_by_field_name("right")
        read = self.expression(value) if value is not None else None
        return syntax.Assign(*self.at(node), tuple(targets), read, annotation)

    def _definition(
        self, node: tree_sitter.Node, decorators: tuple[syntax.Expression, ...]
    ) -> Iterable[syntax.Statement]:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            return ()
        statements = self.statements(body) if body is not None else ()
        if node.type == "class_definition":
            bases = node.child_by_field_name("superclasses")
            listed = self.items(bases) if bases is not None else ()
            generic = node.child_by_field_name("type_parameters") is not None
            return (
                syntax.ClassDefinition(
                    *self.at(node), self.name(name), listed, decorators, statements, generic
                ),
            )
        parameters = node.child_by_field_name("parameters")
        simple = node.children[0].type != "async" and not _yields(body)
        return (
            syntax.FunctionDefinition(
                *self.at(node),
                self.name(name),
                self.parameters(parameters) if parameters is not None else (),
                decorators,
                statements,
                simple,
            ),
        )

    def _block(self, node: tree_sitter.Node, keyword: str) -> syntax.Compound:
        body: list[syntax.Statement] = []
        inner: list[syntax.Expression] = []
        bound: list[str] = []
        pending = list(node.named_children)
        while pending:
            child = pending.pop(0)
            if child.type == "block":
                body.extend(self.statements(child))
            elif child.type in _CLAUSES:
                pending[:0] = child.named_children
            elif child.type not in ("comment", "case_pattern"):
                inner.extend(self.inner([child]))
        if node.type in _LOOPS:
            left = node.child_by_field_name("left")
            heads = [left] if left is not None else []
            heads += [child for child in node.named_children if child.type == "with_clause"]
            bound = [self.text(name) for head in heads for name in _identifiers(head)]
        return syntax.Compound(*self.at(node), keyword, tuple(bound), tuple(inner), tuple(body))

    def _import(self, node: tree_sitter.Node) -> Iterable[syntax.Statement]:
        for child in node.named_children:
            name = child.child_by_field_name("name") or child
            alias = child.child_by_field_name("alias")
            if name.type == "dotted_name":
                shown = self.text(alias) if alias is not None else ""
                yield syntax.Import(*self.at(child), self.text(name), 0, None, shown)

    def _import_from(self, node: tree_sitter.Node) -> Iterable[syntax.Statement]:
        module = node.child_by_field_name("module_name")
        if module is None:
            return
        dotted = self.text(module).replace(" ", "")
        level = len(dotted) - len(dotted.lstrip("."))
        dotted = dotted[level:]
        for child in node.named_children:
            if child.type == "wildcard_import":
                yield syntax.Import(*self.at(child), dotted, level, "*", "*")
        for child in node.children_by_field_name("name"):
            text = self.text(child.child_by_field_name("name") or child)
            alias = child.child_by_field_name("alias")
            shown = self.text(alias) if alias is not None else text
            yield syntax.Import(*self.at(child), dotted, level, text, shown)


def _identifiers(node: tree_sitter.Node) -> Iterable[tree_sitter.Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type == "identifier":
            yield node
        waiting.extend(reversed(node.named_children))


def _yields(node: tree_sitter.Node | None) -> bool:
    waiting = [node] if node is not None else []
    while waiting:
        inner = waiting.pop()
        if inner.type == "yield":
            return True
        waiting.extend(
            child
            for child in inner.named_children
            if child.type not in ("function_definition", "lambda", "class_definition", "string")
        )
    return False


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


def recover_statements(reader: Reader, node: tree_sitter.Node) -> Iterator[syntax.Statement]:
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

    def statement(self) -> syntax.Statement | None:
        first = self.nodes[self.at]
        if self._kind() == "identifier" and self._kind(1) == "=":
            target = self.reader.expression(first)
            self.at += 2
            value = self._expression()
            end = value.end if value is not None else target.end
            return syntax.Assign(target.anchor, target.start, end, (target,), value)
        if self._kind() in _EXPRESSIONS:
            value = self._expression()
            if value is not None:
                return syntax.Evaluate(value.anchor, value.start, value.end, value)
        self.at += 1
        for statement in self.reader.statement(first) if first.is_named else ():
            return statement
        return None

    def _expression(self) -> syntax.Expression | None:
        if self.done:
            return None
        node = self.nodes[self.at]
        if node.type in ("[", "("):
            self.at += 1
            items, _ = self._items()
            anchor, start = self.reader.anchor, node.start_byte - self.reader.base
            return syntax.Display(anchor, start, self._end(), tuple(items))
        if node.type not in _EXPRESSIONS:
            return None
        self.at += 1
        value = self.reader.expression(node)
        if self._kind() == "(":
            self.at += 1
            items, keywords = self._items()
            return syntax.Call(
                value.anchor, value.start, self._end(), value, tuple(items), tuple(keywords)
            )
        return value

    def _end(self) -> int:
        last = self.nodes[min(self.at, len(self.nodes)) - 1]
        return last.end_byte - self.reader.base

    def _items(self) -> tuple[list[syntax.Expression], list[syntax.Keyword]]:
        self._depth += 1
        try:
            return self._read_items()
        finally:
            self._depth -= 1

    def _read_items(self) -> tuple[list[syntax.Expression], list[syntax.Keyword]]:
        items: list[syntax.Expression] = []
        keywords: list[syntax.Keyword] = []
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
                if value is not None and isinstance(name, syntax.Name):
                    keywords.append(syntax.Keyword(name.anchor, name.start, value.end, name, value))
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
