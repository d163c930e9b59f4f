"""The servers of the table that can run on this machine for a workspace, each with its reason."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from foldline.backends.base.untrusted import (
    empty_folder,
    find_in,
    find_on_path,
    is_in_project,
    outside_environment,
)
from foldline.backends.lsp.configuration import read_configuration
from foldline.backends.lsp.servers import Answer, Pinned, ServerSpec
from foldline.records import record

UNTRUSTED = "it may run code of the workspace, which is not trusted"
_VERSION_SECONDS = 10.0
# Folders of a trusted project's own programs.
_PROJECT_FOLDERS = (".venv/bin", ".venv/Scripts", "venv/bin", "node_modules/.bin")


@record
class FoundServer:
    """A server of the table on this machine: `command` is empty where `reason` says it is unusable.

    `chosen_for` holds the languages for which it is the first choice.
    """

    spec: ServerSpec
    command: tuple[str, ...]
    reason: str
    chosen_for: tuple[str, ...] = ()


class ServerCatalog:
    """The servers that may be used in the workspace at `root`; `choice` is its configuration's."""

    def __init__(
        self, root: Path, *, trusted: bool = False, servers: Iterable[ServerSpec] | None = None
    ) -> None:
        self._root = root
        self._trusted = trusted
        self._table = tuple(servers) if servers is not None else None
        # Command and reason by the name of the server.
        self._commands: dict[str, tuple[tuple[str, ...], str]] = {}
        self.look_again()

    def look_again(self) -> None:
        """Read the configuration again, and find the programs again when they are needed."""
        self.choice = read_configuration(self._root, trusted=self._trusted)
        servers = self.choice.servers if self._table is None else self._table
        if not self._trusted:
            empty = empty_folder(self._root)
            servers = tuple(confined(spec, empty) for spec in servers)
        self._servers = servers
        self._commands.clear()

    def candidates(self, language: str, answer: Answer) -> list[tuple[ServerSpec, tuple[str, ...]]]:
        """The usable servers for the language whose `answer` can be relied on, the best first."""
        return [
            (spec, command)
            for spec in self._servers
            if language in spec.languages
            and answer in spec.answers
            and (command := self.command(spec)[0])
        ]

    def why_none(self, path: str) -> str:
        """The reason why no server can be asked about the file at `path`."""
        waiting = [
            spec.name
            for spec in self._servers
            if spec.understands(path) and self.command(spec)[1] == UNTRUSTED
        ]
        if waiting:
            return (
                f"{' or '.join(waiting)} needs trust; "
                "no other language server is installed, `foldline doctor` says which would do"
            )
        return f"no language server is installed for {path}; `foldline doctor` says which would do"

    def command(self, spec: ServerSpec) -> tuple[tuple[str, ...], str]:
        """The command of the server, and its reason; empty where it can't or mustn't be started."""
        if spec.name not in self._commands:
            self._commands[spec.name] = self._find(spec)
        return self._commands[spec.name]

    def report(self) -> list[FoundServer]:
        """Every server of the table, in the order in which they are tried."""
        taken: set[str] = set()
        report = []
        for spec in self._servers:
            command, reason = self.command(spec)
            first = tuple(name for name in spec.languages if command and name not in taken)
            taken.update(first)
            report.append(FoundServer(spec, command, reason, first))
        return report

    def _find(self, spec: ServerSpec) -> tuple[tuple[str, ...], str]:
        if spec.name in self.choice.disabled:
            return (), "disabled in the settings"
        program = spec.command[0]
        program_path = find_program(program, self._root, trusted=self._trusted)
        if program_path is None:
            hint = f"; {spec.install}" if spec.install else ""
            return (), f"{program} was not found{hint}"
        if spec.executes_workspace and not self._trusted:
            return (), UNTRUSTED
        why = "preferred in the settings" if spec.name in self.choice.preferred else "found"
        if spec.confined and spec.pinned != Pinned():
            why += ", and confined as the workspace is not trusted"
        return (str(program_path), *spec.command[1:]), why


def confined(spec: ServerSpec, empty: Path) -> ServerSpec:
    """The server as it runs for a workspace that isn't trusted; `empty` is an empty folder."""
    names = {"{python}": sys.executable, "{empty}": str(empty)}

    def fill(value: object) -> object:
        if isinstance(value, dict):
            return {key: fill(one) for key, one in value.items()}
        if isinstance(value, str):
            for name, meaning in names.items():
                value = value.replace(name, meaning)
        return value

    arguments = tuple(str(fill(argument)) for argument in spec.pinned.arguments)
    settings = {key: fill(value) for key, value in spec.pinned.settings.items()}
    return replace(
        spec,
        command=(*spec.command, *arguments),
        settings=_merged(spec.settings, settings),
        confined=True,
    )


def _merged(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, object]:
    merged = dict(below)
    for key, value in above.items():
        under = merged.get(key)
        both = isinstance(under, dict) and isinstance(value, dict)
        merged[key] = _merged(under, value) if both else value  # type: ignore[arg-type]  # Just checked.
    return merged


def find_program(program: str, root: Path, *, trusted: bool) -> Path | None:
    """The program: beside this Python, in `PATH`, and in a trusted workspace in its own folders.

    A `PATH` that leads into an untrusted workspace, or the project around it, does not count.
    """
    interpreter_folder = Path(sys.executable).parent
    if Path(program).name != program:
        # A path, from the user's own configuration or that of a trusted workspace.
        path = root / program
        program_path = find_in(path.parent, path.name)
        is_safe = program_path and (trusted or not is_in_project(program_path, root))
        return program_path if is_safe else None
    folders = [interpreter_folder]
    if trusted:
        folders = [*(root / folder for folder in _PROJECT_FOLDERS), interpreter_folder]
    for folder in folders:
        if program_path := find_in(folder, program):
            return program_path
    return find_on_path(program, outside=None if trusted else root)


def server_version(found: FoundServer, root: Path) -> str:
    """The server's version by its own account; empty where it has no way to say.

    It runs outside the workspace at `root`, which it doesn't need for that.
    """
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
            cwd=empty_folder(root),
            env=outside_environment(root),
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0][:120] if lines and done.returncode == 0 else ""


def root_for(spec: ServerSpec, workspace: Path, path: str) -> Path:
    """The nearest folder around `path` that is a root, or else the workspace."""
    folder = (workspace / path).parent
    while folder != workspace and folder.is_relative_to(workspace):
        if spec.is_root(folder):
            return folder
        folder = folder.parent
    return workspace
