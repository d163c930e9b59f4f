"""`textDocument/codeLens`: *Preview* above each prompt, *Open* above each folded section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_CODE_LENS, CodeLens, CodeLensOptions, Command

from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import CodeLensParams

    from foldline.ide.features.lenses import Lens
    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_CODE_LENS
OPTIONS = CodeLensOptions(resolve_provider=False)

# The client's commands, which show the preview; the server's only compute it.
CLIENT_PREVIEW = "foldline.preview"
CLIENT_OPEN_SECTION = "foldline.openSection"


async def handle(ls: FoldlineServer, params: CodeLensParams) -> list[CodeLens] | None:
    def question(asked: Asked) -> list[CodeLens]:
        from foldline.ide.features.lenses import lenses

        if not asked.options.code_lens:
            return []
        return [
            CodeLens(range=asked.range(lens.place), command=_command(asked.uri, lens))
            for lens in lenses(asked.analysis, asked.counter)
        ]

    return await ask(ls, params.text_document.uri, question)


def _command(uri: str, lens: Lens) -> Command:
    prompt: dict[str, object] = {"uri": uri, "name": lens.prompt}
    if lens.section_key is None:
        return Command(lens.title, CLIENT_PREVIEW, arguments=[prompt])
    arguments = {**prompt, "section_keys": [lens.section_key]}
    return Command(lens.title, CLIENT_OPEN_SECTION, arguments=[arguments])
