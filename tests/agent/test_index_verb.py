"""`foldline index`: what it prints, and its exit statuses."""

import json
from pathlib import Path

import pytest

from .verbs import run


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "app"
    folder.mkdir()
    (folder / "a.py").write_text("def first(): ...\n")
    (folder / "b.py").write_text("first()\n")
    monkeypatch.chdir(folder)
    return folder


def asked(*words: object) -> tuple[int, str]:
    status, out, err = run("index", *words)
    return status, out + err


def test_an_index_goes_from_one_machine_to_another(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, text = asked()
    assert status == 1
    assert "0 files of this workspace" in text
    assert "nothing of this workspace is indexed yet" in text
    status, text = asked("export")
    assert (status, text.partition(",")[0]) == (0, "app.flindex: 2 contents")
    artefact = root / "app.flindex"
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "elsewhere"))
    status, text = asked("import", str(artefact))
    assert status == 0
    assert f"{artefact}: 2 of 2 contents are new (sha256 " in text
    status, text = asked("status", "--json")
    found = json.loads(text)
    assert (status, found["files"], found["contents"], found["workspaces"]) == (0, 2, 2, 1)
    (imported,) = found["artefacts"]
    assert (imported["source"], imported["contents"]) == (str(artefact), 2)
    status, text = asked("build")
    assert (status, f"2 contents from {artefact} (sha256 " in text) == (0, True)
    status, text = asked("prune", "--imported")
    assert (status, "2 imported contents forgotten" in text) == (0, True)
    status, text = asked("status")
    assert (status, "imported" in text) == (1, False)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["import"], "name the file or folder to import"),
        (["prune", "a"], "`index prune` takes no 'a'"),
        (["import", "gone.flindex"], "gone.flindex: no such file or folder"),
        (["import", "a.py"], "a.py: it isn't an index that foldline exported"),
        (["import", "https://me:pw@host.example/a"], "fetch the address first"),
        (["import", "s3://bucket/app.flindex"], "fetch the address first"),
        (["export", "no/folder/app.flindex"], "can't be written: No such file or directory"),
        (["export", "."], ".: can't be replaced: it isn't a regular file"),
        (["status", "--root", "gone"], "gone"),
        (["mend"], "'mend' isn't one of "),
    ],
)
def test_what_cannot_be_done_is_refused(root: Path, words: list[str], said: str) -> None:
    status, text = asked(*words)
    assert status == 2
    assert said in text
    assert "pw" not in text
    assert "\n" not in text.strip()


def test_a_refusal_is_an_object_for_programs(root: Path) -> None:
    status, text = asked("import", "a.py", "--json")
    assert (status, json.loads(text)["error"]["kind"]) == (2, "artefact")
