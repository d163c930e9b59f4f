"""The operations as verbs: `foldline tree`, `outline`, `symbol`, `refs`, `grep` and the others.

They work in any folder without set-up. Text is for models and people, `--json` for programs.
`diagnostics` fails where no server answers.
"""

from __future__ import annotations

import argparse
import gc
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline import agent, ide
from foldline.agent.cli import VERBS
from foldline.agent.exit_statuses import FOUND, NOTHING, REFUSED
from foldline.agent.refusals import Refused
from foldline.agent.subjects import add_subject, subject_values
from foldline.agent.targets import number_from
from foldline.agent.terminal import is_styled, json_text, show, show_styled
from foldline.backends.base.waiting import run
from foldline.backends.errors import PathError
from foldline.ide.operations import operations
from foldline.ide.operations.arguments import LinesArguments
from foldline.ide.operations.operation import Role, shortening
from foldline.ide.operations.pages import ask
from foldline.ide.operations.reading import read_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.agent.verbs import Verbs
    from foldline.backends import SmartFileAccess
    from foldline.backends.formatting.parts import Code, Line
    from foldline.ide.operations.operation import Argument, Operation

# Servers that are still running then end with this process.
CLOSE_SECONDS = 10.0
SECONDS = 20.0
"""Longer than for models: each command starts its own server."""

_RANGE = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?\Z")


def register(verbs: Verbs) -> None:
    for operation in operations():
        if operation.verb and operation.verb not in VERBS:
            add_operation(verbs, operation)


def operation_of(verb: str) -> Operation[Any, Any] | None:
    """Return the operation that is called `verb` on the command line."""
    return next((one for one in operations() if one.verb == verb), None)


def add_operation(verbs: Verbs, operation: Operation[Any, Any]) -> argparse.ArgumentParser:
    """Add the operation as a verb with its options."""
    parser = verbs.add_parser(
        operation.verb,
        help=operation.summary,
        description=f"{operation.summary[0].upper()}{operation.summary[1:]}.",
    )
    parser.add_argument("--root", default=".", metavar="DIR", help="the workspace (default: .)")
    parser.add_argument("--json", action="store_true", help="the whole result, for programs")
    parser.add_argument("--no-ignore", action="store_true", help="include ignored files")
    covered = _add_combined(parser, operation)
    for argument in operation.parameters:
        if argument.name not in covered and Role.TOOL not in argument.roles:
            _add_argument(parser, argument, several=operation.several)
    parser.set_defaults(run=lambda options: run_operation(operation, options))
    return parser


def _add_combined(
    parser: argparse.ArgumentParser, operation: Operation[Any, Any]
) -> frozenset[str]:
    """Add options that stand for several arguments, such as `START-END`; return their names."""
    if issubclass(operation.arguments, LinesArguments):
        parser.add_argument("path", help="a file")
        parser.add_argument("range", type=_range, metavar="START[-END]", help="lines, from 1")
        message = "the last line: `1 8` is `1-8`"
        parser.add_argument("last", nargs="?", type=number_from(1), metavar="END", help=message)
        return frozenset({"path", "start", "end"})
    return add_subject(parser, operation)


def _add_argument(parser: argparse.ArgumentParser, argument: Argument, *, several: bool) -> None:
    name, doc = argument.name, argument.doc.documentation
    option = f"--{name.replace('_', '-')}"
    if name == "budget":
        limits = parser.add_mutually_exclusive_group()
        limits.add_argument(
            option, type=number_from(0), default=argument.default, metavar="BYTES", help=doc
        )
        limits.add_argument("--all", action="store_true", help="no limit")
    elif name == "seconds":
        help_text = f"{doc} (default: {SECONDS:g})"
        parser.add_argument(option, type=float, default=SECONDS, help=help_text)
        help_text = "also use servers that may run the workspace's code"
        parser.add_argument("--trust", action="store_true", help=help_text)
    elif argument.kind is bool:
        parser.add_argument(f"-{name[0]}", option, action="store_true", help=doc)
    elif argument.kind is tuple and not argument.required and Role.POSITIONAL not in argument.roles:
        parser.add_argument(option, nargs="+", default=(), metavar="FILE", help=doc)
    elif argument.required or argument.roles & {Role.POSITIONAL, Role.SCOPE}:
        many = Role.WORDS in argument.roles or several or argument.kind is tuple
        count = ("+" if many else None) if argument.required else ("*" if many else "?")
        parser.add_argument(
            name, nargs=count, default=None if argument.required else argument.default, help=doc
        )
    elif argument.kind is int:
        short = (f"-{name[0].upper()}",) if name == "context" else ()
        parser.add_argument(*short, option, type=number_from(0), default=argument.default, help=doc)
    else:
        parser.add_argument(option, default=argument.default, help=doc)


