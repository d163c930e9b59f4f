"""Pipeline mode: what a fixed sequence of model calls reads, instead of whole files.

`explore` shows the model the outlines of all candidates, lets it name the symbols to look at, and
reads those: about 30 KB and one more call, where twelve whole files are 96 KB. `scoped_context`
then puts together what the last call gets: primary files whole, the others as outlines. Without a
`SmartFileAccess`, both read whole files by the function that the pipeline had before.
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
    """What the exploration found.

    Attributes:
        text: For the next call: the outlines, then the source of the symbols.
        choices: What the model asked for.
        unread: What was not read, each with the reason: unknown, or over the budget.
        size: The bytes of `text`.
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
    """The outlines of the first twelve candidates, and the symbols that `ask` answers with.

    `ask` is one call of the model: it gets the question with the outlines, and returns the answer.
    Without `access`, the files are read whole by `read_file`, and the model is not asked.
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
    """The symbols that a model's answer names, as lines `path: A, B.c` or as JSON.

    JSON is an object of lists by path, or a list of objects with `path` and `symbols`. Files that
    are no candidates are left out, and so is everything else that a model may say around it.
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
    """Return what the generating call gets, as `foldline.ide.scoped_context` says.

    Without `access`, all files are read whole by `read_file`.
    """
    if access is None:
        paths = dict.fromkeys((*primary, *supporting))
        return "\n\n".join(_whole_files(paths, _reader(read_file)))
    return context.scoped_context(
        access, primary, supporting, file_budget=file_budget, outlines_budget=outlines_budget
    )


def _symbol(access: SmartFileAccess, choice: SymbolChoice, left: int) -> tuple[str | None, str]:
    """The symbol's text, or None and why it was not read."""
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
        raise TypeError("without a SmartFileAccess, give the function `read_file` that reads whole")
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
        items = [(each.get("path"), each.get("symbols")) for each in read if isinstance(each, dict)]
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
