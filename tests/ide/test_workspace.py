"""The open workspace: a text is opened once for all who read it, and what is closed is let go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from foldline.ide.analysis.modules import Modules
from foldline.ide.errors import PathRefused
from foldline.ide.resolve import source_kind
from foldline.ide.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from .viewer import View

PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate

only = MarkdownSection[None](title="Only", key="only", template="One.")
alone = PromptTemplate(ns="demo", key="alone", sections=[only])
"""


def names(workspace: Workspace, uri: str) -> list[str]:
    found = workspace.with_snapshot(uri, lambda snapshot: snapshot.analysis.module.prompts)
    return [prompt.name for prompt in found or ()]


def test_a_text_is_opened_once_for_files_analysis_and_workers(tmp_path: Path) -> None:
    file = tmp_path / "alone.py"
    file.write_text("", encoding="utf-8")
    workspace = Workspace.at(tmp_path)
    # Read before it's opened, and after.
    access = workspace.access(tmp_path)
    assert (access.read_file("alone.py"), names(workspace, file.as_uri())) == ("", [])
    workspace.open_document(file.as_uri(), PROMPT, 3)
    assert access.read_file("alone.py") == PROMPT
    assert names(workspace, file.as_uri()) == ["alone"]
    assert workspace.overlays() == {str(file): PROMPT}
    assert workspace.with_snapshot(file.as_uri(), lambda found: found.version) == 3
    assert workspace.focus.uri == file.as_uri()
    workspace.close_document(file.as_uri())
    assert (access.read_file("alone.py"), names(workspace, file.as_uri())) == ("", [])
    assert not workspace.overlays()
    workspace.close()


def test_a_file_without_prompts_is_told_without_an_analysis(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared, other = tmp_path / "shared.py", tmp_path / "other.py"
    shared.write_text("LIMIT = 1\n", encoding="utf-8")
    workspace = Workspace.at(tmp_path)
    folder = workspace.folder(shared)
    uri = (tmp_path / "plain.py").as_uri()

    def without_prompts(text: str) -> bool:
        workspace.open_document(uri, text, 1)
        document = workspace.without_prompts(uri)
        assert document is None or document is workspace.document(uri)
        return document is not None

    importing = "from shared import LIMIT\n"
    assert without_prompts("LIMIT = 1\n")
    assert not without_prompts("import foldline\n")
    assert without_prompts(importing)
    # What it imports may come to name the library: in the editor, on disk, as a new file.
    workspace.open_document(shared.as_uri(), PROMPT)
    assert not without_prompts(importing)
    assert not without_prompts("LIMIT = 1\rfrom shared import alone\r")
    workspace.close_document(shared.as_uri())
    assert without_prompts(importing)
    shared.write_text(PROMPT, encoding="utf-8")
    assert not without_prompts(importing)
    shared.write_text("LIMIT = 1\n", encoding="utf-8")
    assert without_prompts("import other\n")
    other.write_text(PROMPT, encoding="utf-8")
    workspace.changed_on_disk([other.as_uri()])
    assert not without_prompts("import other\n")
    # It answers only for open Python files.
    assert workspace.without_prompts(shared.as_uri()) is None
    notes = (tmp_path / "notes.md").as_uri()
    workspace.open_document(notes, "Notes.\n")
    assert workspace.without_prompts(notes) is None
    assert without_prompts(importing)
    assert not folder.is_analyzed

    # An analysis reads nothing again that was read for this, and sees changes as well.
    read: list[str] = []
    load = Modules._read

    def count(self: Modules, file: str) -> str | None:
        read.append(file)
        return load(self, file)

    monkeypatch.setattr(Modules, "_read", count)
    assert names(workspace, uri) == []
    assert read == []
    assert folder.is_analyzed
    assert not without_prompts(importing)
    shared.write_text(PROMPT, encoding="utf-8")
    workspace.open_document(uri, importing + PROMPT)
    assert names(workspace, uri) == ["alone"]
    workspace.close()


def test_a_folder_that_is_closed_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = (tmp_path / name for name in ("one", "other"))
    one.mkdir()
    other.mkdir()
    workspace = Workspace.at(one, other)
    kept, gone = workspace.access(one), workspace.access(other)
    closed: list[object] = []
    for access in (kept, gone):
        monkeypatch.setattr(access, "close", lambda access=access: closed.append(access))
    changes: list[None] = []
    workspace.subscribe(lambda: changes.append(None))
    workspace.set_roots([one])
    workspace.close_files(seconds=5)
    assert changes == [None]
    assert closed == [gone, kept]
    with pytest.raises(PathRefused, match="outside the workspace"):
        workspace.folder(other / "prompt.py")


@pytest.mark.real
async def test_a_preview_of_a_folder_that_is_closed_says_so(view: View, tmp_path: Path) -> None:
    one, other = (tmp_path / name for name in ("one", "other"))
    one.mkdir()
    other.mkdir()
    editor = view(one, trusted=True)
    editor.core.set_roots([one, other])
    (other / "alone.py").write_text(PROMPT, encoding="utf-8")
    preview: dict[str, Any] = await editor.command(
        "prompt.preview", uri=(other / "alone.py").as_uri()
    )
    assert preview["stale"] is None
    editor.core.set_roots([one])
    update = await editor.update(1)
    assert (update["stale"]["kind"], update["order"]) == ("path", ["only"])


def test_a_subscriber_is_called_for_each_change_and_hears_of_analysis_by_the_version(
    tmp_path: Path,
) -> None:
    workspace = Workspace.at(tmp_path)
    versions: list[int] = []
    workspace.subscribe(lambda: versions.append(workspace.version))
    start = workspace.version
    workspace.open_document((tmp_path / "a.py").as_uri(), "")
    workspace.changed_on_disk([(tmp_path / "values.json").as_uri()])
    workspace.changed_on_disk([(tmp_path / "b.py").as_uri()])
    workspace.set_trusted(trusted=True)
    assert [version - start for version in versions] == [1, 1, 2, 2]


def test_a_module_is_python_whatever_patterns_of_instruction_files_say(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.foldline]\ninstructions = ["agents/*"]\n')
    workspace = Workspace.at(tmp_path)
    kinds = [source_kind(workspace, tmp_path / "agents" / name) for name in ("a.py", "b.txt")]
    assert [kind.trust_needed for kind in kinds] == [True, False]
