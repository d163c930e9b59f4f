"""The names that a source seems to define, found without a parse.

A pattern for each family of languages looks at the beginnings of lines, in time that is linear in
the source. It may name a line of a string, and misses what isn't written as usual.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.languages import language_of

if TYPE_CHECKING:
    from collections.abc import Iterator


class Definition(NamedTuple):
    """A name, the word before it (`class`, `func`; empty where there is none), and its offset."""

    name: bytes
    kind: bytes
    at: int


# Letters beyond ASCII are bytes from 0x80 on.
_NAME = rb"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*"
_PYTHON = re.compile(
    rb"^[ \t]*(?:async[ \t]+)?(?P<kind>def|class|type)[ \t]+(?P<name>%(name)s)"
    rb"|^(?P<variable>%(name)s)[ \t]*(?::[^=\n]*)?=(?!=)" % {b"name": _NAME},
    re.MULTILINE,
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
)
_KEYWORD = (
    rb"^[ \t]*%b(?P<kind>%b)(?!\w)[ \t*]*(?:\([^()\n]{0,200}\)[ \t]*)?(?:self\.)?(?P<name>%b)"
)
_AT_MARGIN = rb"^%b(?P<binding>const|let|var|val|static|#define)[ \t]+(?:mut[ \t]+)?(?P<bound>%b)"
# A method without such a word: its line ends with the brace, or within the parameters.
_METHOD = (
    rb"^[ \t]*(?:[\w<>\[\],.?&*:~\x80-\xff]{1,80}[ \t]+){0,6}[#*&]{0,3}(?P<method>%b)"
    rb"(?:<[^<>\n]{0,80}>)?\((?:[^;\n{}]{0,300}[{(,]|)[ \t]*$"
)
_OTHERS = re.compile(
    rb"|".join(
        (
            _KEYWORD % (_BEFORE, _KEYWORDS, _NAME),
            _AT_MARGIN % (_BEFORE, _NAME),
            _METHOD % _NAME,
        )
    ),
    re.MULTILINE,
)
_NO_METHODS = frozenset(
    {b"if", b"for", b"while", b"switch", b"catch", b"function", b"return", b"new", b"func", b"fn"}
    | {b"else", b"match", b"with", b"sizeof", b"using", b"lock", b"super", b"require", b"await"}
    | {b"it", b"describe", b"test", b"expect"}
)
_NO_METHOD_BEFORE = re.compile(rb"[=]|\b(?:return|await|new|else|throw|yield|case|if|in|of)\b")
# Nobody reads the names in a line this long.
_LONGEST_LINE = 2_000


def definitions(path: str, data: bytes) -> Iterator[Definition]:
    """The definitions of UTF-8 `data`, in the order of their lines; at most one a line."""
    if language_of(path, data[:128]) == "python":
        for found in _PYTHON.finditer(data):
            variable = found["variable"]
            if variable is None:
                yield Definition(found["name"], found["kind"], found.start("name"))
            else:
                yield Definition(variable, b"", found.start("variable"))
        return
    for found in _OTHERS.finditer(data):
        if (name := found["name"]) is not None:
            yield Definition(name, found["kind"], found.start("name"))
        elif (name := found["bound"]) is not None:
            yield Definition(name, found["binding"], found.start("bound"))
        else:
            name, at = found["method"], found.start("method")
            before = data[found.start() : at]
            # A call at the margin, such as `describe(`, has nothing before it.
            if before and name not in _NO_METHODS and not _NO_METHOD_BEFORE.search(before):
                yield Definition(name, b"", at)