def run_operation(operation: Operation[Any, Any], options: argparse.Namespace) -> int:
    """Run the operation, print the result, and return the exit status."""
    # The process ends before garbage matters, and looking for it takes a tenth of the time.
    gc.disable()
    workspace = ide.Workspace(
        ide.Settings(trusted=getattr(options, "trust", False)),
        ide.AccessOptions(
            language_servers=getattr(options, "seconds", 0) > 0,
            parse_in_workers=True,
            no_ignore=options.no_ignore,
            patient=True,
        ),
    )
    try:
        access = workspace.access(Path(options.root))
    except PathError as error:
        raise Refused(error.summary, kind="path") from error
    try:
        all_arguments = [
            read_arguments(operation.arguments, values)
            for values in run(_values(access, operation, options))
        ]
        answers = [run(ask(operation, access, arguments)) for arguments in all_arguments]
        if options.json:
            data = [
                _data(operation, access, arguments, result)
                for arguments, (result, _) in zip(all_arguments, answers, strict=True)
            ]
    finally:
        workspace.close_files(CLOSE_SECONDS)
    if options.json:
        show(json_text(data if len(data) > 1 else data[0]))
    else:
        _print(operation, all_arguments, [lines for _, lines in answers])
    structured = [operation.found(result) for result, _ in answers]
    if any(structured):
        return FOUND
    return REFUSED if None in structured else NOTHING


def _print(
    operation: Operation[Any, Any],
    arguments: Sequence[Any],
    answers: Sequence[Sequence[Line | Code]],
) -> None:
    for number, (lines, one) in enumerate(zip(answers, arguments, strict=True)):
        sought = None
        if operation.verb == "grep" and is_styled():
            sought = agent.highlight.pattern_of(one.pattern, ignore_case=one.ignore_case)
        between: list[Line] = [[]] if number else []
        show_styled([*between, *lines], wrap=True, sought=sought)


def _data(
    operation: Operation[Any, Any],
    access: SmartFileAccess,
    arguments: Any,
    result: object,
) -> object:
    """Return a result as JSON, with how a conversation may shorten it."""
    data: Any = ide.structuring.unstructure(operation.data(result))
    return data | run(shortening(operation, access, arguments))


async def _values(
    access: SmartFileAccess, operation: Operation[Any, Any], options: argparse.Namespace
) -> Sequence[dict[str, object]]:
    """Return the arguments from the command line, once for each call."""
    values = {
        argument.name: getattr(options, argument.name)
        for argument in operation.parameters
        if hasattr(options, argument.name)
    }
    for argument in operation.parameters:
        if Role.WORDS in argument.roles:
            words: Any = values[argument.name]
            values[argument.name] = " ".join(words) if words else None
    if getattr(options, "all", False):
        values["budget"] = None
    if issubclass(operation.arguments, LinesArguments):
        start, end = options.range
        if options.last is not None and end != start:
            raise Refused(f"{start}-{end} is a range: leave out {options.last}")
        values |= {"start": start, "end": options.last or end}
    if hasattr(options, "subject"):
        return [{**values, **subject} for subject in subject_values(access, operation, options)]
    if operation.several:
        return [{**values, "path": path} for path in options.path]
    return [values]


def _range(text: str) -> tuple[int, int]:
    match = _RANGE.match(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not START or START-END, such as 10-20")
    start = int(match.group(1))
    return start, int(match.group(2) or start)
