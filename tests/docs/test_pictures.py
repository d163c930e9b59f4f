"""The pictures of terminals show what the commands print."""

import importlib.util
import zlib
from itertools import count
from pathlib import Path
from struct import unpack

import pytest

from .counts import comparable

pytestmark = pytest.mark.real

DOCS = Path(__file__).parents[2] / "docs"


def test_the_pictures_of_terminals_are_those_of_today() -> None:
    spec = importlib.util.spec_from_file_location("make_recordings", DOCS / "make_recordings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for path, picture in module.pictures():
        shown = comparable(path.read_text(encoding="utf-8"))
        assert shown == comparable(picture), f"run `python docs/make_recordings.py`: {path.name}"


def test_the_picture_that_moves_is_whole() -> None:
    picture = (DOCS / "images/browser-preview.png").read_bytes()
    at, chunks = 8, []
    while at < len(picture):
        size, kind = unpack(">I4s", picture[at : at + 8])
        data = picture[at + 8 : at + 8 + size]
        assert unpack(">I", picture[at + 8 + size : at + 12 + size]) == (zlib.crc32(kind + data),)
        chunks.append((kind, data))
        at += size + 12
    kinds = [kind for kind, _ in chunks]
    frames = unpack(">I", dict(chunks)[b"acTL"][:4])[0]
    assert kinds == [
        *(b"IHDR", b"PLTE", b"acTL", b"fcTL", b"IDAT"),
        *[b"fcTL", b"fdAT"] * (frames - 1),
        b"IEND",
    ]
    width, height = unpack(">II", chunks[0][1][:8])
    numbers, area = count(), (0, 0)
    for kind, data in chunks[3:-1]:
        assert kind == b"IDAT" or unpack(">I", data[:4]) == (next(numbers),)
        if kind == b"fcTL":
            area = unpack(">II", data[4:12])
            assert unpack(">II", data[12:20]) <= (width - area[0], height - area[1])
        else:
            rows = zlib.decompress(data[4 * (kind == b"fdAT") :])
            assert len(rows) == (area[0] + 1) * area[1]
