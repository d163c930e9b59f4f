"""What each client loads for a document, over the wire."""

from pathlib import Path

import pytest

from ...server.conftest import Visit

pytestmark = [pytest.mark.real, pytest.mark.asyncio(loop_scope="module")]


async def test_the_stack_of_a_document_in_an_untrusted_folder(visit: Visit, tmp_path: Path) -> None:
    editor = visit(tmp_path)
    (tmp_path / "AGENTS.md").write_text("# Rules\nBe brief.\n", encoding="utf-8")
    (tmp_path / "main.go").write_text("package main\n", encoding="utf-8")
    skill = tmp_path / ".claude" / "skills" / "one" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: one\ndescription: It does one.\n---\n", encoding="utf-8")
    uri = editor.open("main.go", "package main\n")
    answer = await editor.command("instructions.stack", uri=uri, clients=["claude-code", "gemini"])
    assert answer["file"] == "main.go"
    claude, gemini = answer["stacks"]
    file, listing = claude["files"]
    assert (listing["path"], listing["uri"]) == (".claude/skills", skill.as_uri())
    assert (file["path"], file["uri"]) == ("AGENTS.md", (tmp_path / "AGENTS.md").as_uri())
    assert claude["base"] - listing["tokens"] == file["tokens"] > 0
    assert [one["title"] for one in file["sections"]] == ["Rules"]
    assert gemini["files"] == []


async def test_the_stack_has_the_text_that_the_editor_has(visit: Visit, tmp_path: Path) -> None:
    editor = visit(tmp_path)
    (tmp_path / "AGENTS.md").write_text("# Old\n", encoding="utf-8")
    editor.open("AGENTS.md", "# New\nUnsaved.\n")
    answer = await editor.command("instructions.stack", clients=["codex"])
    (file,) = answer["stacks"][0]["files"]
    assert [one["title"] for one in file["sections"]] == ["New"]


async def test_a_file_is_reported_while_another_one_switches_it_off(
    visit: Visit, tmp_path: Path
) -> None:
    text, other = "# Rules\nBe brief.\n", tmp_path / "AGENTS.override.md"
    (tmp_path / "AGENTS.md").write_text(text, encoding="utf-8")
    other.write_text("# Mine\n", encoding="utf-8")
    editor = visit(tmp_path)
    uri = editor.open("AGENTS.md", text)
    (found,) = await editor.diagnostics(uri)
    assert found.code == "switched-off-instructions"
    other.unlink()
    editor.saved(other.name)
    while await editor.diagnostics(uri):
        pass
