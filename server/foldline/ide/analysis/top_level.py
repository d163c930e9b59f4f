"""Splits a file into top-level statements, and matches them up again after an edit.

At a syntax error, parsing restarts at the next line that looks like the start of a statement, so
that damage stays within one statement. A damaged statement keeps the nodes of its last good text.

After an edit only the statements that it touches are parsed. The whole file is parsed again if they
don't stand alone, as when an opening quote swallows the code after it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from foldline.backends import syntax
from foldline.backends.files.limits import PROMPT_MODULE_BYTES, PROMPT_MODULE_NODES
from foldline.backends.syntax import ParseRefusedError
from foldline.ide.analysis.lowering.expressions import narrow
from foldline.ide.analysis.lowering.statements import Reader
from foldline.ide.analysis.syntax import (
    Anchor,
    Assign,
    ClassDefinition,
    Edit,
    FunctionDefinition,
    Import,
    Name,
    Statement,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import tree_sitter

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
    broken: bool = False
    size: int = 0
    """The syntax nodes that the parser made of the text."""

    @property
    def start(self) -> int:
        return self.anchor.start

    @property
    def end(self) -> int:
        return self.anchor.start + len(self.text)

    @property
    def stale(self) -> bool:
        """True if the nodes are those of an earlier text."""
        return self.anchor.edit is not None


@dataclass(frozen=True, slots=True)
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
            for name in (*defined(statement), *_WORD.findall(statement.text))
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
            return Parsed(text, tuple(_with_rests(_cut(text, 0, len(text), file), text)))
        updated = _Update(text, file, previous).parsed()
        _check_size(sum(statement.size for statement in updated.statements))
        return updated
    except ParseRefusedError as refused:
        return Parsed(text, (), str(refused))


class _Update:
    """Reparses a file after an edit."""

    def __init__(self, text: str, file: str, previous: Parsed) -> None:
        self.text = text
        self.file = file
        self.previous = previous
        start, old_end, new_end = changed(previous.text, text)
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
        middle = self._middle()
        around = (*self.before, *self.after)
        # An edit elsewhere may have repaired a broken statement.
        if middle is None or any(statement.broken for statement in around):
            whole = _parse(self.text)
            read = [] if whole.has_error else list(_read(whole, self.text, 0, self.file))
            if not (
                whole.has_error or any(_is_cut_off(statement, self.text) for statement in read)
            ):
                return self._reread(read)
        if middle is None:
            middle = _with_rests(_cut(self.text, self.low, self.high, self.file), self.text)
        middle = self._with_last_good(middle)
        for statement in self.after:
            statement.anchor.start += self.shift
        return Parsed(self.text, (*self.before, *middle, *self.after))

    def _middle(self) -> list[TopLevel] | None:
        """Parse the edited statements alone; None if they don't stand alone."""
        text = self.text
        part = text[self.low : self.high]
        root = _parse(part)
        if root.has_error or part.rstrip().endswith("\\"):
            return None
        found = list(_read(root, part, self.low, self.file))
        return None if any(_is_cut_off(statement, text) for statement in found) else found

    def _reread(self, read: list[TopLevel]) -> Parsed:
        """Return all statements of a full parse, reusing those whose text is the same."""
        known: dict[str, list[TopLevel]] = {}
        for statement in reversed(self.previous.statements):
            if not statement.broken:
                known.setdefault(statement.text, []).append(statement)
        statements: list[TopLevel] = []
        for new in read:
            same = known.get(new.text)
            if same:
                old = same.pop()
                old.anchor.start = new.start
                statements.append(old)
            else:
                statements.append(new)
        return Parsed(self.text, tuple(statements))

    def _with_last_good(self, middle: list[TopLevel]) -> list[TopLevel]:
        if not any(statement.broken for statement in middle):
            return middle
        lost = [old for old in self.touched if old.nodes]
        names = {name for new in middle if not new.broken for name in defined(new)}
        lost = [old for old in lost if not names & set(defined(old))]
        result: list[TopLevel] = []
        for new in middle:
            if not new.broken or not lost:
                result.append(new)
                continue
            mine = set(defined(new))
            old = next((candidate for candidate in lost if mine & set(defined(candidate))), lost[0])
            if _is_left_of(old, new):
                lost.remove(old)
                result.append(_stale(old, new))
            else:
                result.append(new)
        return result


