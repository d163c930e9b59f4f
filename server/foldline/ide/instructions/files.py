"""Tells the files that instruct agents, by patterns of paths."""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.ide.config import read_options, read_project_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import PurePath

    from foldline.backends.files.globs import PathPatterns
    from foldline.ide.folder import Folder

PATTERNS = (
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "SKILL.md",
    "/.github/copilot-instructions.md",
    "*.instructions.md",
    "*.prompt.md",
    ".cursor/rules/**/*.mdc",
    ".claude/rules/**/*.md",
)
"""The files that clients load by themselves, in the syntax of `.gitignore`."""

LARGEST = 1_000_000
"""A larger file is none that somebody wrote for a model, in bytes."""


def instructs(
    file: Path | str,
    root: Path,
    client_options: object = None,
    known: dict[str, tuple[str, tuple[str, ...]]] | None = None,
) -> bool:
    """Return True for a file below a root that instructs agents, by the options for it.

    Those of a folder that is `known` aren't read again. Code never instructs.
    """
    known, path = {} if known is None else known, os.fspath(file)
    if path.endswith((".py", ".pyi")):
        return False
    if (above := path.rpartition(os.sep)[0]) not in known:
        nearest = read_project_options(Path(file), root)
        options, _ = read_options(client_options, nearest.table)
        known[above] = f"{str(nearest.folder).rstrip(os.sep)}{os.sep}", options.instructions
    start, patterns = known[above]
    inner = path.removeprefix(start).replace(os.sep, "/")
    return path.startswith(start) and is_instructions(inner, patterns)


def is_instructions(path: str, patterns: Sequence[str] = ()) -> bool:
    """Return whether a file, by its path from the root with `/`, instructs agents.

    `patterns` are the project's: they come after `PATTERNS`, and `!` takes files out.
    """
    return _compiled(tuple(patterns)).hold(path)


def has_front_matter(path: PurePath) -> bool:
    """Return True where clients read the front matter as data, and send models what is below it.

    Skills: https://agentskills.io/specification ("Progressive disclosure"); Cursor's rules:
    https://cursor.com/docs/context/rules; Copilot's files:
    https://code.visualstudio.com/docs/copilot/customization/custom-instructions; Claude Code's
    rules: https://code.claude.com/docs/en/memory ("Path-specific rules"). No client documents
    front matter for `AGENTS.md` and its like: there it is text.
    """
    shown = f"/{path.as_posix()}"
    endings = "/SKILL.md", ".mdc", ".instructions.md", ".prompt.md"
    return shown.endswith(endings) or ".claude/rules/" in shown


def instruction_files(
    folder: Folder, below: Iterable[str] = (".",), seconds: float | None = None
) -> list[Path]:
    """Return a folder's instruction files in the order of their paths, as far as `seconds` go.

    Files that git ignores are among them where a client reads them: its user's own.
    """
    from foldline.ide.analysis.prompt_files import OutOfTimeError, deadline

    check, files = deadline(seconds), set[Path]()
    known: dict[str, tuple[str, tuple[str, ...]]] = {}
    with suppress(OutOfTimeError):
        for path, _ in folder.walk(below, check):
            check()
            if folder.instructs(path, known):
                files.add(Path(path))
    return sorted(files)


@cache
def _compiled(patterns: tuple[str, ...]) -> PathPatterns:
    from foldline.backends.files.git_patterns import compile_patterns
    from foldline.backends.files.globs import PathPatterns

    return PathPatterns(compile_patterns((*PATTERNS, *patterns))[0])
