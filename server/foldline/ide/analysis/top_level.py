"""Splits a file into top-level statements, and matches them up again after an edit.

At a syntax error, parsing restarts at the next line that looks like the start of a statement, so
that damage stays within one statement. A damaged statement keeps the nodes of its last good text.

After an edit only the piece or the statements that it touches are parsed. The whole file is parsed
again if they don't stand alone, as when an opening quote swallows the code after it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from foldline.backends.files.limits import PROMPT_MODULE_BYTES, PROMPT_MODULE_NODES
from foldline.backends.outlines import syntax
from foldline.backends.outlines.syntax import ParseRefusedError
from foldline.ide.analysis.lowering.expressions import narrow
from foldline.ide.analysis.lowering.statements import Reader
from foldline.ide.analysis.pieces import Code, KnownPieces, around_edit, edited
from foldline.ide.analysis.scopes import bindings
from foldline.ide.analysis.syntax import (
    Anchor,
    Assign,
    ClassDefinition,
    Edit,
    Evaluate,
    FunctionDefinition,
    Import,
    Name,
    Piece,
    Statement,
    anchors_in,
)
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import tree_sitter

    from foldline.ide.analysis.pieces import Parse
    from foldline.ide.analysis.syntax import Expression, String

_BEGINNING = re.compile(
    r"^(?:from\s+[\w.]+\s+import\b|import\s+\w|class\s+\w+\s*[(:\[]|(?:async\s+)?def\s+\w+\s*[(\[]"
    r"|@\w|(?:if|for|with|while)\b.*:[ \t]*\r?$|try:|[^\W\d][\w.]*\(|[^\W\d]\w*[ \t]*\+?=(?!=)"
    r"|[^\W\d]\w*[ \t]*:[^\n=]+(?<![!<>=])=(?!=))",
    re.MULTILINE,
)
_WORD = re.compile(r"\A[^\W\d]\w*")
_DEFINITION = re.compile(r"(?:class|def|async)\b")
MAX_CHARACTERS = PROMPT_MODULE_BYTES
"""Largest text that is parsed; people don't write longer prompt modules."""

_MAX_CUTS = 64
"""Number of restarts per file; a file with more errors isn't Python."""


@dataclass(slots=True, eq=False)
class TopLevel:
    """One top-level statement; `nodes` is empty if nothing could be parsed."""

    anchor: Anchor
    text: str
    nodes: tuple[Statement, ...]
    pieces: list[Piece] = field(default_factory=list)
    broken: bool = False
    unread: tuple[tree_sitter.Node, ...] = ()
    """The parser's nodes of damaged code, until it's known whether ours are needed."""

    @property
    def start(self) -> int:
        return self.anchor.start

    @property
    def end(self) -> int:
        return self.anchor.start + len(self.text)

    def anchors(self) -> Iterator[Anchor]:
        """Yield its anchor, and those of its pieces."""
        yield self.anchor
        yield from anchors_in(self.pieces)

    def code_start(self, offset: int) -> int:
        """Return the start of the innermost piece around an offset, or else of the statement."""
        start = self.start
        if not self.broken and start <= offset <= self.end:
            inside = offset - start
            for _, low in around_edit(self.pieces, Edit(inside, inside, inside)):
                start = self.start + low
        return start

    @property
    def stale(self) -> bool:
        """True if the nodes are those of an earlier text."""
        return self.anchor.edit is not None


@record
class Parsed:
    """A file as its top-level statements."""

    text: str
    statements: tuple[TopLevel, ...]
    refused: str = ""
    """The reason why nothing was parsed; empty otherwise."""

    @property
    def broken(self) -> bool:
        return any(statement.broken for statement in self.statements)

    @property
    def damaged(self) -> frozenset[str]:
        """Names whose only definition is in unparsable text."""
        return frozenset(
            name
            for statement in self.statements
            if statement.broken and not statement.stale
            for name in (
                *(bound.name for bound in bindings(statement.nodes)),
                *_WORD.findall(statement.text),
            )
        )


