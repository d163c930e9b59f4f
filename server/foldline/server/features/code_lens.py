"""`textDocument/codeLens`: *Preview* above each prompt, *Open* above each folded section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_CODE_LENS, CodeLens, CodeLensOptions, Command

from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import CodeLensParams

    from foldline.ide.features.lenses import Lens
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_CODE_LENS
OPTIONS = CodeLensOptions(resolve_provider=False)

# The client's commands, which show the preview; the server's only compute it.
CLIENT_PREVIEW = "foldline.preview"
CLIENT_OPEN_SECTION = "foldline.openSection"


async def handle(ls: FoldlineServer, params: CodeLensParams) -> list[CodeLens] | None:
    def query(snapshot: LspSnapshot) -> list[CodeLens]:
        from foldline.ide.features.lenses import lenses

        if not snapshot.options.code_lens:
            return []
        return [
            CodeLens(range=snapshot.range(lens.place), command=_command(snapshot.uri, lens))
            for lens in lenses(snapshot.analysis, snapshot.counter)
        ]

    return await with_snapshot(ls, params.text_document.uri, query)


def _command(uri: str, lens: Lens) -> Command:
    prompt: dict[str, object] = {"uri": uri, "name": lens.prompt}
    if lens.section_key is None:
        return Command(lens.title, CLIENT_PREVIEW, arguments=[prompt])
    arguments = {**prompt, "section_keys": [lens.section_key]}
    return Command(lens.title, CLIENT_OPEN_SECTION, arguments=[arguments])
