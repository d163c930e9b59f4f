"""Writes `settings.md`, and the schema that LSP4IJ checks settings by, from what they list.

    uv run python docs/make_tables.py

A test fails while it is older than its sources. Diagnostics, and what the shells can be asked, are
tables of the site alone, in `docs/reference/shells`, made when it is built.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any, get_type_hints

from pydantic import TypeAdapter

from foldline.backends.lsp import configuration
from foldline.ide.checks import Code
from foldline.ide.checks.codes import default_severity
from foldline.ide.config import PromptOptions
from foldline.ide.errors import RENDER_KINDS, IdeError
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.answer_sizes import CORPUS, DATE, SIZES
from foldline.ide.operations.operation import Role
from foldline.ide.render import options
from foldline.ide.settings import Settings
from foldline.server.app import COMMANDS
from foldline.server.client_configuration import SECTION
from foldline.server.operation_commands import OperationCommand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from _typeshed import DataclassInstance

    from foldline.ide.operations.operation import Argument, Operation

DOCS = Path(__file__).parent

COMMANDS_HEAD = """\
# Operations and commands

An operation on code has the same arguments in every shell: as a command of the language server
(`foldline.server.NAME`), as a tool for agents (MCP and Python), and as a verb of the command line.
"""

SETTINGS_HEAD = """\
<!-- Made by `docs/make_tables.py`; don't edit it. -->
# Settings

A project sets what everybody who works on it shares, in `foldline.toml` or in `[tool.foldline]` of
`pyproject.toml`. The keys are the same: `[tool.foldline.severity]` is `[severity]` there. Of both
in one folder, `foldline.toml` counts, and the other is reported. A client sets what belongs to a
person or a machine, trust above all.

For a file, the nearest of them at or above it counts, and no other. Nothing above the root counts:
in an editor and over MCP that is the opened folder, for `check`, `tokens` and `preview` the git
repository, without one the outermost folder with such a file or a `pyproject.toml`. Imports are
followed up to the same root.
"""

DIAGNOSTICS_HEAD = """\
# Diagnostics

`foldline check --explain CODE` prints a code's page in the terminal.
"""

DIAGNOSTICS_CONTENTS = """\
```{toctree}
:hidden:
:glob:

../../../server/foldline/ide/checks/pages/*
```
"""


def pages() -> Iterator[tuple[Path, str]]:
    """Each page of the checkout with its text."""
    yield DOCS / "settings.md", settings_page()
    yield DOCS.parent / "release/lsp4ij/settings.schema.json", settings_schema()


def site_pages() -> Iterator[tuple[str, str]]:
    """Each page of the site alone, by its name."""
    yield "operations.md", operations_page()
    yield "diagnostics.md", diagnostics_page()


def settings_page() -> str:
    client = [
        (f"`{name}`", f"`{json.dumps(default)}`", doc)
        for name, default, doc in _attributes(Settings)
    ]
    project = [
        (f"`{name.replace('_', '-')}`", f"`{json.dumps(default)}`", doc)
        for name, default, doc in _attributes(PromptOptions)
    ]
    columns = ("setting", "default", "meaning")
    return "\n".join(
        [
            SETTINGS_HEAD,
            "## Of a project: `[tool.foldline]`\n",
            *_table(columns, project),
            "`store` says where programs keep the [events of evaluations](stores.md): a file in "
            "the project, or a `postgresql://` URL without a password.\n",
            "## Of a project's previews: `[tool.foldline.preview]`\n",
            _module_page(options),
            "## Of a project's language servers: `[tool.foldline.lsp]`\n",
            _module_page(configuration),
            "## Of a client: `initializationOptions`\n",
            *_table(columns, client),
        ]
    )


def settings_schema() -> str:
    """Return the JSON Schema of what a client answers to `workspace/configuration`."""
    schema = TypeAdapter(PromptOptions).json_schema()
    hints = get_type_hints(PromptOptions, include_extras=True)
    properties = {}
    for name, _, doc in _attributes(PromptOptions):
        camel = re.sub("_(.)", lambda letter: letter[1].upper(), name)
        properties[camel] = {**schema["properties"][name], "description": doc}
        for bounds in getattr(hints[name], "__metadata__", ()):
            properties[camel]["minimum"] = int(bounds.least)
    closed = {"type": "object", "additionalProperties": False}
    section = {**closed, "properties": properties}
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Settings of foldline"}
    whole = {**head, **closed, "properties": {SECTION: section}, "$defs": schema["$defs"]}
    return f"{json.dumps(whole, indent=2)}\n"


def _attributes(kind: type[DataclassInstance]) -> Iterator[tuple[str, Any, str]]:
    """Name, default and documentation of the fields of a dataclass, in their order."""
    documented = dedent(inspect.getdoc(kind) or "").partition("Attributes:\n")[2]
    docs = {
        name: re.sub(r"\s+", " ", text).strip().rstrip(".")
        for name, text in re.findall(r"^ +(\w+): (.*?)(?=^ +\w+: |\Z)", documented, re.M | re.S)
    }
    for field in fields(kind):
        default = field.default
        if default is MISSING:
            default = field.default_factory() if field.default_factory is not MISSING else None
        if is_dataclass(default):
            default = {one.name: getattr(default, one.name) for one in fields(default)}
        yield field.name, default, docs[field.name]


def _module_page(module: Any) -> str:
    """What a module's docstring says of the table that it reads."""
    text = ast.get_docstring(ast.parse(inspect.getsource(module))) or ""
    return text.partition("\n\n")[2] + "\n"


