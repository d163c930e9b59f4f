"""`textDocument/completion`: fields in templates, section keys, params types, forms; names."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide import features
from foldline.ide.plugins import Plugin, plugins
from foldline.server.markup import completion_markup
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_COMPLETION
# By default, editors don't suggest inside strings.
OPTIONS = types.CompletionOptions(trigger_characters=["$", "{", '"', "'", ".", "[", "`", "@", "/"])


async def handle(ls: FoldlineServer, params: types.CompletionParams) -> types.CompletionList | None:
    def query(snapshot: LspSnapshot) -> types.CompletionList:
        kind = features.CompletionKind
        kinds = {
            kind.FIELD: types.CompletionItemKind.Field,
            kind.SECTION: types.CompletionItemKind.Reference,
            kind.CHAPTER: types.CompletionItemKind.Reference,
            kind.PARAMS: types.CompletionItemKind.Class,
            kind.FORM: types.CompletionItemKind.Function,
            kind.FILE: types.CompletionItemKind.File,
            kind.FOLDER: types.CompletionItemKind.Folder,
            kind.NAME: types.CompletionItemKind.Function,
        }
        source, offset = snapshot.source, snapshot.offset(params.position)
        proposed = plugins().ask(Plugin.completions, snapshot, offset)
        items = [
            types.CompletionItem(
                label=item.label,
                kind=kinds[item.kind],
                detail=item.detail or None,
                documentation=(
                    completion_markup(ls, item.documentation) if item.documentation else None
                ),
                filter_text=item.filter_text or None,
                sort_text=item.sort or None,
                text_edit=types.TextEdit(snapshot.range(item.place), item.text),
            )
            for item in chain(source.completions(snapshot, offset), *proposed)
        ]
        # Paths in Markdown are completed a folder at a time.
        return types.CompletionList(is_incomplete=snapshot.instructions is not None, items=items)

    items = await with_snapshot(ls, params.text_document.uri, query)
    return items if items and items.items else None
