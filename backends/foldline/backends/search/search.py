"""Files by what a query says, with a rank that is explained."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.languages import CODE, is_indexed
from foldline.backends.base.near_names import near_names
from foldline.backends.base.waiting import coroutine_of
from foldline.backends.errors import BackendError, InvalidArgumentError, PathError, cut
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.text import (
    brief_search_lines,
    remarks,
    rest,
    search_line,
    sentences,
)
from foldline.backends.index.postings import LiveIndex
from foldline.backends.index.segments import EXACT
from foldline.backends.index.terms import terms_of
from foldline.backends.models import COMPLETE, SearchHit, SearchResults, SymbolKind, SymbolPlace
from foldline.backends.outlines.symbols import is_test
from foldline.backends.ranking import weights as ranking_weights
from foldline.backends.ranking.imports import imported
from foldline.backends.ranking.learned import reordered
from foldline.backends.ranking.paths import terms_of_path
from foldline.backends.ranking.question import (
    ABOUT_TESTS,
    read_question,
    with_exact,
    with_like,
    with_near,
)
from foldline.backends.ranking.score import Scores
from foldline.backends.ranking.symbols import (
    DOTTED_IN_FILE,
    FUNCTIONS,
    count_terms,
    rank_units,
    units_of,
    words_of,
)
from foldline.backends.references.text_uses import of_no_language, said_of_text
from foldline.backends.search.walks import left_out

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from foldline.backends.files.base import FileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.models import SymbolInfo
    from foldline.backends.outlines.analysis import Analysis
    from foldline.backends.ranking.question import Question
    from foldline.backends.ranking.symbols import Unit
    from foldline.backends.ranking.weights import Weights
    from foldline.backends.search.walks import Walks

_KIND = "search"
# Where files go that the best ones import, and of how many of these.
_HEAD = 10
_IMPORTING = 3
# The files of a page of the default budget; a larger one holds more.
_MOST_FILES = 5
# A first page ends where files have less than this part of the best score, or of its odds.
_FAINT = 2
_LEAST = 2
# With fewer files, a page says too little, and paths alone more.
_FEWEST = 3
# Files of a page that are read for their words and definitions.
_MOST_READ = 30
# Definitions of the best file; the second has one fewer, and each other one.
_MOST_SYMBOLS = 3
# So many times as many tests are shown where the question asks for tests.
_MORE_TESTS = 4
# A definition of so many lines is rarely read whole.
_LONGEST_WHOLE = 100
_MOST_WORDS = 3
_MOST_PARTS = 2
_PARTS = "parts of"


class Ranked(NamedTuple):
    """The files that match a query, best first, by their numbers in `scores`.

    `unknown` has the names of the query that nothing has, each with those near to it. Where learned
    weights order them, `odds` has those of the first ones against the best.
    """

    scores: Scores
    order: Sequence[int]
    coverage: str
    unknown: Mapping[str, Sequence[str]]
    odds: Mapping[int, float]
    unread: Sequence[str] = ()
    left_out: str = ""

    @property
    def reason(self) -> str:
        """Says why no file matches, which names nothing has, and what isn't ranked."""
        if not self.order:
            text, words = self.scores.question.text, self.scores.question.words.values()
            asked = ", ".join(dict.fromkeys(word for word in words if word in text))
            nothing = f"no path and no symbol has any of: {cut(asked)}"
            return sentences(nothing, *self.unread, self.left_out)
        reasons = (
            f"nothing has {name}; " + (f"near: {', '.join(near)}" if near else "by its parts")
            for name, near in self.unknown.items()
        )
        return "; ".join((*reasons, *self.unread))

    @property
    def is_exact(self) -> bool:
        """The query is a single name, and a file defines it."""
        question, bonuses = self.scores.question, self.scores.bonuses
        single = question.is_short and len(question.names) == 1
        return single and any(self.scores.words_of(number, "defines") for number in bonuses)

    @property
    def paths(self) -> Iterator[str]:
        """The paths, best first."""
        return (self.scores.paths[number] for number in self.order)


