"""An index as one file that another machine can take: words of contents by hash, and nothing else.

It has no path, no text that an answer would show, and nothing that runs. A header is followed by
frames, each the words of some contents in arrays, compressed by itself, and at the end comes a
checksum. All of it is hostile until it's read: each length is checked before memory is taken for
it, and each number before it's used as a place.
"""

from __future__ import annotations

import hashlib
import struct
import sys
import zlib
from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from operator import le
from typing import BinaryIO, NamedTuple

from foldline.backends.errors import ArtefactError
from foldline.backends.index.database import SCHEMA_VERSION
from foldline.backends.index.segments import COUNT_BITS, Part, Segment, numbers_of
from foldline.backends.index.words import KEY_BYTES

SUFFIX = ".flindex"
MOST_BYTES = 1 << 29
"""The largest artefact; ten thousand files of code take some megabytes."""
_MOST_EXPANDED = 1 << 31
# A carriage return and a newline, which a transfer as text would change.
_MAGIC = b"foldline index\r\n"
_FORMAT = 1
_HEADER = struct.Struct("<HH")
_FRAME = struct.Struct("<BII")
_SIZES = struct.Struct("<5I")
_END, _CODE, _TEXT = range(3)
_DIGEST_BYTES = 32
_MOST_CONTENTS = 2_000_000
_MOST_FRAME, _MOST_IN_FRAME = 32 << 20, 1 << 16
# Words compress to a fourth; arrays of one number that is repeated to a thousandth.
_MOST_EXPANSION, _SMALL_FRAME = 60, 1 << 16
# Every frame costs a transaction.
_FREE_FRAMES, _FEWEST_CONTENTS = 64, 100
# The bytes of words, of names, and those between and before them.
_OF_KEYS = bytes(
    byte for byte in range(256) if byte >= 0x80 or chr(byte).isalnum() or byte in b"_$=\n"
)


class Contents(NamedTuple):
    """The summary of an artefact: its checksum, its number of contents, and its size in bytes."""

    digest: str
    contents: int
    bytes: int


def write_artefact(out: BinaryIO, parts: Iterable[Part]) -> Contents:
    """Write the words of all these contents."""
    file = _Hashed(out)
    file.write(_MAGIC + _HEADER.pack(_FORMAT, SCHEMA_VERSION))
    contents = 0
    for part in parts:
        for small in _within_limits(part):
            raw = _packed(small)
            packed = zlib.compress(raw, 6)
            file.write(_FRAME.pack(_TEXT if part.is_text else _CODE, len(packed), len(raw)))
            file.write(packed)
        contents += len(part.keys)
    file.write(_FRAME.pack(_END, 0, contents))
    out.write(file.hash.digest())
    return Contents(file.hash.hexdigest(), contents, file.count + _DIGEST_BYTES)


def read_artefact(source: BinaryIO) -> Iterator[Part]:
    """The parts of an artefact; only at its end is it known to be whole.

    Linear in its bytes, and in the memory of one frame and of its keys.

    Raises:
        ArtefactError: It isn't one of this version, it's damaged, or over a limit.
    """
    if source.read(len(_MAGIC)) != _MAGIC:
        raise ArtefactError("it isn't an index that foldline exported")
    file = _Hashed(source, _MAGIC)
    number, version = _HEADER.unpack(file.read(_HEADER.size))
    if (number, version) != (_FORMAT, SCHEMA_VERSION):
        raise ArtefactError(
            f"it has version {number}.{version}, and this foldline reads {_FORMAT}.{SCHEMA_VERSION}"
            ": export it with the same foldline"
        )
    keys: set[bytes] = set()
    frames = expanded = 0
    while True:
        kind, packed_size, size = _FRAME.unpack(file.read(_FRAME.size))
        if kind == _END:
            break
        frames += 1
        if frames > _FREE_FRAMES + len(keys) // _FEWEST_CONTENTS:
            raise ArtefactError("it's cut into too many parts")
        expanded += size
        if expanded > _MOST_EXPANDED:
            raise ArtefactError(f"it expands to more than {_MOST_EXPANDED:,} bytes")
        part = _unpacked(kind, _expanded(file, packed_size, size))
        keys.update(part.keys)
        if len(keys) > _MOST_CONTENTS:
            raise ArtefactError(f"it has more than {_MOST_CONTENTS:,} contents")
        yield part
    if packed_size or size != len(keys):
        raise ArtefactError("a content is in it twice, or parts are missing")
    if source.read(_DIGEST_BYTES) != file.hash.digest():
        raise ArtefactError("its checksum is wrong: it's damaged")
    if source.read(1):
        raise ArtefactError("something follows its end")


def check_artefact(source: BinaryIO) -> Contents:
    """Return the summary of an artefact, after reading all of it.

    Raises:
        ArtefactError: As `read_artefact`.
    """
    contents = sum(len(part.keys) for part in read_artefact(source))
    size = source.tell()
    source.seek(size - _DIGEST_BYTES)
    return Contents(source.read(_DIGEST_BYTES).hex(), contents, size)


