"""Files by what a query says, with a rank that is explained."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.waiting import coroutine_of
from foldline.backends.errors import InvalidArgumentError, PathError
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.text import (
    brief_search_lines,
    remarks,
    search_line,
    search_room,
)
from foldline.backends.formatting.visible import visible
from foldline.backends.index.definitions import definitions
from foldline.backends.index.postings import LiveIndex
from foldline.backends.index.segments import EXACT
from foldline.backends.index.terms import terms_of
from foldline.backends.index.words import is_indexed
from foldline.backends.models import COMPLETE, SearchHit, SearchResults
from foldline.backends.ranking import weights as ranking_weights
from foldline.backends.ranking.imports import imported
from foldline.backends.ranking.learned import reordered
from foldline.backends.ranking.paths import terms_of_path
from foldline.backends.ranking.question import read_question, with_like
from foldline.backends.ranking.score import Part, Scores

if TYPE_CHECKING:
    from collections.abc import (
        Awaitable,
        Callable,
        Collection,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

    from foldline.backends.files.base import FileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.index.postings import Corpus
    from foldline.backends.index.segments import Postings
    from foldline.backends.ranking.question import Question
    from foldline.backends.ranking.weights import Weights
    from foldline.backends.search.walks import Walks

    _Found = tuple[Corpus, dict[str, list[Postings]], str]

_KIND = "search"
# Where files go that the best ones import, and of how many of these.
_HEAD = 10
_IMPORTING = 3
# Files, best first of a page, that are read for the lines of their symbols.
_MOST_READ = 30
_MOST_SYMBOLS = 3
_MOST_WORDS = 4
_MOST_TERMS = 4
# Reasons for less than this part of a score are left out.
_LEAST_SHARE = 0.05
_EXACT_NAME = 3.0
_NO_LIMIT = 1 << 60
# Hits that are explained at once, since each look at the postings is for all of them.
_AT_ONCE = 30


class Ranked(NamedTuple):
    """The files that match a query, best first, by their numbers in `scores`.

    Where learned weights order them, `terms` has what each of the first ones is worth.
    """

    scores: Scores
    order: Sequence[int]
    coverage: str
    terms: Mapping[int, Mapping[str, float]]

    @property
    def reason(self) -> str:
        """Says why no file matches; empty if one does."""
        words = ", ".join(dict.fromkeys(self.scores.question.words.values()))
        return "" if self.order else f"no path and no symbol has any of: {words}"

    @property
    def paths(self) -> Iterator[str]:
        """The paths, best first."""
        return (self.scores.paths[number] for number in self.order)


async def search_files(
    files: FileBackend,
    walks: Walks,
    index: WorkspaceIndex | None,
    query: str,
    *,
    budget: int | None = None,
    cursor: str | None = None,
) -> SearchResults:
    """The files that `query`, some keywords or a text of any length, is about.

    Where the budget doesn't hold ten files with reasons, the answer is `brief` and has paths only.
    """
    budgets.check_budget(budget)
    first = budgets.read_cursor(_KIND, cursor)
    ranked = await rank_files(files, walks, index, query)
    hits, brief = _page(files, ranked, first, query, budget)
    last = first + len(hits)
    return SearchResults(
        query,
        hits,
        len(ranked.order),
        budgets.make_cursor(_KIND, last) if last < len(ranked.order) else None,
        ranked.reason,
        "ast",
        ranked.coverage,
        brief,
    )


async def rank_files(
    files: FileBackend,
    walks: Walks,
    index: WorkspaceIndex | None,
    query: str,
    folder: str = ".",
) -> Ranked:
    """Rank the files below a folder that `resolve_folder` gave.

    Raises:
        InvalidArgumentError: The query has no word.
    """
    since = time.monotonic()
    weights = ranking_weights.HAND_SET
    question = read_question(query, weights.title)
    if question is None:
        raise InvalidArgumentError("query", "holds no word to search for")
    if index is not None:
        index.recall()
    walked = await walks.below(folder, since=since)
    paths = [stamp.path for stamp in walked.stamps]
    coverage = walked.coverage
    look_up: Callable[[Collection[str]], Awaitable[_Found]]
    if index is None:
        live = LiveIndex(_texts(files, paths))
        vocabulary = live.vocabulary

        async def look_up(terms: Collection[str]) -> _Found:
            return (*live.look_up(terms), COMPLETE)
    else:
        vocabulary = index.vocabulary
        indexed = coroutine_of(index.look_up)

        async def look_up(terms: Collection[str]) -> _Found:
            return await indexed(terms, since=since)

    corpus, postings, known = await look_up(wanted_terms(question))
    if question.is_short and question.terms.keys() - postings.keys():
        in_paths = {
            term for path in paths for part in path.split("/") for term in terms_of_path(part)
        }
        unknown = question.terms.keys() - postings.keys() - in_paths
        if unknown:
            texts = [*vocabulary(), "\n".join(in_paths)]
            question = with_like(question, sorted(unknown), texts)
            corpus, postings, known = await look_up(wanted_terms(question))
    scores = Scores(question, corpus, postings, paths, weights)
    order, terms = _ordered(files, scores, weights)
    return Ranked(scores, order, known if coverage == COMPLETE else coverage, terms)


def wanted_terms(question: Question) -> list[str]:
    """The terms to look up, the exact names of symbols too."""
    return [*question.terms, *(EXACT + name for name in question.names)]


def _texts(files: FileBackend, paths: Iterable[str]) -> dict[str, bytes]:
    texts = {}
    for path in paths:
        if is_indexed(path):
            with suppress(PathError):
                texts[path] = files.load(path).parse_data
    return texts


def imported_by_first(
    scores: Scores, order: Sequence[int], load: Callable[[str], bytes | None]
) -> set[int]:
    """The files that the first ones import."""
    places: set[tuple[str, ...]] = set()
    for number in order[:_IMPORTING]:
        path = scores.paths[number]
        if is_indexed(path) and (data := load(path)) is not None:
            places.update(imported(path, data))
    return {number for place in places for number in scores.facts.find(place, whole=True)}


def _ordered(
    files: FileBackend, scores: Scores, weights: Weights
) -> tuple[list[int], dict[int, dict[str, float]]]:
    """The matching files, those that the first ones import behind the first ten; learned terms.

    What a longer text is about, learned weights decide; of keywords an exact symbol comes first.
    """

    def load(path: str) -> bytes | None:
        try:
            return files.load(path).parse_data
        except PathError:
            return None

    order = scores.order()
    terms: dict[int, dict[str, float]] = {}
    if not scores.question.is_short and weights.learned:
        order, terms = reordered(scores, order, imported_by_first(scores, order, load))
    if not weights.imports or len(order) <= _HEAD:
        return order, terms
    targets = imported_by_first(scores, order, load)
    moved = [number for number in order[_HEAD:] if number in targets][: weights.imports]
    taken = {*moved}
    return [*order[:_HEAD], *moved, *(n for n in order[_HEAD:] if n not in taken)], terms


def _page(
    files: FileBackend, ranked: Ranked, first: int, query: str, budget: int | None
) -> tuple[tuple[SearchHit, ...], bool]:
    """The hits from `first` on that fit, at least one, and whether only their paths do."""
    hits: list[SearchHit] = []
    left = _NO_LIMIT if budget is None else budget - search_room(query)
    page = ranked.order[first:]
    at_once = _AT_ONCE if budget is not None else max(len(page), 1)
    for start in range(0, len(page), at_once):
        for hit in _hits(files, ranked, page[start : start + at_once], len(hits)):
            left -= budgets.size_of_line(search_line(hit))
            if left < 0:
                break
            hits.append(hit)
        if left < 0:
            break
    if left >= 0 or len(hits) >= _HEAD or budget is None:
        return tuple(hits), False
    paths = [ranked.scores.paths[number] for number in page[: budget // 2]]
    count = 1
    while count < len(paths):
        cursor = budgets.make_cursor(_KIND, first + count + 1)
        lines = brief_search_lines(paths[: count + 1], len(ranked.order), cursor)
        if budgets.size_of_lines([*lines, *remarks("", ranked.coverage)]) > budget:
            break
        count += 1
    return tuple(_hits(files, ranked, page[:count], 0)), True


def _hits(
    files: FileBackend, ranked: Ranked, numbers: Sequence[int], before: int
) -> Iterator[SearchHit]:
    """The hits for files; the lines of symbols are found for the first ones of a page."""
    scores = ranked.scores
    parts = scores.explain(numbers)
    worth = max((sum(own.values()) for own in ranked.terms.values()), default=0.0)
    best = max(scores.values, default=0.0) or 1.0
    for place, number in enumerate(numbers):
        path = scores.paths[number]
        symbols: list[tuple[str, int]] = []
        if before + place < _MOST_READ:
            symbols = _symbols(files, scores, path)
        own, whole, least = parts.get(number, []), best, scores.values[number]
        if number in ranked.terms and worth > 0:
            own, whole, least = _learned(own, ranked.terms[number]), worth, worth
        why = tuple(
            _reason(part, part.score / whole, symbols)
            for part in own
            if abs(part.score) >= _LEAST_SHARE * least
        )
        yield SearchHit(
            path, round(100 * scores.values[number] / best), why, symbols[0][1] if symbols else 0
        )


def _learned(parts: Sequence[Part], terms: Mapping[str, float]) -> list[Part]:
    """The parts of a file's learned worth: the hand-set score is split as its own parts are."""
    whole = sum(part.score for part in parts) or 1.0
    words = {part.kind: part.words for part in parts}
    amounts = {kind: amount for kind, amount in terms.items() if kind != "score"}
    for part in parts:
        share = terms.get("score", 0.0) * part.score / whole
        amounts[part.kind] = amounts.get(part.kind, 0.0) + share
    found = [Part(kind, words.get(kind, ()), amount) for kind, amount in amounts.items()]
    return sorted(found, key=lambda part: -abs(part.score))[:_MOST_TERMS]


