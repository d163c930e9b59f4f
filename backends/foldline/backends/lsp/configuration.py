"""A project's settings for language servers, in `[tool.foldline.lsp]`, or `lsp` of `foldline.toml`.

```toml
[tool.foldline.lsp]
use = ["basedpyright", "ty"]     # tried in this order, before all others
disable = ["clangd"]
outlines = "syntax"     # or "server", the default: ask a server that is up for outlines too

[tool.foldline.lsp.servers.mine]     # a new server, or other values for a known one
command = ["my-server", "--stdio"]
languages = ["python"]
root_markers = ["my.toml"]
initialization_options = {}
settings = {}
```

Until the workspace is trusted only `disable` and `outlines` count. Everything else may choose
programs to run: a `command`, but also the engine, and settings that name an interpreter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from itertools import islice
from pathlib import Path
from typing import Final, Literal

from foldline.backends import errors
from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.backends.base.reading import read_project
from foldline.backends.files.reader import read_json, read_toml
from foldline.backends.lsp.servers import LANGUAGE_IDS, SERVERS, ServerSpec, value_at
from foldline.records import record

# The table in `[tool.foldline]`.
TABLE = "lsp"
# Where outlines come from: a running server first and then the syntax tree, or the tree alone.
BY_SERVER: Final = "server"
BY_SYNTAX: Final = "syntax"
# Near names are looked for among the first of very many.
_MOST_COMPARED = 1_000
_LANGUAGES = frozenset(LANGUAGE_IDS.values())


@record
class ServerChoice:
    """The table of servers for a project, in the order in which they are tried.

    `problems` lists the mistakes in its configuration, which are left out; `ignored` names the part
    that waits for trust. `outlines` is `BY_SERVER` or `BY_SYNTAX`.
    """

    servers: tuple[ServerSpec, ...]
    disabled: frozenset[str] = frozenset()
    preferred: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    ignored: str = ""
    outlines: str = BY_SERVER


@record
class ServerTable:
    """The values of one server that a project sets."""

    command: tuple[str, ...] | None = None
    languages: tuple[str, ...] | None = None
    root_markers: tuple[str, ...] | None = None
    initialization_options: Mapping[str, object] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)

    def applied_to(self, known: ServerSpec) -> ServerSpec:
        """Return a server with these values in place of its own."""
        return replace(
            known,
            command=known.command if self.command is None else self.command,
            languages=known.languages if self.languages is None else self.languages,
            root_markers=known.root_markers if self.root_markers is None else self.root_markers,
            initialization_options={**known.initialization_options, **self.initialization_options},
            settings={**known.settings, **self.settings},
        )


@record
class ServersTable:
    """A project's table for language servers."""

    use: tuple[str, ...] = ()
    disable: tuple[str, ...] = ()
    outlines: Literal["server", "syntax"] = BY_SERVER
    servers: Mapping[str, ServerTable] = field(default_factory=dict)


def read_configuration(root: Path, *, trusted: bool) -> ServerChoice:
    """The servers for the workspace at `root`."""
    table = ServersTable()
    problems: tuple[str, ...] = ()
    where = TABLE
    try:
        table, problems, where = read_project(root, root, table, TABLE) or (table, problems, where)
    except errors.PathError as error:
        problems = (error.summary,)
    specs = {spec.name: spec for spec in SERVERS}
    wrong: list[str] = []
    for name, values in table.servers.items():
        spec = values.applied_to(specs.get(name, ServerSpec(name, (), ())))
        table_name = f"{where}.servers.{errors.cut(name)}"
        wrong += _unknown(f"{table_name}.languages", spec.languages, _LANGUAGES, "language")
        if spec.command and spec.languages:
            specs[name] = spec
        else:
            wrong.append(f"{table_name} needs a command and languages")
    for key in ("use", "disable"):
        wrong += _unknown(f"{where}.{key}", getattr(table, key), specs, "server")
    problems = errors.first_few((*problems, *wrong))
    disabled = frozenset(name for name in table.disable if name in specs)
    if not trusted:
        waiting = [key for key in ("use", "servers") if getattr(table, key)]
        ignored = waiting and (
            f"{where}: {' and '.join(waiting)} may choose what is run, and waits "
            "until you trust the workspace: in your editor, or with --trust"
        )
        return ServerChoice(
            SERVERS, disabled, problems=problems, ignored=ignored or "", outlines=table.outlines
        )
    use = tuple(name for name in table.use if name in specs)
    servers = tuple(specs[name] for name in dict.fromkeys((*use, *specs)))
    return ServerChoice(servers, disabled, use, problems, outlines=table.outlines)


def hiding_settings(spec: ServerSpec, root: Path) -> tuple[str, ...]:
    """Settings of the project that may hide files from the server: `exclude in ty.toml is set`."""
    set_keys = []
    for hiding in spec.hiding:
        try:
            content = read_toml if hiding.file.endswith(".toml") else read_json
            settings = content(root / hiding.file, root=root)
        except (errors.MissingPathError, errors.MalformedFileError):
            continue  # Servers read more than JSON: comments, for one.
        except errors.PathError as error:
            set_keys.append(f"{hiding.file} was not read: it {error.problem}")
            continue
        keys = (key for key in hiding.keys if value_at(settings, key))
        set_keys += [f"{key} in {hiding.file} is set" for key in keys]
    return tuple(set_keys)


def _unknown(where: str, names: Iterable[str], known: Iterable[str], what: str) -> tuple[str, ...]:
    near = list(islice(known, _MOST_COMPARED))
    return errors.first_few(
        f"{where}: unknown {what} {errors.cut(name)!r}{did_you_mean(near_names(name, near))}"
        for name in names
        if name not in known
    )
