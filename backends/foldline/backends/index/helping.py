"""The words of many files, found beside this process by others where processors are idle.

A helper gets the paths and texts of files over its standard input, and gives back their words as
one segment. It reads no file itself, and ends when its input does.
"""

from __future__ import annotations

import contextlib
import gc
import os
import struct
import sys
import threading
from array import array
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from foldline.backends.index.segments import Building, Segment
from foldline.backends.index.words import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import BinaryIO

    from foldline.backends.files.listing import FileStamp
    from foldline.backends.index.store import KnownFile

    Read: TypeAlias = Callable[[FileStamp], tuple[KnownFile, bytes]]

# The folders to import from come by argument: no setting, and nothing in the working directory, can
# add to them.
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; "
    "from foldline.backends.index.helping import serve; serve()"
)
# The sizes of a path and of its text; then the answer's number of words and sizes in bytes.
_FILE = struct.Struct("<II")
_ANSWER = struct.Struct("<6I")
# To find the words of so many bytes takes several times as long as to start a helper.
_WORTH_BYTES = 5_000_000
_MOST_HELPERS = 3
# Far more than a share takes on a machine that is busy.
_MOST_SECONDS = 60.0
_NICE = 10
_RUNNING = Path("/proc/loadavg")


class Found(NamedTuple):
    """Files that were read, and the words of the contents with these keys, by slot."""

    files: list[KnownFile]
    keys: list[bytes]
    words: Segment


def helpers_for(stamps: Sequence[FileStamp]) -> int:
    """How many helpers are worth it for these files."""
    worth = sum(stamp.size for stamp in stamps) // _WORTH_BYTES
    # A program that Python is built into would start itself, and Windows' pipes always block.
    if not worth or not sys.executable or getattr(sys, "frozen", False) or os.name == "nt":
        return 0
    return min(worth, _MOST_HELPERS, _idle_processors())


def words_of_files(
    stamps: Iterable[FileStamp],
    read: Read,
    knows: Callable[[bytes], bool],
    goes_on: Callable[[], bool],
    helpers: int = 0,
) -> list[Found]:
    """Read the files in their order while it `goes_on`, and find their words, of equal ones once.

    The contents that it `knows` are left out. What a helper doesn't answer is read again.
    """
    with contextlib.ExitStack() as stack:
        shares = [_Share(_Here())]
        with contextlib.suppress(OSError):  # The system lets no more processes start.
            while len(shares) <= helpers:
                shares += [_Share(stack.enter_context(contextlib.closing(Helper())))]
        taken: set[bytes] = set()
        for stamp in stamps:
            if not goes_on():
                break
            file, data = read(stamp)
            # This process waits for none, and takes what no helper does.
            share = next(one for one in reversed(shares) if one.words.is_free())
            share.files.append(file)
            key = file.content
            if key is not None and key not in taken and not knows(key):
                taken.add(key)
                share.keys.append(key)
                share.words.add(stamp.path, data)
        found: list[Found] = []
        left: list[FileStamp] = []
        for share in shares:
            try:
                found.append(Found(share.files, share.keys, share.words.segment()))
            except HelperError:
                left += [file.stamp for file in share.files]
                taken.difference_update(share.keys)
    if left:
        found += words_of_files(left, read, lambda key: key in taken or knows(key), goes_on)
    return found


class _Share:
    """The files of this process or of a helper, and the contents whose words it finds."""

    def __init__(self, words: Helper | _Here) -> None:
        self.words = words
        self.files: list[KnownFile] = []
        self.keys: list[bytes] = []


class _Here:
    """Finds words in this process, as a helper does in its own."""

    def __init__(self) -> None:
        self._building = Building()

    def is_free(self) -> bool:
        return True

    def add(self, path: str, data: bytes) -> None:
        self._building.add(words_of(path, data))

    def segment(self) -> Segment:
        return self._building.segment()


class HelperError(Exception):
    """A helper ended before it answered, or was ended."""


class Helper:
    """A process that finds the words of files until it is asked for all of them.

    Raises:
        OSError: It can't be started.
    """

    def __init__(self) -> None:
        import subprocess

        folders = filter(os.path.isabs, sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _PROGRAM, *folders],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input, self._output = self._process.stdin, self._process.stdout
        os.set_blocking(self._input.fileno(), False)
        # What the pipe has no room for.
        self._unsent = b""
        self._deadline = threading.Timer(_MOST_SECONDS, self._process.kill)
        self._deadline.daemon = True
        self._deadline.start()

    def is_free(self) -> bool:
        """Return whether it has room for another file; never waits."""
        if self._unsent:
            # One that ended is free no more; `segment` says so.
            with contextlib.suppress(OSError):
                self._unsent = self._unsent[os.write(self._input.fileno(), self._unsent) :]
        return not self._unsent

    def add(self, path: str, data: bytes) -> None:
        """Find the words of a file's UTF-8."""
        name = path.encode("utf-8", "surrogateescape")
        self._unsent += _FILE.pack(len(name), len(data)) + name + data
        self.is_free()

    def segment(self) -> Segment:
        """The words of all files, whose slots are their places in the order.

        Raises:
            HelperError: It ended.
        """
        try:
            os.set_blocking(self._input.fileno(), True)
            self._input.write(self._unsent + _FILE.pack(0, 0))
            self._input.flush()
            words, *sizes = _ANSWER.unpack(self._output.read(_ANSWER.size))
            keys, *numbers = (self._output.read(size) for size in sizes)
            arrays = [array("I", part) for part in numbers]
        except (OSError, ValueError, MemoryError, struct.error) as error:
            raise HelperError from error
        if sizes != [len(keys), *(len(part) for part in numbers)]:
            raise HelperError
        return Segment(words, keys, *arrays)

    def close(self) -> None:
        """End the process."""
        self._deadline.cancel()
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(OSError):  # What it wasn't given any more.
            self._input.close()
        self._output.close()


def serve() -> None:
    """Find the words of what comes over standard input: the program of a `Helper`."""
    # What the user waits for goes first, and nothing here is garbage before the end.
    if hasattr(os, "nice"):
        os.nice(_NICE)
    gc.disable()
    source, building = sys.stdin.buffer, Building()
    while len(head := source.read(_FILE.size)) == _FILE.size:
        name, size = _FILE.unpack(head)
        if not name:
            _answer(sys.stdout.buffer, building.segment())
            break
        path = source.read(name).decode("utf-8", "surrogateescape")
        building.add(words_of(path, source.read(size)))


def _answer(target: BinaryIO, segment: Segment) -> None:
    words, *parts = segment
    written = [bytes(part) for part in parts]
    target.write(_ANSWER.pack(words, *map(len, written)))
    target.writelines(written)
    target.flush()


def _idle_processors() -> int:
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    try:
        # How many threads run or wait for a processor now, this one included.
        running = int(_RUNNING.read_text("utf-8").split()[3].partition("/")[0])
    except (OSError, IndexError, ValueError):
        running = 1 + round(os.getloadavg()[0]) if hasattr(os, "getloadavg") else 1
    return max((count or 1) - running, 0)
