"""`foldline install`: foldline in the configuration of an agent."""

from __future__ import annotations

import json
import os
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.agent.install.files import Change, UnparsableError, read, write
from foldline.agent.refusals import Refused
from foldline.agent.targets import path_from_here
from foldline.agent.terminal import show
from foldline.ide.clients import Client, clients_named, known_clients
from foldline.links import resolved

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from foldline.agent.verbs import Verbs


NAME = "foldline"
"""The key of our entry."""
CLIENTS = known_clients()
PLUGIN = Path(__file__).with_name("opencode_fold.js")
DESCRIPTION = """\
Writes `foldline mcp` into the configuration of agents, or removes it, and shows the change: of
those named, or else in the setting `clients`. What else is in a file stays, comments included."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "install", help="write foldline into an agent's configuration", description=DESCRIPTION
    )
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument("--remove", action="store_true", help="remove foldline from it")
    parser.add_argument("--dry-run", action="store_true", help="show the change, and write nothing")
    project = "the project's configuration instead of the user's; without DIR, of this folder"
    parser.add_argument("--project", nargs="?", const=".", metavar="DIR", help=project)
    trust, fold = "with --project: let its prompts run", "also the plugin that folds: only opencode"
    parser.add_argument("--trust", action="store_true", help=trust)
    parser.add_argument("--fold", action="store_true", help=fold)
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.agent.scan import settings_clients

    if options.trust and options.project is None:
        raise Refused("--trust would run the code of every folder: give --project, too")
    names = options.clients or settings_clients(options.project or ".")
    if not (clients := clients_named(names, CLIENTS)):
        every = ", ".join(CLIENTS)
        raise Refused(f"name a client, or set `clients` in foldline.toml: there are {every}")
    root = None if options.project is None else resolved(options.project)
    if root is not None and not root.is_dir():
        raise Refused(f"{root} isn't a folder")
    for client in clients:
        if options.fold and not client.plugin:
            folding = ", ".join(name for name, one in CLIENTS.items() if one.plugin)
            raise Refused(
                f"{client.title} takes no plugin that folds, only {folding} does: "
                "`foldline fold FILE --to-skill NAME` and `--to-rule NAME` need none"
            )
    for client in clients:
        _install(client, root, options)
    return 0


def _install(client: Client, root: Path | None, options: Namespace) -> None:
    changes = [] if options.fold and options.remove else [_configuration(client, root, options)]
    changes += _plugin(client, root, options)
    for file in [file for file, before, after in changes if after == before]:
        state = "isn't" if options.remove else "is already"
        show(f"foldline {state} in {path_from_here(file)}")
    changes = [one for one in changes if one[1] != one[2]]
    write(changes, root, dry_run=options.dry_run, note="" if options.remove else f" {client.note}")


def _configuration(client: Client, root: Path | None, options: Namespace) -> Change:
    """Return how the client's configuration changes."""
    files = client.files(root)
    file = next((file for file in files if os.path.lexists(file)), files[-1])
    before = read(file, root)
    try:
        command = [*_program(options), "mcp", *(["--trust"] if options.trust else [])]
        after = _changed(client, file, before or "", None if options.remove else command)
    except UnparsableError as error:
        how = "The file stays as it is: mend it, and run this again"
        raise Refused(f"{file}: {error}. {how}") from error
    if after == (before or ""):
        return file, before, before
    return file, before, None if options.remove and after.strip() in ("", "{}") else after


def _plugin(client: Client, root: Path | None, options: Namespace) -> list[Change]:
    """Return how the plugin that folds changes, which is there or wanted."""
    changes: list[Change] = []
    template = PLUGIN.read_text(encoding="utf-8")
    text = template.replace('["foldline"]', json.dumps(_program(options), ensure_ascii=False), 1)
    for file in client.files(root, plugin=True):
        before = read(file, root)
        if before is not None and before.partition("\n")[0] != template.partition("\n")[0]:
            raise Refused(f"{file} isn't foldline's plugin, and is left alone: rename it")
        if before is not None or options.fold:
            changes.append((file, before, None if options.remove else text))
    return changes


def _changed(client: Client, file: Path, before: str, command: list[str] | None) -> str:
    """Return the new text of a file, which differs in foldline's entry alone.

    The file's name says the format. The entry runs `command`; None removes it.
    """
    # What changes TOML is loaded for that alone.
    kind = "toml" if file.suffix == ".toml" else "jsonc"
    language = import_module(f"foldline.agent.install.{kind}")
    text = before.removeprefix("\ufeff")
    mark = before[: len(before) - len(text)]
    windows = 0 < text.count("\n") == text.count("\r\n")
    plain = text.replace("\r\n", "\n") if windows else text
    values = language.read(plain)
    servers: Any = values
    for key in client.table:
        servers = servers.get(key, {}) if isinstance(servers, dict) else None
    if not isinstance(servers, dict):
        raise UnparsableError(f"{'.'.join(client.table)!r} is not what {client.title} expects")
    present = servers.get(NAME)
    keys = (*client.table, NAME)
    changed: str
    if command is None:
        servers = {name: entry for name, entry in servers.items() if name != NAME}
        changed = language.without(plain, keys)
    else:
        settings = present if isinstance(present, dict) else dict(client.new)
        entry = {**settings, **client.entry_for(command)}
        servers = {**servers, NAME: entry}
        changed = plain if entry == present else language.with_value(plain, keys, entry)
    # A table without entries may stay for its comment, or go.
    expected = _with_table(values, client.table, servers)
    if _text(_with_table(language.read(changed), client.table)) != _text(expected):
        raise UnparsableError("it can't be changed without changing something else")
    return mark + (changed.replace("\n", "\r\n") if windows else changed)


def _with_table(values: dict[str, Any], keys: Sequence[str], table: Any = None) -> dict[str, Any]:
    """Return the values with a table at these keys, an empty one where there is none."""
    key, *below = keys
    inner = values.get(key, {}) if below or table is None else table
    return {**values, key: _with_table(inner, below, table) if below else inner}


def _text(values: object) -> str:
    """Return a text that is the same for the same values, `nan` too."""
    return json.dumps(values, sort_keys=True, default=repr)


def _program(options: Namespace) -> list[str]:
    """Return the words that start foldline.

    A project's file is shared, and names the program; a user's has its full path, because programs
    that a desktop starts often don't have the `PATH` of a shell.
    """
    if options.project is not None:
        return ["foldline"]
    beside = Path(sys.executable).with_name(f"foldline{'.exe' * (sys.platform == 'win32')}")
    program = str(beside) if beside.is_file() else shutil.which("foldline")
    return [program] if program else [sys.executable, "-m", "foldline.agent"]
