"""`workspace/symbol`: prompts and sections of the whole workspace."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.ide import features
from foldline.ide.uris import uri_of_file
from foldline.server.features.document_symbol import kind_of
from foldline.server.snapshots import query_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.ide.features.prompt_symbols import Symbol
    from foldline.ide.folder import Folder
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.WORKSPACE_SYMBOL
OPTIONS = types.WorkspaceSymbolOptions(resolve_provider=False)

MOST = 200
"""The most symbols per answer; a longer query finds the others."""


async def handle(
    ls: FoldlineServer, params: types.WorkspaceSymbolParams
) -> list[types.WorkspaceSymbol] | None:
    folders = await in_thread(ls.core.folders)
    for folder in folders:
        await asyncio.wrap_future(folder.refresh())
    ls.core.report([problem for folder in folders for problem in folder.unsearched])
    return await in_thread(partial(_find, ls, folders, params.query), PROMPTS) or None


def _find(ls: FoldlineServer, folders: Iterable[Folder], query: str) -> list[types.WorkspaceSymbol]:
    encoding = ls.documents.position_codec.encoding
    wanted = query.lower()

    def matches(snapshot: LspSnapshot) -> list[types.WorkspaceSymbol]:
        return [
            types.WorkspaceSymbol(
                location=types.Location(snapshot.uri, snapshot.range(symbol.selection)),
                name=symbol.name,
                kind=kind_of(symbol),
                container_name=container or None,
            )
            for symbol, container in _all(features.symbols(snapshot.analysis))
            if _matches(wanted, f"{symbol.name} {symbol.detail}".lower())
        ]

    items: list[types.WorkspaceSymbol] = []
    for folder in folders:
        for file in folder.files.matching(query):
            items += query_snapshot(ls.core, uri_of_file(file), encoding, matches) or []
            if len(items) >= MOST:
                return items[:MOST]
    return items


def _all(found: tuple[Symbol, ...], container: str = "") -> Iterator[tuple[Symbol, str]]:
    for symbol in found:
        if not symbol.reference:
            yield symbol, container
        yield from _all(symbol.children, symbol.name)


def _matches(wanted: str, text: str) -> bool:
    rest = iter(text)
    return all(character in rest for character in wanted)
