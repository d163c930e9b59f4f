"""A project's settings for language servers, in `[tool.foldline.lsp]` of its `pyproject.toml`.

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

import difflib
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

from foldline.backends.errors import (
    MalformedFileError,
    MissingPathError,
    PathError,
    cut,
    first_few,
    shown,
)
from foldline.backends.files.reader import read_json, read_toml
from foldline.backends.lsp.servers import LANGUAGE_IDS, SERVERS, ServerSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

# The table in `[tool.foldline]`.
TABLE = "lsp"
# Who is asked for outlines: a server that is up before the syntax tree, or the tree alone.
BY_SERVER = "server"
BY_SYNTAX = "syntax"
_FILE = "pyproject.toml"
_KEYS = ("use", "disable", "outlines", "servers")
_SAFE_KEYS = frozenset({"disable", "outlines"})
_SERVER_KEYS = ("command", "languages", "root_markers", "initialization_options", "settings")
# Near names are looked for among the first of very many.
_MOST_COMPARED = 1_000
_LANGUAGES = frozenset(LANGUAGE_IDS.values())


@dataclass(frozen=True, slots=True)
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


def read_configuration(root: Path, *, trusted: bool) -> ServerChoice:
    """The servers for the workspace at `root`."""
    problems: list[str] = []
    content: object = {}
    try:
        content = _content(root, _FILE)
    except MissingPathError:
        pass
    except PathError as error:
        problems.append(error.summary)
    table = _table(content, f"tool.foldline.{TABLE}", problems)
    problems.extend(_unknown("[tool.foldline.lsp]", table, _KEYS))
    known = {spec.name: spec for spec in SERVERS}
    for name, values in _table(table, "servers", problems).items():
        spec = _server(name, values, known.get(name), problems)
        if spec is not None:
            known[name] = spec
    use = _names(table, "use", known, problems)
    disabled = frozenset(_names(table, "disable", known, problems))
    outlines = _outlines(table, problems)
    if not trusted:
        ignored = _ignored(table)
        return ServerChoice(
            SERVERS, disabled, problems=first_few(problems), ignored=ignored, outlines=outlines
        )
    order = dict.fromkeys([*use, *known])
    servers = tuple(known[name] for name in order)
    return ServerChoice(servers, disabled, use, first_few(problems), outlines=outlines)


def hiding_settings(spec: ServerSpec, root: Path) -> tuple[str, ...]:
    """Settings of the project that may hide files from the server: `exclude in ty.toml is set`."""
    found = []
    for hiding in spec.hiding:
        try:
            value = _content(root, hiding.file)
        except (MissingPathError, MalformedFileError):
            continue  # Servers read more than JSON: comments, for one.
        except PathError as error:
            found.append(f"{hiding.file} was not read: it {error.problem}")
            continue
        for part in hiding.key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if value:
            found.append(f"{hiding.key} in {hiding.file} is set")
    return tuple(dict.fromkeys(found))


def _content(root: Path, name: str) -> object:
    """The content of a TOML or JSON file below `root`.

    Raises:
        PathError: It cannot be read.
    """
    read = read_toml if name.endswith(".toml") else read_json
    return read(root / name, root=root)


def _table(values: object, key: str, problems: list[str]) -> dict[str, object]:
    for part in key.split("."):
        values = values.get(part, {}) if isinstance(values, dict) else {}
    if isinstance(values, dict):
        return values
    problems.append(f"{key} is not a table")
    return {}


def _ignored(table: Mapping[str, object]) -> str:
    """The part of the table that waits for trust, and how to give it; empty where nothing does."""
    waiting = [key for key in _KEYS if key not in _SAFE_KEYS and table.get(key)]
    if not waiting:
        return ""
    return (
        f"[tool.foldline.{TABLE}] {' and '.join(waiting)} may choose what is run, and waits "
        "until you trust the workspace: in your editor, or with --trust"
    )


def _server(
    name: str, values: object, known: ServerSpec | None, problems: list[str]
) -> ServerSpec | None:
    where = f"[tool.foldline.lsp.servers.{name}]"
    if not isinstance(values, dict):
        problems.append(f"{where} is not a table")
        return None
    problems.extend(_unknown(where, values, _SERVER_KEYS))
    base = known or ServerSpec(name, (), ())

    def strings(key: str, default: tuple[str, ...]) -> tuple[str, ...]:
        found = _strings(values[key]) if key in values else default
        if found is None:
            problems.append(f"{where} {key} is not a list of strings")
        return default if found is None else found

    def table(key: str, default: Mapping[str, object]) -> Mapping[str, object]:
        value = values.get(key, {})
        if not isinstance(value, dict):
            problems.append(f"{where} {key} is not a table")
            return default
        return {**default, **value}

    spec = replace(
        base,
        command=strings("command", base.command),
        languages=strings("languages", base.languages),
        root_markers=strings("root_markers", base.root_markers),
        initialization_options=table("initialization_options", base.initialization_options),
        settings=table("settings", base.settings),
    )
    problems.extend(
        first_few(
            f"{where} has an unknown language {language!r}{_near(language, _LANGUAGES)}"
            for language in spec.languages
            if language not in _LANGUAGES
        )
    )
    if not spec.command or not spec.languages:
        problems.append(f"{where} needs a command and languages")
        return None
    return spec


def _outlines(table: Mapping[str, object], problems: list[str]) -> str:
    value = table.get("outlines", BY_SERVER)
    if value in (BY_SERVER, BY_SYNTAX):
        return str(value)
    problems.append(
        f"[tool.foldline.lsp] outlines is {shown(value)}: write {BY_SERVER!r} or {BY_SYNTAX!r}"
    )
    return BY_SERVER


def _names(
    table: Mapping[str, object], key: str, known: Mapping[str, ServerSpec], problems: list[str]
) -> tuple[str, ...]:
    names = _strings(table.get(key, []))
    if names is None:
        problems.append(f"[tool.foldline.lsp] {key} is not a list of names")
        return ()
    problems.extend(
        first_few(
            f"[tool.foldline.lsp] {key}: no server {name!r}{_near(name, known)}"
            for name in names
            if name not in known
        )
    )
    return tuple(name for name in names if name in known)


def _strings(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(value)


def _unknown(where: str, keys: Iterable[str], known: Iterable[str]) -> tuple[str, ...]:
    return first_few(
        f"{where} has an unknown {key!r}{_near(key, known)}" for key in keys if key not in known
    )


def _near(word: str, words: Iterable[str]) -> str:
    near = difflib.get_close_matches(cut(word), list(islice(words, _MOST_COMPARED)), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""
