"""The text of a file and how it was decoded."""

from __future__ import annotations

import codecs
import re

from foldline.backends.errors import InvalidArgumentError
from foldline.records import record

# PEP 263: a declaration in one of the first two lines.
_PYTHON_CODING = re.compile(
    rb"\A(?:[ \t\f]*#[^\r\n]*(?:\r\n?|\n))?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)"
)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    # The four-byte mark starts with the two-byte one.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MARKS = tuple(mark for mark, _ in _BOMS)
_NEWLINE = re.compile(r"\r\n|\n|\r")
_LONE_CR = re.compile(rb"\r(?!\n)")
_BINARY_PROBE = 8192


@record
class Source:
    """A file's text.

    `data` is the text in UTF-8 as it was, `note` says when the text is not exactly the file's:
    undecodable bytes were replaced, or the declared encoding is unknown.
    """

    path: str
    data: bytes
    encoding: str = "utf-8"
    note: str = ""

    @property
    def text(self) -> str:
        """The whole text, line endings as they are."""
        return self.data.decode("utf-8", "replace")

    @property
    def parse_data(self) -> bytes:
        """`data` with lone carriage returns as newlines: same length, and parsers count one row."""
        return _LONE_CR.sub(b"\n", self.data) if b"\r" in self.data else self.data

    @property
    def lines(self) -> list[str]:
        """The lines without their ends; a final newline starts no further line."""
        return split_lines(self.text)


def check_range(start: int, end: int) -> None:
    """Reject lines that no text has."""
    if start < 1:
        raise InvalidArgumentError("start", f"lines count from 1, not {start}")
    if end < start:
        raise InvalidArgumentError("end", f"{end} is before the first line asked for, {start}")


def split_lines(text: str) -> list[str]:
    r"""The lines of `text`, ended by `\n`, `\r\n` or `\r` and by nothing else."""
    lines = _NEWLINE.split(text) if "\r" in text else text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    return lines


def count_lines(data: bytes) -> int:
    """The number of lines that `split_lines` makes of the text of `data` (lone CRs replaced)."""
    return data.count(b"\n") + (1 if data and not data.endswith(b"\n") else 0)


def is_binary(head: bytes) -> bool:
    """Return whether the first bytes of a file show that it isn't text."""
    return head.find(b"\0", 0, _BINARY_PROBE) >= 0 and not head.startswith(_MARKS)


def decode(path: str, raw: bytes) -> Source:
    """The text of `raw`: by byte order mark, by PEP 263 in Python files, else as UTF-8.

    Bytes that do not decode become U+FFFD, and `note` says so; nothing is raised.
    """
    for mark, encoding in _BOMS if raw.startswith(_MARKS) else ():
        if raw.startswith(mark):
            return _decoded(path, raw[len(mark) :], encoding)
    if path.endswith((".py", ".pyi", ".pyw")) and (match := _PYTHON_CODING.match(raw)):
        declared = match.group(1).decode("ascii", "replace")
        try:
            encoding = codecs.lookup(declared).name
            "".encode(encoding)  # Codecs such as rot13 or hex are found but decode no text.
        except (LookupError, ValueError, TypeError):
            source = _decoded(path, raw, "utf-8")
            note = f"the declared encoding {declared!r} is unknown, read as UTF-8"
            return Source(path, source.data, "utf-8", "; ".join(filter(None, (note, source.note))))
        return _decoded(path, raw, encoding)
    return _decoded(path, raw, "utf-8")


def from_text(path: str, text: str) -> Source:
    """The source of a text that is held in memory."""
    return Source(path, text.encode("utf-8", "replace"))


def _decoded(path: str, raw: bytes, encoding: str) -> Source:
    try:
        text = raw.decode(encoding)
    except (UnicodeDecodeError, ValueError):
        text = raw.decode(encoding, "replace")
        note = f"bytes that are not {encoding} are shown as \N{REPLACEMENT CHARACTER}"
        return Source(path, text.encode("utf-8", "replace"), encoding, note)
    if encoding == "utf-8":
        return Source(path, raw, encoding)
    return Source(path, text.encode("utf-8", "replace"), encoding)
