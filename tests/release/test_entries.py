"""The entries for nvim-lspconfig and the MCP registry start the server, as their clients would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from foldline.version import VERSION
from make_release import ROOT, server_entry

from ..editors.neovim_process import PLUGIN, Neovim, quoted
from .test_release import ADDRESSES

if TYPE_CHECKING:
    from pathlib import Path

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
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening}
    # Not the last test's wheel, which has the same name.
    fresh = {"UV_FIND_LINKS": str(wheel.parent), "UV_REFRESH_PACKAGE": "foldline"}
    program = shutil.which(words[0])
    assert program is not None
    with subprocess.Popen(
        [program, *words[1:]],
        cwd=tmp_path,
        env={**os.environ, **fresh},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(f"{json.dumps(message)}\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            assert answer["result"]["serverInfo"]["version"] == VERSION
            # The server ends with its input, and uvx with the server.
            process.stdin.close()
            assert process.wait(60) == 0
        finally:
            process.kill()
