"""`textDocument/selectionRange`: line, own text of a section, the section, those around it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_SELECTION_RANGE, Position, SelectionRange

from foldline.server.instructions.snapshot import with_instructions

if TYPE_CHECKING:
    from lsprotocol.types import SelectionRangeParams

    from foldline.server.instructions.snapshot import InstructionSnapshot
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_SELECTION_RANGE


async def handle(ls: FoldlineServer, params: SelectionRangeParams) -> list[SelectionRange]:
    return await with_instructions(ls, params.text_document.uri, partial(_ranges, params))


def _ranges(params: SelectionRangeParams, snapshot: InstructionSnapshot) -> list[SelectionRange]:
    return [_around(snapshot, position) for position in params.positions]


def _around(snapshot: InstructionSnapshot, position: Position) -> SelectionRange:
    size = len(snapshot.file.text)
    offset = min(snapshot.index.offset(position), max(0, size - 1))
    ranges = [(0, size)]
    for section in snapshot.file.sections:
        ends = (section.end, section.own)
        ranges += [(section.start, end) for end in ends if section.start <= offset < end]
    around: SelectionRange | None = None
    for start, end in dict.fromkeys(ranges):
        around = SelectionRange(snapshot.range(start, end), around)
    line = snapshot.index.line(position.line)
    return SelectionRange(line, around)
