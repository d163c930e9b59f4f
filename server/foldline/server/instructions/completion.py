"""`textDocument/completion`: paths, names and sections in an instruction file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_COMPLETION,
    CompletionItem,
    CompletionItemKind,
    CompletionList,
    TextEdit,
)

from foldline.server.instructions.snapshot import with_instructions

if TYPE_CHECKING:
    from lsprotocol.types import CompletionParams

    from foldline.server.instructions.snapshot import InstructionSnapshot
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_COMPLETION


async def handle(ls: FoldlineServer, params: CompletionParams) -> CompletionList | None:
    def query(snapshot: InstructionSnapshot) -> CompletionList | None:
        from foldline.ide.instructions.targets import Proposed, propose

        kinds = {
            Proposed.FILE: CompletionItemKind.File,
            Proposed.FOLDER: CompletionItemKind.Folder,
            Proposed.NAME: CompletionItemKind.Function,
            Proposed.SECTION: CompletionItemKind.Reference,
        }
        end = snapshot.index.offset(params.position)
        path = snapshot.document.path.relative_to(snapshot.folder.root).as_posix()
        found = propose(snapshot.folder.access, path, snapshot.file, end)
        if found is None:
            return None
        start, proposals = found
        place = snapshot.range(start, end)
        items = [
            CompletionItem(label=text, kind=kinds[kind], text_edit=TextEdit(place, text))
            for kind, text in proposals
        ]
        return CompletionList(is_incomplete=True, items=items)

    return await with_instructions(ls, params.text_document.uri, query)
