"""Lowers the parser's expression trees to our own nodes.

The parser gets text in which every character is one byte (`narrow`), so its byte offsets are our
code point offsets and need no conversion.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.ide.analysis import syntax

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import tree_sitter

    from foldline.ide.analysis.pieces import KnownPieces

DEEPEST = 80
"""Deepest nesting of expressions and statements that is lowered; deeper code stays unknown."""

_SMALLEST_PIECE = 40
"""Number of characters below which a call costs less than an anchor of its own."""

_WIDE = re.compile(r"[^\x00-\x7f]")


def narrow(text: str) -> bytes:
    """Encode the text with one byte per code point: letters stay letters, the rest becomes `?`."""
    if not text.isascii():
        text = _WIDE.sub(lambda match: "x" if f"a{match[0]}".isidentifier() else "?", text)
    return text.encode("ascii")


class ExpressionReader:
    """Lowers expressions; `base` is the offset of the anchor in the parsed text.

    Calls among the arguments and items of module-level code become pieces, with their own anchors.
    Of those in `known`, the nodes are used again.
    """

    __slots__ = ("_depth", "_known", "_whole", "anchor", "base", "pieces")

    def __init__(self, anchor: syntax.Anchor, base: int, known: KnownPieces | None = None) -> None:
        self.anchor = anchor
        self.base = base
        self._known = known
        self._depth = anchor.depth
        self.pieces: list[syntax.Piece] = []
        self._whole = False
        """True inside of definitions, whose code may be evaluated in several scopes."""

    def at(self, node: tree_sitter.Node) -> tuple[syntax.Anchor, int, int]:
        return self.anchor, node.start_byte - self.base, node.end_byte - self.base

    def parameters(self, node: tree_sitter.Node) -> tuple[syntax.Parameter, ...]:
        parameters: list[syntax.Parameter] = []
        keyword_only = False
        for child in node.named_children:
            kind = child.type
            name, star = child, ""
            if kind in ("keyword_separator", "list_splat_pattern"):
                keyword_only = True
            if kind in ("default_parameter", "typed_default_parameter"):
                name = child.child_by_field_name("name") or child
            elif kind == "typed_parameter" and child.named_children:
                name = child.named_children[0]
            if name.type in ("list_splat_pattern", "dictionary_splat_pattern"):
                star = "*" if name.type == "list_splat_pattern" else "**"
                name = name.named_children[0] if name.named_children else name
            if name.type != "identifier":
                continue
            parameters.append(
                syntax.Parameter(
                    *self.at(child),
                    self.name(name),
                    self.field(child, "type"),
                    self.field(child, "value"),
                    star,
                    keyword_only and not star,
                )
            )
        return tuple(parameters)

    def text(self, node: tree_sitter.Node) -> str:
        return self.anchor.text[node.start_byte - self.base : node.end_byte - self.base]

    def name(self, node: tree_sitter.Node) -> syntax.Name:
        return syntax.Name(*self.at(node), self.text(node))

    def expression(self, node: tree_sitter.Node) -> syntax.Expression:
        """Lower an expression; `Opaque` for a kind that prompts don't use."""
        if self._depth > DEEPEST:
            return syntax.Opaque(*self.at(node))
        self._depth += 1
        try:
            read = _READERS.get(node.type)
            lowered = read(self, node) if read is not None else None
            return lowered or syntax.Opaque(*self.at(node), self.inner(node.named_children))
        finally:
            self._depth -= 1

    def field(self, node: tree_sitter.Node, name: str) -> syntax.Expression | None:
        """Lower the child in a field of the grammar; None without one."""
        child = node.child_by_field_name(name)
        return self.expression(child) if child is not None else None

    def element(self, node: tree_sitter.Node) -> syntax.Expression:
        """Lower an argument or an item; a call may become a piece."""
        size = node.end_byte - node.start_byte
        small = node.type != "call" or size < _SMALLEST_PIECE or node.has_error
        if small or self._whole or self._depth > DEEPEST:
            return self.expression(node)
        text, start = self.text(node), node.start_byte - self.base
        piece = self._known.take(text, self._depth) if self._known is not None else None
        if piece is not None:
            piece.anchor.parent, piece.anchor.start = self.anchor, start
        else:
            outer, base, around = self.anchor, self.base, self.pieces
            size = node.descendant_count
            self.anchor = syntax.Anchor(outer.file, start, text, None, outer, self._depth, size)
            self.base, self.pieces = node.start_byte, []
            piece = syntax.Piece(self.expression(node), self.pieces)
            self.anchor, self.base, self.pieces = outer, base, around
        self.pieces.append(piece)
        return piece.node

    def string(self, node: tree_sitter.Node) -> syntax.Expression:
        return syntax.String(*self.at(node), (self._literal(node),), self._interpolated([node]))

    def strings(self, node: tree_sitter.Node) -> syntax.Expression:
        parts = [part for part in node.named_children if part.type == "string"]
        literals = tuple(self._literal(part) for part in parts)
        return syntax.String(*self.at(node), literals, self._interpolated(parts))

    def _interpolated(self, parts: list[tree_sitter.Node]) -> tuple[syntax.Expression, ...]:
        return tuple(
            self.expression(child.named_children[0])
            for part in parts
            for child in part.named_children
            if child.type == "interpolation" and child.named_children
        )

    def attribute(self, node: tree_sitter.Node) -> syntax.Expression | None:
        value, attr = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        if value is None or attr is None:
            return None
        return syntax.Attribute(*self.at(node), self.expression(value), self.name(attr))

    def subscript(self, node: tree_sitter.Node) -> syntax.Expression | None:
        value = self.field(node, "value")
        items = tuple(self.expression(item) for item in node.children_by_field_name("subscript"))
        return syntax.Subscript(*self.at(node), value, items) if value is not None else None

    def constant(self, node: tree_sitter.Node) -> syntax.Expression:
        return syntax.Constant(*self.at(node), _number(node.type, self.text(node)))

    def display(self, node: tree_sitter.Node) -> syntax.Expression:
        return syntax.Display(*self.at(node), self.items(node))

    def starred(self, node: tree_sitter.Node) -> syntax.Expression | None:
        named = node.named_children
        return syntax.Starred(*self.at(node), self.expression(named[0])) if named else None

    def wrapped(self, node: tree_sitter.Node) -> syntax.Expression | None:
        named = [child for child in node.named_children if child.type != "comment"]
        return self.expression(named[0]) if len(named) == 1 else None

    def walrus(self, node: tree_sitter.Node) -> syntax.Expression | None:
        return self.field(node, "value")

    def operation(self, node: tree_sitter.Node) -> syntax.Expression | None:
        left, right = self.field(node, "left"), self.field(node, "right")
        sign = node.child_by_field_name("operator")
        if left is None or right is None or sign is None:
            return None
        return syntax.Operation(*self.at(node), left, self.text(sign), right)

    def conditional(self, node: tree_sitter.Node) -> syntax.Expression | None:
        named = [child for child in node.named_children if child.type != "comment"]
        if len(named) != 3:
            return None
        body, test, orelse = (self.expression(child) for child in named)
        return syntax.Conditional(*self.at(node), body, test, orelse)

    def anonymous(self, node: tree_sitter.Node) -> syntax.Expression | None:
        parameters = node.child_by_field_name("parameters")
        listed = self.parameters(parameters) if parameters is not None else ()
        body = self.field(node, "body")
        return syntax.Lambda(*self.at(node), listed, body) if body is not None else None

    def call(self, node: tree_sitter.Node) -> syntax.Expression:
        at = self.at(node)
        func, arguments = self.field(node, "function"), node.child_by_field_name("arguments")
        if func is None or arguments is None:
            return syntax.Opaque(*at, self.inner(node.named_children))
        if arguments.type != "argument_list":  # f(x for x in y)
            inner = (self.expression(arguments),)
            return syntax.Call(*at, func, inner, ())
        positional, keywords = self.arguments(arguments.children)
        return syntax.Call(*at, func, positional, keywords)

    def arguments(
        self, nodes: Iterable[tree_sitter.Node]
    ) -> tuple[tuple[syntax.Expression, ...], tuple[syntax.Keyword, ...]]:
        positional: list[syntax.Expression] = []
        keywords: list[syntax.Keyword] = []
        for child in _flat(nodes):
            at = self.at(child)
            if child.type == "keyword_argument":
                name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
                if name is not None and value is not None:
                    keywords += self._keywords(name, value, at)
            elif child.type == "dictionary_splat":
                named = child.named_children
                if named:
                    keywords.append(syntax.Keyword(*at, None, self.expression(named[0])))
            else:
                positional.append(self.element(child))
        return tuple(positional), tuple(keywords)

    def _keywords(
        self, name: tree_sitter.Node, value: tree_sitter.Node, at: tuple[syntax.Anchor, int, int]
    ) -> Iterator[syntax.Keyword]:
        """Yield a keyword argument, and those that a missing comma joined to its string.

        Of `title="Intro" key="intro"` the parser makes one string with an error inside.
        """
        joined = value.type == "concatenated_string" and value.has_error
        runs: list[tuple[tree_sitter.Node, list[tree_sitter.Node]]] = [(name, [])]
        for part in value.named_children if joined else ():
            if part.type == "ERROR" and part.named_children[:1]:
                runs.append((part.named_children[0], []))
            elif part.type == "string":
                runs[-1][1].append(part)
        if len(runs) == 1:
            yield syntax.Keyword(*at, self.name(name), self.element(value))
            return
        for label, parts in runs:
            if label.type == "identifier" and parts:
                start, end = parts[0].start_byte - self.base, parts[-1].end_byte - self.base
                literals = tuple(self._literal(part) for part in parts)
                text = syntax.String(self.anchor, start, end, literals, self._interpolated(parts))
                yield syntax.Keyword(
                    self.anchor, label.start_byte - self.base, end, self.name(label), text
                )

    def items(self, node: tree_sitter.Node) -> tuple[syntax.Expression, ...]:
        return tuple(
            self.element(child)
            for child in _flat(node.children)
            if child.type != "keyword_argument"
        )

    def union_type(self, node: tree_sitter.Node) -> syntax.Expression | None:
        named = [child for child in node.named_children if child.type != "comment"]
        if len(named) != 2:
            return None
        return syntax.Operation(
            *self.at(node), self.expression(named[0]), "|", self.expression(named[1])
        )

    def generic_type(self, node: tree_sitter.Node) -> syntax.Expression:
        at = self.at(node)
        named = node.named_children
        if not named:
            return syntax.Opaque(*at)
        items = named[1].named_children if len(named) > 1 else []
        items = [item for item in items if item.type != "comment"]
        return syntax.Subscript(
            *at, self.expression(named[0]), tuple(self.expression(item) for item in items)
        )

    def dictionary(self, node: tree_sitter.Node) -> syntax.Expression:
        keys: list[syntax.Expression | None] = []
        values: list[syntax.Expression] = []
        for child in _flat(node.children):
            if child.type == "pair":
                key, value = self.field(child, "key"), self.field(child, "value")
                if key is not None and value is not None:
                    keys.append(key)
                    values.append(value)
            elif child.type == "dictionary_splat" and child.named_children:
                keys.append(None)
                values.append(self.expression(child.named_children[0]))
        return syntax.Dictionary(*self.at(node), tuple(keys), tuple(values))

    def _literal(self, node: tree_sitter.Node) -> syntax.Literal:
        holes = tuple(
            (child.start_byte - self.base, child.end_byte - self.base)
            for child in node.named_children
            if child.type == "interpolation"
        )
        return syntax.Literal(node.start_byte - self.base, node.end_byte - self.base, holes)

    def inner(self, nodes: list[tree_sitter.Node]) -> tuple[syntax.Expression, ...]:
        """Lower the calls and names anywhere inside expressions that we don't model."""
        parts: list[syntax.Expression] = []
        waiting = nodes[::-1]
        while waiting:
            node = waiting.pop()
            if node.type in _READERS:
                if node.type != "identifier":
                    parts.append(self.expression(node))
            elif node.type != "comment":
                waiting.extend(reversed(node.named_children))
        return tuple(parts)


