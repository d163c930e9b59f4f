"""Workspaces that try to have something run, as data: what is planted, and what is asked.

Whatever is planted writes to `MARK` when it runs. `ROOT` stands for the workspace.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

PYTHON = ("ty", "basedpyright", "pyrefly", "jedi-language-server", "pylsp", "pyright")
SCRIPT = ("typescript-language-server", "vtsls", "tsgo")
SHELL = '#!/bin/sh\necho "$0 $*" >> MARK\nexit 1\n'
MODULE = "open('MARK', 'a').write(__file__)\n"
NODE = "require('fs').appendFileSync('MARK', __filename);\n"
ANSWERED = "2 confirmed in "
BY_JEDI = "jedi answered"
WAITS = "needs trust"


@dataclass(frozen=True)
class Canary:
    """One workspace.

    Attributes:
        files: What is planted, over the sources of `language`; scripts are executable.
        language: `py`, `ts` or `c`: what is asked about, in two references.
        servers: The servers of that language that aren't disabled.
        variables: What the environment has; `PATH` is put before the real one.
        expects: What the answer holds in the workspace that isn't trusted.
        fires: Trust makes it run.
        questions: It is for language servers: every shell is asked about the code.
    """

    files: Mapping[str, str]
    language: str = "py"
    servers: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    expects: str = ANSWERED
    fires: bool = False
    questions: bool = True


SOURCES = {
    "py": {
        "a.py": "import gi\n\n\nclass A:\n    def pay(self):\n        return gi\n\n\n"
        "def use(a: A):\n    return a.pay()\n"
    },
    "ts": {
        "m.ts": "export class M {\n  pay() {\n    return 1;\n  }\n}\n"
        "export const g = (m: M) => m.pay();\n"
    },
    "c": {"c.c": "int pay(int x) { return x; }\nint main(void) { return pay(1); }\n"},
}
VENV = {
    ".venv/bin/python": SHELL,
    ".venv/bin/python3": SHELL,
    ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.11\n",
}
TYPESCRIPT = {
    "node_modules/typescript/package.json": '{"name": "typescript", "version": "5.9.3"}',
    "node_modules/typescript/lib/typescript.js": NODE,
    "node_modules/typescript/lib/tsserver.js": NODE,
    "node_modules/planted/package.json": '{"name": "planted", "main": "index.js"}',
    "node_modules/planted/index.js": NODE,
    "tsconfig.json": '{"compilerOptions": {"plugins": [{"name": "planted"}]}}',
    ".vscode/settings.json": '{"typescript.tsdk": "node_modules/typescript/lib"}',
}


def _compiled(*arguments: str) -> str:
    command = {"directory": "ROOT", "file": "ROOT/c.c", "arguments": [*arguments, "ROOT/c.c"]}
    return json.dumps([command])


_OFFLOAD = ("-fopenmp", "-fopenmp-targets=amdgcn-amd-amdhsa", "--amdgpu-arch-tool=ROOT/evil")

CANARIES = {
    "settings": Canary(
        {
            "evil": SHELL,
            "pyproject.toml": "[tool.foldline.lsp]\nuse = ['basedpyright']\n"
            "[tool.foldline.lsp.servers.basedpyright.settings.python]\npythonPath = 'ROOT/evil'\n"
            "[tool.foldline.lsp.servers.ty]\ncommand = ['./evil']\n",
        },
        fires=True,
    ),
    "environment": Canary(
        {"bin/clangd": SHELL, "bin/node": SHELL, "evil.js": NODE},
        "c",
        variables={"PATH": "ROOT/bin"},
        fires=True,
    ),
    "project around": Canary(
        {"../.git/HEAD": "", "../bin/clangd": SHELL, "../bin/node": SHELL},
        "c",
        variables={"PATH": "ROOT/../bin"},
        fires=True,
    ),
    "node": Canary(
        {"evil.js": NODE, "env/bin/python": SHELL},
        servers=("basedpyright",),
        variables={"NODE_OPTIONS": "--require ROOT/evil.js", "VIRTUAL_ENV": "ROOT/env"},
        fires=True,
    ),
    "ty": Canary(
        {
            **VENV,
            "ty.toml": "[environment]\npython = '.venv'\n",
            "s.py": "# /// script\n# dependencies = ['planted @ file://ROOT']\n# ///\nimport a\n",
        },
        servers=("ty",),
        variables={"VIRTUAL_ENV": "ROOT/.venv"},
    ),
    "basedpyright": Canary(VENV, servers=("basedpyright",), fires=True),
    "pyrefly": Canary(
        {
            **VENV,
            "json.py": MODULE,
            "pyrefly.toml": "python-interpreter-path = './.venv/bin/python'",
        },
        servers=("pyrefly",),
        expects=f"{BY_JEDI}: pyrefly {WAITS}",
        fires=True,
    ),
    "jedi": Canary(
        {
            **VENV,
            "gi.py": MODULE,
            "lib/gi.py": MODULE,
            "lib/jedi.py": MODULE,
            ".jedi/project.json": '[1, {"environment_path": "ROOT/.venv"}]',
        },
        variables={"PYTHONPATH": "ROOT/lib"},
        expects=BY_JEDI,
    ),
    "typescript-language-server": Canary(
        TYPESCRIPT, "ts", ("typescript-language-server",), expects=WAITS, fires=True
    ),
    "vtsls": Canary(TYPESCRIPT, "ts", ("vtsls",)),
    "tsgo": Canary(TYPESCRIPT, "ts", ("tsgo",)),
    "clangd": Canary(
        {
            "evil": SHELL,
            "compile_commands.json": _compiled("ROOT/evil", *_OFFLOAD, "-c"),
            "compile_flags.txt": "\n".join(_OFFLOAD),
            ".clangd": "CompileFlags:\n  Compiler: ROOT/evil\n",
        },
        "c",
        fires=True,
    ),
    "interpreter": Canary(VENV, variables={"VIRTUAL_ENV": "ROOT/.venv"}, questions=False),
    "git": Canary(
        {
            "evil": SHELL,
            ".git/HEAD": "ref: refs/heads/main\n",
            ".git/refs/heads/.keep": "",
            ".git/objects/.keep": "",
            ".git/hooks/post-index-change": SHELL,
            ".git/config": "[core]\n\tbare = false\n\trepositoryformatversion = 0\n"
            "\tfsmonitor = ROOT/evil\n\tpager = ROOT/evil\n\tsshCommand = ROOT/evil\n"
            "[diff]\n\texternal = ROOT/evil\n[alias]\n\trev-parse = !ROOT/evil\n",
        },
        questions=False,
    ),
}


def plant(name: str, folder: Path) -> tuple[Path, Path, dict[str, str]]:
    """The workspace in the folder, its mark, and the environment of who asks."""
    canary = CANARIES[name]
    root, mark = folder / "workspace", folder / "mark"
    others = {"py": PYTHON, "ts": SCRIPT, "c": ()}[canary.language]
    disabled = [server for server in others if canary.servers and server not in canary.servers]
    if name == "jedi":
        disabled = list(others)
    files = {
        "pyproject.toml": f"[tool.foldline.lsp]\ndisable = {disabled}\n",
        **SOURCES[canary.language],
        **canary.files,
    }
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("MARK", str(mark)).replace("ROOT", str(root)))
        file.chmod(0o755 if text.startswith("#!") else 0o644)
    environment = {**os.environ, "FOLDLINE_CACHE_DIR": str(folder / "cache")}
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX", "PYTHONPATH"):
        environment.pop(variable, None)
    for variable, value in canary.variables.items():
        environment[variable] = value.replace("ROOT", str(root))
    if "PATH" in canary.variables:
        environment["PATH"] += os.pathsep + os.environ["PATH"]
    return root, mark, environment
