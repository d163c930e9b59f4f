"""Pipeline mode: a fixed sequence of model calls that reads outlines instead of whole files.

`explore` shows the model the outlines of all candidates, lets it choose symbols, and reads those:
about 30 KB and one more call, instead of 96 KB for twelve whole files. `scoped_context` then builds
the context of the last call: primary files whole, the others as outlines. Without a
`SmartFileAccess`, both read whole files with the pipeline's own function.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.errors import BackendError
from foldline.backends.formatting.budget import FILE_BUDGET, SYMBOL_BUDGET, size_of
from foldline.backends.text import format_symbol
from foldline.ide import scoped_context as context
from foldline.ide.scoped_context import OUTLINES_BUDGET

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from foldline.backends import SmartFileAccess

MOST_CANDIDATES = 12
SYMBOLS_BUDGET = 24_000

QUESTION = """\
These are the outlines of the files that may matter. Name the symbols whose source you need, one \
file a line:

path: Symbol, Class.method

{outlines}"""

_ASIDE = re.compile(r"\([^)]*\)")
_BETWEEN = re.compile(r"[,;]|\band\b")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*(?:\[\d+\])?")


@dataclass(frozen=True, slots=True)
class SymbolChoice:
    """One symbol that the model asked for."""

    path: str
    name: str


@dataclass(frozen=True, slots=True)
class Exploration:
    """The result of an exploration.

    Attributes:
        text: The context of the next call: the outlines, then the symbols' source.
        choices: The symbols that the model chose.
        unread: Choices that weren't read, with the reason: unknown, or over budget.
        size: Bytes of `text`.
    """

    text: str
    choices: tuple[SymbolChoice, ...] = ()
    unread: tuple[tuple[SymbolChoice, str], ...] = ()

    @property
    def size(self) -> int:
        return size_of(self.text)


def explore(
    access: SmartFileAccess | None,
    candidates: Sequence[str],
    ask: Callable[[str], str],
    *,
    read_file: Callable[[str], str] | None = None,
    outlines_budget: int = OUTLINES_BUDGET,
    symbols_budget: int = SYMBOLS_BUDGET,
) -> Exploration:
    """Read the outlines of the first twelve candidates, and the symbols that the model chooses.

    `ask` is one call of the model: it gets the question with the outlines, and returns the answer.
    Without `access`, `read_file` reads whole files, and the model isn't called.
    """
    paths = tuple(dict.fromkeys(candidates))[:MOST_CANDIDATES]
    if access is None:
        return Exploration("\n\n".join(_whole_files(paths, _reader(read_file))))
    outlines = context.outlines_within(access, paths, outlines_budget)
    choices = parse_choices(ask(QUESTION.format(outlines=outlines)), paths)
    parts = [outlines]
    unread: list[tuple[SymbolChoice, str]] = []
    left = symbols_budget
    for choice in choices:
        text, reason = _symbol(access, choice, left)
        if text is None:
            unread.append((choice, reason))
        else:
            parts.append(text)
            left -= size_of(text) + 2
    if unread:
        parts.append("\n".join(f"({choice.name} was not read: {why})" for choice, why in unread))
    return Exploration("\n\n".join(parts), choices, tuple(unread))


def parse_choices(answer: str, candidates: Sequence[str]) -> tuple[SymbolChoice, ...]:
    """Parse the symbols in a model's answer, as lines `path: A, B.c` or as JSON.

    JSON is an object of lists by path, or a list of objects with `path` and `symbols`. Files other
    than the candidates, and any text around the choices, are ignored.
    """
    known = set(candidates)
    chosen = [*_choices_in_json(answer)] or [*_choices_in_lines(answer, candidates)]
    return tuple(dict.fromkeys(choice for choice in chosen if choice.path in known))


def scoped_context(
    access: SmartFileAccess | None,
    primary: Iterable[str],
    supporting: Iterable[str] = (),
    *,
    read_file: Callable[[str], str] | None = None,
    file_budget: int = FILE_BUDGET,
    outlines_budget: int = OUTLINES_BUDGET,
) -> str:
    """Return the context of the generating call; see `foldline.ide.scoped_context`.

    Without `access`, `read_file` reads all files whole.
    """
    if access is None:
        paths = dict.fromkeys((*primary, *supporting))
        return "\n\n".join(_whole_files(paths, _reader(read_file)))
    return context.scoped_context(
        access, primary, supporting, file_budget=file_budget, outlines_budget=outlines_budget
    )


def _symbol(access: SmartFileAccess, choice: SymbolChoice, left: int) -> tuple[str | None, str]:
    """Return the symbol's text, or None and the reason."""
    if left <= 0:
        return None, "no room is left"
    try:
        detail = access.read_symbol(choice.path, choice.name, budget=min(SYMBOL_BUDGET, left))
    except BackendError as error:
        return None, str(error)
    text = format_symbol(detail)
    return (None, "no room is left") if size_of(text) > left else (text, "")


def _whole_files(paths: Iterable[str], read_file: Callable[[str], str]) -> Iterator[str]:
    for path in paths:
        yield f"{path}\n{read_file(path)}"


def _reader(read_file: Callable[[str], str] | None) -> Callable[[str], str]:
    if read_file is None:
        raise TypeError("without a SmartFileAccess, `read_file` is required")
    return read_file


def _choices_in_json(answer: str) -> Iterator[SymbolChoice]:
    start = min((at for at in (answer.find("{"), answer.find("[")) if at >= 0), default=-1)
    end = max(answer.rfind("}"), answer.rfind("]")) + 1
    try:
        read: object = json.loads(answer[start:end]) if start >= 0 else None
    except ValueError:
        return
    if isinstance(read, dict):
        items: list[tuple[object, object]] = list(read.items())
        if isinstance(read.get("path"), str):
            items = [(read["path"], read.get("symbols"))]
    elif isinstance(read, list):
        items = [
            (entry.get("path"), entry.get("symbols")) for entry in read if isinstance(entry, dict)
        ]
    else:
        return
    for path, names in items:
        for name in names if isinstance(names, list) else [names]:
            if isinstance(path, str) and isinstance(name, str):
                yield SymbolChoice(path, name)


def _choices_in_lines(answer: str, candidates: Sequence[str]) -> Iterator[SymbolChoice]:
    paths = "|".join(re.escape(path) for path in sorted(candidates, key=len, reverse=True))
    named = re.compile(rf"(?<![\w./-])({paths})(?![\w/-])(.*)")
    for line in answer.splitlines():
        found = named.search(line) if candidates else None
        if found is not None:
            for part in _BETWEEN.split(_ASIDE.sub("", found[2])):
                # `class A` and `function a` name A and a.
                for name in _NAME.findall(part)[-1:]:
                    yield SymbolChoice(found[1], name)
