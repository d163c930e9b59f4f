"""`textDocument/inlayHint`: the number and the tokens of each section, behind its heading."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_INLAY_HINT, InlayHint

from foldline.server.instructions.snapshot import with_instructions

if TYPE_CHECKING:
    from lsprotocol.types import InlayHintParams

    from foldline.server.instructions.snapshot import InstructionSnapshot
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_INLAY_HINT


async def handle(ls: FoldlineServer, params: InlayHintParams) -> list[InlayHint]:
    return await with_instructions(ls, params.text_document.uri, partial(_hints, params))


def _hints(params: InlayHintParams, snapshot: InstructionSnapshot) -> list[InlayHint]:
    if not snapshot.folder.options.inlay_hints:
        return []
    index, shown = snapshot.index, params.range
    found = []
    for section, label in snapshot.costs.inlays():
        line = index.position(section.start).line
        if shown.start.line <= line <= shown.end.line:
            found.append(InlayHint(index.line(line).end, label, padding_left=True))
    return found
