"""Each channel's first command, as its client or its user gives it, on what a release has built."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from string import Template

import pytest
import yaml

from foldline.version import VERSION
from make_release import ROOT, server_entry

from ..agent.test_mcp_stdio import NAMES
from ..editors.neovim_process import PLUGIN, Neovim, quoted
from ..rows import slow
from .editor_client import EditorClient
from .test_release import ADDRESSES

pytestmark = pytest.mark.real

ENTRY = ROOT / "release" / "nvim-lspconfig"


def test_neovim_starts_the_server_from_the_entry_without_the_plugin(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "prompts").mkdir(parents=True)
    (project / "pyproject.toml").touch()
    (project / "prompts" / "empty.py").touch()
    init = (
        "vim.opt.runtimepath:remove(os.getenv('FOLDLINE_PLUGIN'))\n"
        f"vim.opt.runtimepath:prepend({quoted(str(ENTRY))})\n"
    )
    with Neovim(tmp_path, "prompts/empty.py", cwd=project, init=init) as nvim:
        nvim.wait("#vim.lsp.get_clients({ name = 'foldline', bufnr = 0 }) == 1")
        root = nvim.lua("return vim.lsp.get_clients({ name = 'foldline' })[1].root_dir")
        assert root == str(project)
        # The plugin also takes some of the Markdown files, which no list of root markers can say.
        for key in ("cmd", "cmd_cwd"):
            own, other = (
                nvim.lua(f"return dofile({quoted(str(folder / 'lsp' / 'foldline.lua'))}).{key}")
                for folder in (ENTRY, PLUGIN)
            )
            assert own == other


def test_the_entry_of_the_mcp_registry_starts_the_server(wheel: Path, tmp_path: Path) -> None:
    (package,) = server_entry(ROOT, VERSION, ADDRESSES)["packages"]
    # Clients put the package's name between the arguments for uvx and those for the server.
    words = [package["runtimeHint"]]
    for argument in package["runtimeArguments"]:
        words += [argument["name"], argument["value"]]
    words.append(f"{package['identifier']}@{package['version']}")
    words += [argument["value"] for argument in package["packageArguments"] if "value" in argument]
    opening = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    messages = (
        {"id": 1, "method": "initialize", "params": opening},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    )
    program = shutil.which(words[0])
    assert program is not None
    with subprocess.Popen(
        [program, *words[1:]],
        cwd=tmp_path,
        env={**os.environ, "UV_FIND_LINKS": str(wheel.parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            answers = []
            for message in messages:
                process.stdin.write(f"{json.dumps({'jsonrpc': '2.0', **message})}\n")
                process.stdin.flush()
                if "id" in message:
                    answers.append(json.loads(process.stdout.readline())["result"])
            started, listed = answers
            assert started["serverInfo"]["version"] == VERSION
            assert [tool["name"] for tool in listed["tools"]][: len(NAMES)] == NAMES
            # The server ends with its input, and uvx with the server.
            process.stdin.close()
            assert process.wait(60) == 0
        finally:
            process.kill()


def test_what_mason_installs_is_the_server(installed: Path) -> None:
    """`installed` is what the entry's package URL says, of this very version."""
    entry = Template((ROOT / "release" / "mason.yaml").read_text(encoding="utf-8"))
    package = yaml.safe_load(entry.substitute(homepage=ADDRESSES.homepage, version=VERSION))
    assert package["source"]["id"] == f"pkg:pypi/foldline@{VERSION}?extra=server"
    for name, source in package["bin"].items():
        program = installed / source.removeprefix("pypi:")
        done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout == f"{name} {VERSION}\n"


@pytest.mark.parametrize("archive", ["*.whl", *slow("*.tar.gz")])
def test_an_index_has_what_uv_installs_as_a_tool(archive: str, wheel: Path, tmp_path: Path) -> None:
    (built,) = wheel.parent.glob(archive)
    folders = {"UV_TOOL_DIR": str(tmp_path / "tools"), "UV_TOOL_BIN_DIR": str(tmp_path / "bin")}
    command = ("uv", "tool", "install", "--quiet", "--python", sys.executable, str(built))
    subprocess.run(command, cwd=tmp_path, env={**os.environ, **folders}, check=True)
    program = tmp_path / "bin" / "foldline"
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"foldline {VERSION}\n"


def test_zed_starts_the_server_by_the_settings_of_the_page(installed: Path, tmp_path: Path) -> None:
    """Zed names it after the server whose place it takes, and answers for that one's section."""
    page = (ROOT / "editors" / "README.md").read_text(encoding="utf-8").partition("\n## Zed\n")[2]
    settings = json.loads(page.partition("```json\n")[2].partition("```")[0])
    ((name, server),) = settings["lsp"].items()
    assert name in settings["languages"]["Python"]["language_servers"]
    path = Path(server["binary"]["path"])
    assert path.is_absolute()
    command = [str(installed / path.name), *server["binary"]["arguments"]]
    project = {"uri": tmp_path.as_uri(), "name": tmp_path.name}
    with EditorClient(command, {name: {}}, tmp_path, os.environ) as client:
        opening = {
            "processId": os.getpid(),
            "rootUri": tmp_path.as_uri(),
            "initializationOptions": server["initialization_options"],
            "capabilities": {"workspace": {"configuration": True}},
            "clientInfo": {"name": "Zed", "version": "0.210.0"},
            "workspaceFolders": [project],
        }
        assert client.result("initialize", opening)["serverInfo"]["name"] == "foldline"
        client.notify("initialized", {})
        client.notify("workspace/didChangeConfiguration", {"settings": {name: {}}})
        params = {"command": "foldline.server.status", "arguments": [{}]}
        status = client.result("workspace/executeCommand", params)
        assert status["trusted"] is server["initialization_options"]["trusted"] is False
        client.leave()
        # It complains about nothing.
        assert "window/showMessage" not in {message["method"] for message in client.told}
