"""The operations as server commands: the editor's focus fills in what isn't said."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from foldline.backends.formatting.visible import visible
from foldline.ide.errors import ArgumentsError, NoDocument, NothingDefined, PathRefused
from foldline.ide.operations.arguments import PlaceArguments
from foldline.ide.operations.operation import Role
from foldline.ide.operations.reading import read_arguments
from foldline.ide.structuring import structure, unstructure
from foldline.ide.uris import path_of
from foldline.server.convert import LineIndex, PositionArgument

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.backends.models import FileText
    from foldline.ide.operations.operation import Operation
    from foldline.server.server import FoldlineServer


@dataclass(frozen=True, slots=True)
class OperationCommand:
    """An operation as `workspace/executeCommand` takes it.

    Besides its own arguments it takes the `uri` of a document, or of a workspace folder, in place
    of a path; an operation about a place also takes an LSP `position`.
    """

    operation: Operation[Any, Any]

    @property
    def name(self) -> str:
        """The command."""
        return f"foldline.server.{self.operation.name}"

    @property
    def extra(self) -> tuple[str, ...]:
        """The arguments that only the language server takes."""
        return ("uri", "position") if self._is_about_a_place else ("uri",)

    @property
    def fillable(self) -> frozenset[str]:
        """The required arguments that may be left out here."""
        roles = {Role.FILE, Role.FILES, Role.SYMBOL, Role.PATTERN}
        return frozenset(one.name for one in self.operation.parameters if one.roles & roles)

    async def execute(self, ls: FoldlineServer, value: object) -> dict[str, object]:
        """The answer: the compact text, the models, and whose they are.

        Raises:
            IdeError, BackendError: The question can't be asked or answered.
        """
        # Loaded with the first question, not with the server.
        from foldline.backends.waiting import in_thread, run_async

        if not isinstance(value, Mapping):
            raise ArgumentsError({self.name: "expected one JSON object"})
        values = dict(value)
        uri, position = values.pop("uri", None), None
        if uri is not None and not isinstance(uri, str):
            raise ArgumentsError({"uri": "expected a text"})
        if self._is_about_a_place and values.get("position") is not None:
            position = _read_position(values.pop("position"))
        if self.operation.whole:
            values.setdefault("budget", None)
        access = await self._fill_in(ls, values, uri, position)
        arguments = read_arguments(self.operation, values)
        threads = self.operation.threads
        result = await run_async(self.operation.run(access, arguments), threads)
        # It may be of any size, and the event loop has others to answer.
        return await in_thread(partial(self._answer, result, arguments), threads)

    def _answer(self, result: object, arguments: Any) -> dict[str, object]:
        from foldline.backends.models import FileText

        data = self.operation.data(result)
        page = data if isinstance(data, FileText) else None
        return {
            # Editors want the file's text as it is; its place is in the data.
            "text": page.text if page else self.operation.text(result, arguments),
            "data": _without_text(page) if page else unstructure(data),
            "backend": getattr(data, "backend", ""),
            "coverage": getattr(data, "coverage", ""),
        }

    @property
    def _is_about_a_place(self) -> bool:
        return issubclass(self.operation.arguments, PlaceArguments)

    async def _fill_in(
        self,
        ls: FoldlineServer,
        values: dict[str, object],
        uri: str | None,
        position: PositionArgument | None,
    ) -> SmartFileAccess:
        """Put what the editor knows into `values`, and return the folder that is asked."""
        from foldline.backends import AsyncSmartFileAccess

        parameters = self.operation.parameters
        # The first of a role is the one that the question is about.
        by_role = {role: one for one in reversed(parameters) for role in one.roles}
        file = by_role.get(Role.FILE) or by_role.get(Role.FILES)
        name = by_role.get(Role.SYMBOL) or by_role.get(Role.PATTERN)
        subject = file or name
        path = values.get(file.name) if file else None
        if subject is None or values.get(subject.name) is not None:
            access = find_folder(ls, uri)
        else:
            access, path = find_file(ls, uri, subject.name)
            if file:
                values[file.name] = (path,) if file.kind is tuple else path
        if position is not None:
            text = await AsyncSmartFileAccess(access).read_file(str(path))
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
    from foldline.backends import AsyncSmartFileAccess

    outline = await AsyncSmartFileAccess(access).get_outline(path)
    for symbol in outline:
        return symbol.name
    raise NothingDefined(f"{visible(path)} defines nothing: give a `{argument}`", path=path)


def find_folder(ls: FoldlineServer, uri: str | None) -> SmartFileAccess:
    """The files of the workspace folder at or around `uri`, or else of the first folder.

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
        # An open document of elsewhere may be read, not what lies around it.
        raise PathRefused(f"{visible(str(path))} is outside the workspace", path=str(path))
    return ls.core.access(root)


def find_file(ls: FoldlineServer, uri: str | None, argument: str) -> tuple[SmartFileAccess, str]:
    """The file at `uri`, or the one that has the focus; with `argument` there's no need of one.

    Raises:
        IdeError: There is no such file in the workspace.
    """
    uri = uri or ls.core.focus.uri
    if uri is None:
        raise NoDocument(f"No document has the focus: open one, or give a `{argument}`")
    file = path_of(uri)
    return ls.core.access(ls.core.root_of(file)), str(file)


def _without_text(page: FileText) -> dict[str, object]:
    """The page's data: its text is the answer's."""
    return {
        field.name: unstructure(getattr(page, field.name))
        for field in fields(page)
        if field.name != "text"
    }
