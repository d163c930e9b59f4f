"""The list of files that every question reads: as from a fresh start, whatever happens on disk."""

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import LocalFileBackend, SmartFileAccess
from foldline.backends.base.languages import CODE, is_indexed
from foldline.backends.files import listing, local
from foldline.backends.files.listing import decode_listing, encode_listing

NAMES = st.sampled_from(["a.py", "b.txt", "c.log", "sub/d.py", "sub/deep/e.log", "odd/\udc80.py"])
IGNORE = st.sampled_from(["*.log\n", "sub/\n", "!c.log\n", "deep\n", "", "/b.txt\n*.py\n"])
CHANGES = st.one_of(
    st.tuples(st.just("write"), NAMES),
    st.tuples(st.just("remove"), NAMES),
    st.tuples(st.just("rename"), st.tuples(NAMES, NAMES)),
    st.tuples(st.just("replace"), NAMES),
    st.tuples(st.just("ignore"), st.tuples(st.sampled_from(["", "sub/"]), IGNORE)),
    st.tuples(st.just("link"), NAMES),
    st.tuples(st.just("remove folder"), st.just("sub/deep")),
    st.tuples(st.just("overlay"), NAMES),
)


def change(root: Path, kind: str, what: object) -> None:
    """One change on disk; what can't be done is left."""
    if kind in {"write", "replace"}:
        file = root / str(what)
        file.parent.mkdir(parents=True, exist_ok=True)
        file = file.with_name("new") if kind == "replace" else file
        if not file.is_symlink():
            file.write_text("text" if kind == "write" else "tent")
        if kind == "replace":
            file.replace(root / str(what))
    elif kind == "remove":
        (root / str(what)).unlink()
    elif kind == "rename":
        assert isinstance(what, tuple)
        (root / what[0]).replace(root / what[1])
    elif kind == "ignore":
        assert isinstance(what, tuple)
        (root / f"{what[0]}.gitignore").write_text(what[1])
    elif kind == "link":
        (root / str(what)).symlink_to(root)
    else:
        (root / str(what)).rmdir()


def seen(files: LocalFileBackend) -> tuple[list[object], list[str], list[str]]:
    hidden: list[str] = []
    problems: list[str] = []
    stamps = list(files.walk_folder(".", hidden=hidden, problems=problems))
    return [(*stamp[:5], bool(stamp.overlay)) for stamp in stamps], sorted(hidden), problems


def code_seen(files: LocalFileBackend) -> tuple[list[object], set[str]]:
    """The code, and the paths of all files, after a look at code alone."""
    stamps = list(files.walk_folder(".", kind=CODE))
    code = [(*stamp[:5], bool(stamp.overlay)) for stamp in stamps if is_indexed(stamp.path)]
    return list(code), {stamp.path for stamp in stamps}


