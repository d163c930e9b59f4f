"""Cuts a file into top-level statements, and knows them again after an edit.

Where the parser stumbles, the file is cut anew from the next line that looks like the beginning of
a statement, so that damage stays inside the statement that has it. A damaged statement borrows the
nodes of its last good text.

After an edit only the statements that it touched are parsed. The whole file is parsed again when
those make no sense by themselves, as when an opening quote swallows what follows.
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
"""Texts beyond this size hold no prompts that a person wrote."""

_MAX_CUTS = 64
"""How often a file is cut anew; beyond that it is no Python that is being typed."""


@dataclass(slots=True, eq=False)
class TopLevel:
    """One top-level statement: `nodes` is empty where nothing could be read."""

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
        """Whether the nodes are those of an earlier text."""
        return self.anchor.edit is not None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file as its top-level statements."""

    text: str
    statements: tuple[TopLevel, ...]
    refused: str = ""
    """Why nothing was read, where that is so."""

    @property
    def broken(self) -> bool:
        return any(statement.broken for statement in self.statements)

    @property
    def damaged(self) -> frozenset[str]:
        """The names that are bound where nothing but a damaged text was ever seen."""
        return frozenset(
            name
            for statement in self.statements
            if statement.broken and not statement.stale
            for name in (*defined(statement), *_WORD.findall(statement.text))
        )


def parse(text: str, file: str, previous: Parsed | None = None) -> Parsed:
    """The statements of a text; those that `previous` has with the same text are the very same.

    `previous` is used up: its anchors move to their places in the new text.
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
    """Goes from one text of a file to the next."""

    def __init__(self, text: str, file: str, previous: Parsed) -> None:
        self.text = text
        self.file = file
        self.previous = previous
        start, old_end, new_end = changed(previous.text, text)
        statements = previous.statements
        shift = new_end - old_end
        before = 0
        # A statement that the edit touches at its very end may go on in what was typed.
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
        # What was broken before may be whole again by what was typed elsewhere.
        if middle is None or any(statement.broken for statement in around):
            whole = _parse(self.text)
            read = [] if whole.has_error else list(_read(whole, self.text, 0, self.file))
            if not (whole.has_error or any(_is_cut_off(each, self.text) for each in read)):
                return self._reread(read)
        if middle is None:
            middle = _with_rests(_cut(self.text, self.low, self.high, self.file), self.text)
        middle = self._with_last_good(middle)
        for statement in self.after:
            statement.anchor.start += self.shift
        return Parsed(self.text, (*self.before, *middle, *self.after))

    def _middle(self) -> list[TopLevel] | None:
        """What was typed, read by itself; None where it does not stand by itself."""
        text = self.text
        part = text[self.low : self.high]
        root = _parse(part)
        if root.has_error or part.rstrip().endswith("\\"):
            return None
        found = list(_read(root, part, self.low, self.file))
        return None if any(_is_cut_off(statement, text) for statement in found) else found

    def _reread(self, read: list[TopLevel]) -> Parsed:
        """The whole file, with the statements that stayed the same taken over."""
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
            old = next((each for each in lost if mine & set(defined(each))), lost[0])
            if _is_left_of(old, new):
                lost.remove(old)
                result.append(_stale(old, new))
            else:
                result.append(new)
        return result


def _is_left_of(old: TopLevel, new: TopLevel) -> bool:
    """Whether the new text still holds some of the old one: else it stands in its place alone."""
    good = old.anchor.text
    start, old_end, _ = changed(good, new.text)
    return start > 0 or old_end < len(good)


def _stale(old: TopLevel, new: TopLevel) -> TopLevel:
    """The last good nodes at the places that they have in the broken text."""
    good = old.anchor.text
    edit = Edit(*changed(good, new.text))
    anchor = old.anchor
    anchor.edit = edit
    anchor.start = new.start
    return TopLevel(anchor, new.text, old.nodes, broken=True, size=old.size)


def defined(statement: TopLevel) -> Iterator[str]:
    """The names that a top-level statement gives a meaning to."""
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
    """The statement at a place of `text`, which itself stands at `offset` of the file."""
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
    """The statements of `text[low:high]`, each damaged one by itself."""
    beginnings: Sequence[int] | None = None
    cuts = 0
    while low < high:
        part = text[low:high]
        resume = high
        root = _parse(part)
        # Of a text that is one error only loose parts are left.
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
    """The statements, with those broken that the parser took for whole: they and their rests."""
    statements = list(found)
    for statement in statements:
        statement.broken = statement.broken or _is_cut_off(statement, text)
    for before, rest in pairwise(statements):
        if not _begins_line(text, rest.start):
            before.broken = True
    return statements


def _is_cut_off(statement: TopLevel, text: str) -> bool:
    """Whether the parser let a statement begin or end where Python does not."""
    return not _begins_line(text, statement.start) or statement.text.endswith(":")


def _past_decorated(text: str, start: int, beginnings: Sequence[int], index: int) -> int:
    """The first beginning behind what the decorators at `start` belong to."""
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
    """The stretch that differs: its start, its end in the old and its end in the new text."""
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
    """How far two texts agree, by halves: comparing slices is far quicker than characters."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if same(low, middle):
            low = middle
        else:
            high = middle - 1
    return low
