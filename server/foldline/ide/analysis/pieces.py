"""Pieces of statements: calls that are parsed, lowered and evaluated by themselves.

A prompt is one statement, however many sections it has. Each section's call is a piece, so that an
edit costs the piece that it touches, and the nodes around its own ancestors.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import fields
from typing import TYPE_CHECKING, cast

from foldline.ide.analysis.lowering.expressions import ExpressionReader
from foldline.ide.analysis.syntax import Anchor, Edit, Expression, Literal, Node, Piece
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import tree_sitter

    Parse = Callable[[str], tree_sitter.Node]


class KnownPieces:
    """Pieces of code that is parsed again: those with the same text are reused.

    A reused piece moves, and the pieces in it move along: their anchors get a new parent and start.
    So each is taken once, and none of which a part, or the piece around it, has been taken.
    """

    def __init__(self, pieces: Iterable[Piece]) -> None:
        self._free: dict[tuple[str, int], deque[Piece]] = defaultdict(deque)
        # Ids of anchors: of the pieces that were taken, and of those around them.
        self._taken: set[int] = set()
        self._incomplete: set[int] = set()
        waiting = [*pieces]
        for piece in waiting:
            self._free[piece.anchor.text, piece.anchor.depth].append(piece)
            waiting.extend(piece.pieces)

    def take(self, text: str, depth: int) -> Piece | None:
        """Return a piece of that text and nesting, with all pieces in it; None without one."""
        free = self._free.get((text, depth))
        while free:
            piece = free.popleft()
            if self._is_complete(piece.anchor):
                self._incomplete.update(map(id, _around(piece.anchor)))
                self._taken.add(id(piece.anchor))
                return piece
        return None

    def _is_complete(self, anchor: Anchor) -> bool:
        """Return True unless a piece in it or around it has been taken."""
        return id(anchor) not in self._incomplete and self._taken.isdisjoint(
            map(id, _around(anchor))
        )


def _around(anchor: Anchor) -> Iterator[Anchor]:
    outer = anchor.parent
    while outer is not None:
        yield outer
        outer = outer.parent


@record
class Code:
    """A statement, or a piece of one."""

    anchor: Anchor
    nodes: tuple[Node, ...]
    pieces: list[Piece]


def edited(code: Code, edit: Edit, text: str, parse: Parse) -> Code | None:
    """Return a statement after an edit inside one of its pieces, of which the others are kept.

    None if the edit isn't inside a piece, or leaves more or less than one call there. Its offsets
    are those of the statement before, `code`; `text` is the statement's now.
    """
    around = list(around_edit(code.pieces, edit))
    # The innermost piece that still is one call is read again; those around it are copied.
    new: Piece | None = None
    while new is None:
        if not around:
            return None
        old, start = around.pop()
        new = _reread(old, _part(text, old.anchor, start, edit), parse)
    while around:
        outer, start = around.pop()
        before = Code(outer.anchor, (outer.node,), outer.pieces)
        part = _part(text, outer.anchor, start, edit)
        after = _Mover(before, part, edit.within(start), old, new).code
        old, new = outer, Piece(cast("Expression", after.nodes[0]), after.pieces)
    return _Mover(code, text, edit, old, new).code


def around_edit(pieces: list[Piece], edit: Edit) -> Iterator[tuple[Piece, int]]:
    """Yield the pieces that an edit is in, outermost first, and their offsets.

    Their first and last characters stay.
    """
    start = 0
    while pieces:
        for piece in pieces:
            low = start + piece.anchor.start
            if low < edit.start and edit.old_end < low + len(piece.anchor.text):
                break
        else:
            return
        yield piece, low
        pieces, start = piece.pieces, low


def _part(text: str, anchor: Anchor, start: int, edit: Edit) -> str:
    """Return an anchor's part of the new text of its statement."""
    return text[start : start + len(anchor.text) + edit.new_end - edit.old_end]


def _reread(old: Piece, text: str, parse: Parse) -> Piece | None:
    """Return the call that a piece's new text is; None if it isn't exactly one."""
    # Parse it as a list item: a call inside of a bigger expression.
    root = parse(f"[{text}\n]")
    node: tree_sitter.Node | None = root
    for kind in ("expression_statement", "list", "call"):
        if node is None or node.named_child_count != 1:
            return None
        node = node.named_child(0)
        if node is None or node.type != kind:
            return None
    if root.has_error or node is None or (node.start_byte, node.end_byte) != (1, 1 + len(text)):
        return None
    at, size = old.anchor, node.descendant_count
    anchor = Anchor(at.file, at.start, text, None, at.parent, at.depth, size)
    reader = ExpressionReader(anchor, 1, KnownPieces(old.pieces))
    return Piece(reader.expression(node), reader.pieces)


class _Mover:
    """Copies the nodes of one anchor to a new one, after an edit of one of its pieces."""

    def __init__(self, code: Code, text: str, edit: Edit, before: Piece, after: Piece) -> None:
        self._old = old = code.anchor
        self._edit = edit
        self._before, self._after = before.node, after.node
        size = old.size + after.anchor.size - before.anchor.size
        self._anchor = Anchor(old.file, old.start, text, None, old.parent, old.depth, size)
        pieces = [after if piece is before else piece for piece in code.pieces]
        for piece in pieces:
            piece.anchor.parent = self._anchor
            piece.anchor.start = edit.map(piece.anchor.start)
        self.code = Code(self._anchor, tuple(map(self._moved, code.nodes)), pieces)

    def _moved(self, node: Node) -> Node:
        """Return the copy of a node; a piece is itself."""
        if node.anchor is not self._old:
            return self._after if node is self._before else node
        values = (self._value(getattr(node, name)) for name in _contents(type(node)))
        at = self._edit.map
        return type(node)(self._anchor, at(node.start), at(node.end), *values)

    def _value(self, value: object) -> object:
        if isinstance(value, Node):
            return self._moved(value)
        if isinstance(value, tuple):
            return tuple(map(self._value, value))
        if isinstance(value, Literal):
            at = self._edit.map
            holes = tuple((at(low), at(high)) for low, high in value.interpolations)
            return Literal(at(value.start), at(value.end), holes)
        return value


def _contents(kind: type[Node]) -> tuple[str, ...]:
    """The attributes that make a node of a class, after its place."""
    contents = _CONTENTS.get(kind)
    if contents is None:
        derived = ("anchor", "start", "end", "mapped", "quoted")
        names = (item.name for item in fields(kind))
        contents = _CONTENTS[kind] = tuple(name for name in names if name not in derived)
    return contents


_CONTENTS: dict[type[Node], tuple[str, ...]] = {}
