"""The symbols that a command line names: every verb takes a name or a location."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldline.ide.operations.arguments import PositionArguments
from foldline.ide.operations.operation import Role

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from foldline.backends import SmartFileAccess
    from foldline.ide.operations.operation import Operation

METAVAR = "NAME|FILE[:LINE[:COLUMN]]"
_HELP = "a symbol by its name, such as Class.method, or by its place"


def add_subject(parser: argparse.ArgumentParser, operation: Operation[Any, Any]) -> frozenset[str]:
    """Add the argument that names the operation's symbol; return the arguments it replaces."""
    covered = {
        argument.name
        for argument in operation.parameters
        if Role.SYMBOL in argument.roles and Role.WORDS not in argument.roles
    }
    if issubclass(operation.arguments, PositionArguments):
        covered = {"path", "line", "column"}
    if not covered:
        return frozenset()
    parser.add_argument("subject", metavar=METAVAR, help=_HELP)
    if "name" in covered and _has_path(operation):
        names_help = "symbols of that file, or others"
        parser.add_argument("names", nargs="*", metavar="NAME", help=names_help)
        covered |= {"path", "more"}
    return frozenset(covered)


def subject_values(
    access: SmartFileAccess, operation: Operation[Any, Any], options: argparse.Namespace
) -> Sequence[dict[str, object]]:
    """Return the arguments for the symbols that the command line names, once for each call."""
    from foldline.backends.base.languages import UNKNOWN, language_of

    text = options.subject
    if issubclass(operation.arguments, PositionArguments):
        name = text if options.name is None else f"{text}:{options.name}"
        return [{"path": None, "name": name}]
    if not _has_path(operation):
        return [{"name": text}]
    if options.names and language_of(text) != UNKNOWN and access.file_backend.exists(text):
        name, *more = options.names
        return [{"path": text, "name": name, "more": tuple(more)}]
    return [{"name": one} for one in (text, *options.names)]


def _has_path(operation: Operation[Any, Any]) -> bool:
    return any(argument.name == "path" for argument in operation.parameters)
