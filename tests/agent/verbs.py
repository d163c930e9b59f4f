"""Command lines as their user sees them, carried out in the tests' process."""

import os
from collections.abc import Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from foldline.agent.cli import VERBS, main
from foldline.ide.operations import OPERATIONS
from foldline.ide.plugins import plugins

PLUGIN_VERBS = {part.name: part.module for part in plugins().parts(lambda plugin: plugin.verbs)}
# The module of each verb: the house's, those that operations share, and plugins'.
VERB_MODULES = {
    **{verb: f"foldline.agent.{module}" for verb, module in VERBS.items() if verb},
    **{
        operation.verb: f"foldline.agent.{VERBS[None]}"
        for operation in OPERATIONS
        if operation.verb and operation.verb not in VERBS
    },
    **PLUGIN_VERBS,
}
# What decides on styles and widths; a test says which of them are set.
STYLING = {"COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLORTERM", "TERM"}


class _Stream(TextIOWrapper):
    def __init__(self, is_terminal: bool) -> None:
        self.bytes = BytesIO()
        self._is_terminal = is_terminal
        super().__init__(self.bytes, encoding="utf-8", write_through=True)

    def isatty(self) -> bool:
        return self._is_terminal


def foldline(
    *words: str,
    folder: Path | None = None,
    terminal: bool = False,
    environment: Mapping[str, str] | None = None,
) -> CompletedProcess[str]:
    """Return the status of `foldline WORDS` in a folder, and all that it writes."""
    out, err = _Stream(terminal), _Stream(terminal)
    with (
        chdir(folder or Path.cwd()),
        patch.dict(os.environ),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        for name in STYLING:
            os.environ.pop(name, None)
        os.environ.update(environment or {})
        status = main(words)
    shown, said = (stream.bytes.getvalue().decode() for stream in (out, err))
    return CompletedProcess(words, status, shown, said)


def run(*words: object) -> tuple[int, str, str]:
    """Return the status, what is shown and what is said."""
    done = foldline(*map(str, words))
    return done.returncode, done.stdout, done.stderr
