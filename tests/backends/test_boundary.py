"""Nothing outside the workspace is read, and nothing special is opened."""

import os
import socket
from pathlib import Path

import pytest

from foldline.backends import (
    AmbiguousSymbolError,
    BinaryFileError,
    FileTooLargeError,
    InvalidArgumentError,
    LocalFileBackend,
    MemoryFileBackend,
    MissingPathError,
    NotAFileError,
    NotAFolderError,
    OutsideWorkspaceError,
    PathError,
    UnreadablePathError,
)
from foldline.backends.base.untrusted import find_in
from foldline.backends.files.repository import repository_of
from foldline.backends.lsp.servers import SERVERS


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "more.txt").write_text("more")
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("a = 1\n")
    return root


@pytest.mark.parametrize(
    "path",
    [
        "../secret.txt",
        "src/../../secret.txt",
        "/etc/passwd",
        "..",
        "C:\\Windows\\win.ini",
        "C:/Windows/win.ini",
        "..\\secret.txt",
        "//server/share/file",
    ],
)
def test_a_path_out_of_the_workspace_is_refused(root: Path, path: str) -> None:
    with pytest.raises(OutsideWorkspaceError):
        LocalFileBackend(root).read_file(path)


def test_the_absolute_path_of_a_neighbour_with_the_same_prefix_is_outside(root: Path) -> None:
    (root.parent / "root2").mkdir()
    (root.parent / "root2" / "x.py").write_text("x")
    with pytest.raises(OutsideWorkspaceError):
        LocalFileBackend(root).read_file(str(root.parent / "root2" / "x.py"))


def test_links_that_lead_out_are_neither_read_nor_listed(root: Path) -> None:
    (root / "file_link").symlink_to(root.parent / "secret.txt")
    (root / "folder_link").symlink_to(root.parent / "outside")
    files = LocalFileBackend(root)
    for path in ("file_link", "folder_link/more.txt", "folder_link"):
        with pytest.raises(OutsideWorkspaceError):
            files.read_file(path)
    assert [stamp.path for stamp in files.walk()] == ["src/a.py"]


def test_links_inside_answer_with_the_real_path(root: Path) -> None:
    (root / "link.py").symlink_to(root / "src" / "a.py")
    (root / "loop").symlink_to(root)
    files = LocalFileBackend(root)
    assert files.read_source("link.py").path == "src/a.py"
    assert files.read_source("loop/loop/src/a.py").path == "src/a.py"
    assert [stamp.path for stamp in files.walk()] == ["src/a.py"]


def test_a_link_to_itself_is_missing_or_refused(root: Path) -> None:
    (root / "self").symlink_to(root / "self")
    with pytest.raises(PathError):
        LocalFileBackend(root).read_file("self")
    assert [stamp.path for stamp in LocalFileBackend(root).walk()] == ["src/a.py"]


def test_the_root_may_be_a_link_and_paths_may_name_it_either_way(root: Path) -> None:
    link = root.parent / "link"
    link.symlink_to(root)
    files = LocalFileBackend(link)
    for path in (link / "src" / "a.py", root / "src" / "a.py"):
        assert files.resolve(str(path)) == "src/a.py"


def test_backslashes_are_read_as_slashes(root: Path) -> None:
    assert LocalFileBackend(root).resolve("src\\a.py") == "src/a.py"


def test_a_file_whose_name_has_a_backslash_is_itself(root: Path) -> None:
    (root / "src\\b.py").write_text("b = 2\n")
    assert LocalFileBackend(root).read_file("src\\b.py") == "b = 2\n"


def test_a_nul_byte_names_no_file(root: Path) -> None:
    with pytest.raises(PathError, match="NUL"):
        LocalFileBackend(root).read_file("src/a.py\0.txt")


def test_special_files_are_refused_without_blocking(root: Path) -> None:
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
        files = LocalFileBackend(root)
        for path in ("fifo", "socket"):
            with pytest.raises(NotAFileError):
                files.read_file(path)
        assert [stamp.path for stamp in files.walk()] == ["src/a.py"]


def test_folders_and_files_are_told_apart(root: Path) -> None:
    files = LocalFileBackend(root)
    with pytest.raises(NotAFileError, match="get_tree"):
        files.read_file("src")
    with pytest.raises(NotAFolderError):
        files.get_tree("src/a.py")
    with pytest.raises(NotAFolderError):
        LocalFileBackend(root / "src" / "a.py")
    with pytest.raises(MissingPathError):
        LocalFileBackend(root / "nowhere")


def test_a_missing_path_names_near_ones_here_or_the_same_name_elsewhere(root: Path) -> None:
    with pytest.raises(MissingPathError) as caught:
        LocalFileBackend(root).read_file("src/b.py")
    assert caught.value.near == ("src/a.py",)
    with pytest.raises(MissingPathError) as caught:
        LocalFileBackend(root).read_file("lib/a.py")
    assert caught.value.near == ("src/a.py",)


def test_binary_files_are_named_so(root: Path) -> None:
    (root / "image.py").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    with pytest.raises(BinaryFileError):
        LocalFileBackend(root).read_file("image.py")


def test_a_file_over_the_limit_still_shows_its_lines(root: Path) -> None:
    line = b"x" * 99 + b"\n"
    (root / "big.log").write_bytes(line * 500_000)  # 50 MB
    files = LocalFileBackend(root)
    with pytest.raises(FileTooLargeError) as caught:
        files.read_file("big.log")
    assert caught.value.size == 50_000_000
    assert "read_lines" in str(caught.value)
    assert files.read_lines("big.log", 499_999, 600_000) == "\n".join(["x" * 99] * 2)
    assert files.read_lines("big.log", 600_000, 600_001) == ""