def diagnostics_page() -> str:
    rows = []
    for code in Code:
        page = DOCS.parent / "server/foldline/ide/checks/pages" / f"{code}.md"
        title = page.read_text(encoding="utf-8").partition("\n")[0].partition(": ")[2]
        link = f"[`{code}`](../../../{page.relative_to(DOCS.parent).as_posix()})"
        rows.append((link, default_severity(code).value, title))
    table = _table(("code", "severity", "finding"), rows)
    return "\n".join([DIAGNOSTICS_HEAD, *table, DIAGNOSTICS_CONTENTS])


def operations_page() -> str:
    parts = [COMMANDS_HEAD, "## Operations\n"]
    parts += [_operation(operation) for operation in OPERATIONS]
    parts += ["## Costs\n", _costs()]
    parts += ["## Commands of the language server\n", _commands()]
    parts += ["## Failures\n", _failures()]
    return "\n".join(parts)


def _operation(operation: Operation[Any, Any]) -> str:
    names = [f"command `{OperationCommand(operation).name}`"]
    names += [f"tool `{operation.tool}`"] if operation.tool else []
    names += [f"verb `foldline {operation.verb}`"] if operation.verb else []
    summary = f"{operation.summary[0].upper()}{operation.summary[1:]}"
    rows = [_row(operation, argument) for argument in operation.parameters]
    return "\n".join(
        [
            f"### {operation.name}\n",
            f"{summary}: {', '.join(names)}.\n",
            *_table(("argument", "type", "default", "bounds", "meaning"), rows),
        ]
    )


def _row(operation: Operation[Any, Any], argument: Argument) -> tuple[str, ...]:
    kind = "texts" if argument.kind is tuple else argument.kind.__name__
    default = "required" if argument.required else f"`{argument.default!r}`"
    if argument.name in OperationCommand(operation).fillable and argument.required:
        default += "; in an editor, by the focus"
    bounds = argument.bounds
    shown = ""
    if bounds:
        shown = (
            f"{bounds.least:g} or more"
            if bounds.most is None
            else (f"{bounds.least:g} to {bounds.most:g}")
        )
    doc = argument.doc.documentation
    if Role.PEOPLE in argument.roles:
        doc += "; not offered to models"
    return (f"`{argument.name}`", kind, default, shown, doc)


def _costs() -> str:
    rows = []
    for tool, size in SIZES.items():
        operation = next(one for one in OPERATIONS if one.tool == tool)
        budget = next(one.default for one in operation.parameters if one.name == "budget")
        rows.append((f"`{tool}`", f"{size.median:,}", f"{size.ninetieth:,}", f"{budget:,}"))
    head = (
        f"Bytes of answers with default arguments, measured on {CORPUS} on {DATE} by\n"
        "`python -m tests.benchmarks.measure_answers`, without a language server. `read_lines` "
        "costs as much as its range.\n"
    )
    columns = ("tool", "median", "nine of ten answers at most", "default budget")
    return "\n".join([head, *_table(columns, rows)])


def _commands() -> str:
    rows = []
    for command in sorted(COMMANDS, key=lambda module: module.COMMAND):
        summary = (command.__doc__ or "").partition(": ")[2].partition("\n")[0].rstrip(".")
        arguments = ", ".join(map(_field, fields(command.Arguments)))
        rows.append((f"`{command.COMMAND}`", arguments, summary))
    return "\n".join(_table(("command", "arguments", "answer"), rows))


def _field(field: Any) -> str:
    default = field.default
    if default is MISSING or default is None:
        return f"`{field.name}`"
    return f"`{field.name}` ({getattr(default, 'value', default)!r})"


def _failures() -> str:
    rows = [
        (f"`{kind.kind}`", (kind.__doc__ or "").partition("\n")[0].rstrip("."))
        for kind in sorted(_kinds(IdeError), key=lambda kind: kind.kind)
        if kind.kind != IdeError.kind
    ]
    known = {row[0] for row in rows}
    rows += [(f"`{kind}`", what) for kind, what in RENDER_KINDS.items() if f"`{kind}`" not in known]
    return "\n".join(_table(("`data.kind`", "meaning"), sorted(rows)))


def _kinds(root: type[IdeError]) -> Iterator[type[IdeError]]:
    for kind in root.__subclasses__():
        yield kind
        yield from _kinds(kind)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    cells = (tuple(cell.replace("|", "\\|") for cell in row) for row in rows)
    return [*lines, *(f"| {' | '.join(row)} |" for row in cells), ""]


if __name__ == "__main__":
    for path, text in pages():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path}\n")