def _reason(part: Part, share: float, symbols: Sequence[tuple[str, int]]) -> str:
    """A text such as `defines Cart:12 0.4`: the signal, its subject, its part of the best score."""
    words = [visible(word) for word in part.words[:_MOST_WORDS]]
    if part.kind == "defines":
        words = [f"{name}:{line}" for name, line in symbols] or words
    elif part.kind == "path":
        words = []
    return " ".join(filter(None, (part.kind, ", ".join(words), f"{share:.2g}")))


def _symbols(files: FileBackend, scores: Scores, path: str) -> list[tuple[str, int]]:
    """The names that a file defines that match best, with the lines of their first definitions."""
    question = scores.question
    try:
        data = files.load(path).parse_data if is_indexed(path) else b""
    except PathError:
        return []
    exact = {*question.names}
    found: dict[str, tuple[float, int]] = {}
    for name, _, at in definitions(path, data):
        text = name.decode("utf-8", "replace")
        if text in found:
            continue
        terms = terms_of(text)
        score = sum(
            question.terms[term] * scores.idf.get(term, 0.0)
            for term in terms
            if term in question.terms
        ) / (1 + len(terms))
        if score:
            found[text] = (score * (_EXACT_NAME if text in exact else 1.0), at)
    best = sorted(found, key=lambda name: (-found[name][0], found[name][1]))[:_MOST_SYMBOLS]
    return [
        (name, data.count(b"\n", 0, found[name][1]) + 1)
        for name in best
        if 2 * found[name][0] >= found[best[0]][0]
    ]
