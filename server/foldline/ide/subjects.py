"""What a question is about: the symbol that a text names, by its name or by its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.base.languages import UNKNOWN, language_of
from foldline.backends.errors import MissingPathError, NotAFileError
from foldline.ide.errors import AmbiguousName, NothingDefined
from foldline.ide.operations.operation import run_query

if TYPE_CHECKING:
    from collections.abc import Iterable

    from foldline.backends import SmartFileAccess
    from foldline.backends.outlines.symbols import Located

_PLACE = re.compile(r"(.+?)(?::(\d{1,9}))?(?::(\d{1,9}))?\Z", re.DOTALL)
_NAME = re.compile(r"[^\W\d][\w$-]*(?:[.#][\w$-]+)*(?:\[\d+\])?\Z")
_INDEXED = re.compile(r"(.*)\[(\d{1,9})\]\Z", re.DOTALL)
_MOST_CANDIDATES = 20
# The uses of a name that make one.
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


@dataclass(frozen=True, slots=True)
class _Definition:
    path: str
    located: Located
    # As `read_symbol` takes it.
    name: str

    @property
    def line(self) -> int:
        return self.located.symbol.name_line or self.located.symbol.line


def place_of(access: SmartFileAccess, text: str) -> Subject | None:
    """Return the place that `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN` says; None for a name.

    Raises:
        PathError: It's no name, and there is no such file.
    """
    match = _PLACE.match(text)
    file, line, column = match.groups() if match else (text, None, None)
    files = access.file_backend
    may_be_name = _NAME.match(text) is not None
    # Most names: to resolve them as a path would look through the workspace for paths like them.
    if may_be_name and not files.exists(file):
        return None
    try:
        path = files.resolve(file)
        # A folder isn't a place: a name that is also a folder's is meant as a name.
        if not may_be_name or files.load(path):
            return Subject(path, int(line) if line else None, int(column) if column else None)
    except (MissingPathError, NotAFileError):
        if not may_be_name:
            raise
    return None


async def find_subject(access: SmartFileAccess, text: str) -> Subject:
    """Return the symbol that `text` says, a place as in `place_of` or a name of the workspace.

    A name is that of a definition in any file, `Class.method`, or the end of such a path.

    Raises:
        NothingDefined: No file defines the name; `near` lists others.
        AmbiguousName: Several files define it; `candidates` has their places.
        PathError: It's neither a name nor a file.
    """
    place = place_of(access, text)
    if place is not None:
        return place
    try:
        return await find_definition(access, text)
    except NothingDefined:
        if language_of(text) != UNKNOWN:
            # Its error has near files.
            access.file_backend.resolve(text)
        raise


async def find_definition(access: SmartFileAccess, name: str) -> Subject:
    """Return the one definition in the workspace that has this name; see `find_subject`."""
    indexed = _INDEXED.match(name)
    bare = indexed[1] if indexed else name
    found = await _definitions(access, bare)
    whole = [one for one in found if one.located.qualified_name == bare]
    found = whole or found
    distinct = {(one.path, one.located.qualified_name): one for one in reversed(found)}
    if not distinct:
        raise _unknown(access, name)
    if len(distinct) > 1:
        candidates = [f"{one.path}:{one.line} {one.name}" for one in reversed(distinct.values())]
        shown = ", ".join(candidates[:_MOST_CANDIDATES])
        more = len(candidates) - _MOST_CANDIDATES
        raise AmbiguousName(
            f"{name!r} has several definitions: {shown}"
            f"{f' and {more} more' if more > 0 else ''}; name one by its place, such as "
            f"{candidates[0].partition(' ')[0]}",
            candidates=tuple(candidates[:_MOST_CANDIDATES]),
        )
    first, *_ = found
    name = first.located.qualified_name + (f"[{indexed[2]}]" if indexed else "")
    return Subject(first.path, first.line, name=name)


async def name_at(access: SmartFileAccess, place: Subject) -> str:
    """Return the name of the symbol at a place, with that of its class where it's defined there."""
    if place.name is not None:
        return place.name
    position = await run_query(
        access.find_position, place.path, line=place.line, column=place.column
    )
    for symbol, qualified, _ in await _flattened(access, place.path):
        if (symbol.name_line or symbol.line, symbol.name) == (position.line, position.name):
            return qualified
    return position.name


async def definition_at(access: SmartFileAccess, place: Subject, seconds: float) -> Subject:
    """Return the definition around a line, or of the identifier at a column.

    Raises:
        NothingDefined: There is none, or it's outside the workspace.
    """
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
    from foldline.backends.outlines.symbols import distinct

    around = [
        name
        for name, located in distinct(await _flattened(access, path))
        if located.symbol.line <= line <= located.symbol.line_end
    ]
    if not around:
        raise NothingDefined(f"line {line} of {path} is in no definition")
    return Subject(path, name=around[-1])


async def _definitions(access: SmartFileAccess, name: str) -> list[_Definition]:
    word = name.rpartition(".")[2]
    if (index := access.index) is not None:
        # Brings the index up to date.
        await run_query(index.files_with, word)
        found = await _definitions_in(access, name, sorted(index.last_defining(word)))
        if found:
            return found
    # The index knows no variables of some languages.
    uses = await run_query(access.find_references, word, seconds=0)
    return await _definitions_in(
        access, name, sorted({use.path for use in uses if use.kind in _DEFINING})
    )


async def _definitions_in(
    access: SmartFileAccess, name: str, paths: Iterable[str]
) -> list[_Definition]:
    from foldline.backends.errors import BackendError
    from foldline.backends.outlines.symbols import distinct

    found: list[_Definition] = []
    ending = f".{name}"
    for path in paths:
        try:
            known = await _flattened(access, path)
        except BackendError:
            continue  # Gone, or too large to parse.
        for readable, located in distinct(known):
            qualified = located.qualified_name
            if qualified == name or qualified.endswith(ending):
                found.append(_Definition(path, located, readable))
    return found


async def _flattened(access: SmartFileAccess, path: str) -> list[Located]:
    from foldline.backends.outlines.symbols import flatten

    return list(flatten((await run_query(access.get_outline, path)).symbols))


def _unknown(access: SmartFileAccess, name: str) -> NothingDefined:
    from foldline.backends.base.near_names import did_you_mean, near_names

    index = access.index
    near = near_names(name.rpartition(".")[2], index.last_defined()) if index is not None else ()
    return NothingDefined(f"nothing here defines {name!r}{did_you_mean(near)}", near=near)
