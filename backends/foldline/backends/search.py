"""Files by keywords in their paths and symbols, with a rank that is explained."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.errors import InvalidArgumentError, PathError
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.text import search_line, search_room
from foldline.backends.models import COMPLETE, SearchHit, SearchResults
from foldline.backends.references import is_test_path
from foldline.backends.symbols import flatten
from foldline.backends.text_lines import TextLines, as_line
from foldline.backends.waiting import question_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from foldline.backends.analysis import Analysis
    from foldline.backends.files.base import BaseFileBackend
    from foldline.backends.index import WorkspaceIndex
    from foldline.backends.models import FileOutline, SymbolInfo
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


class _Keyword(NamedTuple):
    """A word of the query, in lower case, and without what joins words to a name."""

    text: str
    word: str
    fold: str


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

    def hit(self) -> SearchHit:
        """The candidate as it is shown, the best reasons first."""
        reasons = (why for _, why in sorted(self.best.values(), reverse=True))
        return SearchHit(self.path, self.score, tuple(dict.fromkeys(reasons)), self.line)


class _Candidates(dict[str, _Candidate]):
    """The candidates by path."""

    def __missing__(self, path: str) -> _Candidate:
        candidate = self[path] = _Candidate(path)
        return candidate


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
    since = time.monotonic()
    budgets.check_budget(budget)
    first = budgets.read_cursor(_KIND, cursor)
    keywords = _keywords(query)
    candidates = _Candidates()
    if index is not None:
        index.recall()
    walked = await walks.below(".", since=since)
    _offer_paths(candidates, [stamp.path for stamp in walked.stamps], keywords)
    coverage = walked.coverage
    if index is None:
        for stamp in walked.stamps:
            _offer_outline(files, analysis, candidates, stamp.path, keywords)
    else:
        indexed = await _offer_indexed(index, candidates, keywords, since)
        coverage = indexed if coverage == COMPLETE else coverage
        _verify(analysis, candidates, keywords)
    words = ", ".join(keyword.text for keyword in keywords)
    ranked = sorted(
        (candidate for candidate in candidates.values() if candidate.best),
        key=lambda candidate: (-candidate.score, len(candidate.path), candidate.path),
    )
    hits = tuple(_that_fit(ranked[first:], query, budget))
    last = first + len(hits)
    return SearchResults(
        query,
        hits,
        len(ranked),
        budgets.make_cursor(_KIND, last) if last < len(ranked) else None,
        "" if ranked else f"no path and no symbol has any of: {words}",
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
                score or (_ENCLOSING if keyword.fold in around else 0)
                for keyword, score in zip(keywords, scores, strict=True)
            ]
            found.append((_total([score for score in scores if score]), located))
    return sorted(found, key=lambda match: -match[0])


def _total(scores: Collection[int]) -> int:
    """The score for several keywords: to have more of them counts more than to have one well."""
    return sum(scores) + 100 * (len(scores) - 1)


def _keywords(query: str) -> list[_Keyword]:
    # A dot at the end is a sentence's; elsewhere it is a name's.
    words = list(dict.fromkeys(filter(None, (w.rstrip(".") for w in _KEYWORD.findall(query)))))
    kept = [word for word in words if word.casefold() not in _NOISE] or words
    if not kept:
        raise InvalidArgumentError("query", "holds no word to search for")
    return [_Keyword(word, word.casefold(), _fold(word)) for word in kept]


def _fold(text: str) -> str:
    """`UserLogin`, `user_login` and `user-login` are one word."""
    return text.replace("_", "").replace("-", "").casefold()


def _offer_paths(
    candidates: _Candidates, paths: Iterable[str], keywords: Iterable[_Keyword]
) -> None:
    """Offer the files whose paths have the keywords, which are looked for in each name once."""
    in_folder: dict[str, list[str]] = defaultdict(list)
    named: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        folder, _, name = path.rpartition("/")
        in_folder[folder].append(path)
        named[name.casefold()].append(path)
    below: dict[str, list[list[str]]] = defaultdict(list)
    for folder, inside in in_folder.items():
        for part in {*folder.casefold().split("/")}:
            below[part].append(inside)
    below.pop("", None)
    names = [*named, *(below.keys() - named.keys())]
    texts, folded = TextLines(map(as_line, names)), TextLines(map(as_line, names), _fold)
    for keyword, word, fold in keywords:
        is_part: list[list[str]] = []
        has_part: list[list[str]] = []
        is_file: list[list[str]] = []
        has_file: list[list[str]] = []
        for number in {*texts.holding(word), *folded.holding(fold)}:
            name = names[number]
            same = word == name or fold == _fold(name)
            if name in below:
                (is_part if same else has_part).extend(below[name])
            if name in named:
                same = same or word == _stem(name) or fold == _fold(_stem(name))
                (is_file if same else has_file).append(named[name])
        # The file's own name says more than that of a folder around it. The best comes last, and
        # replaces the others.
        for found, score, why in (
            (has_part, _PATH_TEXT, f"{keyword!r} in the path"),
            (has_file, _PATH_TEXT + 5, f"{keyword!r} in the file name"),
            (is_part, _PATH_PART, f"path part {keyword!r}"),
            (is_file, _PATH_PART + 5, f"path part {keyword!r}"),
        ):
            offer = score, why
            for path in chain.from_iterable(found):
                candidates[path].best[keyword] = offer


def _stem(name: str) -> str:
    return name.partition(".")[0]


async def _offer_indexed(
    index: WorkspaceIndex, candidates: _Candidates, keywords: Iterable[_Keyword], since: float
) -> str:
    """Offer the files that seem to define the keywords; outlines decide later."""
    words = {keyword: keyword.text.rpartition(".")[2] for keyword in keywords}
    files_of_words = question_of(index.files_of_words)
    found, coverage = await files_of_words(dict.fromkeys(words.values()), _MOST_LIKE, since=since)
    for keyword, word in words.items():
        text = keyword.text
        defined, used, like = found[word]
        if not defined and len(used) <= _MOST_VERIFIED:
            defined = used  # A variable: no keyword says where it is defined.
        for path in defined:
            candidates[path].symbols[text] = _EXACT_SYMBOL
        for name, paths in like.items():
            score = _SAME_SYMBOL if _fold(name) == keyword.fold else _SYMBOL_PART
            for path in paths:
                known = candidates[path].symbols
                known[text] = max(score, known.get(text, 0))
    return coverage


def _verify(analysis: Analysis, candidates: _Candidates, keywords: Sequence[_Keyword]) -> None:
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
    _offer_symbols(analysis, promising[:_MOST_VERIFIED], keywords)
    for candidate in promising[_MOST_VERIFIED:]:
        for keyword, score in candidate.symbols.items():
            # Not checked: below everything that was.
            candidate.offer(keyword, score // 4, f"mentions a definition like {keyword!r}")


def _offer_outline(
    files: BaseFileBackend,
    analysis: Analysis,
    candidates: _Candidates,
    path: str,
    keywords: Sequence[_Keyword],
) -> None:
    try:
        text = _fold(files.load(path).text)
    except PathError:
        return
    if any(_fold(keyword.text.rpartition(".")[2]) in text for keyword in keywords):
        _offer_symbols(analysis, [candidates[path]], keywords)


def _offer_symbols(
    analysis: Analysis, candidates: Iterable[_Candidate], keywords: Iterable[_Keyword]
) -> None:
    """Offer the symbols of the files, and say on which line the best of each file is."""
    outlined: list[tuple[_Candidate, _Names]] = []
    for candidate in candidates:
        with suppress(PathError):
            outline = analysis.outline_text(candidate.path)
            outlined.append((candidate, _Names(outline.symbols)))
    texts = TextLines(names.text for _, names in outlined)
    best: dict[str, tuple[int, int]] = {}
    for keyword in keywords:
        # A dotted keyword may be a qualified name.
        dotted = "." in keyword.text
        for number in range(len(outlined)) if dotted else texts.holding(keyword.fold):
            candidate, names = outlined[number]
            for score, first in names.best(keyword):
                symbol, qualified_name, _ = names.located[first]
                what = f"{symbol.kind} {qualified_name}, line {symbol.name_line}"
                candidate.offer(keyword.text, score, what)
                if (score, -first) > best.get(candidate.path, (0, 0)):
                    best[candidate.path] = score, -first
                    candidate.line = symbol.name_line


class _Names:
    """The symbols of an outline by their names; `text` has all of these in one line."""

    def __init__(self, symbols: Iterable[SymbolInfo]) -> None:
        self.located = list(flatten(symbols))
        self._by_name: dict[str, list[int]] = {}
        folded = [_fold(as_line(located.symbol.name)) for located in self.located]
        for number, (located, fold) in enumerate(zip(self.located, folded, strict=True)):
            for name in {located.qualified_name, fold}:
                self._by_name.setdefault(name, []).append(number)
        self.text = " ".join(folded)
        self._folded = TextLines(folded)

    def best(self, keyword: _Keyword) -> list[tuple[int, int]]:
        """The best score for the keyword and the first symbol that has it; empty without any."""
        by_name = self._by_name
        numbers = {*by_name.get(keyword.text, ()), *by_name.get(keyword.fold, ())}
        best = self._best(numbers, keyword)
        if best is None or best[0] <= _SYMBOL_PART:
            parts = self._folded.holding(keyword.fold, None if numbers else 1)
            best = self._best(numbers.union(parts), keyword)
        return [] if best is None else [best]

    def _best(self, numbers: Iterable[int], keyword: _Keyword) -> tuple[int, int] | None:
        scores = ((_symbol_score(self.located[number], keyword), -number) for number in numbers)
        score, number = max(scores, default=(0, 0))
        return (score, -number) if score > 0 else None


def _symbol_score(located: Located, keyword: _Keyword) -> int:
    """The score of a symbol for a keyword, 0 where its name doesn't have it."""
    if keyword.text in {located.symbol.name, located.qualified_name}:
        # What stands at the top of a file is more likely meant than a method of that name.
        return _EXACT_SYMBOL - 2 * len(located.enclosing)
    folded = _fold(located.symbol.name)
    if keyword.fold == folded:
        return _SAME_SYMBOL
    return _SYMBOL_PART if keyword.fold in folded else 0


def _that_fit(ranked: Sequence[_Candidate], query: str, budget: int | None) -> Iterator[SearchHit]:
    """The first candidates whose lines fit the budget, at least one."""
    left = 0 if budget is None else budget - search_room(query)
    for number, candidate in enumerate(ranked):
        hit = candidate.hit()
        if budget is not None:
            left -= budgets.size_of(search_line(hit)) + 1
            if left < 0 and number:
                return
        yield hit