def parse(text: str, file: str, previous: Parsed | None = None) -> Parsed:
    """Parse a text, reusing the statements of `previous` whose text is the same.

    `previous` must not be used afterwards: its anchors move to the new text.
    """
    if previous is not None and previous.text == text:
        return previous
    if len(text) > MAX_CHARACTERS:
        return Parsed(text, (), f"it has {len(text):,} characters, the limit is {MAX_CHARACTERS:,}")
    try:
        if previous is None or previous.refused:
            top_levels = _with_broken(_cut(text, (0, len(text)), file, _parse), text)
            return Parsed(text, tuple(map(_read, top_levels)))
        updated = _Update(text, file, previous).parsed()
        _check_size(sum(statement.anchor.size for statement in updated.statements))
        return updated
    except ParseRefusedError as refused:
        return Parsed(text, (), str(refused))


def quoted(node: String, text: str) -> Expression | None:
    """Return the expression that a string is, where it stands; None for another text."""
    if node.quoted is None:
        match parse(text.strip(), node.file).statements:
            case (TopLevel(nodes=(Evaluate(value=expression),), broken=False),):
                node.quoted = expression
    if node.quoted is not None:
        node.quoted.anchor.start = node.anchor.at(node.start)
    return node.quoted


class _Update:
    """Reparses a file after an edit."""

    def __init__(self, text: str, file: str, previous: Parsed) -> None:
        self.text = text
        self.file = file
        self.previous = previous
        # Damaged code is read as a statement first, and then as whatever else it may be.
        self.parse = cache(_parse)
        self.edit = start, old_end, new_end = changed(previous.text, text)
        statements = previous.statements
        shift = new_end - old_end
        before = 0
        # A statement that ends where the edit starts may continue in the typed text.
        while before < len(statements) and statements[before].end < start:
            before += 1
        after = len(statements)
        while after > before and statements[after - 1].start > old_end:
            after -= 1
        self.before = statements[:before]
        self.touched = statements[before:after]
        self.after = statements[after:]
        self.low = self.before[-1].end if self.before else 0
        self.high = self.after[0].start + shift if self.after else len(text)
        self.shift = shift

    def parsed(self) -> Parsed:
        # An edit elsewhere may have repaired a broken statement.
        others_broken = any(statement.broken for statement in (*self.before, *self.after))
        middle = None if others_broken else self._inside_a_piece()
        if middle is None:
            part = self.text[self.low : self.high]
            alone = self._alone(part)
            if alone is None or others_broken:
                everything = self.parse(self.text)
                if not everything.has_error and not _is_any_cut_off(
                    everything, self.text, 0, self.text
                ):
                    return Parsed(self.text, tuple(self._reread(everything)))
            if alone is None:
                cut = _cut(self.text, (self.low, self.high), self.file, self.parse)
                middle = _with_broken(cut, self.text)
                middle = list(map(_read, self._with_last_good(middle)))
            else:
                pieces = _pieces_of(self.touched)
                middle = [
                    _whole(node, self.file, part, self.low, pieces) for node in _statements(alone)
                ]
        for statement in self.after:
            # Moved in place: the nodes, and what is memoized of them, stay.
            statement.anchor.start += self.shift
        return Parsed(self.text, (*self.before, *middle, *self.after))

    def _inside_a_piece(self) -> list[TopLevel] | None:
        """Parse the edited piece of a statement alone; None if the edit isn't inside one."""
        if len(self.touched) != 1 or self.touched[0].broken:
            return None
        [old] = self.touched
        edit = Edit(*self.edit).within(old.start)
        text = self.text[old.start : old.end + self.shift]
        code = edited(Code(old.anchor, old.nodes, old.pieces), edit, text, _parse)
        if code is None:
            return None
        return [TopLevel(code.anchor, text, cast("tuple[Statement, ...]", code.nodes), code.pieces)]

    def _alone(self, part: str) -> tree_sitter.Node | None:
        """Parse the edited statements; None if they don't stand alone."""
        root = self.parse(part)
        broken = root.has_error or part.rstrip().endswith("\\")
        return None if broken or _is_any_cut_off(root, part, self.low, self.text) else root

    def _reread(self, whole: tree_sitter.Node) -> Iterator[TopLevel]:
        """Yield all statements of a full parse, reusing those whose text is the same."""
        by_text: dict[str, list[TopLevel]] = {}
        # `pop` takes the last: statements of the same text keep their order.
        for statement in reversed(self.previous.statements):
            if not statement.broken:
                by_text.setdefault(statement.text, []).append(statement)
        same = [
            (node, texts.pop() if (texts := by_text.get(self.text[slice(*_place(node))])) else None)
            for node in _statements(whole)
        ]
        kept = {id(old) for _, old in same if old is not None}
        others = (old for old in self.previous.statements if id(old) not in kept)
        known_pieces = _pieces_of(others)
        for node, old in same:
            if old is None:
                yield _whole(node, self.file, self.text, 0, known_pieces)
            else:
                old.anchor.start = node.start_byte
                yield old

    def _with_last_good(self, middle: list[TopLevel]) -> list[TopLevel]:
        if not any(statement.broken for statement in middle):
            return middle
        # A statement that no new one defines anew lends its nodes to the damaged text.
        lost = [old for old in self.touched if old.nodes]
        names = {name for new in middle if not new.broken for name in defined(new)}
        lost = [old for old in lost if not names & set(defined(old))]
        result: list[TopLevel] = []
        for new in middle:
            if not new.broken or not lost:
                result.append(new)
                continue
            old = _closest(lost, new)
            if _has_part_of(old, new):
                lost.remove(old)
                result.append(_stale(old, new))
            else:
                result.append(new)
        return result


