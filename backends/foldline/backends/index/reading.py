"""Reads files for the index, and for answers that it isn't ready for: these go first.

An answer clears `_may_build` before it reads. The thread that builds the index calls `make_way`
between two files, and waits there until `_pause_end`; an answer moves that moment when its last
file is read, as it still has to make something of them. Only `go_on` ends the pause earlier.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from heapq import nlargest
from typing import TYPE_CHECKING

from foldline.backends.base.languages import is_text
from foldline.backends.errors import FileTooLargeError, PathError, UnreadablePathError
from foldline.backends.files.limits import TEXT_BYTES
from foldline.backends.index.words import may_define, whole_word

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from foldline.backends.files.listing import FileStamp
    from foldline.backends.files.local import LocalFileBackend

# An answer reads until this long after its question, but at least for the second or third: uses
# of a word that are missing are worse than a ranking of fewer files.
_DUE_SECONDS = 0.7
_LEAST_SECONDS = 0.3
_WORDS_SECONDS = 0.6
# The pause after the last file: the answer is made of the files, and after a search for a word a
# language server takes all processors for its own first answer.
_PAUSE_SECONDS = 0.5
_WORDS_PAUSE_SECONDS = 2.0
# Files that an answer ranks without an index, and the terms of the question that they are found by.
_MOST_SCANNED = 100
_MOST_NEEDLES = 12


def are_many(stamps: Sequence[FileStamp]) -> bool:
    """Return whether an answer can't look into all of these files."""
    return len(stamps) > _MOST_SCANNED


class FileReader:
    """Reads files; while an answer does, and makes something of them, the index isn't built.

    Attributes:
        refused: Files that the system refused to read, whose times don't tell when it will.
    """

    def __init__(self, files: LocalFileBackend) -> None:
        self.refused: dict[str, FileStamp] = {}
        self._files = files
        # One answer reads at a time; the build doesn't take this lock.
        self._answering = threading.Lock()
        self._may_build = threading.Event()
        self._may_build.set()
        self._pause_end = 0.0

    def bytes_of(self, stamp: FileStamp) -> bytes:
        """The bytes of a file.

        Raises:
            PathError: It can't be read, or is too large.
        """
        if stamp.size > TEXT_BYTES and is_text(stamp.path):
            raise FileTooLargeError(stamp.path, stamp.size, TEXT_BYTES)
        try:
            data = self._files.load_from_disk(stamp.path).data
        except UnreadablePathError:
            self.refused[stamp.path] = stamp
            raise
        except PathError:
            self.refused.pop(stamp.path, None)
            raise
        self.refused.pop(stamp.path, None)
        return data

    def reads_more(self) -> bool:
        """Return whether a file isn't refused any more."""
        before = [*self.refused.values()]
        for stamp in before:
            with suppress(PathError):
                self.bytes_of(stamp)
        return any(stamp.path not in self.refused for stamp in before)

    def make_way(self) -> None:
        """Wait, before the next file of the index, while an answer is made."""
        if self._may_build.is_set():
            return
        while (left := self._pause_end - time.monotonic()) > 0 and not self._may_build.wait(left):
            pass
        self._may_build.set()

    def go_on(self) -> None:
        """End the pause: an answer waits for the index itself."""
        self._may_build.set()

    def find_word(
        self,
        word: str,
        stamps: Iterable[FileStamp],
        since: float,
        *,
        defined: bool,
        found: dict[str, bool | None],
    ) -> None:
        """Find which of the files hold or define the word, until the answer is due.

        Goes into `found`, None for a file that is too large; what is there isn't read again.
        """
        exact = word.encode("utf-8", "replace")
        left = [stamp for stamp in stamps if stamp.path not in found]
        for path, data in self._for_answer(left, since, _WORDS_SECONDS):
            if data is None:
                found[path] = None
            else:
                has = exact in data and whole_word(exact).search(data) is not None
                found[path] = has and (not defined or may_define(path, data, exact))
        if left:
            self._pause_end = time.monotonic() + _WORDS_PAUSE_SECONDS

    def likely(
        self, stamps: list[FileStamp], words: Mapping[str, float], since: float
    ) -> dict[str, bytes]:
        """The texts of these files, of many those with the rarest words, as far as time allows.

        The words are in lower case, and have weights.
        """
        # Long words are rare.
        weights = {word: weight * len(word) for word, weight in words.items()}
        rarest = sorted(weights, key=weights.__getitem__, reverse=True)[:_MOST_NEEDLES]
        # Paths with a word come first, then what changed last: the time may be too short for all.
        stamps.sort(
            key=lambda stamp: (
                not any(word in stamp.path.lower() for word in rarest),
                -stamp.mtime_ns,
            )
        )
        candidates: list[tuple[float, str, bytes]] = []
        for path, data in self._for_answer(stamps, since, _LEAST_SECONDS):
            text = (data or b"").lower()
            weight = sum(weights[word] for word in rarest if word.encode() in text)
            if weight or not are_many(stamps):
                candidates.append((weight, path, data or b""))
            if len(candidates) > 2 * _MOST_SCANNED:
                candidates = nlargest(_MOST_SCANNED, candidates)
        return {path: data for _, path, data in nlargest(_MOST_SCANNED, candidates)}

    def _for_answer(
        self, stamps: Iterable[FileStamp], since: float, least: float
    ) -> Iterator[tuple[str, bytes | None]]:
        """The texts of these files, None for large ones, until the answer is due."""
        with self._answering:
            end = max(since + _DUE_SECONDS, time.monotonic() + least)
            self._pause_end = end
            self._may_build.clear()
            for stamp in stamps:
                if time.monotonic() > end:
                    break
                data: bytes | None = b""
                try:
                    data = self.bytes_of(stamp)
                except FileTooLargeError:
                    data = None
                except PathError:
                    pass  # Gone, or no text.
                yield stamp.path, data
            self._pause_end = time.monotonic() + _PAUSE_SECONDS
