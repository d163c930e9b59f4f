"""The plugins for agents: judged by a linter of others and by ours, and started as by clients."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import ZipFile

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from pydantic import FileUrl
from skillsaw import Linter, RepositoryContext

from foldline.agent.mcp.stdio import Options
from foldline.ide.token_counter import token_counter
from foldline.version import VERSION
from make_plugins import MARKETPLACE, PLUGIN, ROOT, SOURCE, manifest_faults, manifests, pack
from make_release import server_entry
from release_metadata import FILE

from ..agent.mcp_process import EXAMPLE, SECONDS, call, connect_here
from ..agent.test_mcp_stdio import NAMES
from ..agent.verbs import foldline
from .test_release import ADDRESSES

if TYPE_CHECKING:
    from mcp.client import ClientRequestContext

SKILL = PLUGIN / "skills" / "foldline" / "SKILL.md"
CLAUDE_CODE = PLUGIN / ".claude-plugin" / "plugin.json"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """What a marketplace reads of a checkout, and what that is made of."""
    for name in (PLUGIN, Path("release/plugin-python")):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in (MARKETPLACE, SOURCE, FILE, Path("pyproject.toml")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    # Filled in, as the linter judges it, too.
    entry = json.dumps(server_entry(ROOT, VERSION, ADDRESSES))
    (tmp_path / "release/server.json").write_text(entry, encoding="utf-8")
    return tmp_path


def violations(*folders: Path) -> list[str]:
    """What the linter finds, warnings too, as `rule: message`."""
    linters = [
        Linter(RepositoryContext(folder), no_custom_rules=True, no_plugins=True)
        for folder in folders
    ]
    return [f"{found.rule_id}: {found.message}" for linter in linters for found in linter.run()]


def test_the_plugins_are_made_from_their_sources_and_without_fault(copied: Path) -> None:
    for path, text in manifests(ROOT, VERSION).items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run `poe generate`"
    assert list(manifest_faults(copied, VERSION)) == []
    assert violations(copied, copied / PLUGIN) == []


MCP, LSP = PLUGIN / "mcp.json", PLUGIN / ".lsp.json"
FAULTS = {
    "unknown field": (PLUGIN / "plugin.json", '"license"', '"licence"', "agent-plugin-json-valid"),
    "name": (PLUGIN / "plugin.json", '"foldline"', '"Fold--Line"', "agent-plugin-json-valid"),
    "author": (PLUGIN / "plugin.json", '"MIT"', "[]", "agent-plugin-json-valid"),
    "other version": (MCP, "1.0.0", "1.1.0", "agent-plugin-mcp-valid"),
    "no type": (MCP, '"type": "stdio",', "", "agent-plugin-mcp-valid"),
    "words": (MCP, '"uvx"', '"uvx foldline"', "agent-plugin-mcp-valid"),
    "folder": (MCP, '"type"', '"cwd": "/tmp", "type"', "agent-plugin-mcp-valid"),
    "variable": (MCP, '"type"', '"env": {"PLUGIN_ROOT": "x"}, "type"', "agent-plugin-mcp-valid"),
    "broken": (PLUGIN / ".mcp.json", "{", "", "mcp-valid-json"),
    "no command": (PLUGIN / ".mcp.json", '"command"', '"program"', "mcp-valid-json"),
    "no name": (CLAUDE_CODE, '"name"', '"title"', "claude-plugin-json-valid"),
    "no version": (CLAUDE_CODE, '"version"', '"edition"', "claude-plugin-json-valid"),
    "no owner": (MARKETPLACE, '"owner"', '"author"', "claude-marketplace-json-valid"),
    "no source": (MARKETPLACE, '"source"', '"path"', "claude-marketplace-json-valid"),
    "skill's name": (SKILL, "name: foldline", "name: fold", "agentskill-name"),
    "no description": (SKILL, "description:", "summary:", "agentskill-valid"),
}


@pytest.mark.parametrize(("path", "old", "new", "rule"), FAULTS.values(), ids=FAULTS)
def test_each_fault_is_found_by_the_linter(
    copied: Path, path: Path, old: str, new: str, rule: str
) -> None:
    replace(copied / path, old, new)
    found = violations(copied if path == MARKETPLACE else copied / PLUGIN)
    assert any(violation.startswith(f"{rule}: ") for violation in found), found


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(
    ("path", "version"),
    [(MARKETPLACE, '"{}"'), (CLAUDE_CODE, '"{}"'), (MCP, "=={}"), (LSP, "=={}")],
)
def test_a_manifest_of_another_version_is_found(copied: Path, path: Path, version: str) -> None:
    replace(copied / path, version.format(VERSION), version.format("9.9.9"))
    (fault,) = manifest_faults(copied, VERSION)
    assert fault.startswith(f"- {path} isn't")


def test_a_source_that_is_not_there_is_found(copied: Path) -> None:
    shutil.rmtree(copied / "release/plugin-python")
    (fault,) = manifest_faults(copied, VERSION)
    assert "no folder ./release/plugin-python for foldline-python" in fault


def test_a_broken_file_of_language_servers_is_found(copied: Path) -> None:
    replace(copied / LSP, "{", "")
    (fault,) = manifest_faults(copied, VERSION)
    assert fault.startswith(f"- {LSP} isn't")


@pytest.mark.parametrize("name", [".env", "bin/uvx", "README.md", "skills/foldline/data"])
def test_what_a_plugin_would_publish_by_accident_is_found(copied: Path, name: str) -> None:
    path = copied / PLUGIN / name
    path.parent.mkdir(exist_ok=True)
    if name == "README.md":
        # A link out of the folder; the archive would hold what it leads to.
        path.unlink()
        path.symlink_to(ROOT / name)
    elif name.startswith("skills"):
        path.symlink_to(ROOT / "docs", target_is_directory=True)
    else:
        path.touch()
    (fault,) = manifest_faults(copied, VERSION)
    assert fault.startswith(f"- {PLUGIN / name} is a link, or not part of a plugin")


@pytest.mark.parametrize("languages", ['{ ".md" = "markdown" }', '{ ".py" = "python" }'])
def test_a_language_server_without_languages_is_found(copied: Path, languages: str) -> None:
    replace(copied / SOURCE, languages, "{}")
    for path, text in manifests(copied, VERSION).items():
        (copied / path).write_text(text, encoding="utf-8")
    (fault,) = manifest_faults(copied, VERSION)
    assert "`command` and `extensionToLanguage`" in fault


def test_the_archive_holds_the_folder_and_is_the_same_each_time(tmp_path: Path) -> None:
    archives = [tmp_path / name for name in ("one.zip", "two.zip")]
    for archive in archives:
        pack(ROOT / PLUGIN, archive, 1_764_400_000)
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with ZipFile(archives[0]) as files:
        files.extractall(tmp_path / "plugin")
        assert {entry.date_time[0] for entry in files.infolist()} == {2025}
    assert contents(tmp_path / "plugin") == contents(ROOT / PLUGIN)


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


async def test_the_skill_names_the_tools_that_there_are() -> None:
    text = (ROOT / SKILL).read_text(encoding="utf-8")
    for encoding in ("cl100k", "o200k"):
        assert token_counter(encoding).count(text) < 600
    async with connect_here(Options(roots=(EXAMPLE,))) as client:
        tools = (await client.list_tools()).tools
    arguments = {name for tool in tools for name in tool.input_schema["properties"]}
    named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", text))
    assert named - arguments == {tool.name for tool in tools}


def test_the_commands_of_the_skill_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path))
    values = {
        "WORDS": "session store",
        "PATTERN": "sign_in",
        "FILE": "auth/sessions.py",
        "NAME": "SessionStore",
        "KEY": "workspace.history",
    }
    commands = re.findall(r"`foldline ([^`]*[A-Za-z0-9])`", (ROOT / SKILL).read_text("utf-8"))
    assert len(commands) == len(NAMES) + 1
    for command in commands:
        known = command.replace("preview FILE", "preview reviewer_prompt.py")
        # By name alone, without a language server.
        known = known.replace("refs NAME", "refs NAME --seconds 0")
        words = re.sub(r"[A-Z]{3,}", lambda word: values[word[0]], known)
        done = foldline(*words.split(), folder=EXAMPLE)
        assert done.returncode == 0, f"{words}: {done.stderr}"


@pytest.mark.real
async def test_mcp_json_starts_the_server_for_the_clients_roots_and_for_no_other_folder(
    wheel: Path, tmp_path: Path
) -> None:
    plugin, project = tmp_path / "plugin", tmp_path / "project"
    shutil.copytree(ROOT / PLUGIN, plugin)
    project.mkdir()
    (project / "only_here.py").touch()
    server = json.loads((plugin / "mcp.json").read_text(encoding="utf-8"))["mcpServers"]["foldline"]
    program = shutil.which(server["command"])
    assert program is not None
    parameters = StdioServerParameters(
        command=program,
        args=server["args"],
        # As Agent Plugins says where a server names no other.
        cwd=plugin,
        env={**os.environ, "UV_FIND_LINKS": str(wheel.parent), "PLUGIN_ROOT": str(plugin)},
    )

    async def roots(context: ClientRequestContext) -> types.ListRootsResult:
        return types.ListRootsResult(roots=[types.Root(uri=FileUrl(project.as_uri()))])

    for ask in (roots, None):
        async with Client(
            parameters, mode="legacy", read_timeout_seconds=SECONDS, list_roots_callback=ask
        ) as client:
            listed = [tool.name for tool in (await client.list_tools()).tools]
            assert listed[: len(NAMES)] == NAMES
            if ask:
                tree, _ = await call(client, "get_tree")
                assert "only_here.py" in tree
                continue
            for name in listed:
                text, is_error = await call(client, name)
                assert is_error
                assert (
                    "the plugin's folder, not the project's: in the project's folder, run" in text
                )


async def test_the_plugin_is_known_by_its_files_where_no_variable_names_it(
    monkeypatch: pytest.MonkeyPatch, copied: Path
) -> None:
    for folder in (PLUGIN, PLUGIN / "skills", "release"):
        monkeypatch.chdir(copied / folder)
        async with connect_here(Options()) as client:
            text, is_error = await call(client, "get_tree")
            assert is_error == (folder == PLUGIN)
            assert ("uvx --from 'foldline[server]' foldline tree" in text) == is_error


@pytest.mark.parametrize("variable", ["PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"])
@pytest.mark.parametrize("inside", [True, False])
async def test_only_the_folder_of_its_plugin_is_refused(
    variable: str, inside: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "plugin" / "data").mkdir(parents=True)
    monkeypatch.setenv(variable, str(tmp_path / "plugin"))
    monkeypatch.chdir(tmp_path / "plugin" / "data" if inside else tmp_path)
    async with connect_here(Options()) as client:
        text, is_error = await call(client, "get_tree")
        assert is_error == inside
        assert ("the plugin's folder, not the project's" in text) == inside


def test_claude_code_gets_the_same_server_with_the_projects_folder() -> None:
    others, own = (
        json.loads((ROOT / PLUGIN / name).read_text(encoding="utf-8"))["mcpServers"]["foldline"]
        for name in ("mcp.json", ".mcp.json")
    )
    assert own == {**others, "args": [*others["args"], "--root", "${CLAUDE_PROJECT_DIR}"]}


@pytest.mark.real
@pytest.mark.slow
def test_the_language_servers_of_both_plugins_start(wheel: Path, tmp_path: Path) -> None:
    servers = json.loads((ROOT / LSP).read_text(encoding="utf-8"))
    for plugin in json.loads((ROOT / MARKETPLACE).read_text(encoding="utf-8"))["plugins"]:
        servers |= plugin.get("lspServers", {})
    assert len(servers) == 2
    # They differ in the files that they are for.
    (command,) = {(server["command"], *server["args"]) for server in servers.values()}
    message = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}
    )
    done = subprocess.run(
        command,
        input=f"Content-Length: {len(message)}\r\n\r\n{message}",
        cwd=tmp_path,
        env={**os.environ, "UV_FIND_LINKS": str(wheel.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert '"serverInfo"' in done.stdout, done.stderr