_READERS: Mapping[str, Callable[[ExpressionReader, tree_sitter.Node], syntax.Expression | None]] = {
    "attribute": ExpressionReader.attribute,
    "binary_operator": ExpressionReader.operation,
    "boolean_operator": ExpressionReader.operation,
    "call": ExpressionReader.call,
    "concatenated_string": ExpressionReader.strings,
    "conditional_expression": ExpressionReader.conditional,
    "dictionary": ExpressionReader.dictionary,
    "generic_type": ExpressionReader.generic_type,
    "union_type": ExpressionReader.union_type,
    "identifier": ExpressionReader.name,
    "lambda": ExpressionReader.anonymous,
    "named_expression": ExpressionReader.walrus,
    "string": ExpressionReader.string,
    "subscript": ExpressionReader.subscript,
    **dict.fromkeys(
        ("true", "false", "none", "ellipsis", "integer", "float"), ExpressionReader.constant
    ),
    **dict.fromkeys(
        ("list", "tuple", "set", "expression_list", "pattern_list", "tuple_pattern"),
        ExpressionReader.display,
    ),
    **dict.fromkeys(
        ("list_splat", "list_splat_pattern", "parenthesized_list_splat"), ExpressionReader.starred
    ),
    **dict.fromkeys(("parenthesized_expression", "type"), ExpressionReader.wrapped),
}


def _flat(nodes: Iterable[tree_sitter.Node]) -> Iterable[tree_sitter.Node]:
    """The named nodes, including those inside errors: one slip must not hide the rest."""
    waiting = list(nodes)[::-1]
    while waiting:
        child = waiting.pop()
        if child.type == "ERROR":
            waiting.extend(reversed(child.named_children))
        elif child.is_named and child.type != "comment":
            yield child


def _number(kind: str, text: str) -> bool | int | float | None:
    if kind in ("true", "false"):
        return kind == "true"
    try:
        if kind == "integer":
            return int(text, 0)
        if kind == "float":
            return float(text)
    except ValueError:
        return None
    return None
