"""What the `code.*` commands about one symbol share: which place of which file is meant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.budget import NAVIGATION_BUDGET
from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.server.commands.code_files import find_file
from foldline.server.convert import LineIndex, PositionArgument
from foldline.server.resolve import call

if TYPE_CHECKING:
    from foldline.backends import AsyncSmartFileAccess
    from foldline.backends.semantics import AskLimits, Place
    from foldline.server.server import FoldlineServer


@dataclass(frozen=True, slots=True)
class PlaceArguments:
    """A symbol's `name` as readSymbol takes it, or one that the file uses; or a `position`.

    With `line`, which counts from 1, `name` stands on it. Without any of them it is the file's
    first symbol. A language server gets `seconds`; with 0 it is not asked. `budget` is in bytes of
    the text.
    """

    name: str | None = None
    path: str | None = None
    uri: str | None = None
    line: int | None = None
    position: PositionArgument | None = None
    budget: int | None = NAVIGATION_BUDGET
    cursor: str | None = None
    seconds: float = DEFAULT_SECONDS

    @property
    def limits(self) -> AskLimits:
        return {"budget": self.budget, "cursor": self.cursor, "seconds": self.seconds}


async def find_place(
    ls: FoldlineServer, arguments: PlaceArguments
) -> tuple[AsyncSmartFileAccess, Place]:
    """The files, and the place in one of them that is meant.

    Raises:
        RequestFailed: There is no such file, or no such name in it.
    """
    access, path = find_file(ls, arguments.path, arguments.uri)
    position = arguments.position
    encoding = ls.documents.position_codec.encoding

    if position is None:
        return access, await call(access.find_place(path, arguments.name, line=arguments.line))
    index = LineIndex.of(await call(access.read_file(path)), encoding)
    line, column = index.line_and_column(position.line, position.character)
    return access, await call(access.find_place(path, arguments.name, line=line, column=column))
