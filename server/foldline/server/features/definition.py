"""`textDocument/definition`: from a placeholder to its field, from a key to its section."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_DEFINITION, Location

from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import DefinitionParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_DEFINITION
OPTIONS = None


async def handle(ls: FoldlineServer, params: DefinitionParams) -> list[Location] | None:
    def question(asked: Asked) -> list[Location]:
        from foldline.ide.features.definition import definitions

        places = definitions(asked.analysis, asked.offset(params.position))
        located = (asked.location(place) for place in places)
        return [location for location in located if location is not None]

    return await ask(ls, params.text_document.uri, question) or None
