"""The symbols of an outline whose names have the words of a question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.errors import InvalidArgumentError
from foldline.backends.ranking.question import STOP_WORDS
from foldline.backends.symbols import flatten

if TYPE_CHECKING:
    from collections.abc import Collection

    from foldline.backends.models import FileOutline
    from foldline.backends.symbols import Located

_KEYWORD = re.compile(r"[^\s,;:()\[\]{}<>\"'`/\\|?!*]+")
_EXACT, _SAME, _PART, _ENCLOSING = 100, 80, 30, 15


class _Keyword(NamedTuple):
    """A word of the query, and what is left of it without case and what joins words to a name."""

    text: str
    fold: str


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
    kept = [word for word in words if word.casefold() not in STOP_WORDS] or words
    if not kept:
        raise InvalidArgumentError("query", "holds no word to search for")
    return [_Keyword(word, _fold(word)) for word in kept]


def _fold(text: str) -> str:
    """`UserLogin`, `user_login` and `user-login` are one word."""
    return text.replace("_", "").replace("-", "").casefold()


def _symbol_score(located: Located, keyword: _Keyword) -> int:
    """The score of a symbol for a keyword, 0 where its name doesn't have it."""
    if keyword.text in {located.symbol.name, located.qualified_name}:
        # What stands at the top of a file is more likely meant than a method of that name.
        return _EXACT - 2 * len(located.enclosing)
    folded = _fold(located.symbol.name)
    if keyword.fold == folded:
        return _SAME
    return _PART if keyword.fold in folded else 0
