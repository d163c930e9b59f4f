"""The words of a file, and those that it seems to define."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from foldline.backends.base.languages import is_text
from foldline.backends.index.definitions import definitions, pattern_of

# Bytes outside words become blanks. In UTF-8 the letters beyond ASCII are bytes from 0x80
# on. Splitting is several times faster than a pattern, and numbers do no harm.
_BLANKS = bytes(
    byte if byte >= 0x80 or byte == ord("_") or chr(byte).isalnum() else ord(" ")
    for byte in range(256)
)
KEY_BYTES = 20


class Words(NamedTuple):
    """The words of one file with their counts, and those of the names that it seems to define."""

    used: Mapping[bytes, int]
    defined: Mapping[bytes, int]


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