def _closest(candidates: list[TopLevel], new: TopLevel) -> TopLevel:
    """Return the statement that defines what a broken one does, or else the first."""
    if len(candidates) == 1:
        return candidates[0]
    mine = set(defined(_read(new)))
    return next((old for old in candidates if mine & set(defined(old))), candidates[0])


def _has_part_of(old: TopLevel, new: TopLevel) -> bool:
    """Return True if the new text still contains part of the old one."""
    good = old.anchor.text
    start, old_end, _ = changed(good, new.text)
    return start > 0 or old_end < len(good)


def _stale(old: TopLevel, new: TopLevel) -> TopLevel:
    """Return the last good nodes, mapped to the broken text."""
    good = old.anchor.text
    edit = Edit(*changed(good, new.text))
    anchor = old.anchor
    anchor.edit = edit
    anchor.start = new.start
    return TopLevel(anchor, new.text, old.nodes, old.pieces, broken=True)


def defined(statement: TopLevel) -> Iterator[str]:
    """Yield the names that a top-level statement defines."""
    for node in statement.nodes:
        if isinstance(node, ClassDefinition | FunctionDefinition):
            yield node.name.id
        elif isinstance(node, Import):
            yield node.bound
        elif isinstance(node, Assign):
            for target in node.targets:
                if isinstance(target, Name):
                    yield target.id


def _begins_line(text: str, start: int) -> bool:
    at = start - 1
    while at >= 0 and text[at] in " \t\f":
        at -= 1
    if at >= 0 and text[at] == ";":
        return True
    # An indented line belongs to the statement above it.
    return at == start - 1 and (at < 0 or text[at] in "\r\n")


def _parse(text: str) -> tree_sitter.Node:
    root = syntax.parse("python", narrow(text)).root_node
    _check_size(root.descendant_count)
    return root


def _check_size(nodes: int) -> None:
    if nodes > PROMPT_MODULE_NODES:
        raise ParseRefusedError(
            f"it has {nodes:,} syntax nodes, the limit is {PROMPT_MODULE_NODES:,}"
        )


def _statements(root: tree_sitter.Node) -> Iterator[tree_sitter.Node]:
    return (node for node in root.children if node.type != "comment" and node.is_named)


def _place(node: tree_sitter.Node) -> tuple[int, int]:
    return node.start_byte, node.end_byte


def _whole(
    node: tree_sitter.Node, file: str, text: str, offset: int, known: KnownPieces | None = None
) -> TopLevel:
    """Return the statement that a node of a text is, which starts at `offset` of its file."""
    start, end = _place(node)
    return _statement([node], Anchor(file, offset + start, text[start:end]), start, known)


