"""The words of a file, and the names that it seems to define, found without a parse.

A pattern for each family of languages looks at the beginnings of lines, in time that is linear in
the source. It may name a line of a string, and misses what isn't written as usual.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from foldline.backends.base.languages import is_text, language_of

# Bytes outside words become blanks. In UTF-8 the letters beyond ASCII are bytes from 0x80
# on. Splitting is several times faster than a pattern, and numbers do no harm.
_BLANKS = bytes(
    byte if byte >= 0x80 or byte == ord("_") or chr(byte).isalnum() else ord(" ")
    for byte in range(256)
)
KEY_BYTES = 20

BY_WORDS = frozenset({"python", "ruby", "rust"})
"""The languages whose definitions are all found so, but for some variables."""

# Letters beyond ASCII are bytes from 0x80 on.
_NAME = rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*"
# An empty alternative is faster than an optional group, and blanks that aren't given back take half
# the time.
_PYTHON = re.compile(
    rb"\n(?:[ \t]*+(?:async[ \t]+|)(?:def|class|type)[ \t]+(%(name)s)"
    rb"|(%(name)s)[ \t]*(?::[^=\n]*)?=(?!=))" % {b"name": _NAME}
)
# What may stand before the word that defines, `pub(crate)` and `export default` included.
_BEFORE = (
    rb"(?:(?:export|default|declare|public|private|protected|internal|static|abstract|final|open"
    rb"|sealed|async|inline|override|readonly|unsafe|extern|pub|const|partial|data|suspend|virtual"
    rb"|pub\([a-z :]{1,40}\))[ \t]+){0,6}"
)
_KEYWORDS = (
    rb"function|func|fn|fun|def|class|interface|trait|struct|enum|type|union|namespace|module|mod"
    rb"|object|record|protocol|extension|package|macro_rules!|impl|define"
    # Constants of Rust, wherever they stand.
    rb"|(?:const|static)(?=[ \t]+[A-Z][A-Z0-9_]*[ \t]*:)"
)
# A name before a comma is imported: `type Rule,`.
_KEYWORD = (
    rb"^[ \t]*+%b(?:%b)(?!\w)[ \t*]*(?:\([^()\n]{0,200}\)[ \t]*)?(?:self\.)?"
    rb"(?P<name>%b)(?![\w$,\x80-\xff])"
)
_AT_MARGIN = rb"^%b(?:const|let|var|val|static|#define)[ \t]+(?:mut[ \t]+)?(?P<bound>%b)"
# A method without such a word: its line ends with the brace, or within the parameters.
_METHOD = (
    rb"^[ \t]*+(?:[\w<>\[\],.?&*:~\x80-\xff]{1,80}[ \t]+){0,6}[#*&]{0,3}"
    rb"(?:[\w~]{1,80}+::){0,4}(?P<method>%b)(?:(?<=operator)[^\w\s;]{1,3}\w*)?"
    rb"(?:<[^<>\n]{0,80}>)?\((?:[^;\n{}]{0,300}[{(,]|)[ \t]*$"
)
_OTHERS = re.compile(
    rb"|".join(
        (
            _KEYWORD % (_BEFORE, _KEYWORDS, _NAME),
            _AT_MARGIN % (_BEFORE, _NAME),
            _METHOD % _NAME,
            rb"^[ \t]*+(?:attr_(?:reader|writer|accessor)[ \t(]+|pub(?:\([a-z :]{1,40}\)|) +use )"
            rb"(?P<listed>:[^\n#]+|(?<=use )[^;]{1,2000})",
        )
    ),
    re.MULTILINE,
)
# Ruby's `:name`, and Rust's `as name`.
_LISTED = re.compile(rb"(?:(?<!:):|\bas\s+)(%b)" % _NAME)
_NO_METHODS = frozenset(
    {b"if", b"for", b"while", b"switch", b"catch", b"function", b"return", b"new", b"func", b"fn"}
    | {b"else", b"match", b"with", b"sizeof", b"using", b"lock", b"super", b"require", b"await"}
    | {b"it", b"describe", b"test", b"expect"}
)
_NO_METHOD_BEFORE = re.compile(rb"[=]|\b(?:return|await|new|else|throw|yield|case|if|in|of)\b")


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
    words = split_words(data)
    if is_text(path):
        return Words(dict.fromkeys(words, 1), {})
    return Words(Counter(words), Counter(definitions(path, data)))


def split_words(data: bytes) -> list[bytes]:
    """The words of UTF-8 `data`, in their order."""
    return data.translate(_BLANKS).split()


def may_define(path: str, data: bytes, name: bytes) -> bool:
    """Return whether `data`, which has the name, may define it."""
    return language_of(path) not in BY_WORDS or name in definitions(path, data)


def pattern_of(path: str, data: bytes) -> str:
    """The family of languages by whose pattern the names are found."""
    return "python" if language_of(path, data[:128]) == "python" else "code"


def definitions(path: str, data: bytes) -> list[bytes]:
    """The names that UTF-8 `data` defines, in the order of their lines."""
    if pattern_of(path, data) == "python":
        # From line end to line end: several times faster than the beginnings of lines.
        return [name or variable for name, variable in _PYTHON.findall(b"\n" + data)]
    names = []
    for match in _OTHERS.finditer(data):
        if listed := match["listed"]:
            names += _LISTED.findall(listed)
            continue
        if (name := match["name"] or match["bound"]) is None:
            name, before = match["method"], data[match.start() : match.start("method")]
            # A call at the margin, such as `describe(`, has nothing before it.
            if not before or name in _NO_METHODS or _NO_METHOD_BEFORE.search(before):
                continue
        names.append(name)
    return names
