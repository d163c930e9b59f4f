"""The definitions and files that a question is about, without a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.errors import BackendError
from foldline.ide.scoped_context import (
    NO_LIMIT,
    LeftOut,
    ScopedContext,
    Sizes,
    SymbolChoice,
    gather,
    pack,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from foldline.backends.models import FileOutline, SearchResults, SymbolResults
    from foldline.ide.scoped_context import Reader

MOST_CANDIDATES = 12
"""The most files whose outlines are read for one question."""

# A file that matches much worse than the best one has little to do with the question.
_FAINTEST = 3
# Of the best score, in hundredths: less of a match only fills the context.
_LEAST_SCORE = 60
_MOST_SYMBOLS = 24
# Files whose outlines stand around the definitions, and those of them without a definition.
_MOST_OUTLINES, _WITHOUT_SYMBOL = 6, 2


async def context_for(
    reader: Reader,
    question: str,
    *,
    files: Iterable[str] = (),
    supporting: Iterable[str] = (),
    within: Sequence[str] | None = None,
    sizes: Sizes,
) -> ScopedContext:
    """Return the files, symbols and outlines that match `question`, best first.

    `files` and `supporting` are part of it in any case; symbols are those of the files `within`, or
    of those that match best. A context without anything that matches says so.
    """
    files = tuple(files)
    found = await reader.symbols(question, within)
    choices = [*_choices(found, files)]
    outlined = _outlined(choices, found.files)
    if sizes.total < NO_LIMIT:
        # What is looked for is often long, and half of it is of little use.
        sizes = replace(sizes, symbol=max(sizes.symbol, sizes.total // 2))
    context = await gather(
        reader,
        files=files,
        choices=choices,
        supporting=(*supporting, *outlined),
        sizes=sizes,
        whole=True,
    )
    shown = {(one.path, one.qualified_name) for one in context.symbols}
    context = replace(
        context,
        question=question,
        matched=found.total,
        near=tuple(one for one in found.near if (one.path, one.name) not in shown),
        reason=found.reason,
        coverage=found.coverage,
    )
    return replace(context, left_out=pack(context, sizes)[1])


def _choices(found: SymbolResults, files: Sequence[str]) -> Iterator[SymbolChoice]:
    for hit in found.hits[:_MOST_SYMBOLS]:
        if hit.score >= _LEAST_SCORE and hit.path not in files:
            yield SymbolChoice(hit.path, hit.name)


def _outlined(choices: Sequence[SymbolChoice], ranked: Sequence[str]) -> list[str]:
    """Return the files of the chosen symbols, and the best ones without any."""
    chosen = dict.fromkeys(choice.path for choice in choices)
    others = [path for path in ranked if path not in chosen]
    return [*chosen, *others[:_WITHOUT_SYMBOL]][:_MOST_OUTLINES]


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
