"""The symbols that a command line names: every verb takes a name or a location."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from foldline.ide.operations.arguments import PositionArguments
from foldline.ide.operations.operation import Role, run_query

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Sequence

    from foldline.backends import SmartFileAccess
    from foldline.backends.outlines.symbols import Located
    from foldline.ide.operations.operation import Operation

METAVAR = "NAME|FILE[:LINE[:COLUMN]]"
_HELP = "a symbol by its name, such as Class.method, or by its place"
_PLACE = re.compile(r"(.+?)(?::(\d{1,9}))?(?::(\d{1,9}))?\Z", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w$-]*(?:[.#][\w$-]+)*(?:\[\d+\])?\Z")
_INDEXED = re.compile(r"(.*)\[(\d{1,9})\]\Z", re.DOTALL)
_MOST_CANDIDATES = 20
# The kinds of uses that define a name.
_DEFINING = ("definition", "write")


@dataclass(frozen=True, slots=True)
class Subject:
    """A symbol by its file, line and column, which count from 1.

    `name` is its name where the subject was named, as `read_symbol` takes it.
    """

    path: str
    line: int | None = None
    column: int | None = None
    name: str | None = None


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


async def subject_values(
    access: SmartFileAccess, operation: Operation[Any, Any], options: argparse.Namespace
) -> Sequence[dict[str, object]]:
    """Return the arguments for the symbols that the command line names, once for each call.

    Raises:
        NothingDefined: No file defines a name, and `near` lists others; or a location is in no
            definition.
        AmbiguousName: Several files define it; `candidates` has their locations.
        PathError: It's neither a name nor a file.
    """
    text = options.subject
    place = place_of(access, text)
    if issubclass(operation.arguments, PositionArguments):
        if place is None and options.name is not None:
            place = Subject(access.file_backend.resolve(text))
        found = place or await _find(access, text)
        return [{"path": found.path, "line": found.line, "column": found.column}]
    if not _has_path(operation):
        return [{"name": text if place is None else await _name_at(access, place)}]
    if place is not None and place.line is None and options.names:
        name, *more = options.names
        return [{"path": place.path, "name": name, "more": tuple(more)}]
    symbols = []
    for one in (text, *options.names):
        found = place_of(access, one) or await _find(access, one)
        symbols.append(await _definition_at(access, found, options.seconds))
    return [{"path": one.path, "name": one.name} for one in symbols]


def _has_path(operation: Operation[Any, Any]) -> bool:
    return any(argument.name == "path" for argument in operation.parameters)


def place_of(access: SmartFileAccess, text: str) -> Subject | None:
    """Return the location that `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN` names; None for a name.

    Raises:
        PathError: It isn't a name, and there is no such file.
    """
    from foldline.backends.errors import MissingPathError, NotAFileError

    match = _PLACE.match(text)
    file, line, column = match.groups() if match else (text, None, None)
    files = access.file_backend
    may_be_name = _NAME.match(text) is not None
    # Don't resolve a name as a path: that would search the workspace for near paths.
    if may_be_name and not files.exists(file):
        return None
    try:
        path = files.resolve(file)
        # A name that is also a folder's is meant as a name.
        if not may_be_name or files.load(path):
            return Subject(path, int(line) if line else None, int(column) if column else None)
    except (MissingPathError, NotAFileError):
        if not may_be_name:
            raise
    return None


async def _find(access: SmartFileAccess, name: str) -> Subject:
    """Return the one definition in the workspace that has this name, or whose path ends in it."""
    from foldline.ide.errors import AmbiguousName

    indexed = _INDEXED.match(name)
    bare = indexed[1] if indexed else name
    found = await _definitions(access, bare)
    found = [one for one in found if one[1].qualified_name == bare] or found
    distinct = {
        (path, located.qualified_name): (path, located, own)
        for path, located, own in reversed(found)
    }
    if not distinct:
        raise _unknown(access, name)
    if len(distinct) > 1:
        candidates = [
            f"{path}:{_line(one)} {own}" for path, one, own in reversed(distinct.values())
        ]
        shown = ", ".join(candidates[:_MOST_CANDIDATES])
        more = len(candidates) - _MOST_CANDIDATES
        raise AmbiguousName(
            f"{name!r} has several definitions: {shown}"
            f"{f' and {more} more' if more > 0 else ''}; name one by its place, such as "
            f"{candidates[0].partition(' ')[0]}",
            candidates=tuple(candidates[:_MOST_CANDIDATES]),
        )
    path, located, _ = found[0]
    number = f"[{indexed[2]}]" if indexed else ""
    return Subject(path, _line(located), name=located.qualified_name + number)


async def _name_at(access: SmartFileAccess, place: Subject) -> str:
    """Return the name of the symbol at a location, qualified if it is defined there."""
    position = await run_query(
        access.find_position, place.path, line=place.line, column=place.column
    )
    for _, located in await _symbols(access, place.path):
        if (_line(located), located.symbol.name) == (position.line, position.name):
            return located.qualified_name
    return position.name


async def _definition_at(access: SmartFileAccess, place: Subject, seconds: float) -> Subject:
    """Return the definition around a line, or of the identifier at a column."""
    from foldline.ide.errors import NothingDefined

    if place.name is not None:
        return place
    path, line = place.path, place.line
    if line is None or place.column is not None:
        position = await run_query(access.find_position, path, line=line, column=place.column)
        path, line = position.path, position.line
        if place.column is not None:
            found = await run_query(access.goto_definition, *position.at, seconds=seconds)
            inside = [one for one in found.locations if not one.outside]
            if not inside:
                why = found.reason or "it is defined outside the workspace"
                raise NothingDefined(f"{position.name!r} can't be shown: {why}")
            path, line = inside[0].path, inside[0].line
    around = [
        name
        for name, located in await _symbols(access, path)
        if located.symbol.line <= line <= located.symbol.line_end
    ]
    if not around:
        raise NothingDefined(f"line {line} of {path} is in no definition")
    return Subject(path, name=around[-1])


async def _definitions(access: SmartFileAccess, name: str) -> list[tuple[str, Located, str]]:
    """Return the files and symbols with this name, and the names by which they can be read."""
    word = name.rpartition(".")[2]
    if (index := access.index) is not None:
        # Brings the index up to date.
        await run_query(index.files_with, word)
        found = await _definitions_in(access, name, sorted(index.last_defining(word)))
        if found:
            return found
    # The index knows no variables of some languages.
    uses = await run_query(access.find_references, word, seconds=0)
    paths = sorted({use.path for use in uses if use.kind in _DEFINING})
    return await _definitions_in(access, name, paths)


async def _definitions_in(
    access: SmartFileAccess, name: str, paths: Iterable[str]
) -> list[tuple[str, Located, str]]:
    from foldline.backends.errors import BackendError

    found: list[tuple[str, Located, str]] = []
    for path in paths:
        try:
            known = await _symbols(access, path)
        except BackendError:
            continue  # Gone, or too large to parse.
        found += [
            (path, located, readable)
            for readable, located in known
            if f".{located.qualified_name}".endswith(f".{name}")
        ]
    return found


async def _symbols(access: SmartFileAccess, path: str) -> list[tuple[str, Located]]:
    """Return all symbols of a file, each with the name by which it can be read."""
    from foldline.backends.outlines.symbols import distinct, flatten

    return distinct(flatten((await run_query(access.get_outline, path)).symbols))


def _line(located: Located) -> int:
    return located.symbol.name_line or located.symbol.line


def _unknown(access: SmartFileAccess, name: str) -> Exception:
    from foldline.backends.base.languages import UNKNOWN, language_of
    from foldline.backends.base.near_names import did_you_mean, near_names
    from foldline.ide.errors import NothingDefined

    if language_of(name) != UNKNOWN:
        # Raises an error with near files.
        access.file_backend.resolve(name)
    index = access.index
    near = near_names(name.rpartition(".")[2], index.last_defined()) if index is not None else ()
    return NothingDefined(f"nothing here defines {name!r}{did_you_mean(near)}", near=near)