def _is_left_of(old: TopLevel, new: TopLevel) -> bool:
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
    return TopLevel(anchor, new.text, old.nodes, broken=True, size=old.size)


def defined(statement: TopLevel) -> Iterator[str]:
    """Yield the names that a top-level statement defines."""
    for node in statement.nodes:
        if isinstance(node, ClassDefinition | FunctionDefinition):
            yield node.name.id
        elif isinstance(node, Import):
            yield node.alias or node.module.partition(".")[0]
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


def _read(root: tree_sitter.Node, text: str, offset: int, file: str) -> Iterator[TopLevel]:
    for node in root.children:
        if node.type != "comment" and node.is_named:
            yield _statement([node], text, (node.start_byte, node.end_byte), offset, file)


def _statement(
    nodes: Iterable[tree_sitter.Node], text: str, place: tuple[int, int], offset: int, file: str
) -> TopLevel:
    """Return the statement at `place` of `text`, which starts at `offset` of the file."""
    own = text[slice(*place)]
    anchor = Anchor(file, offset + place[0], own)
    reader = Reader(anchor, place[0])
    read: list[Statement] = []
    size = 0
    for node in nodes:
        read.extend(reader.statement(node))
        size += node.descendant_count
    return TopLevel(anchor, own, tuple(read), size=size)


def _cut(text: str, low: int, high: int, file: str) -> Iterator[TopLevel]:
    """Yield the statements of `text[low:high]`, isolating each damaged one."""
    beginnings: Sequence[int] | None = None
    cuts = 0
    while low < high:
        part = text[low:high]
        resume = high
        root = _parse(part)
        # If all of the text is one error, its children are loose fragments.
        loose = root.type == "ERROR"
        for node in root.children:
            if node.type == "comment" or not (node.is_named or node.has_error or loose):
                continue
            start = low + node.start_byte
            if not (node.has_error or loose):
                yield _statement([node], part, (node.start_byte, node.end_byte), low, file)
                continue
            if beginnings is None:
                beginnings = [match.start() for match in _BEGINNING.finditer(text, low, high)]
            index = _past_decorated(text, start, beginnings, bisect_right(beginnings, start))
            cuts += 1
            if index < len(beginnings) and cuts < _MAX_CUTS:
                resume = beginnings[index]
            damaged = text[start:resume].rstrip()
            alone = _parse(damaged)
            nodes = [alone] if alone.type == "ERROR" else alone.children
            statement = _statement(nodes, damaged, (0, len(damaged)), start, file)
            statement.broken = alone.has_error
            yield statement
            break
        else:
            return
        low = resume


def _with_rests(found: Iterable[TopLevel], text: str) -> list[TopLevel]:
    """Mark statements as broken that the parser split wrongly; return them all."""
    statements = list(found)
    for statement in statements:
        statement.broken = statement.broken or _is_cut_off(statement, text)
    for before, rest in pairwise(statements):
        if not _begins_line(text, rest.start):
            before.broken = True
    return statements


def _is_cut_off(statement: TopLevel, text: str) -> bool:
    """Return True if the parser started or ended a statement where Python wouldn't."""
    return not _begins_line(text, statement.start) or statement.text.endswith(":")


def _past_decorated(text: str, start: int, beginnings: Sequence[int], index: int) -> int:
    """Return the index of the first beginning after the definition decorated at `start`."""
    if not text.startswith("@", start):
        return index
    while index < len(beginnings) and text.startswith("@", beginnings[index]):
        index += 1
    if index < len(beginnings) and _DEFINITION.match(text, beginnings[index]):
        index += 1
    return index


class _Same(Protocol):
    def __call__(self, low: int, high: int, /) -> bool: ...


def changed(old: str, new: str) -> tuple[int, int, int]:
    """Return the differing range: its start, its end in `old` and its end in `new`."""
    limit = min(len(old), len(new))
    start = _common(limit, lambda low, high: old[low:high] == new[low:high])
    size_old, size_new = len(old), len(new)
    tail = _common(
        limit - start,
        lambda low, high: (
            old[size_old - high : size_old - low] == new[size_new - high : size_new - low]
        ),
    )
    return start, size_old - tail, size_new - tail


def _common(limit: int, same: _Same) -> int:
    """Return the length of the common part, by bisection: slices compare faster than characters."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low
