"""The words of a file, and those that it seems to define."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.languages import DOCUMENTS, has_grammar, language_of
from foldline.backends.index.definitions import definitions
from foldline.backends.index.terms import terms_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

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
_BINARY = re.compile(
    r"\.(7z|a|avif|bin|bmp|bz2|class|db|dll|dylib|eot|exe|gif|gz|ico|jar|jpe?g|lib|mo|mov|mp[34]|npy|"
    r"npz|o|ogg|onnx|otf|parquet|pdf|pkl|png|psd|pyc|pyd|so|sqlite|tar|tgz|tiff?|ttf|wasm|wav|webm|"
    r"webp|whl|woff2?|xlsx?|xz|zip|zst)$",
    re.IGNORECASE,
)


class Document(NamedTuple):
    """The terms of one file with their counts: of all its words, and of the names that it defines.

    `names` are those names as they are written.
    """

    body: Mapping[str, int]
    defined: Mapping[str, int]
    names: frozenset[str]


class Words(NamedTuple):
    """The distinct words of one file, each between newlines so that one is found by its bytes.

    `defined` may name too many, and lacks variables of languages with keywords for the rest.
    """

    used: bytes
    defined: bytes
    document: Document


NO_TERMS = Document({}, {}, frozenset())
NOTHING = Words(b"", b"", NO_TERMS)


def is_indexed(path: str) -> bool:
    """Return whether the file's name alone says that it is code with identifiers."""
    language = language_of(path)
    return has_grammar(language) and language not in DOCUMENTS


def is_text(path: str) -> bool:
    """Return whether it may be text without identifiers: of another language, or no code."""
    return not (is_indexed(path) or _BINARY.search(path))


def words_of(path: str, data: bytes) -> Words:
    """The words of UTF-8 `data`; text that isn't code has no terms."""
    words = data.translate(_BLANKS).split()
    counts = Counter(words)
    used = _between_newlines(set(counts))
    if is_text(path):
        return Words(used, b"", NO_TERMS)
    document = _document(counts, path, data)
    keywords = _KEYWORDS.get(language_of(path))
    if keywords is None:
        return Words(used, used, document)
    defined = set(compress(words[1:], map(keywords.__contains__, words)))
    return Words(used, _between_newlines(defined), document)


def document_of(path: str, data: bytes) -> Document:
    """The terms of UTF-8 `data`."""
    return _document(Counter(data.translate(_BLANKS).split()), path, data)


def _document(words: Mapping[bytes, int], path: str, data: bytes) -> Document:
    names = Counter(definition.name for definition in definitions(path, data))
    return Document(_terms(words), _terms(names), frozenset(map(_decoded, names)))


def _terms(words: Mapping[bytes, int]) -> Mapping[str, int]:
    counts: dict[str, int] = {}
    for word, count in words.items():
        for term in _terms_of(word):
            counts[term] = counts.get(term, 0) + count
    return counts


@lru_cache(maxsize=1 << 17)
def _terms_of(word: bytes) -> tuple[str, ...]:
    return terms_of(_decoded(word)) if len(word) > 1 else ()


def _decoded(word: bytes) -> str:
    return word.decode("utf-8", "replace")


def needle(word: str) -> bytes:
    """The bytes that the words of a file hold when the word is one of them."""
    return SEPARATOR + word.encode("utf-8", "replace") + SEPARATOR


def _between_newlines(words: Set[bytes]) -> bytes:
    return SEPARATOR + SEPARATOR.join(words) + SEPARATOR
