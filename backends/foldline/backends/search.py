"""Files by keywords in their paths and symbols, with a rank that is explained."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from foldline.backends.errors import InvalidArgumentError, PathError
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.text import search_line, search_room
from foldline.backends.models import COMPLETE, SearchHit, SearchResults
from foldline.backends.references import is_test_path
from foldline.backends.symbols import flatten
from foldline.backends.waiting import question_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from foldline.backends.analysis import Analysis
    from foldline.backends.files.base import BaseFileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.models import FileOutline
    from foldline.backends.symbols import Located
    from foldline.backends.walks import Walks

_KIND = "search"
_KEYWORD = re.compile(r"[^\s,;:()\[\]{}<>\"'`/\\|?!*]+")
_NOISE = frozenset(
    {
        "a",
        "an",
        "and",
        "are",
        "at",
        "by",
        "do",
        "does",
        "for",
        "from",
        "how",
        "in",
        "is",
        "it",
        "of",
    }
    | {"on", "or", "the", "to", "what", "when", "where", "which", "with"}
)
_EXACT_SYMBOL, _SAME_SYMBOL, _PATH_PART, _SYMBOL_PART, _PATH_TEXT = 100, 80, 60, 30, 20
_ENCLOSING = 15
# Files, best first, whose outlines are read for the line of a symbol; others rank by name.
_MOST_VERIFIED = 60
_MOST_LIKE = 200
_TEST_PENALTY = 5


@dataclass(slots=True)
class _Candidate:
    path: str
    # For each keyword its best score, and why.
    best: dict[str, tuple[int, str]] = field(default_factory=dict)
    symbols: dict[str, int] = field(default_factory=dict)
    line: int = 0

    def offer(self, keyword: str, score: int, why: str) -> None:
        if score > self.best.get(keyword, (0, ""))[0]:
            self.best[keyword] = (score, why)

    @property
    def score(self) -> int:
        total = _total([score for score, _ in self.best.values()])
        return total - (_TEST_PENALTY if is_test_path(self.path) else 0)


async def search_files(
    files: BaseFileBackend,
    walks: Walks,
    analysis: Analysis,
    index: WorkspaceIndex | None,
    query: str,
    *,
    budget: int | None = None,
    cursor: str | None = None,
) -> SearchResults:
    """The files whose path or symbols have the words of `query`.

    For each word an exact symbol counts most, then a whole part of the path, then a part of a
    symbol's name, then a part of the path; `why` of each hit says which.
    """
    budgets.check_budget(budget)
    first = budgets.read_cursor(_KIND, cursor)
    keywords = _keywords(query)
    candidates: dict[str, _Candidate] = {}
    walked = await walks.below(".")
    for stamp in walked.stamps:
        _offer_path(candidates, stamp.path, keywords)
    coverage = walked.coverage
    if index is None:
        for stamp in walked.stamps:
            _offer_outline(files, analysis, candidates, stamp.path, keywords)
    else:
        indexed = await _offer_indexed(index, candidates, keywords)
        coverage = indexed if coverage == COMPLETE else coverage
        _verify(analysis, candidates, keywords)
    ranked = sorted(
        (candidate for candidate in candidates.values() if candidate.best),
        key=lambda candidate: (-candidate.score, len(candidate.path), candidate.path),
    )
    hits = [
        SearchHit(
            candidate.path,
            candidate.score,
            tuple(dict.fromkeys(why for _, why in sorted(candidate.best.values(), reverse=True))),
            candidate.line,
        )
        for candidate in ranked
    ]
    last = _last_that_fits(hits, first, query, budget)
    return SearchResults(
        query,
        tuple(hits[first:last]),
        len(hits),
        budgets.make_cursor(_KIND, last) if last < len(hits) else None,
        "" if hits else f"no path and no symbol has any of: {', '.join(keywords)}",
        "ast",
        coverage,
    )


def matching_symbols(outline: FileOutline, query: str) -> list[tuple[int, Located]]:
    """The symbols whose names have words of `query`, each with its score, best first.

    The names of the symbols around one count too, if its own has any of the words.
    """
    keywords = _keywords(query)
    found: list[tuple[int, Located]] = []
    for located in flatten(outline.symbols):
        scores = [_symbol_score(located, keyword) for keyword in keywords]
        if any(scores):
            around = _fold(" ".join(symbol.name for symbol in located.enclosing))
            scores = [
                score or (_ENCLOSING if _fold(keyword) in around else 0)
                for keyword, score in zip(keywords, scores, strict=True)
            ]
            found.append((_total([score for score in scores if score]), located))
    return sorted(found, key=lambda match: -match[0])


def _total(scores: Collection[int]) -> int:
    """The score for several keywords: to have more of them counts more than to have one well."""
    return sum(scores) + 100 * (len(scores) - 1)


def _keywords(query: str) -> list[str]:
    # A dot at the end is a sentence's; elsewhere it is a name's.
    words = list(dict.fromkeys(filter(None, (w.rstrip(".") for w in _KEYWORD.findall(query)))))
    kept = [word for word in words if word.casefold() not in _NOISE] or words
    if not kept:
        raise InvalidArgumentError("query", "holds no word to search for")
    return kept


def _fold(text: str) -> str:
    """`UserLogin`, `user_login` and `user-login` are one word."""
    return text.replace("_", "").replace("-", "").casefold()


def _offer_path(candidates: dict[str, _Candidate], path: str, keywords: list[str]) -> None:
    folded = path.casefold()
    for keyword in keywords:
        word = keyword.casefold()
        if word not in folded and _fold(keyword) not in _fold(path):
            continue
        parts = folded.split("/")
        stem = parts[-1].partition(".")[0]
        candidate = candidates.setdefault(path, _Candidate(path))
        same = {_fold(part) for part in (*parts, stem)}
        if word in parts or word == stem or _fold(keyword) in same:
            # The file's own name says more than that of a folder around it.
            bonus = 5 if _fold(keyword) in {_fold(parts[-1]), _fold(stem)} else 0
            candidate.offer(keyword, _PATH_PART + bonus, f"path part {keyword!r}")
        elif word in parts[-1] or _fold(keyword) in _fold(parts[-1]):
            candidate.offer(keyword, _PATH_TEXT + 5, f"{keyword!r} in the file name")
        else:
            candidate.offer(keyword, _PATH_TEXT, f"{keyword!r} in the path")


async def _offer_indexed(
    index: WorkspaceIndex, candidates: dict[str, _Candidate], keywords: list[str]
) -> str:
    """Offer the files that seem to define the keywords; outlines decide later."""
    coverage = COMPLETE
    # One question: the index is brought up to date once, and waited for once.
    since = time.monotonic()
    for keyword in keywords:
        word = keyword.rpartition(".")[2]
        files_with = question_of(index.files_with)
        exact = await files_with(word, defined=True, since=since)
        if (
            not exact.paths
            and len((used := await files_with(word, since=since)).paths) <= _MOST_VERIFIED
        ):
            exact = used  # A variable: no keyword says where it is defined.
        coverage = exact.coverage
        for path in exact.paths:
            candidates.setdefault(path, _Candidate(path)).symbols[keyword] = _EXACT_SYMBOL
        files_like = question_of(index.files_defining_like)
        like, coverage = await files_like(word, _MOST_LIKE, since=since)
        for name, paths in like.items():
            score = _SAME_SYMBOL if _fold(name) == _fold(keyword) else _SYMBOL_PART
            for path in paths:
                known = candidates.setdefault(path, _Candidate(path)).symbols
                known[keyword] = max(score, known.get(keyword, 0))
    return coverage


def _verify(analysis: Analysis, candidates: dict[str, _Candidate], keywords: list[str]) -> None:
    """Check the most promising files by their outlines; the others stay likely."""
    promising = sorted(
        (candidate for candidate in candidates.values() if candidate.symbols),
        key=lambda candidate: (
            -sum(candidate.symbols.values()) - sum(score for score, _ in candidate.best.values()),
            is_test_path(candidate.path),
            len(candidate.path),
            candidate.path,
        ),
    )
    for candidate in promising[:_MOST_VERIFIED]:
        _offer_symbols(analysis, candidate, keywords)
    for candidate in promising[_MOST_VERIFIED:]:
        for keyword, score in candidate.symbols.items():
            # Not checked: below everything that was.
            candidate.offer(keyword, score // 4, f"mentions a definition like {keyword!r}")


def _offer_outline(
    files: BaseFileBackend,
    analysis: Analysis,
    candidates: dict[str, _Candidate],
    path: str,
    keywords: list[str],
) -> None:
    try:
        text = _fold(files.load(path).text)
    except PathError:
        return
    if any(_fold(keyword.rpartition(".")[2]) in text for keyword in keywords):
        candidate = candidates.setdefault(path, _Candidate(path))
        _offer_symbols(analysis, candidate, keywords)


def _offer_symbols(analysis: Analysis, candidate: _Candidate, keywords: Iterable[str]) -> None:
    try:
        outline = analysis.outline_text(candidate.path)
    except PathError:
        return
    best = 0
    for located in flatten(outline.symbols):
        symbol = located.symbol
        for keyword in keywords:
            score = _symbol_score(located, keyword)
            if not score:
                continue
            what = f"{symbol.kind} {located.qualified_name}, line {symbol.name_line}"
            candidate.offer(keyword, score, what)
            if score > best:
                best = score
                candidate.line = symbol.name_line


def _symbol_score(located: Located, keyword: str) -> int:
    """The score of a symbol for a keyword, 0 where its name doesn't have it."""
    word, folded = _fold(keyword), _fold(located.symbol.name)
    if keyword in {located.symbol.name, located.qualified_name}:
        # What stands at the top of a file is more likely meant than a method of that name.
        return _EXACT_SYMBOL - 2 * len(located.enclosing)
    if word == folded:
        return _SAME_SYMBOL
    return _SYMBOL_PART if word in folded else 0


def _last_that_fits(hits: list[SearchHit], first: int, query: str, budget: int | None) -> int:
    if budget is None:
        return len(hits)
    left = budget - search_room(query)
    last = first
    for hit in hits[first:]:
        left -= budgets.size_of(search_line(hit)) + 1
        if left < 0 and last > first:
            break
        last += 1
    return last
