"""The risks of an untrusted workspace for each engine, and the defences, as data.

`docs/security.md` shows this table. A row with a `canary` is held by the planted workspace of that
name in `tests/security/canaries.py`; the others stand on the tool's own documentation.
"""

from __future__ import annotations

from dataclasses import dataclass

ANY = "any engine"


@dataclass(frozen=True, slots=True)
class Risk:
    """One thing in a workspace that an engine obeys.

    Attributes:
        engine: Its name in `SERVERS`; or `ANY`, or a part of foldline.
        named_by: The file or setting of the workspace.
        runs: What it could make the engine run; empty for nothing.
        defence: What holds while the workspace isn't trusted.
        waits: The engine isn't started before the workspace is trusted.
        canary: The planted workspace that shows it.
    """

    engine: str
    named_by: str
    runs: str
    defence: str
    waits: bool = False
    canary: str = ""


_WAITS = "isn't started"

RISKS = (
    Risk(
        ANY,
        "`[tool.foldline.lsp]`: `use`, `servers`",
        "a command, another engine, an interpreter named in its settings",
        "only `disable` and `outlines` are read",
        canary="settings",
    ),
    Risk(
        ANY,
        "the working directory; `PATH`, `PYTHONPATH`, `NODE_OPTIONS`, `VIRTUAL_ENV` … that lead "
        "into it",
        "a program or a module of the workspace in place of the real one",
        "starts in an empty folder, without those entries, and with `PYTHONSAFEPATH`",
        canary="environment",
    ),
    Risk(
        ANY,
        "`PATH` and other variables that lead into the project around the opened folder",
        "a program of the project in place of the real one",
        "the outermost folder above it with `.git`, `pyproject.toml` or the like counts as the "
        "workspace, but never a home folder or one above it",
        canary="project around",
    ),
    Risk(
        "ty",
        "`ty.toml`, `[tool.ty]`, `.venv`, inline script metadata",
        "",
        "it reads environments and starts no process",
        canary="ty",
    ),
    Risk(
        "basedpyright",
        "`.venv`, `pyrightconfig.json` (`venvPath`, `venv`), `.python-version`",
        "the environment's interpreter",
        "`python.pythonPath` is our own interpreter",
        canary="basedpyright",
    ),
    Risk("pyright", "the same; its package from PyPI downloads a server", "both", _WAITS, True),
    Risk(
        "pyrefly",
        "`.venv`, `pyrefly.toml` (`python-interpreter-path`), modules beside its working directory",
        "the interpreter; modules such as `json.py` in a sound one",
        _WAITS,
        True,
        "pyrefly",
    ),
    Risk(
        "jedi-language-server",
        "`.jedi/project.json` (`environment_path`), environments",
        "an interpreter",
        _WAITS,
        True,
    ),
    Risk("pylsp", "the same; plugins' configuration", "an interpreter; plugins", _WAITS, True),
    Risk(
        "jedi in foldline's worker",
        "`.jedi/project.json`, `.venv`, a module `gi`, compiled modules",
        "the module, by importing it",
        "the project is made of no file, the interpreter is our own, and it imports from a search "
        "path without the workspace",
        canary="jedi",
    ),
    Risk(
        "typescript-language-server",
        "`node_modules/typescript`",
        "its `tsserver.js`",
        _WAITS,
        True,
        "typescript-language-server",
    ),
    Risk(
        "vtsls",
        "`node_modules/typescript`, `.vscode/settings.json` (`typescript.tsdk`), plugins in "
        "`tsconfig.json`",
        "that TypeScript, and the plugins",
        "it uses the TypeScript that it brings: `vtsls.autoUseWorkspaceTsdk` is off, and it gets "
        "no folder to look for plugins in",
        canary="vtsls",
    ),
    Risk(
        "tsgo",
        "`node_modules/typescript`, plugins in `tsconfig.json`",
        "",
        "it is a native program that loads neither",
        canary="tsgo",
    ),
    Risk(
        "gopls",
        "`go.mod` (`toolchain`), `go.work`, cgo",
        "the go command with a toolchain that is fetched; compilers",
        _WAITS,
        True,
    ),
    Risk(
        "rust-analyzer",
        "`build.rs`, procedural macros, `.cargo/config.toml`, `rust-toolchain.toml`",
        "all of them",
        _WAITS,
        True,
    ),
    Risk(
        "clangd",
        "`compile_commands.json`, `compile_flags.txt`: arguments such as `--amdgpu-arch-tool`",
        "the program that the argument names",
        "it reads neither, as `--compile-commands-dir` is an empty folder",
        canary="clangd",
    ),
    Risk(
        "clangd",
        "`.clangd`, the compiler in `compile_commands.json`",
        "a compiler, where `--query-driver` allows it",
        "`--enable-config=false`, and no `--query-driver`",
        canary="clangd",
    ),
    Risk(
        "previews, and `foldline doctor`",
        "`.venv`, `venv`; `VIRTUAL_ENV` that leads into the workspace",
        "the interpreter, and the prompt's module",
        "no prompt is executed, and only an interpreter outside the workspace tells its version",
        True,
        "interpreter",
    ),
    Risk(
        "git, for a prompt's history",
        "`.git/config` (`core.fsmonitor`, `core.pager`, `diff.external` …), hooks",
        "the programs that it names",
        "comparing revisions executes the prompt",
        True,
        "git",
    ),
)


def as_markdown() -> str:
    """The table for the documentation."""
    rows = [
        "| Engine | Named by the workspace | What it could run | Untrusted | Held by |",
        "|---|---|---|---|---|",
    ]
    for risk in RISKS:
        held = f"canary `{risk.canary}`" if risk.canary else "its documentation"
        verdict = f"{'waits' if risk.waits else 'runs'}: {risk.defence}"
        rows.append(
            f"| {risk.engine} | {risk.named_by} | {risk.runs or 'nothing'} | {verdict} | {held} |"
        )
    return "\n".join(rows)
