"""The known language servers, as data: their needs, and the queries they answer reliably.

Users change or extend the table in `[tool.foldline.lsp]`; see `configuration`.
"""

from __future__ import annotations

import os
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

# The languages of files that some server understands, by extension, in LSP's names.
LANGUAGE_IDS = {
    extension: language
    for language, extensions in {
        "python": ".py .pyi .pyw",
        "javascript": ".js .cjs .mjs",
        "javascriptreact": ".jsx",
        "typescript": ".ts .cts .mts",
        "typescriptreact": ".tsx",
        "go": ".go",
        "rust": ".rs",
        "c": ".c .h",
        "cpp": ".cc .cpp .cxx .hh .hpp .hxx",
    }.items()
    for extension in extensions.split()
}
PYTHON = ("python",)
SCRIPT = ("javascript", "javascriptreact", "typescript", "typescriptreact")


class Answer(StrEnum):
    """A kind of query; a server is only asked those that it answers reliably."""

    REFERENCES = "references"
    DEFINITION = "definition"
    SYMBOLS = "symbols"
    IMPLEMENTATIONS = "implementations"
    HOVER = "hover"
    DIAGNOSTICS = "diagnostics"
    CALLS = "calls"


class ReadyWhen(StrEnum):
    """The sign that a server's answers are complete."""

    AT_ONCE = "at once"
    LOGGED = "logged"
    """A line of its log."""
    NO_PROGRESS = "no progress"
    """None of the jobs that it reports has run for a while."""
    QUIESCENT = "quiescent"
    """It reports so, as rust-analyzer does."""
    STABLE = "stable"
    """The same answer twice."""


@record
class Readiness:
    """The sign that answers are complete; under `LOGGED`, a log line that matches `pattern`."""

    when: ReadyWhen = ReadyWhen.AT_ONCE
    pattern: str = ""


@record
class Hiding:
    """Settings of a project that can make a server overlook files: `keys` are dotted."""

    file: str
    keys: tuple[str, ...]


@record
class Pinned:
    """Settings of a server while the workspace isn't trusted; docs/security.md has the reasons.

    In its strings `{python}` stands for our own interpreter, `{empty}` for an empty folder.
    """

    arguments: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)


@record
class ServerSpec:
    """One language server.

    Attributes:
        command: The program and its arguments; the program is looked up, never guessed.
        languages: In LSP's names; the files are those of `LANGUAGE_IDS`.
        version_command: The command that prints the version, if not the program with `--version`.
        root_markers: The nearest folder that holds one of these, and is no Python package, is the
            server's root.
        executes_workspace: It may run what is in the workspace, and `pinned` can't keep it from
            that: it waits for trust.
        pinned: What keeps it from running anything of a workspace that isn't trusted.
        confined: It runs for a workspace that isn't trusted, in a folder and with an environment
            of ours.
        answers: The queries that it answers reliably and completely.
        settings: What it gets when it asks for `workspace/configuration`.
        opens_new_files: It sees a new file only once it was opened.
        opens_changed_files: It watches files itself, with a delay: it sees a change at once only if
            the file is opened.
        opens_candidates: It may know open files alone, so those that may hold an answer are opened
            first, up to a limit. With one of `project_files` it finds the others by itself.
        diagnoses_what_it_read: It publishes diagnostics for every open file once it has read it,
            and until then does not look into it.
        restarts_on_change: It never updates what it has read, despite notifications: after a
            change it is restarted.
        saves_nothing: It has nothing to write when it ends, and is killed: that takes less time.
        install: How to get it.
    """

    name: str
    command: tuple[str, ...]
    languages: tuple[str, ...]
    root_markers: tuple[str, ...] = ()
    version_command: tuple[str, ...] = ()
    executes_workspace: bool = False
    pinned: Pinned = Pinned()
    confined: bool = False
    answers: frozenset[Answer] = frozenset(Answer)
    readiness: Readiness = Readiness()
    initialization_options: Mapping[str, object] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    hiding: tuple[Hiding, ...] = ()
    opens_new_files: bool = False
    opens_changed_files: bool = False
    opens_candidates: bool = False
    project_files: tuple[str, ...] = ()
    diagnoses_what_it_read: bool = False
    restarts_on_change: bool = False
    saves_nothing: bool = False
    install: str = ""

    def understands(self, path: str) -> bool:
        """Return whether the file at `path` is in one of its languages."""
        return language_id(path) in self.languages

    def is_root(self, folder: Path) -> bool:
        """Return whether the folder holds a root marker.

        Beside an `__init__.py` there is none: `setup.py` is a module of the package then.
        """
        if "python" in self.languages and os.path.isfile(folder / "__init__.py"):
            return False
        return any(os.path.isfile(folder / marker) for marker in self.root_markers)


