"""The words of a file, and those that it seems to define."""

from __future__ import annotations

from itertools import compress
from typing import NamedTuple

from foldline.backends.languages import DOCUMENTS, has_grammar, language_of

# Bytes outside words become blanks. In UTF-8 the letters beyond ASCII are bytes from 0x80
# on. Splitting is several times faster than a pattern, and numbers do no harm.
_BLANKS = bytes(
    byte if byte >= 0x80 or byte == ord("_") or chr(byte).isalnum() else ord(" ")
    for byte in range(256)
)
# In these languages a definition follows one of these words; in others every word may be defined.
_KEYWORDS = {
    "python": frozenset({b"def", b"class", b"type"}),
    "ruby": frozenset({b"def", b"class", b"module", b"self"}),
    "rust": frozenset(
        {b"fn", b"struct", b"enum", b"trait", b"mod", b"type", b"const", b"static", b"union"}
        | {b"impl", b"macro_rules"}
    ),
}
SEPARATOR = b"\n"


class Words(NamedTuple):
    """The distinct words of one file, each between newlines so that one is found by its bytes.

    `defined` may name too many, and lacks variables of languages with keywords for the rest.
    """

    used: bytes
    defined: bytes


NOTHING = Words(b"", b"")


def is_indexed(path: str) -> bool:
    """Return whether the file's name alone says that it is code with identifiers."""
    language = language_of(path)
    return has_grammar(language) and language not in DOCUMENTS


def words_of(path: str, data: bytes) -> Words:
    """The words of UTF-8 `data`."""
    words = data.translate(_BLANKS).split()
    used = _between_newlines(set(words))
    keywords = _KEYWORDS.get(language_of(path))
    if keywords is None:
        return Words(used, used)
    return Words(
        used, _between_newlines(set(compress(words[1:], map(keywords.__contains__, words))))
    )


def needle(word: str) -> bytes:
    """The bytes that the words of a file hold when the word is one of them."""
    return SEPARATOR + word.encode("utf-8", "replace") + SEPARATOR


def _between_newlines(words: set[bytes]) -> bytes:
    return SEPARATOR + SEPARATOR.join(words) + SEPARATOR
