"""The operations as server commands: the editor's focus fills in missing arguments."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from foldline import backends
from foldline.backends.base.reading import Between
from foldline.backends.base.waiting import in_thread, run_async
from foldline.backends.formatting.visible import visible
from foldline.ide.errors import ArgumentsError, NoDocument, NothingDefined, PathRefused
from foldline.ide.operations.arguments import PositionArguments
from foldline.ide.operations.operation import Role, shortening
from foldline.ide.operations.reading import read_arguments
from foldline.ide.structuring import structure, unstructure, unstructured
from foldline.ide.uris import path_of
from foldline.records import record
from foldline.server.convert import LineIndex

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.ide.operations.operation import Operation
    from foldline.server.server import FoldlineServer

# As LSP has it.
_UINTEGER = Between(0, (1 << 31) - 1)


@record
class PositionArgument:
    """A zero-based LSP position, in the client's own code units."""

    line: Annotated[int, _UINTEGER]
    character: Annotated[int, _UINTEGER]


@record
class OperationCommand:
    """An operation as a command for `workspace/executeCommand`.

    Besides the operation's arguments it accepts the `uri` of a document or workspace folder instead
    of a path, and for an operation on a symbol an LSP `position`.
    """

    operation: Operation[Any, Any]

    @property
    def name(self) -> str:
        """The name of the command."""
        return f"foldline.server.{self.operation.name}"

    @property
    def extra(self) -> tuple[str, ...]:
        """Arguments that only the language server accepts."""
        return ("uri", "position") if self._takes_a_position else ("uri",)

    @property
    def fillable(self) -> frozenset[str]:
        """Required arguments that the editor's focus can fill in."""
        roles = {Role.FILE, Role.FILES, Role.SYMBOL, Role.PATTERN}
        return frozenset(
            argument.name for argument in self.operation.parameters if argument.roles & roles
        )

    async def execute(self, ls: FoldlineServer, value: object) -> dict[str, object]:
        """Run the operation; returns its text, data, backend and coverage.

        Raises:
            IdeError, BackendError: The arguments are wrong, or the operation failed.
        """
        if not isinstance(value, Mapping):
            raise ArgumentsError({self.name: "expected one JSON object"})
        values = dict(value)
        uri, position = values.pop("uri", None), None
        if uri is not None and not isinstance(uri, str):
            raise ArgumentsError({"uri": "expected a text"})
        if self._takes_a_position and values.get("position") is not None:
            position = _read_position(values.pop("position"))
        if self.operation.whole:
            values.setdefault("budget", None)
        access = await self._fill_in(ls, values, uri, position)
        arguments = read_arguments(self.operation.arguments, values)
        threads = self.operation.threads
        result = await run_async(self.operation.run(access, arguments), threads)
        # It may be of any size, and the event loop has others to answer.
        answer = await in_thread(partial(self._answer, result, arguments), threads)
        return answer | await run_async(shortening(self.operation, access, arguments), threads)

    def _answer(self, result: object, arguments: Any) -> dict[str, object]:
        data = self.operation.data(result)
        page = data if isinstance(data, backends.FileText) else None
        # Editors want the file's exact text; the line numbers are in `data`.
        text = page.text if page else self.operation.text(result, arguments)
        shown = unstructure(data)
        if page:
            # The text is the answer's own.
            shown = {key: value for key, value in unstructured(page).items() if key != "text"}
        return {
            "text": text,
            "data": shown,
            "backend": getattr(data, "backend", ""),
            "coverage": getattr(data, "coverage", ""),
        }

    @property
    def _takes_a_position(self) -> bool:
        return issubclass(self.operation.arguments, PositionArguments)

    async def _fill_in(
        self,
        ls: FoldlineServer,
        values: dict[str, object],
        uri: str | None,
        position: PositionArgument | None,
    ) -> SmartFileAccess:
        """Fill in `values` from the editor's focus; returns the folder to run in."""
        parameters = self.operation.parameters
        # The first argument of a role is the operation's subject.
        by_role = {role: argument for argument in reversed(parameters) for role in argument.roles}
        file = by_role.get(Role.FILE) or by_role.get(Role.FILES)
        name = by_role.get(Role.SYMBOL) or by_role.get(Role.PATTERN)
        subject = file or name
        path = values.get(file.name) if file else None
        question = by_role.get(Role.QUESTION)
        values_given = [values.get(one.name) for one in (subject, question) if one is not None]
        if file is not None and not file.required and ls.core.focus.uri is None and uri is None:
            # A name is looked for in the whole workspace.
            values_given.append(values.get("name"))
        if subject is None or any(value is not None for value in values_given):
            access = find_folder(ls, uri)
        else:
            access, path = find_file(ls, uri, subject.name)
            if file:
                values[file.name] = (path,) if file.kind is tuple else path
        if position is not None:
            text = await backends.AsyncSmartFileAccess(access).read_file(str(path))
            index = LineIndex.of(text, ls.documents.position_codec.encoding)
            line, column = index.line_and_column(position.line, position.character)
            values |= {"line": line, "column": column}
        if name and values.get(name.name) is None:
            symbol = await _first_symbol(access, str(path), name.name)
            values[name.name] = rf"\b{re.escape(symbol)}\b" if Role.PATTERN in by_role else symbol
        return access


def _read_position(value: object) -> PositionArgument:
    try:
        return structure(value, PositionArgument)
    except ArgumentsError as error:
        named = {f"position.{name}".rstrip("."): what for name, what in error.problems.items()}
        raise ArgumentsError(named) from error


async def _first_symbol(access: SmartFileAccess, path: str, argument: str) -> str:
    outline = await backends.AsyncSmartFileAccess(access).get_outline(path)
    for symbol in outline:
        return symbol.name
    raise NothingDefined(f"{visible(path)} defines nothing: give a `{argument}`", path=path)


def find_folder(ls: FoldlineServer, uri: str | None) -> SmartFileAccess:
    """Return the workspace folder that contains `uri`; the first folder if that is None.

    Raises:
        IdeError: There is no such folder.
    """
    roots = ls.core.roots
    if uri is None and roots:
        return ls.core.access(roots[0])
    uri = uri or ls.core.focus.uri
    if uri is None:
        raise NoDocument("No workspace folder is open: open one, or a document")
    path = path_of(uri)
    root = path if path in roots else ls.core.root_of(path)
    if roots and root not in roots:
        # An open document outside of the workspace may be read, but not its neighbours.
        raise PathRefused(f"{visible(str(path))} is outside the workspace", path=str(path))
    return ls.core.access(root)


def find_file(ls: FoldlineServer, uri: str | None, argument: str) -> tuple[SmartFileAccess, str]:
    """Return the file at `uri`, or the focused one; errors suggest to set `argument` instead.

    Raises:
        IdeError: There is no such file in the workspace.
    """
    uri = uri or ls.core.focus.uri
    if uri is None:
        raise NoDocument(f"No document has the focus: open one, or give a `{argument}`")
    file = path_of(uri)
    return ls.core.access(ls.core.root_of(file)), str(file)
