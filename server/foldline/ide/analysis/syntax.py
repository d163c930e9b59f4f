"""Syntax nodes for the part of Python that prompts use, with locations that survive edits.

A node's offsets count from the start of its `Anchor`: a top-level statement, or a call in one.
Typing in one piece of code moves the others as a whole, so their nodes, and everything derived from
them, stay valid: only their anchors move.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.source_map import MappedText


@dataclass(slots=True, eq=False)
class Anchor:
    """Location of a top-level statement in its file, or of a call in the code around it.

    A statement that is broken by typing keeps the nodes of its last good text: `edit` is the part
    of that text that was replaced, so that the rest still maps to the right offsets.

    Attributes:
        start: Offset in the file, or in the text of `parent`.
        depth: Nesting that the call is lowered at.
        size: The syntax nodes that the parser made of the text.
    """

    file: str
    start: int
    text: str
    edit: Edit | None = None
    parent: Anchor | None = None
    depth: int = 0
    size: int = 0

    def at(self, offset: int) -> int:
        """Convert an offset in the text to one in the file."""
        anchor = self
        while anchor.parent is not None:
            offset += anchor.start
            anchor = anchor.parent
        if anchor.edit is not None:
            offset = anchor.edit.map(offset)
        return anchor.start + offset

    def range(self, start: int, end: int) -> tuple[int, int]:
        """Convert two offsets in the text."""
        low = self.at(start)
        return low, low + end - start if self.statement.edit is None else self.at(end)

    @property
    def statement(self) -> Anchor:
        """The anchor of the top-level statement."""
        anchor = self
        while anchor.parent is not None:
            anchor = anchor.parent
        return anchor


@record
class Edit:
    """One replacement: `old[start:old_end]` became `new[start:new_end]`."""

    start: int
    old_end: int
    new_end: int

    def within(self, start: int) -> Edit:
        """Return the same edit in offsets that count from `start`."""
        return Edit(self.start - start, self.old_end - start, self.new_end - start)

    def map(self, offset: int) -> int:
        if offset <= self.start:
            return offset
        if offset >= self.old_end:
            return offset + self.new_end - self.old_end
        return min(offset, self.new_end)


# Nodes are plain classes, compared by identity: a file has tens of thousands, and values derived
# from them are stored under their identity.


_EXCERPT = 40


@dataclass(slots=True, eq=False)
class Node:
    anchor: Anchor
    start: int
    end: int

    @property
    def file(self) -> str:
        return self.anchor.file

    @property
    def source(self) -> str:
        """The node's source text."""
        return self.anchor.text[self.start : self.end]

    @property
    def excerpt(self) -> str:
        """The source text on one line, cut to some 40 characters."""
        line = " ".join(self.source[:200].split())
        return line if len(line) <= _EXCERPT else f"{line[: _EXCERPT - 1]}…"


@dataclass(slots=True, eq=False)
class Name(Node):
    id: str


@dataclass(slots=True, eq=False)
class Attribute(Node):
    value: Expression
    attr: Name


@dataclass(slots=True, eq=False)
class Keyword(Node):
    """`name=value` in a call; `name` is None for `**value`."""

    name: Name | None
    value: Expression


@dataclass(slots=True, eq=False)
class Call(Node):
    func: Expression
    args: tuple[Expression, ...]
    keywords: tuple[Keyword, ...]

    def keyword(self, name: str) -> Keyword | None:
        named = (one for one in self.keywords if one.name is not None and one.name.id == name)
        return next(named, None)


@dataclass(slots=True, eq=False)
class Subscript(Node):
    value: Expression
    items: tuple[Expression, ...]


@dataclass(slots=True, eq=False)
class String(Node):
    """One string literal, or several adjacent ones (`parts`)."""

    parts: tuple[Literal, ...]
    inner: tuple[Expression, ...] = ()
    """The interpolated expressions."""
    mapped: MappedText | None = None
    quoted: Expression | None = None
    """The expression that it is as an annotation, once it has been read."""


@record
class Literal:
    """The span of one quoted literal, prefix included, and of its `{…}` interpolations."""

    start: int
    end: int
    interpolations: tuple[tuple[int, int], ...] = ()


