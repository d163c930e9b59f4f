"""`textDocument/completion`: fields in templates, section keys where they are named, params."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_COMPLETION,
    CompletionItem,
    CompletionItemKind,
    CompletionList,
    CompletionOptions,
    MarkupContent,
    MarkupKind,
    TextEdit,
)

from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import CompletionParams

    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_COMPLETION
# Editors do not suggest inside strings by themselves.
OPTIONS = CompletionOptions(trigger_characters=["$", "{", '"', "'", ".", "["])


async def handle(ls: FoldlineServer, params: CompletionParams) -> CompletionList | None:
    def query(snapshot: LspSnapshot) -> list[CompletionItem]:
        from foldline.ide.features.completion import CompletionKind, completions

        kinds = {
            CompletionKind.FIELD: CompletionItemKind.Field,
            CompletionKind.SECTION: CompletionItemKind.Reference,
            CompletionKind.CHAPTER: CompletionItemKind.Reference,
            CompletionKind.PARAMS: CompletionItemKind.Class,
        }
        return [
            CompletionItem(
                label=each.label,
                kind=kinds[each.kind],
                detail=each.detail or None,
                documentation=(
                    MarkupContent(MarkupKind.Markdown, each.documentation)
                    if each.documentation
                    else None
                ),
                filter_text=each.filter_text or None,
                sort_text=each.sort or None,
                text_edit=TextEdit(snapshot.range(each.place), each.text),
            )
            for each in completions(snapshot.analysis, snapshot.offset(params.position))
        ]

    items = await with_snapshot(ls, params.text_document.uri, query)
    return CompletionList(is_incomplete=False, items=items) if items else None
