"""Writes `docs/commands.md` from the operations, the server's commands and the command line.

    uv run python docs/make_tables.py

A test fails while the page is older than what it tells.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.agent.cli import add_verbs
from foldline.agent.exit_statuses import STATUSES
from foldline.ide.errors import RENDER_KINDS, IdeError
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.answer_sizes import CORPUS, DATE, SIZES
from foldline.ide.operations.operation import Role
from foldline.server.app import COMMANDS
from foldline.server.operation_commands import OperationCommand

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.ide.operations.operation import Argument, Operation

PAGE = Path(__file__).with_name("commands.md")

HEAD = """\
# Commands, tools and verbs

Made by `docs/make_tables.py`; don't edit it.

An operation is written once, in `foldline.ide.operations`, and each shell adapts it: the language
server (`foldline.server.NAME`), MCP and Python (a tool), the command line (a verb).
"""


def page() -> str:
    """The whole page."""
    parts = [HEAD, "## Operations\n"]
    parts += [_operation(operation) for operation in OPERATIONS]
    parts += ["## Costs\n", _costs()]
    parts += ["## Commands of the language server\n", _commands()]
    parts += ["## Verbs of the command line\n", _verbs()]
    parts += ["## Exit statuses\n", _statuses()]
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


def _verbs() -> str:
    parser = argparse.ArgumentParser(prog="foldline")
    verbs = parser.add_subparsers()
    add_verbs(verbs)
    rows = []
    for name, sub in verbs.choices.items():
        usage = re.sub(r"\s+", " ", sub.format_usage()).removeprefix("usage: ").strip()
        usage = usage.replace("[-h] ", "").removeprefix(f"foldline {name}").strip()
        rows.append(
            (
                f"`{name}`",
                f"`{usage}`" if usage else "",
                re.sub(r"\s+", " ", sub.description or "").rstrip("."),
            )
        )
    return "\n".join(_table(("verb", "arguments", "meaning"), rows))


def _statuses() -> str:
    rows = [(f"`{status}`", meaning) for status, meaning in STATUSES.items()]
    return "\n".join(_table(("status", "meaning"), rows))


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
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{PAGE}\n")