@dataclass(slots=True, eq=False)
class Constant(Node):
    """A number, True, False, None or `...`; `value` is None for None and for `...`."""

    value: bool | int | float | None


@dataclass(slots=True, eq=False)
class Operation(Node):
    """`left operator right`."""

    left: Expression
    operator: str
    right: Expression


@dataclass(slots=True, eq=False)
class Conditional(Node):
    body: Expression
    test: Expression
    orelse: Expression


@dataclass(slots=True, eq=False)
class Display(Node):
    """A list, tuple or set."""

    items: tuple[Expression, ...]


@dataclass(slots=True, eq=False)
class Starred(Node):
    value: Expression


@dataclass(slots=True, eq=False)
class Dictionary(Node):
    """`keys[i]` is None where `values[i]` is spread with `**`."""

    keys: tuple[Expression | None, ...]
    values: tuple[Expression, ...]


@dataclass(slots=True, eq=False)
class Lambda(Node):
    parameters: tuple[Parameter, ...]
    body: Expression


@dataclass(slots=True, eq=False)
class Opaque(Node):
    """An expression of another kind; `inner` holds the expressions in it."""

    inner: tuple[Expression, ...] = ()


@dataclass(slots=True, eq=False)
class Piece:
    """An expression with its own anchor, and the pieces in it, in source order."""

    node: Expression
    pieces: list[Piece] = field(default_factory=list)

    @property
    def anchor(self) -> Anchor:
        return self.node.anchor


def anchors_in(pieces: list[Piece]) -> Iterator[Anchor]:
    """Yield the anchors of pieces, and of all pieces in them."""
    waiting = pieces[::-1]
    while waiting:
        piece = waiting.pop()
        yield piece.anchor
        waiting.extend(reversed(piece.pieces))


Expression: TypeAlias = (
    Name
    | Attribute
    | Call
    | Subscript
    | String
    | Constant
    | Operation
    | Conditional
    | Display
    | Starred
    | Dictionary
    | Lambda
    | Opaque
)


@dataclass(slots=True, eq=False)
class Parameter(Node):
    """`kind` is `*`, `**` or empty."""

    name: Name
    annotation: Expression | None
    default: Expression | None
    kind: str
    keyword_only: bool


@dataclass(slots=True, eq=False)
class Assign(Node):
    """An assignment; without a value, a bare annotation. `operator` is `+=` and the like."""

    targets: tuple[Expression, ...]
    value: Expression | None
    annotation: Expression | None = None
    operator: str = ""


@dataclass(slots=True, eq=False)
class Import(Node):
    """`import a.b as c` (`name` is None) or `from a.b import name as c`; `name` may be `*`."""

    module: str
    level: int
    name: str | None
    alias: str

    @property
    def bound(self) -> str:
        """The name that it binds; `*` for all of a module's."""
        return self.alias or self.module.partition(".")[0]


@dataclass(slots=True, eq=False)
class Evaluate(Node):
    value: Expression


@dataclass(slots=True, eq=False)
class Return(Node):
    value: Expression | None


@dataclass(slots=True, eq=False)
class ClassDefinition(Node):
    name: Name
    bases: tuple[Expression, ...]
    decorators: tuple[Expression, ...]
    body: tuple[Statement, ...]
    generic: bool = False


@dataclass(slots=True, eq=False)
class FunctionDefinition(Node):
    name: Name
    parameters: tuple[Parameter, ...]
    decorators: tuple[Expression, ...]
    body: tuple[Statement, ...]
    simple: bool = True
    """True for a plain function: neither a generator nor a coroutine."""


@dataclass(slots=True, eq=False)
class Compound(Node):
    """The concatenated bodies of an `if`, `try`, `with` or loop.

    `bound` holds the names that its head binds (`for x`, `with … as x`).
    """

    keyword: str
    bound: tuple[str, ...]
    inner: tuple[Expression, ...]
    body: tuple[Statement, ...]


Statement: TypeAlias = (
    Assign | Import | Evaluate | Return | ClassDefinition | FunctionDefinition | Compound
)