def language_id(path: str) -> str:
    """LSP's name of the language of the file at `path`, or the empty string."""
    dot = path.rfind(".")
    return LANGUAGE_IDS.get(path[dot:].lower(), "") if dot > path.rfind("/") else ""


def value_at(settings: object, key: str) -> object:
    """The value at a dotted key of nested settings; None where there is none, all without a key."""
    for part in filter(None, key.split(".")):
        settings = settings.get(part) if isinstance(settings, dict) else None
    return settings


_PYTHON_MARKERS = ("pyproject.toml", "setup.cfg", "setup.py", "requirements.txt")
_SCRIPT_MARKERS = ("tsconfig.json", "jsconfig.json", "package.json")
_HIDING_OF_PYRIGHT = (
    Hiding("pyproject.toml", ("tool.pyright.include", "tool.pyright.exclude")),
    Hiding("pyrightconfig.json", ("include", "exclude")),
)
_HIDING_OF_TYPESCRIPT = (Hiding("tsconfig.json", ("include", "files")),)
_NO_REFERENCES = frozenset({Answer.DEFINITION, Answer.SYMBOLS, Answer.HOVER})

# For each language the first that is found, and may be run, is chosen.
SERVERS = (
    ServerSpec(
        "ty",
        ("ty", "server"),
        PYTHON,
        ("ty.toml", *_PYTHON_MARKERS),
        settings={"ty": {"diagnosticMode": "openFilesOnly"}},
        hiding=(
            Hiding("pyproject.toml", ("tool.ty.src.include", "tool.ty.src.exclude")),
            Hiding("ty.toml", ("src.include", "src.exclude")),
        ),
        saves_nothing=True,
        install="install foldline[server]",
    ),
    ServerSpec(
        "basedpyright",
        ("basedpyright-langserver", "--stdio"),
        PYTHON,
        ("pyrightconfig.json", *_PYTHON_MARKERS),
        ("basedpyright", "--version"),
        readiness=Readiness(ReadyWhen.LOGGED, r"Found \d+ source file|No source files found"),
        # It asks an interpreter for its search path: left to itself, that of the workspace.
        pinned=Pinned(settings={"python": {"pythonPath": "{python}"}}),
        settings={"basedpyright": {"analysis": {"diagnosticMode": "openFilesOnly"}}},
        hiding=(
            Hiding("pyproject.toml", ("tool.basedpyright.include", "tool.basedpyright.exclude")),
            *_HIDING_OF_PYRIGHT,
        ),
        opens_new_files=True,
        install="pip install basedpyright",
    ),
    ServerSpec(
        "pyright",
        ("pyright-langserver", "--stdio"),
        PYTHON,
        ("pyrightconfig.json", *_PYTHON_MARKERS),
        ("pyright", "--version"),
        # The wrapper from PyPI downloads the server when it is first run.
        executes_workspace=True,
        readiness=Readiness(ReadyWhen.LOGGED, r"Found \d+ source file|No source files found"),
        settings={"python": {"analysis": {"diagnosticMode": "openFilesOnly"}}},
        hiding=_HIDING_OF_PYRIGHT,
        opens_new_files=True,
        install="npm install -g pyright",
    ),
    ServerSpec(
        "pyrefly",
        ("pyrefly", "lsp"),
        PYTHON,
        ("pyrefly.toml", *_PYTHON_MARKERS),
        # It asks the interpreter that its configuration or the workspace names.
        executes_workspace=True,
        readiness=Readiness(ReadyWhen.STABLE),
        hiding=(
            Hiding(
                "pyproject.toml",
                ("tool.pyrefly.project-includes", "tool.pyrefly.project-excludes"),
            ),
            Hiding("pyrefly.toml", ("project-includes", "project-excludes")),
        ),
        restarts_on_change=True,
        install="pip install pyrefly",
    ),
    # These two truncate references without a word.
    ServerSpec(
        "jedi-language-server",
        ("jedi-language-server",),
        PYTHON,
        _PYTHON_MARKERS,
        answers=_NO_REFERENCES,
        executes_workspace=True,
        install="pip install jedi-language-server",
    ),
    ServerSpec(
        "pylsp",
        ("pylsp",),
        PYTHON,
        _PYTHON_MARKERS,
        answers=_NO_REFERENCES,
        executes_workspace=True,
        install="pip install python-lsp-server",
    ),
    ServerSpec(
        "typescript-language-server",
        ("typescript-language-server", "--stdio"),
        SCRIPT,
        _SCRIPT_MARKERS,
        # It loads TypeScript from the workspace's node_modules.
        executes_workspace=True,
        readiness=Readiness(ReadyWhen.NO_PROGRESS),
        initialization_options={"disableAutomaticTypingAcquisition": True},
        opens_changed_files=True,
        hiding=_HIDING_OF_TYPESCRIPT,
        opens_candidates=True,
        project_files=("tsconfig.json", "jsconfig.json"),
        install="npm install -g typescript-language-server typescript",
    ),
    ServerSpec(
        "vtsls",
        ("vtsls", "--stdio"),
        SCRIPT,
        _SCRIPT_MARKERS,
        readiness=Readiness(ReadyWhen.NO_PROGRESS),
        # It has a TypeScript of its own, and takes the workspace's only where a client says so.
        pinned=Pinned(settings={"vtsls": {"autoUseWorkspaceTsdk": False}}),
        settings={"typescript": {"disableAutomaticTypeAcquisition": True}},
        opens_changed_files=True,
        hiding=_HIDING_OF_TYPESCRIPT,
        opens_candidates=True,
        project_files=("tsconfig.json", "jsconfig.json"),
        install="npm install -g @vtsls/language-server",
    ),
    ServerSpec(
        "tsgo",
        ("tsgo", "--lsp", "--stdio"),
        SCRIPT,
        _SCRIPT_MARKERS,
        hiding=_HIDING_OF_TYPESCRIPT,
        opens_candidates=True,
        project_files=("tsconfig.json", "jsconfig.json"),
        install="npm install -g @typescript/native-preview",
    ),
    ServerSpec(
        "gopls",
        ("gopls",),
        ("go",),
        ("go.work", "go.mod"),
        ("gopls", "version"),
        # The go command may fetch and run the toolchain that the workspace names.
        executes_workspace=True,
        readiness=Readiness(ReadyWhen.NO_PROGRESS),
        install="go install golang.org/x/tools/gopls@latest",
    ),
    ServerSpec(
        "rust-analyzer",
        ("rust-analyzer",),
        ("rust",),
        ("Cargo.toml", "rust-project.json"),
        # It runs build scripts and procedural macros.
        executes_workspace=True,
        readiness=Readiness(ReadyWhen.QUIESCENT),
        install="rustup component add rust-analyzer",
    ),
    ServerSpec(
        "clangd",
        # Its index would be written into the workspace.
        ("clangd", "--background-index=false", "--enable-config=false"),
        ("c", "cpp"),
        ("compile_commands.json", "compile_flags.txt"),
        # The arguments in those files can name programs for it to run: it reads neither.
        pinned=Pinned(("--compile-commands-dir={empty}",)),
        answers=frozenset(Answer) - {Answer.CALLS},
        opens_candidates=True,
        diagnoses_what_it_read=True,
        install="apt-get install clangd",
    ),
)
