"""The symbols that a command line names: each verb takes a name or a place, in one way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldline.ide.operations.arguments import PositionArguments
from foldline.ide.operations.operation import Role

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from foldline.backends import SmartFileAccess
    from foldline.ide.operations.operation import Operation
    from foldline.ide.subjects import Subject

METAVAR = "NAME|FILE[:LINE[:COLUMN]]"
_HELP = "a symbol by its name, such as Class.method, or by its place"


def add_subject(parser: argparse.ArgumentParser, operation: Operation[Any, Any]) -> frozenset[str]:
    """Add how the operation's symbol is named; returns the arguments that it stands for."""
    names = {
        argument.name
        for argument in operation.parameters
        if Role.SYMBOL in argument.roles and Role.WORDS not in argument.roles
    }
    if issubclass(operation.arguments, PositionArguments):
        parser.add_argument("subject", metavar=METAVAR, help=_HELP)
        return frozenset({"path", "line", "column"})
    if "path" not in {argument.name for argument in operation.parameters}:
        if names:
            parser.add_argument("subject", metavar=METAVAR, help=_HELP)
        return frozenset(names)
    if not names:
        return frozenset()
    parser.add_argument("subject", metavar=METAVAR, help=_HELP)
    parser.add_argument("names", nargs="*", metavar="NAME", help="symbols of that file, or others")
    return frozenset({"path", *names, "more"})


async def subject_values(
    access: SmartFileAccess, operation: Operation[Any, Any], options: argparse.Namespace
) -> Sequence[dict[str, object]]:
    """Return the arguments for the symbols that the command line names, once for each call."""
    from foldline.ide.subjects import definition_at, find_subject, name_at, place_of

    text = options.subject
    if issubclass(operation.arguments, PositionArguments):
        if options.name is not None:
            found = place_of(access, text) or _file(access, text)
            return [{"path": found.path, "line": found.line, "column": found.column}]
        found = await find_subject(access, text)
        return [{"path": found.path, "line": found.line, "column": found.column}]
    place = place_of(access, text)
    if "path" not in {argument.name for argument in operation.parameters}:
        return [{"name": text if place is None else await name_at(access, place)}]
    if place is not None and place.line is None and options.names:
        name, *more = options.names
        return [{"path": place.path, "name": name, "more": tuple(more)}]
    symbols = [
        await definition_at(access, await find_subject(access, one), options.seconds)
        for one in (text, *options.names)
    ]
    return [{"path": one.path, "name": one.name} for one in symbols]


def _file(access: SmartFileAccess, text: str) -> Subject:
    """Refuse what should be a file.

    Raises:
        PathError: There is no such file.
    """
    from foldline.ide.subjects import Subject

    return Subject(access.file_backend.resolve(text))
