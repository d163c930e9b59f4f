"""Token counts: exact where a tokenizer is installed, else an estimate that says so."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from collections.abc import Callable

ENCODINGS = ("o200k", "cl100k")
"""The encodings that can be chosen; the first is the default."""

_REMEMBERED = 20_000
_LONGEST_REMEMBERED = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class TokenCounter:
    """Counts tokens, and remembers the count of every block, so that typing costs one block."""

    encoding: str
    exact: bool
    _count: Callable[[str], int]
    _known: dict[str, int] = field(default_factory=dict)

    def count(self, text: str) -> int:
        """The tokens of a text."""
        known = self._known.get(text)
        if known is None:
            known = self._count(text)
            if len(text) <= _LONGEST_REMEMBERED:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[text] = known
        return known

    def shown(self, count: int) -> str:
        """A count for people; an estimate is marked with `~`."""
        return f"{'' if self.exact else '~'}{count:,}"

    def shown_change(self, count: int) -> str:
        """A difference for people: `+12`, `~-3`."""
        return f"{'' if self.exact else '~'}{'-' if count < 0 else '+'}{abs(count):,}"


def token_counter(encoding: str = ENCODINGS[0], *, exact: bool = True) -> TokenCounter:
    """The best counter for an encoding that is installed.

    A tokenizer takes 60 MB: it is loaded for the first text that is counted.

    Args:
        encoding: One of `ENCODINGS`.
        exact: Whether a tokenizer may be loaded; if not, the counter estimates.
    """
    return _counter(encoding, exact)


@lru_cache(maxsize=8)
def _counter(encoding: str, exact: bool) -> TokenCounter:
    for load in (_rs_bpe, _bpe_openai) if exact else ():
        count = load(encoding)
        if count is not None:
            return TokenCounter(encoding, exact=True, _count=count)
    return TokenCounter(encoding, exact=False, _count=estimate)


class _Counts(Protocol):
    def count(self, text: str, /) -> int: ...


class _Encodes(Protocol):
    def encode_ordinary(self, text: str, /) -> list[int]: ...


def _rs_bpe(encoding: str) -> Callable[[str], int] | None:
    if find_spec("rs_bpe") is None:
        return None

    @cache
    def tokenizer() -> _Counts:
        # The inner module exists only once the package is imported.
        module = import_module("rs_bpe").bpe.openai
        return cast("Callable[[], _Counts]", getattr(module, f"{encoding}_base"))()

    return lambda text: tokenizer().count(_whole(text))


def _bpe_openai(encoding: str) -> Callable[[str], int] | None:
    if find_spec("bpe_openai") is None:
        return None

    @cache
    def tokenizer() -> _Encodes:
        get = cast("Callable[[str], _Encodes]", import_module("bpe_openai").get_encoding)
        return get(f"{encoding}_base")

    return lambda text: len(tokenizer().encode_ordinary(_whole(text)))


def _whole(text: str) -> str:
    """The text with a sign for each half of a character, which tokenizers refuse."""
    return text.encode("utf-8", "replace").decode()


def estimate(text: str) -> int:
    """About how many tokens a text has, from its length alone."""
    wide = 0 if text.isascii() else sum(1 for character in text if ord(character) > 0x2E7F)
    return math.ceil((len(text) - wide) / 4 + wide * 0.8)
