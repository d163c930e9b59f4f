"""`textDocument/codeLens`: *Preview* above each prompt, *Open* above each summarized section.

Their titles, with what they cost, are resolved for the lenses that the client shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide.structuring import unstructure
from foldline.server.features.code_lens_resolve import Target, command_of
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_CODE_LENS
OPTIONS = types.CodeLensOptions(resolve_provider=True)


async def handle(ls: FoldlineServer, params: types.CodeLensParams) -> list[types.CodeLens] | None:
    def query(snapshot: LspSnapshot) -> list[types.CodeLens]:
        if not snapshot.options.code_lens:
            return []
        return [
            types.CodeLens(
                range=snapshot.range(lens.place),
                command=command_of(target, lens.title) if lens.title is not None else None,
                data=unstructure(target),
            )
            for lens in snapshot.source.lenses(snapshot)
            for target in (Target(snapshot.uri, lens.prompt, lens.section_key),)
        ]

    return await with_snapshot(ls, params.text_document.uri, query)
