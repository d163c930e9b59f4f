"""`textDocument/codeLens`: *Preview* at the top, what top sections cost, *Open* where folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_CODE_LENS, CodeLens, Command

from foldline.server.features.code_lens_resolve import CLIENT_OPEN_SECTION, CLIENT_PREVIEW
from foldline.server.instructions.snapshot import with_instructions

if TYPE_CHECKING:
    from lsprotocol.types import CodeLensParams

    from foldline.server.instructions.snapshot import InstructionSnapshot
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_CODE_LENS


async def handle(ls: FoldlineServer, params: CodeLensParams) -> list[CodeLens]:
    return await with_instructions(ls, params.text_document.uri, _lenses)


def _lenses(snapshot: InstructionSnapshot) -> list[CodeLens]:
    if not snapshot.folder.options.code_lens:
        return []
    found = []
    about = {"uri": snapshot.document.uri, "name": snapshot.file.name}
    for lens in snapshot.costs.lenses():
        asked = about if lens.opens is None else {**about, "section_keys": [lens.opens]}
        command = CLIENT_PREVIEW if lens.opens is None else CLIENT_OPEN_SECTION
        place = snapshot.range(lens.section.start, lens.section.start)
        found.append(CodeLens(place, Command(lens.title, command, arguments=[asked])))
    return found