class _Hashed:
    """A file whose bytes are hashed as they pass."""

    def __init__(self, file: BinaryIO, passed: bytes = b"") -> None:
        self._file = file
        self.hash = hashlib.sha256(passed)
        self.count = len(passed)

    def write(self, data: bytes) -> None:
        self._file.write(data)
        self.hash.update(data)
        self.count += len(data)

    def read(self, size: int) -> bytes:
        data = self._file.read(size)
        self.count += len(data)
        if len(data) != size or self.count > MOST_BYTES:
            raise ArtefactError("it ends too early" if len(data) != size else "it's too large")
        self.hash.update(data)
        return data


def _within_limits(part: Part) -> Iterator[Part]:
    """The part, in halves if it's too large for a frame."""
    _, keys, words = part
    size = len(words.keys) + 4 * (len(words.ends) + len(words.places))
    if (size < _MOST_FRAME // 2 and len(keys) <= _MOST_IN_FRAME) or len(keys) == 1:
        yield part
        return
    middle = len(keys) // 2
    for slots in (range(middle), range(middle, len(keys))):
        yield from _within_limits(part.subset(slots))


def _packed(part: Part) -> bytes:
    words = part.words
    return b"".join(
        (
            _SIZES.pack(
                len(part.keys), words.words, len(words.keys), len(words.ends), len(words.places)
            ),
            *part.keys,
            words.keys,
            *(_little(numbers).tobytes() for numbers in words[2:]),
        )
    )


def _expanded(file: _Hashed, packed_size: int, size: int) -> bytes:
    if size > _MOST_FRAME or packed_size > _MOST_FRAME:
        raise ArtefactError(f"a part has more than {_MOST_FRAME:,} bytes")
    if size > _SMALL_FRAME + _MOST_EXPANSION * packed_size:
        raise ArtefactError("a part expands to far more than words do")
    stream = zlib.decompressobj()
    try:
        raw = stream.decompress(file.read(packed_size), size + 1)
    except zlib.error as error:
        raise ArtefactError("a part can't be decompressed") from error
    if len(raw) != size or not stream.eof or stream.unused_data:
        raise ArtefactError("a part hasn't the length that it says")
    return raw


def _unpacked(kind: int, raw: bytes) -> Part:
    if kind not in {_CODE, _TEXT} or len(raw) < _SIZES.size:
        raise ArtefactError("a part is of an unknown kind, or too short")
    count, words, text, ends, places = _SIZES.unpack_from(raw)
    sizes = (count * KEY_BYTES, text, 4 * ends, 4 * places, 4 * count, 4 * count)
    if not 0 < count <= _MOST_IN_FRAME or sum(sizes) + _SIZES.size != len(raw):
        raise ArtefactError("a part hasn't the length that its numbers give")
    pieces, at = [], _SIZES.size
    for size in sizes:
        pieces.append(raw[at : at + size])
        at += size
    keys = [pieces[0][at : at + KEY_BYTES] for at in range(0, len(pieces[0]), KEY_BYTES)]
    segment = Segment(words, pieces[1], *(_little(numbers_of(piece)) for piece in pieces[2:]))
    _check(segment)
    return Part(kind == _TEXT, keys, segment)


def _check(segment: Segment) -> None:
    """Refuse words that no foldline wrote, and numbers that lead to none."""
    words, keys, ends, places, lengths, _ = segment
    try:
        keys.decode()
    except UnicodeDecodeError:
        raise ArtefactError("its words aren't UTF-8") from None
    # Counted, as a pattern would need memory for each of millions.
    count = keys.count(b"\n") - 1 if keys != b"\n\n" else 0
    names = keys.count(b"\n=")
    before = keys.count(b"\n", 0, keys.find(b"\n=")) if names else count
    if count and (b"\n\n" in keys or not (keys.startswith(b"\n") and keys.endswith(b"\n"))):
        raise ArtefactError("its words have no ends")
    if keys.translate(None, _OF_KEYS) or b"=\n" in keys or keys.count(b"=") != names:
        raise ArtefactError("its words aren't words")
    if (before, before + names) != (words, count) or count != len(ends):
        raise ArtefactError("its words aren't as many as it says")
    if (ends[-1] if ends else 0) != len(places) or not all(map(le, ends, islice(ends, 1, None))):
        raise ArtefactError("its words have places beyond their end")
    if places and max(places) >> COUNT_BITS >= len(lengths):
        raise ArtefactError("a word is in a content that it doesn't have")


def _little(numbers: array[int]) -> array[int]:
    """The numbers in the byte order of artefacts, or from it."""
    if sys.byteorder == "big":
        numbers = numbers[:]
        numbers.byteswap()
    return numbers
