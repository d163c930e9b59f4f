"""The words of a file, and those that it seems to define."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.languages import DOCUMENTS, has_grammar, language_of
from foldline.backends.index.definitions import definitions, pattern_of

if TYPE_CHECKING:
    from collections.abc import Mapping

# Bytes outside words become blanks. In UTF-8 the letters beyond ASCII are bytes from 0x80
# on. Splitting is several times faster than a pattern, and numbers do no harm.
_BLANKS = bytes(
    byte if byte >= 0x80 or byte == ord("_") or chr(byte).isalnum() else ord(" ")
    for byte in range(256)
)
_BINARY = re.compile(
    r"\.(7z|a|avif|bin|bmp|bz2|class|db|dll|dylib|eot|exe|flindex|gif|gz|ico|jar|jpe?g|lib|mo|mov|"
    r"mp[34]|npy|npz|o|ogg|onnx|otf|parquet|pdf|pkl|png|psd|pyc|pyd|so|sqlite|tar|tgz|tiff?|ttf|wasm|"
    r"wav|webm|webp|whl|woff2?|xlsx?|xz|zip|zst)$",
    re.IGNORECASE,
)


class Words(NamedTuple):
    """The words of one file with their counts, and those of the names that it seems to define."""

    used: Mapping[bytes, int]
    defined: Mapping[bytes, int]


CODE, TEXT, BINARY = range(3)
KEY_BYTES = 20


def is_indexed(path: str) -> bool:
    """Return whether it is code with identifiers."""
    return kind_of(path) == CODE


def is_text(path: str) -> bool:
    """Return whether it may be text without identifiers: of another language, or no code."""
    return kind_of(path) == TEXT


def kind_of(path: str) -> int:
    """`CODE`, `TEXT` or `BINARY`, by the file's name alone."""
    return _kind_of_name(path[path.rfind("/") + 1 :])


@lru_cache(maxsize=1 << 14)
def _kind_of_name(name: str) -> int:
    # A workspace has far fewer names than files.
    language = language_of(name)
    if has_grammar(language) and language not in DOCUMENTS:
        return CODE
    return BINARY if _BINARY.search(name) else TEXT


def whole_word(word: bytes) -> re.Pattern[bytes]:
    """Finds the word in UTF-8 where no letter, digit or underscore is beside it."""
    # It begins with the word, which is then searched for fast.
    exact = re.escape(word)
    return re.compile(rb"%b(?<![\w\x80-\xff]%b)(?![\w\x80-\xff])" % (exact, exact))


def content_key(path: str, data: bytes) -> bytes:
    """The key that words are kept under: equal for files of equal words, wherever they are.

    It isn't git's blob hash: SHA-1 can be made to collide, and two files with one key would hide
    the words of one of them. What the words depend on besides the bytes is hashed with them.
    """
    kind = "text" if is_text(path) else pattern_of(path, data)
    # Processors have instructions for it.
    key = hashlib.sha256(kind.encode() + b"\0")
    key.update(data)
    return key.digest()[:KEY_BYTES]


def words_of(path: str, data: bytes) -> Words:
    """The words of UTF-8 `data`; text that isn't code defines none, and has each word once."""
    words = data.translate(_BLANKS).split()
    if is_text(path):
        return Words(dict.fromkeys(words, 1), {})
    return Words(Counter(words), Counter(definitions(path, data)))