def test_a_large_file_of_one_line_is_not_held_in_memory(root: Path) -> None:
    (root / "one.js").write_bytes(b"y" * 9_000_000)
    with pytest.raises(FileTooLargeError):
        LocalFileBackend(root).read_lines("one.js", 1, 1)


def test_line_numbers_that_cannot_be_are_named(root: Path) -> None:
    files = LocalFileBackend(root)
    with pytest.raises(InvalidArgumentError, match="count from 1"):
        files.read_lines("src/a.py", 0, 3)
    with pytest.raises(InvalidArgumentError, match="before the first"):
        files.read_lines("src/a.py", 3, 2)


def test_a_file_that_changes_while_it_is_read_is_read_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = root / "src" / "a.py"
    real_read, changes = os.read, iter([b"longer = 22\n"])

    def read(descriptor: int, size: int) -> bytes:
        data = real_read(descriptor, size)
        for content in changes:
            target.write_bytes(content)
            break
        return data

    monkeypatch.setattr(os, "read", read)
    assert LocalFileBackend(root).read_file("src/a.py") == "longer = 22\n"


def test_a_file_that_changes_without_end_is_given_up(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target, real_read = root / "src" / "a.py", os.read

    def read(descriptor: int, size: int) -> bytes:
        with target.open("ab") as file:
            file.write(b"#")
        return real_read(descriptor, size)

    monkeypatch.setattr(os, "read", read)
    with pytest.raises(UnreadablePathError, match="changed each time"):
        LocalFileBackend(root).read_file("src/a.py")


def test_a_file_swapped_for_a_link_after_it_was_resolved_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = LocalFileBackend(root)
    key = files.resolve("src/a.py")
    (root / "src" / "a.py").unlink()
    (root / "src" / "a.py").symlink_to(root.parent / "secret.txt")
    with pytest.raises(PathError):
        files.load(key)


def test_a_workspace_folder_that_cannot_be_looked_at_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(MissingPathError):
        LocalFileBackend(tmp_path / ("x" * 300))

    def refuse(path: Path, **_: bool) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "stat", refuse)
    with pytest.raises(UnreadablePathError, match="the system refuses to look at it"):
        LocalFileBackend(tmp_path)


def test_a_file_the_system_refuses_is_unreadable(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(UnreadablePathError, match="Permission denied"):
        LocalFileBackend(root).read_file("src/a.py")


def test_a_file_that_vanished_is_missing(root: Path) -> None:
    files = LocalFileBackend(root)
    key = files.resolve("src/a.py")
    (root / "src" / "a.py").unlink()
    with pytest.raises(MissingPathError):
        files.load(key)


def test_files_in_memory_keep_the_same_boundary() -> None:
    files = MemoryFileBackend({"src/a.py": "a = 1\n", "b.log": "x", ".gitignore": "*.log"})
    assert files.read_file("src/../src/a.py") == "a = 1\n"
    assert files.read_file("/memory/src/a.py") == "a = 1\n"
    for path in ("../a.py", "/etc/passwd"):
        with pytest.raises(OutsideWorkspaceError):
            files.read_file(path)
    assert [stamp.path for stamp in files.walk()] == [".gitignore", "src/a.py"]
    before = files.stamp("src/a.py")
    files.write("src/a.py", "a = 2\n")
    assert files.stamp("src/a.py") != before
    files.delete("src/a.py")
    with pytest.raises(MissingPathError):
        files.read_file("src/a.py")


def test_an_overlay_stands_for_a_file_that_does_not_exist_yet(root: Path) -> None:
    files = LocalFileBackend(root)
    files.set_overlay("new/module.py", "n = 1\n")
    assert files.read_file("new/module.py") == "n = 1\n"
    assert [stamp.path for stamp in files.walk()] == ["src/a.py", "new/module.py"]
    assert [entry.name for entry in files.get_tree("new")] == ["module.py"]
    files.remove_overlay("new/module.py")
    with pytest.raises(MissingPathError):
        files.read_file("new/module.py")


def test_every_version_of_an_overlay_has_another_stamp(root: Path) -> None:
    files = LocalFileBackend(root)
    stamps = {files.stamp("src/a.py")}
    for text in ("a = 1\n", "a = 1\n", "a = 3\n"):
        files.set_overlay(str(root / "src" / "a.py"), text)
        stamps.add(files.stamp("src/a.py"))
    assert len(stamps) == 4


def test_what_cannot_be_looked_at_is_not_there(tmp_path: Path) -> None:
    """`Path.exists` and its like raise for it, before Python 3.14."""
    odd = tmp_path / ("x" * 300)
    assert [spec.name for spec in SERVERS if spec.is_root(odd)] == []
    assert find_in(odd, "python") is None
    assert repository_of(odd) is None


def test_an_error_of_a_folder_below_says_no_less_and_no_more() -> None:
    missing = MissingPathError("a.py", None)
    assert str(missing.below("app/")) == "app/a.py: no such file or folder"
    places = [f"a.py:{line} run: def run()" for line in range(30)]
    several = AmbiguousSymbolError("", "run", places, said="Run taken for run")
    told = str(several.below("app/"))
    assert told.startswith("Run taken for run; 'run' has 30 definitions:\n  app/a.py:0 run")
    assert "\n  and 23 more\n" in told
