"""The one function that reads files: regular, bounded, below the root, and never waiting."""

import os
from pathlib import Path

import pytest
from tests.hostile import Making, make_socket, make_sparse

from foldline.backends.errors import MalformedFileError, PathError, PathKind
from foldline.backends.files.reader import read_bytes, read_json, read_text, read_toml
from foldline.backends.lsp.configuration import hiding_settings, read_configuration
from foldline.backends.lsp.servers import SERVERS


def refused(file: Path, root: Path | None = None) -> PathKind:
    with pytest.raises(PathError) as caught:
        read_text(file, 1000, root=root, strict=True)
    assert str(file) in str(caught.value)
    return caught.value.kind


HOSTILE: dict[str, tuple[Making, PathKind]] = {
    "a pipe": (os.mkfifo, PathKind.SPECIAL),
    "a socket": (make_socket, PathKind.SPECIAL),
    "a folder": (Path.mkdir, PathKind.NOT_A_FILE),
    "a link to nothing": (lambda file: file.symlink_to("nowhere"), PathKind.MISSING),
    "a link to itself": (lambda file: file.symlink_to(file), PathKind.SPECIAL),
    "ten gigabytes": (make_sparse, PathKind.TOO_LARGE),
    "no text": (lambda file: file.write_bytes(b"\x89PNG\0"), PathKind.BINARY),
    "Latin-1": (lambda file: file.write_bytes(b"a = '\xe9'"), PathKind.UNDECODABLE),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_refused_says_of_which_kind_it_is(tmp_path: Path, name: str) -> None:
    make, kind = HOSTILE[name]
    make(tmp_path / "f.toml")
    assert refused(tmp_path / "f.toml", tmp_path) is kind


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/random", "/dev/tty"])
def test_a_device_is_refused_with_and_without_a_root(tmp_path: Path, device: str) -> None:
    (tmp_path / "f.toml").symlink_to(device)
    assert refused(tmp_path / "f.toml", tmp_path) is PathKind.OUTSIDE
    assert refused(tmp_path / "f.toml") is PathKind.SPECIAL


def test_a_device_is_not_even_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    monkeypatch.setattr(os, "open", lambda path, *_: opened.append(path))
    with pytest.raises(PathError):
        read_bytes("/dev/zero", 10)
    assert not opened


def test_a_link_may_lead_below_the_root_and_not_out_of_it(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "below").mkdir(parents=True)
    (root / "below" / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    (root / "inside").symlink_to("below/a")
    (root / "outside").symlink_to("../b")
    (root / "folder").symlink_to(tmp_path)
    assert read_text(root / "inside", 10, root=root) == "a"
    assert refused(root / "outside", root) is PathKind.OUTSIDE
    assert refused(root / "folder" / "b", root) is PathKind.OUTSIDE
    assert read_text(root / "outside", 10) == "b"


def test_the_limit_is_inclusive_and_growth_while_reading_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * 10)
    assert read_bytes(file, 10) == b"x" * 10
    real_read = os.read

    def read(descriptor: int, size: int) -> bytes:
        with file.open("ab") as stream:
            stream.write(b"y" * 10)
        return real_read(descriptor, size)

    monkeypatch.setattr(os, "read", read)
    with pytest.raises(PathError) as caught:
        read_bytes(file, 10)
    assert caught.value.kind is PathKind.TOO_LARGE


def test_text_keeps_its_line_ends_and_loses_its_mark(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\xef\xbb\xbfa\r\nb\rc\n\xff")
    assert read_text(tmp_path / "f", 100) == "a\r\nb\rc\n\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a = " + "[" * 100_000, None),
        ("a = 1\nb = ]\n", 2),
        ("x = 1\n" + "a." * 200_000 + "a = 1", 2),
        ("[" + "'a' . " * 100_000 + "a]", 1),
        ("b = {x = 1, " + "a . " * 100_000, 1),
        ("a = " + "{a=" * 50_000, None),
        ("a = " + "9" * 100_000, None),
    ],
    ids=["deep", "broken", "long key", "long table", "inline key", "deep tables", "long number"],
)
def test_malformed_toml_is_said_with_its_line(tmp_path: Path, text: str, line: int | None) -> None:
    (tmp_path / "f.toml").write_text(text)
    with pytest.raises(MalformedFileError) as caught:
        read_toml(tmp_path / "f.toml")
    assert caught.value.line == line


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "9" * 100_000])
def test_malformed_json_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "f.json").write_text(text)
    with pytest.raises(MalformedFileError):
        read_json(tmp_path / "f.json")


def test_dotted_keys_as_people_write_them_are_read(tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text('[a.b]\nc.d = "e.f"\nlong = "' + "w. " * 500 + '"\n')
    assert read_toml(tmp_path / "f.toml")["a"]


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "a link to nothing"])
def test_language_servers_settings_that_are_refused_are_said(tmp_path: Path, name: str) -> None:
    make, _ = HOSTILE[name]
    for file in ("pyproject.toml", "ty.toml"):
        make(tmp_path / file)
    (problem,) = read_configuration(tmp_path, trusted=True).problems
    assert str(tmp_path / "pyproject.toml") in problem
    ty = next(spec for spec in SERVERS if spec.name == "ty")
    said = hiding_settings(ty, tmp_path)
    assert [item.partition(":")[0] for item in said] == [
        "pyproject.toml was not read",
        "ty.toml was not read",
    ]


def test_a_setting_that_hides_files_is_named_as_before(tmp_path: Path) -> None:
    (tmp_path / "ty.toml").write_text('[src]\nexclude = ["a"]\n')
    ty = next(spec for spec in SERVERS if spec.name == "ty")
    assert hiding_settings(ty, tmp_path) == ("src.exclude in ty.toml is set",)