@given(st.lists(CHANGES, max_size=12), st.booleans())
def test_a_list_that_is_mended_is_that_of_a_fresh_start(
    changes: list[tuple[str, object]], looks_at_code: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        files = LocalFileBackend(root)
        for kind, what in changes:
            if kind == "overlay":
                files.set_overlay(str(what).replace("\udc80", "x"), "text")
                continue
            try:
                change(root, kind, what)
            except OSError:
                continue
            fresh = LocalFileBackend(root)
            fresh._overlays.update(files._overlays)
            # The last look was at code alone, or at all.
            if looks_at_code:
                assert code_seen(files) == code_seen(fresh)
            assert seen(files) == seen(fresh)
            assert files.versions.on_disk(0.0) is files.versions.on_disk(0.0)


def test_a_list_is_one_object_until_a_file_changes(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    files = LocalFileBackend(tmp_path)
    first = files.versions.listing(1.0)
    assert files.versions.known(float("inf")) is first
    (tmp_path / "a.py").write_text("a = 10\n")
    assert files.versions.known(float("inf")) is not first


def test_a_look_at_code_takes_no_look_at_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "is_racy", lambda *_: False)
    for number in range(50):
        (tmp_path / f"data{number}.json").write_text("1")
    for name in ("a.py", "b.py"):
        (tmp_path / name).write_text("1")
    files = LocalFileBackend(tmp_path)
    sizes = {stamp.path: stamp.size for stamp in files.versions.listing(1.0, kind=CODE).files()}
    assert (sizes["a.py"], sizes["data7.json"]) == (1, 0)
    looked_at: list[str] = []
    lstat = os.lstat

    def counted(path: str) -> os.stat_result:
        looked_at.append(path)
        return lstat(path)

    (tmp_path / "data7.json").write_text("12")
    monkeypatch.setattr(os, "lstat", counted)
    since = time.monotonic()
    before = files.versions.known(since, CODE)
    names = [Path(path).name for path in looked_at]
    assert [name for name in names if name.endswith((".py", ".json"))] == ["a.py", "b.py"]
    # As of the same moment.
    after = files.versions.known(since)
    assert before is not after
    assert after is not None
    assert {stamp.path: stamp.size for stamp in after.files()}["data7.json"] == 2


@pytest.mark.parametrize("walked", [False, True], ids=["listed", "walked"])
def test_a_list_of_code_is_no_answer_about_data(tmp_path: Path, walked: bool) -> None:
    (tmp_path / "data.json").write_text("1")
    files = LocalFileBackend(tmp_path)
    asked_at = time.monotonic()
    files.versions.listing(asked_at)
    # Nothing that was listed may be mended.
    (tmp_path / ".gitignore").write_text("*.log\n")
    if walked:
        rules = files.rules()
        assert list(files.versions.keeping(files._folders("", rules, kind=CODE), rules, CODE))
    else:
        files.versions.listing(time.monotonic(), kind=CODE)
    # A question from before, beside the one about code.
    found = files.versions.listing(asked_at).files()
    assert {stamp.path: stamp.size for stamp in found}["data.json"] == 1


def test_times_alone_tell_what_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Otherwise all folders of a new workspace are listed again: they changed just now.
    monkeypatch.setattr(local, "is_racy", lambda *_: False)
    for name in ("a.py", "b.log", ".gitignore", "sub/c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    files = LocalFileBackend(tmp_path)
    assert seen(files) == seen(LocalFileBackend(tmp_path))
    (tmp_path / "sub" / "c.py").write_text("more")
    assert seen(files) == seen(LocalFileBackend(tmp_path))
    (tmp_path / ".gitignore").write_text("*.log")
    assert seen(files) == seen(LocalFileBackend(tmp_path))
    assert seen(files)[1] == ["b.log"]
    (Path.home() / "mine").write_text("a.py")
    (Path.home() / ".gitconfig").write_text("[core]\nexcludesfile = ~/mine\n")
    assert seen(files)[1] == ["a.py", "b.log"]


@pytest.mark.parametrize("refuses", ["folder", "entry"])
def test_a_folder_that_was_refused_is_listed_once_it_can_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refuses: str
) -> None:
    """Its times tell nothing of a new group, a consent of macOS or a process' lack of files."""
    monkeypatch.setattr(local, "is_racy", lambda *_: False)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text("")
    files, real = LocalFileBackend(tmp_path), os.scandir

    def refuse(*_: object, **__: object) -> bool:
        raise PermissionError

    @contextmanager
    def refusing(folder: str) -> Iterator[Iterator[object]]:
        if refuses == "folder" and folder.endswith("sub"):
            refuse()
        with real(folder) as found:
            yield (
                (SimpleNamespace(name=one.name, is_file=refuse) for one in found)
                if (folder.endswith("sub"))
                else found
            )

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refusing)
        before = files.versions.listing(time.monotonic())
        assert [*before.files()] == []
        said = "sub/ cannot be listed in full: the system refuses it"
        assert files.get_tree().reason == f"the folder has no files; {said}"
        access = SmartFileAccess.for_workspace(tmp_path)
        said = access.find_references("a").reason
        assert "sub/ is not readable and was not searched" in said
        said = access.grep("a").reason
        assert said == "no line of 0 files matches; not readable and not searched: sub/"
        access.close()
        assert files.versions.listing(time.monotonic()) is before
    later = LocalFileBackend(tmp_path)
    kept = decode_listing(encode_listing(before))
    assert kept is not None
    later.versions.recall(kept, 10**30)
    for one in (files, later):
        assert [stamp.path for stamp in one.walk()] == ["sub/a.py"]
        assert one.get_tree().reason == ""


def test_a_list_that_was_kept_is_mended_by_the_next_process(tmp_path: Path) -> None:
    for name in ("a.py", "sub/b.py", "odd/\udc80.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    before = LocalFileBackend(tmp_path).versions.listing(1.0)
    kept = decode_listing(encode_listing(before))
    assert kept == before
    (tmp_path / "sub" / "c.py").write_text("")
    later = LocalFileBackend(tmp_path)
    later.versions.recall(kept, 10**30)
    assert [stamp.path for stamp in later.walk()] == [
        "a.py",
        "odd/\udc80.py",
        "sub/b.py",
        "sub/c.py",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[1]",
        "[[],{},{},[]]",
        '[[["",0,[],["sub"],[],[]]],{},{},[]]',
        '[[["",0,[],[],[],[]]],5,5,[]]',
    ],
)
def test_a_spoiled_list_is_none(text: str) -> None:
    assert decode_listing(text) is None


def test_a_folder_that_became_a_link_is_not_entered(tmp_path: Path) -> None:
    (tmp_path / "root" / "sub").mkdir(parents=True)
    (tmp_path / "root" / "sub" / "a.py").write_text("")
    files = LocalFileBackend(tmp_path / "root")
    assert [stamp.path for stamp in files.walk()] == ["sub/a.py"]
    (tmp_path / "root" / "sub").rename(tmp_path / "elsewhere")
    (tmp_path / "root" / "sub").symlink_to(tmp_path / "elsewhere")
    assert [stamp.path for stamp in files.walk()] == []


def test_a_question_waits_for_a_walk_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = LocalFileBackend(tmp_path).versions
    lock = Mock(acquire=Mock(return_value=False))
    monkeypatch.setattr(versions, "_lock", lock)
    monkeypatch.setattr(versions, "_walk", object())
    assert [versions.known(time.monotonic()) for _ in range(3)] == [None] * 3
    assert [call.kwargs["timeout"] for call in lock.acquire.call_args_list] == [1, 0, 0]


def test_a_list_that_takes_too_long_to_compare_is_compared_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.py").write_text("a = 1\n")
    files = LocalFileBackend(tmp_path)
    files.versions.listing(time.monotonic())
    compare = Mock(return_value=None)
    monkeypatch.setattr(files, "mended", compare)
    monkeypatch.setattr(listing, "_PATIENCE", -1.0)
    for _ in range(3):
        assert files.versions.known(time.monotonic()) is None
    assert compare.call_count == 1
    assert [stamp.path for stamp in files.versions.listing(time.monotonic()).files()] == ["a.py"]
    assert files.versions.known(0.0) is not None
