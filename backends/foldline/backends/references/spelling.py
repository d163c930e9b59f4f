"""The names that people and models write: signatures, other languages' separators, places."""

from __future__ import annotations

import re
from typing import NamedTuple

# `func (r *Repository) ReadBlob`, `(*Repository).ReadBlob`
_RECEIVER = re.compile(
    r"(?:func\s*)?\(\s*(?:\w+\s+)?[*&\s]*([\w.]+)(?:\[[^\]]*\])?\s*\)\s*\.?\s*(\w+)"
)
_GENERICS = re.compile(r"(?<=[\w>\]])<[^<>]*>|(?<=\w)::<[^<>]*>|\[(?!\d+\])[^\[\]]*\]")
_END = re.compile(
    r"\s*(?:[({;,]|=(?!=)|(?<!:):(?!:)|<|\b(?:extends|implements|where|throws)\b)", re.DOTALL
)
_SEPARATOR = re.compile(r"(?<=[\w)$?!>])(?:::|->|\?\.|#|\\|!\.)(?=[#$~@]?\w)")
_SIGNATURE = re.compile(
    r"[({:=<]|\b(?:def|class|func|fn|fun|function|async|get|set|static|const|let|var|val|type|enum"
    r"|interface|struct|trait|impl|module|namespace|object|record|public|private|protected|export)\s"
)
# The parameters of a test, as pytest prints them.
_TEST_ID = re.compile(r"\b(test\w*)\[.*\]\Z", re.DOTALL)
# `operator[]` and `operator==` of C++, which are names with brackets and signs.
_OPERATOR = re.compile(
    r"(?:.*\s)?([\w:.]*)\boperator\s*(\(\)|\[\]|[-+*/%^&|~!=<>,]+)(?=\s*(?:\(|\Z))", re.DOTALL
)
# Words for the type or package around the code, which add nothing to a name.
_THIS = re.compile(r"(?:self|this|cls|super|crate|Self)\.(?=[#\w])")


class Written(NamedTuple):
    """A place that was written as one text: a file, a name in it, or a line."""

    path: str
    name: str
    line: int | None = None
    column: int | None = None


def written_place(text: str) -> Written | None:
    """The parts of `cart.py:12`, `cart.py:12:5`, `cart.py:Cart.total`, `cart.py::Cart::total`.

    None for a text that isn't the path of a source file with something behind it.
    """
    found = re.match(r"([^:\s(]*[^:\s(.]\.\w+|[^:\s(]+/[^:\s(]+):{1,2}(?=[^:\s])", text.strip())
    if found is None:
        return None
    rest = text.strip()[found.end() :]
    found_line = re.match(r"(?:(.*?[^\d:]):)?(\d{1,9})(?::(.+))?\Z", rest)
    if found_line is None:
        return Written(found[1], rest)
    name, line, behind = found_line.groups("")
    if behind.isdecimal():
        return Written(found[1], name, int(line), int(behind[:9]))
    return Written(found[1], behind or name, int(line))


def spelled(text: str) -> str:
    """The dotted name that a text means: of `T::m`, `T#m`, `(*T).m`, `m()` or a signature.

    >>> [spelled(text) for text in ("Headers#get_all", "(*T).m", "async foo(a): b", "x.#own()")]
    ['Headers.get_all', 'T.m', 'foo', 'x.#own']
    """
    text = _TEST_ID.sub(r"\1", text.strip().strip("`'\""))
    if receiver := _RECEIVER.match(text):
        return f"{receiver[1]}.{receiver[2]}"
    operator = _OPERATOR.match(text)
    # `operator()` alone may be any function's name.
    if operator and (operator[1] or operator[2] != "()"):
        owner = operator[1].replace("::", ".").strip(".")
        return f"{owner}.operator{operator[2]}".lstrip(".")
    bare, count = text, 1
    while count:
        bare, count = _GENERICS.subn("", bare)
    if len(text.split()) > 1 and not _SIGNATURE.search(text):
        return text
    words = _END.split(bare, maxsplit=1)[0].split()
    name = words[-1].lstrip("*&@") if words else ""
    name = _THIS.sub("", _SEPARATOR.sub(".", name).lstrip("\\").removeprefix("::"))
    return name.replace("$", "").strip(".").rstrip("?!") or text


def key_of(name: str) -> str:
    """A part of a name without the sign of a private or a variable name."""
    return name.lstrip("#$@~")
