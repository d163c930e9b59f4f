"""`textDocument/foldingRange`: the sections of an instruction file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_FOLDING_RANGE, FoldingRange

from foldline.server.instructions.snapshot import with_instructions

if TYPE_CHECKING:
    from lsprotocol.types import FoldingRangeParams

    from foldline.server.instructions.snapshot import InstructionSnapshot
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_FOLDING_RANGE


async def handle(ls: FoldlineServer, params: FoldingRangeParams) -> list[FoldingRange]:
    return await with_instructions(ls, params.text_document.uri, _foldings)


def _foldings(snapshot: InstructionSnapshot) -> list[FoldingRange]:
    text, found = snapshot.file.text, []
    for section in snapshot.file.sections:
        # The empty lines before the next heading stay visible.
        end = section.start + len(text[section.start : section.end].rstrip())
        first, last = (snapshot.index.position(at).line for at in (section.start, end))
        if section.number and last > first:
            found.append(FoldingRange(first, last))
    return found
