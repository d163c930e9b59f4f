"""`textDocument/semanticTokens/full`: placeholders, escapes and keys, for clients that merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol.types import (
    TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL,
    SemanticTokens,
    SemanticTokensLegend,
)

from foldline.ide import features
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from lsprotocol.types import SemanticTokensParams

    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL
OPTIONS = SemanticTokensLegend(
    token_types=["variable", "operator", "enumMember"], token_modifiers=["deprecated"]
)


async def handle(ls: FoldlineServer, params: SemanticTokensParams) -> SemanticTokens | None:
    def query(snapshot: LspSnapshot) -> list[int]:
        # Indices into the legend.
        types = {
            features.TokenKind.PLACEHOLDER: (0, 0),
            features.TokenKind.UNKNOWN: (0, 1),
            features.TokenKind.ESCAPE: (1, 0),
            features.TokenKind.KEY: (2, 0),
        }
        data: list[int] = []
        line = column = 0
        for token in features.semantic_tokens(snapshot.analysis):
            position = snapshot.range(token.span)
            if position.start.line != line:
                column = 0
            kind, modifier = types[token.kind]
            data += [
                position.start.line - line,
                position.start.character - column,
                position.end.character - position.start.character,
                kind,
                modifier,
            ]
            line, column = position.start.line, position.start.character
        return data

    data = await with_snapshot(ls, params.text_document.uri, query)
    return SemanticTokens(data) if data is not None else None