def _statement(
    nodes: Iterable[tree_sitter.Node], anchor: Anchor, base: int, known: KnownPieces | None
) -> TopLevel:
    """Return the statement of an anchor, which is at `base` in the parsed text."""
    reader = Reader(anchor, base, known)
    read: list[Statement] = []
    for node in nodes:
        read.extend(reader.statement(node))
        anchor.size += node.descendant_count
    return TopLevel(anchor, anchor.text, tuple(read), reader.pieces)


def _read(statement: TopLevel) -> TopLevel:
    """Return a statement with its nodes."""
    if not statement.unread:
        return statement
    read = _statement(statement.unread, statement.anchor, 0, None)
    read.broken = statement.broken
    return read


def _pieces_of(statements: Iterable[TopLevel]) -> KnownPieces:
    """The pieces of statements, apart from those that were only recovered from broken code."""
    return KnownPieces(
        piece
        for statement in statements
        if statement.stale or not statement.broken
        for piece in statement.pieces
    )


def _cut(text: str, place: tuple[int, int], file: str, parse: Parse) -> Iterator[TopLevel]:
    """Yield the statements at `place` of a text, isolating each damaged one."""
    low, high = place
    beginnings: Sequence[int] | None = None
    cuts = 0
    while low < high:
        part = text[low:high]
        resume = high
        root = parse(part)
        # If all of the text is one error, its children are loose fragments.
        loose = root.type == "ERROR"
        for node in root.children:
            if node.type == "comment" or not (node.is_named or node.has_error or loose):
                continue
            start = low + node.start_byte
            if not (node.has_error or loose):
                yield _whole(node, file, part, low)
                continue
            if beginnings is None:
                beginnings = [match.start() for match in _BEGINNING.finditer(text, low, high)]
            index = _past_decorated(text, start, beginnings, bisect_right(beginnings, start))
            cuts += 1
            if index < len(beginnings) and cuts < _MAX_CUTS:
                resume = beginnings[index]
            damaged = text[start:resume].rstrip()
            alone = parse(damaged)
            nodes = (alone,) if alone.type == "ERROR" else tuple(alone.children)
            statement = TopLevel(Anchor(file, start, damaged), damaged, (), unread=nodes)
            statement.broken = alone.has_error
            yield statement if statement.broken else _read(statement)
            break
        else:
            return
        low = resume


def _with_broken(top_levels: Iterable[TopLevel], text: str) -> list[TopLevel]:
    """Return the statements; those that the parser split wrongly are marked as broken."""
    statements = list(top_levels)
    for statement in statements:
        # The parser may have started or ended it where Python wouldn't.
        cut_off = not _begins_line(text, statement.start) or statement.text.endswith(":")
        statement.broken = statement.broken or cut_off
    for before, rest in pairwise(statements):
        if not _begins_line(text, rest.start):
            before.broken = True
    return statements


def _is_any_cut_off(root: tree_sitter.Node, part: str, offset: int, text: str) -> bool:
    """Return True if the parser cut a statement of the part at `offset` where Python wouldn't."""
    return any(
        not _begins_line(text, offset + node.start_byte) or part[: node.end_byte].endswith(":")
        for node in _statements(root)
    )


def _past_decorated(text: str, start: int, beginnings: Sequence[int], index: int) -> int:
    """Return the index of the first beginning after the definition decorated at `start`."""
    if not text.startswith("@", start):
        return index
    while index < len(beginnings) and text.startswith("@", beginnings[index]):
        index += 1
    if index < len(beginnings) and _DEFINITION.match(text, beginnings[index]):
        index += 1
    return index


def changed(old: str, new: str) -> tuple[int, int, int]:
    """Return the differing range: its start, its end in `old` and its end in `new`."""
    limit = min(len(old), len(new))
    start = common_length(limit, lambda low, high: old[low:high] == new[low:high])
    size_old, size_new = len(old), len(new)
    tail = common_length(
        limit - start,
        lambda low, high: (
            old[size_old - high : size_old - low] == new[size_new - high : size_new - low]
        ),
    )
    return start, size_old - tail, size_new - tail


def common_length(limit: int, same: Callable[[int, int], bool]) -> int:
    """Return the length of the common part, by bisection: slices compare faster than characters."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low
