"""An instruction file at one moment, with locations as the client counts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from lsprotocol.types import Location

from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.ide.errors import REFUSALS
from foldline.ide.instructions.answers import InstructionAnswers
from foldline.ide.instructions.features import costs
from foldline.ide.prompts.request import View
from foldline.ide.resolve import find_document
from foldline.ide.uris import local_path
from foldline.server.convert import LineIndex

if TYPE_CHECKING:
    from collections.abc import Callable

    from lsprotocol.types import Range

    from foldline.ide.analysis.model import SourceSpan
    from foldline.ide.folder import Folder
    from foldline.ide.instructions.document import InstructionFile
    from foldline.ide.instructions.features import Costs
    from foldline.ide.resolve import DocumentTarget
    from foldline.server.server import FoldlineServer

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class InstructionSnapshot:
    """An instruction file as the editor has it.

    Attributes:
        index: The lines of its text, as the client counts.
        folder: The workspace folder that it belongs to.
    """

    document: DocumentTarget
    file: InstructionFile
    index: LineIndex
    folder: Folder

    @property
    def costs(self) -> Costs:
        """What its sections cost."""
        return costs(self.file, self.folder.counter)

    def range(self, start: int, end: int) -> Range:
        """The range between two offsets."""
        return self.index.range(start, end)

    def location(self, place: SourceSpan) -> Location:
        """The location of a place in the file."""
        return Location(self.document.uri, self.range(place.start, place.end))


def is_instructions(ls: FoldlineServer, uri: str) -> bool:
    """True for the document of an instruction file of the workspace."""
    path = local_path(uri)
    try:
        return path is not None and ls.core.is_instructions(path)
    except REFUSALS:
        return False


async def with_instructions(
    ls: FoldlineServer, uri: str, query: Callable[[InstructionSnapshot], Result]
) -> Result:
    """The result of `query` on an instruction file, in a thread."""
    encoding = ls.documents.position_codec.encoding
    document = await find_document(ls.core, uri)

    def run() -> Result:
        file = InstructionAnswers(ls.core, document, View()).file
        index = LineIndex.of(file.text, encoding)
        folder = ls.core.folder(document.path)
        return query(InstructionSnapshot(document, file, index, folder))

    return await in_thread(run, PROMPTS)
