"""`textDocument/documentLink`: web addresses and names in templates, and their files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide import features
from foldline.ide.uris import uri_of
from foldline.server.links import links_in
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_DOCUMENT_LINK
OPTIONS = types.DocumentLinkOptions(resolve_provider=False)


async def handle(
    ls: FoldlineServer, params: types.DocumentLinkParams
) -> list[types.DocumentLink] | None:
    def query(snapshot: LspSnapshot) -> list[types.DocumentLink]:
        return [
            types.DocumentLink(
                snapshot.range(link.span),
                target=link.target if "://" in link.target else Path(link.target).as_uri(),
            )
            for link in features.links(snapshot.analysis)
        ]

    uri = params.text_document.uri
    all_links = await with_snapshot(ls, uri, query) or []
    for folder, span, to in await links_in(ls, uri):
        file = folder.root / to.path
        if to.path and not file.is_dir():
            target = uri_of(file) + f"#L{to.line}" * (to.line > 0)
            all_links.append(types.DocumentLink(span, target))
    return all_links or None
