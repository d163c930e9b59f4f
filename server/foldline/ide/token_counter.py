"""Token counts: exact if a tokenizer is installed, else marked estimates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import Literal, Protocol, TypeAlias, cast, get_args

from foldline.records import record

Encoding: TypeAlias = Literal["o200k", "cl100k"]
ENCODINGS: tuple[Encoding, ...] = get_args(Encoding)
"""The supported encodings; the first is the default."""

_REMEMBERED = 20_000
_LONGEST_REMEMBERED = 20_000


@record(eq=False)
class TokenCounter:
    """Counts tokens, and caches counts per block, so that typing recounts only one block."""

    encoding: str
    exact: bool
    _count: Callable[[str], int]
    _known: dict[str, int] = field(default_factory=dict)

    def count(self, text: str) -> int:
        """Return the number of tokens in a text."""
        count = self._known.get(text)
        if count is None:
            count = self._count(text)
            if len(text) <= _LONGEST_REMEMBERED:
                if len(self._known) >= _REMEMBERED:
                    self._known.clear()
                self._known[text] = count
        return count

    def format(self, count: int, *, certain: bool = True, partial: bool = False) -> str:
        """Format a count for people: `~` marks an estimate or an uncertain text, `≥` a part."""
        return f"{'≥' if partial else '' if self.exact and certain else '~'}{count:,}"


def token_counter(encoding: str = ENCODINGS[0], *, exact: bool = True) -> TokenCounter:
    """Return the best installed counter for an encoding; unless `exact`, one that estimates.

    A tokenizer takes 60 MB of memory, so it is loaded when the first text is counted.
    """
    return _counter(encoding, exact)


@lru_cache(maxsize=8)
def _counter(encoding: str, exact: bool) -> TokenCounter:
    count = _rs_bpe(encoding) if exact else None
    if count is not None:
        return TokenCounter(encoding, exact=True, _count=count)
    from foldline.prompts.cache import tokens

    return TokenCounter(encoding, exact=False, _count=tokens.estimated_tokens)


class _Counts(Protocol):
    def count(self, text: str, /) -> int: ...


def _rs_bpe(encoding: str) -> Callable[[str], int] | None:
    if find_spec("rs_bpe") is None:
        return None

    @cache
    def tokenizer() -> _Counts:
        # The inner module exists only after the package is imported.
        module = import_module("rs_bpe").bpe.openai
        return cast("Callable[[], _Counts]", getattr(module, f"{encoding}_base"))()

    # Tokenizers refuse lone surrogates.
    return lambda text: tokenizer().count(text.encode("utf-8", "replace").decode())
