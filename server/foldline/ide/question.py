"""The files and symbols that a question is about, by their names alone: no model is called."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.errors import BackendError
from foldline.ide.scoped_context import (
    LeftOut,
    ScopedContext,
    Sizes,
    SymbolChoice,
    gather,
    pack_with_rest,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from foldline.backends.models import FileOutline, SearchResults
    from foldline.backends.symbols import Located
    from foldline.ide.scoped_context import Reader

MOST_CANDIDATES = 12
"""The most files whose outlines are read for one question."""

_MOST_SYMBOLS = 24
# A file that matches much worse than the best one has little to do with the question.
_FAINTEST = 3
# A longer class is better read by its methods.
_LONGEST_CLASS = 40
# Symbols that match much worse than the best one only fill the context.
_WORST = 4
_WORD = re.compile(r"[^\s,;:()\[\]{}<>\"'`/\\|?!*]+")
_ENDING = re.compile(r"(?:ies|ied|ing|ed|es|s)\Z")
# As in "stopped", after at least two other letters.
_DOUBLED = re.compile(r"\w\w([bdgmnprt])\1\Z")
_SHORTEST_STEM = 4
_QUESTION_WORDS = frozenset(
    """
    a about after all an and any are as at be been before but by can code could did do does each
    explain file files find for from function get give had has have how i if in into is it its
    list make many me my no not of on one or our out see should show so some tell than that the
    their them then there these they this to up us use used uses using want was we were what
    when where which while who whom whose why will with work works would you your
    """.split()  # noqa: SIM905 - A word a line would be a page.
)


async def context_for(
    reader: Reader,
    question: str,
    *,
    files: Iterable[str] = (),
    supporting: Iterable[str] = (),
    sizes: Sizes,
) -> ScopedContext:
    """Return the files, symbols and outlines that match `question`, best first.

    `files` and `supporting` are part of it in any case. A context without anything that matches
    says so.
    """
    files = tuple(files)
    results = await search(reader, question)
    matched = candidates_of(results)
    candidates = matched[:MOST_CANDIDATES]
    outlines, _ = await outlines_of(reader, candidates)
    choices = [one for one in best_symbols(outlines, question) if one.path not in files]
    context = await gather(
        reader,
        files=files,
        choices=choices,
        supporting=(*supporting, *candidates),
        sizes=sizes,
    )
    context = replace(
        context,
        question=question,
        matched=len(matched),
        reason=results.reason,
        coverage=results.coverage,
    )
    return replace(context, left_out=pack_with_rest(context, sizes)[1])


async def search(reader: Reader, question: str) -> SearchResults:
    """Return the files that match the words of a question, best first.

    Raises:
        InvalidArgumentError: The question has no words.
    """
    return await reader.search(question)


def candidates_of(results: SearchResults) -> list[str]:
    """The files that are worth a look, best first; some word of a question is in nearly all."""
    best = max((hit.score for hit in results), default=0)
    return [hit.path for hit in results if hit.score * _FAINTEST >= best]


async def outlines_of(
    reader: Reader, paths: Iterable[str]
) -> tuple[list[FileOutline], list[LeftOut]]:
    """Return the outlines of these files, and the files that have none."""
    outlines: list[FileOutline] = []
    left_out: list[LeftOut] = []
    for path in paths:
        try:
            outlines.append(await reader.outline(path))
        except BackendError as error:
            left_out.append(LeftOut(path, "", str(error)))
    return outlines, left_out


def best_symbols(outlines: Sequence[FileOutline], question: str) -> tuple[SymbolChoice, ...]:
    """Return the symbols whose names match `question` best, none of them inside another.

    Of equal matches, functions come before classes, and then those of earlier files first.
    """
    # Imported late: a shell that only formats a context doesn't search.
    from foldline.backends.symbol_matches import matching_symbols
    from foldline.backends.symbols import distinct_names, flatten

    query = query_of(question)
    if not query:
        return ()
    found = [
        (score, place, located)
        for place, outline in enumerate(outlines)
        for score, located in matching_symbols(outline, query)
        if not _is_long_class(located)
    ]
    found.sort(key=lambda match: (-match[0], bool(match[2].symbol.children), match[1]))
    best = [match for match in found if match[0] * _WORST >= found[0][0]]
    kept: list[tuple[int, Located]] = []
    for _, place, located in best:
        if len(kept) == _MOST_SYMBOLS:
            break
        if not any(place == other and _overlap(located, one) for other, one in kept):
            kept.append((place, located))
    known = {place: list(flatten(outlines[place].symbols)) for place, _ in kept}
    return tuple(
        SymbolChoice(
            outlines[place].path, distinct_names(known[place], [_same(known[place], one)])[0]
        )
        for place, one in kept
    )


def query_of(question: str) -> str:
    """Return the words of a question to search for: no small words, and endings cut off.

    >>> query_of("How are passwords hashed in AuthService?")
    'password hash AuthService'
    >>> query_of("What is logged when it stopped?")
    'log stop'
    """
    words = dict.fromkeys(_WORD.findall(question))
    kept = [word.rstrip(".") for word in words if word.rstrip(".").lower() not in _QUESTION_WORDS]
    return " ".join(dict.fromkeys(_stem(word) for word in filter(None, kept or words)))


def _stem(word: str) -> str:
    """Return an English word without its ending; an identifier is itself."""
    plain = word.isalpha() and word[1:].islower() and not word.endswith("ss")
    stem = _ENDING.sub("", word) if plain else word
    if word.endswith(("ing", "ed")) and _DOUBLED.search(stem):
        return stem[:-1]
    return stem if len(stem) >= _SHORTEST_STEM else word


def _is_long_class(located: Located) -> bool:
    symbol = located.symbol
    return bool(symbol.children) and symbol.line_end - symbol.line > _LONGEST_CLASS


def _overlap(one: Located, other: Located) -> bool:
    """True if one of the symbols holds the other, or both have one name, as overloads have."""
    if one.qualified_name == other.qualified_name:
        return True
    first, second = one.symbol, other.symbol
    return first.line <= second.line_end and second.line <= first.line_end


def _same(known: Iterable[Located], one: Located) -> Located:
    """Return the longest symbol of that name: overloads are short."""
    same = [other for other in known if other.qualified_name == one.qualified_name]
    return max(same, key=lambda other: other.symbol.line_end - other.symbol.line)