async def search_files(
    files: FileBackend,
    walks: Walks,
    index: WorkspaceIndex | None,
    analysis: Analysis,
    query: str,
    *,
    budget: int | None = None,
    cursor: str | None = None,
) -> SearchResults:
    """The files that `query`, some keywords or a text of any length, is about.

    A page has five files, or more in proportion to a budget above the default one. With that, the
    first page has those alone that match nearly as well as the best. Where the budget doesn't hold
    three with definitions, the answer is `brief` and has paths only.
    """
    budgets.check_budget(budget)
    first = budgets.read_cursor(_KIND, cursor)
    ranked = await rank_files(files, walks, index, query)
    hits, following, brief = _page(files, analysis, ranked, first, budget)
    if ranked.is_exact:
        hits.sort(key=lambda hit: not any(why.startswith("defines") for why in hit.why))
    return SearchResults(
        query,
        tuple(hits),
        len(ranked.order),
        following,
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
    walked = await walks.below(folder, since=since, kind=CODE)
    paths = [stamp.path for stamp in walked.stamps]
    coverage = walked.coverage
    source = LiveIndex(_texts(files, paths)) if index is None else index
    written = {
        question.words.get(term, term).lower(): weight for term, weight in question.terms.items()
    }
    listed = {*paths}
    look_up = partial(coroutine_of(source.look_up), words=written, within=listed, since=since)
    corpus, postings, completeness = await look_up(wanted_terms(question))
    unknown: dict[str, Sequence[str]] = {}
    unread: Sequence[str] = ()
    if question.is_short and question.terms.keys() - postings.keys():
        parts = {*"/".join(paths).split("/")}
        in_paths = {term for part in parts for term in terms_of_path(part)}
        missing = question.terms.keys() - postings.keys() - in_paths
        if missing:
            if index is not None:
                words = [question.words[term] for term in sorted(missing) if term in question.words]
                unread = await said_of_text(index, dict.fromkeys(words), listed, since)
            texts = [*source.vocabulary(missing), "\n".join(in_paths)]
            # Not those of files that are gone, which a vocabulary keeps for a while.
            names = sorted(source.last_defined())
            unknown = {
                name: near_names(name, names)
                for name in question.names
                if len(terms := terms_of(name)) > 1 and terms[0] in missing
            }
            question = with_near(
                question, (near for near_words in unknown.values() for near in near_words)
            )
            question = with_like(question, sorted(missing), texts)
            corpus, postings, completeness = await look_up(wanted_terms(question))
            for name, near in unknown.items():
                # A vocabulary keeps names of deleted files for a while.
                unknown[name] = [one for one in near if EXACT + one in postings]
    if question.is_short:
        question = with_exact(question, postings)
    scores = Scores(question, corpus, postings, paths, weights)
    order, odds = _ordered(files, scores, weights)
    coverage = completeness if coverage == COMPLETE else coverage
    gaps = "" if order else left_out(files, walked, of_no_language(walked))
    return Ranked(scores, order, coverage, unknown, odds, unread, gaps)


def wanted_terms(question: Question) -> list[str]:
    """The terms to look up, the exact names of symbols too."""
    return [*question.terms, *(EXACT + name for name in question.names)]


def _texts(files: FileBackend, paths: Iterable[str]) -> dict[str, bytes]:
    code = ((path, _load(files, path)) for path in paths if is_indexed(path))
    return {path: data for path, data in code if data is not None}


def _load(files: FileBackend, path: str) -> bytes | None:
    try:
        return files.load(path).parse_data
    except PathError:
        return None


def imported_by_first(
    scores: Scores, order: Sequence[int], load: Callable[[str], bytes | None]
) -> set[int]:
    """The files that the first ones import."""
    places: set[tuple[str, ...]] = set()
    for number in order[:_IMPORTING]:
        path = scores.paths[number]
        if is_indexed(path) and (data := load(path)) is not None:
            places.update(imported(path, data))
    return {number for path in places for number in scores.facts.find(path, whole=True)}


def _ordered(
    files: FileBackend, scores: Scores, weights: Weights
) -> tuple[list[int], dict[int, float]]:
    """The matching files, those that the first ones import behind the first ten; learned odds.

    What a longer text is about, learned weights decide; of keywords an exact symbol comes first.
    """
    order, load = scores.order(), partial(_load, files)
    odds: dict[int, float] = {}
    if not scores.question.is_short and weights.learned:
        order, odds = reordered(scores, order, imported_by_first(scores, order, load))
    if not weights.imports or len(order) <= _HEAD:
        return order, odds
    targets = imported_by_first(scores, order, load)
    moved = [number for number in order[_HEAD:] if number in targets][: weights.imports]
    taken = {*moved}
    return [*order[:_HEAD], *moved, *(n for n in order[_HEAD:] if n not in taken)], odds


def _page(
    files: FileBackend, analysis: Analysis, ranked: Ranked, first: int, budget: int | None
) -> tuple[list[SearchHit], str | None, bool]:
    """The hits from place `first` on that fit, at least one; the cursor; if paths alone fit."""
    hits: list[SearchHit] = []
    if budget is None:
        every = _hits(files, analysis, ranked, first, first + _MOST_READ)
        return [hit for _, hit in every], None, False
    end = first + _MOST_FILES * max(budget // budgets.SEARCH_BUDGET, 1)
    if not first and budget <= budgets.SEARCH_BUDGET and not ranked.is_exact:
        end = _before_faint(ranked, end)
    cursor = budgets.make_cursor(_KIND, end)
    notes = [*rest(cursor), *remarks(ranked.reason, ranked.coverage)]
    left = budget - budgets.size_of_lines(notes) - 1
    for position, hit in _hits(files, analysis, ranked, first, end):
        is_large = budgets.size_of_line(search_line(hit)) > left and len(hits) < _FEWEST
        # The definitions of one hit go before those of all.
        shown = replace(hit, symbols=()) if is_large else hit
        left -= budgets.size_of_line(search_line(shown))
        cursor = budgets.make_cursor(_KIND, position)
        if hits and (position >= end or left < 0):
            break
        hits.append(shown)
    else:
        return hits, None, False
    if left >= 0 or len(hits) >= _FEWEST:
        return hits, cursor, False
    hits = []
    # Paths alone: no hit needs its definitions.
    for position, hit in _hits(files, analysis, ranked, first, first):
        cursor = budgets.make_cursor(_KIND, position)
        paths = [one.path for one in (*hits, hit)]
        lines = [*brief_search_lines(paths, cursor), *remarks(ranked.reason, ranked.coverage)]
        if hits and budgets.size_of_lines(lines) > budget:
            return hits, cursor, True
        hits.append(hit)
    return hits, None, True


def _before_faint(ranked: Ranked, end: int) -> int:
    """The place, up to `end`, from which on files match faintly, and define no name exactly."""
    scores, first = ranked.scores, ranked.order[:end]
    strength = [ranked.odds.get(number, scores.values[number]) for number in first]
    # Odds fall so fast that the second file would often be left out.
    least, kept = max(strength, default=0.0) / _FAINT, _LEAST if ranked.odds else 0
    for position, number in enumerate(first, 1):
        if strength[position - 1] >= least or scores.words_of(number, "defines"):
            kept = max(kept, position)
    return kept


def _hits(
    files: FileBackend, analysis: Analysis, ranked: Ranked, first: int, end: int
) -> Iterator[tuple[int, SearchHit]]:
    """The hits from place `first` on with their places; those before `end` with definitions.

    Of a single name that is defined, files that have it only as a part of others are left out.
    """
    scores, order = ranked.scores, ranked.order
    best = max(scores.values, default=0.0) or 1.0
    for position in range(first, len(order)):
        number = order[position]
        path = scores.paths[number]
        lines: Sequence[str] = ()
        if ranked.is_exact or position < end:
            with suppress(PathError):
                lines = files.load(path).lines
        units: list[Unit] = []
        if position < end and lines:
            with suppress(BackendError):
                units = [*units_of(analysis.get_outline(path), lines)]
        why = _why(scores, number, words_of("\n".join(lines)), units)
        if ranked.is_exact and all(reason.startswith(_PARTS) for reason in why):
            continue
        most = _MOST_SYMBOLS - min(position, 2)
        symbols = _symbols(scores, units, most) if units else ()
        score = round(100 * scores.values[number] / best)
        yield position, SearchHit(path, score, why, symbols[0].line if symbols else 0, symbols)


def _why(
    scores: Scores, number: int, words: Iterable[str], units: Sequence[Unit]
) -> tuple[str, ...]:
    """The reasons in words: a part of an identifier isn't said to be the identifier."""
    question, path = scores.question, scores.paths[number]
    asked = {*question.names, *question.words.values()}
    by_term: dict[str, tuple[int, int, str]] = {}
    for word in words:
        terms = terms_of(word)
        for term in terms:
            if term in question.terms:
                # The word itself was asked for, or its term is all of the word, or a part of it.
                alike = 0 if word in asked else 1 if term == terms[0] else 2
                by_term[term] = min((alike, len(word), word), by_term.get(term, (3, 0, "")))
    heaviest = sorted(by_term, key=lambda term: -question.terms[term] * scores.idf.get(term, 0.0))
    # The index guesses what is defined; where there is an outline, it knows.
    names = {unit.located.symbol.name for unit in units}
    guessed = scores.words_of(number, "defines")
    defined = [word for word in guessed if not names or word in names]
    whole_words = dict.fromkeys(by_term[term][2] for term in heaviest if by_term[term][0] < 2)
    parts = dict.fromkeys(by_term[term][2] for term in heaviest if by_term[term][0] == 2)
    words = [word for word in whole_words if word not in defined]
    in_path = any(term in question.terms for term in terms_of_path(path))
    by_kind = {
        "defines": defined[:_MOST_WORDS],
        "named": [""] * bool(scores.words_of(number, "named")),
        "path": [""] * (in_path and not whole_words and not defined),
        "words": words[: max(_MOST_WORDS - len(defined), 0)],
        _PARTS: [*parts][:_MOST_PARTS] if len(whole_words) < _MOST_PARTS else [],
    }
    return tuple(
        f"{kind} {', '.join(words_of_kind)}".strip()
        for kind, words_of_kind in by_kind.items()
        if words_of_kind
    )


def _symbols(scores: Scores, units: Sequence[Unit], most: int) -> tuple[SymbolPlace, ...]:
    """The `most` definitions of a file that the query is about, best first."""
    question = scores.question
    ranked = rank_units(question, units, idf=scores.idf, dotted=DOTTED_IN_FILE)
    if question.about_tests:
        subjects = question.terms.keys() - ABOUT_TESTS
        tests = [
            one
            for one in ranked
            if is_test(one.unit.located.symbol)
            and not subjects.isdisjoint(count_terms(question, one.unit.words))
        ]
        ranked, most = tests or ranked, most * (_MORE_TESTS if tests else 1)
    asked = {*question.names} - ABOUT_TESTS if question.is_short else set()
    titles = {name.title() for name in asked}

    def is_named(symbol: SymbolInfo) -> bool:
        is_short = symbol.line_end - symbol.line < _LONGEST_WHOLE
        if symbol.kind == SymbolKind.VARIABLE:
            return False
        return symbol.name in asked or (is_short and symbol.name in titles)

    least = ranked[0].score / 2 if ranked else 0.0
    names = {id(unit.located.symbol): unit.name for unit in units}
    shown: dict[int, SymbolPlace] = {}
    # What the query names comes first.
    for unit, score in sorted(ranked, key=lambda one: not is_named(one.unit.located.symbol)):
        symbol, above = unit.located.symbol, unit.located.enclosing
        if len(shown) == most:
            break
        if score < least and not is_named(symbol):
            continue
        # What is inside a function is read with it, and `_` names nothing.
        outer = next((one for one in above if one.kind in FUNCTIONS), symbol)
        if outer.line_end - outer.line < _LONGEST_WHOLE:
            symbol = outer
        elif symbol.kind == SymbolKind.CLASS and not is_named(symbol):
            # A long class is read by its members.
            inside = (one.unit.located for one in ranked if symbol in one.unit.located.enclosing)
            members = (one.symbol for one in inside if id(one.symbol) not in shown)
            symbol = next((one for one in members if one.kind in FUNCTIONS), symbol)
        if symbol.name.strip("_") and not any(
            id(one) in shown for one in above if one.kind != SymbolKind.CLASS
        ):
            place = SymbolPlace(names[id(symbol)], symbol.line, symbol.line_end)
            shown[id(symbol)] = place
    return tuple(shown.values())
