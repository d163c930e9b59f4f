"""The lines before a message of the Language Server Protocol: HTTP's headers."""

from __future__ import annotations

# Wrappers such as npx write a greeting to standard output. More than this isn't one.
MAX_STRAY_BYTES = 64 << 10
LONGEST_LINE = 8 << 10


class Header:
    """The header of one message, read line by line.

    Names may be in any case, blanks may surround values, and lines may end with a line feed alone.
    Some lines that aren't headers are skipped; with `strict`, what ends in an empty line needs a
    length.
    """

    def __init__(self, longest: int, *, strict: bool = False) -> None:
        self._longest = longest
        self._strict = strict
        self.length: int | None = None
        """The message's length in bytes; None until its header has been read."""
        self._stray = 0
        self._first = b""

    def add(self, line: bytes) -> int | None:
        """Read the next line; returns the length of the message after the last one.

        Raises:
            ValueError: Where the message begins and ends can't be told.
        """
        text = line.strip()
        self._first = self._first or text
        name, _, value = text.partition(b":")
        if not line.endswith(b"\n"):
            raise ValueError(f"a line of a header has no end: {text[:40]!r}")
        if not text and self.length is not None:
            return self.length
        if not text and self._first and self._strict:
            raise ValueError(f"a header has no Content-Length; it begins with {self._first[:40]!r}")
        if name.rstrip().lower() == b"content-length":
            digits = value.strip()
            if not digits.isdigit() or len(digits) > 12:
                raise ValueError(f"a message's Content-Length is not a length: {digits[:40]!r}")
            self.length = int(digits)
            if self.length > self._longest:
                raise ValueError(
                    f"a message has {self.length:,} bytes, the limit is {self._longest:,}"
                )
        elif name.lower() != b"content-type":
            self._stray += len(line)
        if self._stray > MAX_STRAY_BYTES:
            raise ValueError(f"{self._stray:,} bytes came that aren't LSP")
        return None
