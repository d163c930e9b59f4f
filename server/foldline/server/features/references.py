"""`textDocument/references`: every template, call and selector that refers to a field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import TEXT_DOCUMENT_REFERENCES, Location

from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from lsprotocol.types import ReferenceParams

    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

METHOD = TEXT_DOCUMENT_REFERENCES
OPTIONS = None


async def handle(ls: FoldlineServer, params: ReferenceParams) -> list[Location] | None:
    def question(asked: Asked) -> list[Location]:
        from foldline.ide.features.references import references

        places = references(
            asked.project,
            asked.analysis,
            asked.offset(params.position),
            include_declaration=params.context.include_declaration,
        )
        located = (asked.location(place) for place in places)
        return [location for location in located if location is not None]

    return await ask(ls, params.text_document.uri, question) or None
