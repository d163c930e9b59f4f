"""`textDocument/hover`: what a heading's section costs, and what a name means."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_HOVER, Hover

from foldline.server.instructions import mentions
from foldline.server.instructions.snapshot import with_instructions
from foldline.server.markup import hover_markup

if TYPE_CHECKING:
    from lsprotocol.types import HoverParams

    from foldline.server.instructions.snapshot import InstructionSnapshot
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_HOVER


async def handle(ls: FoldlineServer, params: HoverParams) -> Hover | None:
    found = await with_instructions(ls, params.text_document.uri, partial(_hover, ls, params))
    return found or await mentions.hover(ls, params)


def _hover(ls: FoldlineServer, params: HoverParams, snapshot: InstructionSnapshot) -> Hover | None:
    found = snapshot.costs.hover(snapshot.index.offset(params.position))
    if found is None:
        return None
    text, section = found
    line = snapshot.index.line(snapshot.index.position(section.start).line)
    return Hover(hover_markup(ls, text), line)
