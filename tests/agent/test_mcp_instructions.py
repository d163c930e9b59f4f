"""Sections of instruction files over MCP: no Python prompt and no trust is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foldline.agent.mcp import server
from foldline.agent.mcp.stdio import Options

from .mcp_process import SECONDS, call, connect, connect_here

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.real

TEXT = "# Rules\nBe brief.\n\n## Data\n{}\nIn `data/`.\n\n### Fields\nName, date.\n"
MARK = "<!-- fold: where data lives -->"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "main.go").write_text("package main\n")
    (tmp_path / "pkg" / "AGENTS.md").write_text(TEXT.format(MARK))
    return tmp_path


async def test_a_repository_that_only_folds_instructions_gets_one_tool(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LIST_SECONDS", SECONDS)
    async with connect_here(Options(roots=(workspace,))) as client:
        listed = {tool.name for tool in (await client.list_tools()).tools}
        assert listed & {"read_section", "open_sections", "call_prompt_tool"} == {"read_section"}


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_a_folded_section_is_read_as_its_line_says(workspace: Path, mode: str) -> None:
    async with connect("--root", str(workspace), mode=mode) as client:
        assert "read_section" in {tool.name for tool in (await client.list_tools()).tools}
        for key in ("data", "rules.data"):
            arguments = {"prompt": "pkg/AGENTS.md", "section_key": key}
            text, is_error = await call(client, "read_section", **arguments)
            assert (text, is_error) == (TEXT.format(MARK).partition("\n\n")[2], False)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("AGENTS.md", "nothing is folded"),
        ("AGENTS.md", "`<!-- fold: in a line -->`\n"),
        ("README.md", TEXT.format(MARK)),
    ],
)
async def test_a_repository_that_folds_nothing_pays_nothing(
    path: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "LIST_SECONDS", SECONDS)
    (tmp_path / path).write_text(text)
    async with connect_here(Options(roots=(tmp_path,))) as client:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        assert "read_section" not in listed


async def test_only_instruction_files_of_the_folders_are_read(workspace: Path) -> None:
    (workspace / "README.md").write_text(TEXT.format(MARK))
    (workspace.parent / "AGENTS.md").write_text(TEXT.format(MARK))
    (workspace / "CLAUDE.md").symlink_to(workspace.parent / "AGENTS.md")
    async with connect_here(Options(roots=(workspace,))) as client:
        for path, said in {
            "README.md": "isn't an instruction file",
            "CLAUDE.md": "outside",
            "../AGENTS.md": "outside",
            "pgk/AGENTS.md": "pkg/AGENTS.md",
        }.items():
            text, is_error = await call(client, "read_section", prompt=path, section_key="data")
            assert is_error
            assert said in text
            assert "data/" not in text
        arguments = {"prompt": "pkg/AGENTS.md", "section_key": "dta"}
        assert "rules.data" in (await call(client, "read_section", **arguments))[0]


async def test_sections_are_opened_together(workspace: Path) -> None:
    async with connect_here(Options(roots=(workspace,))) as client:
        text, is_error = await call(
            client,
            "open_sections",
            prompt="pkg/AGENTS.md",
            section_keys=["data"],
            reason="To write data.",
        )
        assert not is_error
        assert text.startswith("## Data\n")
        assert '"open": ["rules.data"]' in text
        assert "Be brief" not in text
