"""Which servers this machine has, which of them a workspace gets, and why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.backends.lsp.configuration import read_configuration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldline.backends.lsp.configuration import ServerChoice
    from foldline.backends.lsp.servers import Answer, ServerSpec

_VERSION_SECONDS = 10.0
# Where a trusted project keeps programs of its own.
_PROJECT_FOLDERS = (".venv/bin", ".venv/Scripts", "venv/bin", "node_modules/.bin")


@dataclass(frozen=True, slots=True)
class FoundServer:
    """A server of the table on this machine: `command` is empty where `reason` says it is unusable.

    `chosen_for` holds the languages for which it is the first choice.
    """

    spec: ServerSpec
    command: tuple[str, ...]
    reason: str
    chosen_for: tuple[str, ...] = ()


class ServerCatalog:
    """The servers that may be used in the workspace at `root`."""

    def __init__(
        self, root: Path, *, trusted: bool = False, servers: Iterable[ServerSpec] | None = None
    ) -> None:
        self._root = root
        self._trusted = trusted
        self._given = tuple(servers) if servers is not None else None
        self._found: dict[str, tuple[tuple[str, ...], str]] = {}
        self.look_again()

    def look_again(self) -> None:
        """Read the configuration anew, and find the programs anew when they are asked for."""
        self._choice = read_configuration(self._root)
        self._servers = self._choice.servers if self._given is None else self._given
        self._found.clear()

    @property
    def choice(self) -> ServerChoice:
        """What the project's own configuration says."""
        return self._choice

    def candidates(self, language: str, answer: Answer) -> list[tuple[ServerSpec, tuple[str, ...]]]:
        """The usable servers for the language that answer this truly, the best first."""
        return [
            (spec, command)
            for spec in self._servers
            if language in spec.languages
            and answer in spec.answers
            and (command := self.command(spec)[0])
        ]

    def command(self, spec: ServerSpec) -> tuple[tuple[str, ...], str]:
        """How to start the server, and why so; empty where it must not or cannot be started."""
        if spec.name not in self._found:
            self._found[spec.name] = self._find(spec)
        return self._found[spec.name]

    def report(self) -> list[FoundServer]:
        """Every server of the table, in the order in which they are tried."""
        taken: set[str] = set()
        report = []
        for spec in self._servers:
            command, reason = self.command(spec)
            first = tuple(each for each in spec.languages if command and each not in taken)
            taken.update(first)
            report.append(FoundServer(spec, command, reason, first))
        return report

    def _find(self, spec: ServerSpec) -> tuple[tuple[str, ...], str]:
        if spec.name in self._choice.disabled:
            return (), "disabled in [tool.foldline.lsp]"
        if not self._trusted:
            if spec.name in self._choice.commands_from:
                return (), "its command comes from the workspace, which is not trusted"
            if spec.executes_workspace:
                return (), "it may run code of the workspace, which is not trusted"
        program = spec.command[0]
        found = find_program(program, self._root, trusted=self._trusted)
        if found is None:
            hint = f"; {spec.install}" if spec.install else ""
            return (), f"{program} was not found{hint}"
        why = "preferred in [tool.foldline.lsp]" if spec.name in self._choice.preferred else "found"
        return (str(found), *spec.command[1:]), why


def find_program(program: str, root: Path, *, trusted: bool) -> Path | None:
    """The program: beside this Python, in `PATH`, and in a trusted workspace in its own folders.

    A `PATH` that leads into an untrusted workspace does not count.
    """
    own = str(Path(sys.executable).parent)
    if Path(program).name != program:
        # The user's own configuration gave a path; the workspace's counts only where trusted.
        found = shutil.which(str(root / program))
        return Path(found) if found else None
    if trusted:
        folders = os.pathsep.join(str(root / folder) for folder in _PROJECT_FOLDERS)
        if found := shutil.which(program, path=folders):
            return Path(found)
    if found := shutil.which(program, path=own):
        return Path(found)
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        # An empty or relative entry means the current folder, which may be the workspace.
        if not Path(folder).is_absolute():
            continue
        found = shutil.which(program, path=folder)
        if found and (trusted or not Path(found).resolve().is_relative_to(root)):
            return Path(found)
    return None


def server_version(found: FoundServer) -> str:
    """What the server calls its version; where it has no way to say, the empty string."""
    if not found.command:
        return ""
    command = [found.command[0], "--version"]
    if found.spec.version_command:
        program, *arguments = found.spec.version_command
        command = [str(Path(found.command[0]).with_name(program)), *arguments]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0][:120] if lines and done.returncode == 0 else ""


def root_for(spec: ServerSpec, workspace: Path, path: str) -> Path:
    """The nearest folder around `path` with a root marker, or else the workspace."""
    folder = (workspace / path).parent
    while folder != workspace and folder.is_relative_to(workspace):
        if any((folder / marker).is_file() for marker in spec.root_markers):
            return folder
        folder = folder.parent
    return workspace
