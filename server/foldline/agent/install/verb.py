"""`foldline install`: foldline in the configuration of an agent."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.agent.install.clients import CLIENTS

if TYPE_CHECKING:
    from argparse import Namespace
    from types import ModuleType

    from foldline.agent.install.clients import Client
    from foldline.agent.verbs import Verbs

DESCRIPTION = """\
Writes `foldline mcp` into the configuration of an agent, or removes it, and shows the change. What
else is in the file stays as it is, comments included."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "install", help="write foldline into an agent's configuration", description=DESCRIPTION
    )
    parser.add_argument("client", choices=tuple(CLIENTS), help="the agent")
    parser.add_argument("--remove", action="store_true", help="remove foldline from it")
    parser.add_argument("--dry-run", action="store_true", help="show the change, and write nothing")
    parser.add_argument(
        "--project",
        nargs="?",
        const=".",
        metavar="DIR",
        help="the project's configuration instead of the user's; without DIR, of this folder",
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="let the project's prompts run: only with --project",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.agent.install import files
    from foldline.agent.install.errors import InstallError, UnparsableError
    from foldline.agent.targets import path_from_here
    from foldline.agent.terminal import show

    if options.trust and options.project is None:
        raise InstallError("--trust would run the code of every folder: give --project, too")
    client = CLIENTS[options.client]
    root = None if options.project is None else Path(options.project).resolve()
    if root is not None and not root.is_dir():
        raise InstallError(f"{root} is no folder")
    candidates = client.user() if root is None else [root / name for name in client.project]
    file = files.choose(candidates)
    before = files.read(file, root)
    try:
        after = _changed(client, file, before or "", _command(options), remove=options.remove)
    except UnparsableError as error:
        raise InstallError(
            f"{file}: {error}. The file stays as it is: mend it, and run this again"
        ) from error
    shown = path_from_here(file)
    if after == (before or ""):
        state = "is not in" if options.remove else "is in"
        show(f"foldline {state} {shown} already")
        return 0
    gone = options.remove and after.strip() in ("", "{}")
    show(_diff(shown, before, None if gone else after), end="")
    if options.dry_run:
        show("Nothing is written: --dry-run.")
        return 0
    if gone:
        files.delete(file, before, root)
    else:
        files.replace(file, before, after, root)
    show(f"{'Removed from' if options.remove else 'Written to'} {shown}. {client.note}")
    return 0


def _changed(client: Client, file: Path, before: str, command: list[str], *, remove: bool) -> str:
    """Return the new text of a file, which differs in foldline's entry alone."""
    from foldline.agent.install.errors import UnparsableError
    from foldline.agent.install.files import split_mark

    mark, text = split_mark(before)
    windows = 0 < text.count("\n") == text.count("\r\n")
    plain = text.replace("\r\n", "\n") if windows else text
    language = _language(file)
    values = language.read(plain)
    expected = _expected(client, values, command, remove=remove)
    if expected == values:
        return before
    changed: str
    if remove:
        changed = language.without(plain, client.keys)
    else:
        changed = language.with_value(plain, client.keys, expected[client.table][client.keys[1]])
    # A table with a comment stays, though it is empty.
    if _text(language.read(changed)) not in map(_text, (expected, {**expected, client.table: {}})):
        raise UnparsableError("it can't be changed without changing something else")
    return mark + (changed.replace("\n", "\r\n") if windows else changed)


def _text(values: object) -> str:
    """Return a text that is the same for the same values, `nan` too."""
    return json.dumps(values, sort_keys=True, default=repr)


def _expected(client: Client, values: Any, command: list[str], *, remove: bool) -> dict[str, Any]:
    """Return the values of the file as they are to be."""
    from foldline.agent.install.errors import UnparsableError

    table, name = client.keys
    servers = values.get(table, {}) if isinstance(values, dict) else None
    if not isinstance(servers, dict):
        raise UnparsableError(f"{table!r} is not what {client.title} expects")
    present = servers.get(name)
    others = {key: value for key, value in servers.items() if key != name}
    rest = {key: value for key, value in values.items() if key != table}
    if remove:
        if present is None:
            return dict(values)
        return {**rest, table: others} if others else rest
    kept = present if isinstance(present, dict) else dict(client.new)
    return {**values, table: {**servers, name: {**kept, **client.entry(command)}}}


def _language(file: Path) -> ModuleType:
    if file.suffix == ".toml":
        from foldline.agent.install import toml

        return toml
    from foldline.agent.install import jsonc

    return jsonc


def _command(options: Namespace) -> list[str]:
    """Return the command line that the client runs.

    A project's file is for everybody, and names the program; a user's has its full path, because
    programs that a desktop starts often don't have the `PATH` of a shell.
    """
    words = ["mcp", *(["--trust"] if options.trust else [])]
    if options.project is not None:
        return ["foldline", *words]
    beside = Path(sys.executable).with_name(
        "foldline.exe" if sys.platform == "win32" else "foldline"
    )
    program = str(beside) if beside.is_file() else shutil.which("foldline")
    return [program, *words] if program else [sys.executable, "-m", "foldline.agent", *words]


def _diff(file: str, before: str | None, after: str | None) -> str:
    from difflib import unified_diff

    old, new = ("/dev/null" if text is None else file for text in (before, after))
    lines = unified_diff(
        (before or "").splitlines(), (after or "").splitlines(), old, new, lineterm=""
    )
    return "".join(f"{line}\n" for line in lines)
