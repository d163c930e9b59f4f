"""Paths and `file:` URIs, the way editors write them."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygls.uris import from_fs_path

from foldline.backends.base.uris import path_of_uri, uri_of_path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths with slashes")
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="/\0"), min_size=1)


@given(st.lists(NAMES, min_size=2))
def test_a_path_survives_its_uri_and_is_written_as_the_server_writes_it(names: list[str]) -> None:
    path = "/" + "/".join(names)
    uri = uri_of_path(path)
    assert uri == from_fs_path(path)
    assert path_of_uri(uri) == (path if path[2:3] != ":" else path[0] + path[1].lower() + path[2:])


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///C%3A/a.py", "c:/a.py"),
        ("file://server/share/a%20b.py", "//server/share/a b.py"),
        ("file:///src/a;b.py", "/src/a;b.py"),
        ("untitled:Untitled-1", None),
    ],
)
def test_drives_shares_and_other_schemes(uri: str, path: str | None) -> None:
    assert path_of_uri(uri) == path


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/C:/a.py", "file:///c:/a.py"),
        ("//server/share/a b.py", "file://server/share/a%20b.py"),
    ],
)
def test_the_uri_of_a_drive_and_of_a_share(path: str, uri: str) -> None:
    assert uri_of_path(path) == uri == from_fs_path(path)
