"""`textDocument/semanticTokens/full`: placeholders, escapes and keys, for clients that merge."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide import features
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL
OPTIONS = types.SemanticTokensLegend(
    token_types=["variable", "operator", "enumMember"], token_modifiers=["deprecated"]
)


async def handle(
    ls: FoldlineServer, params: types.SemanticTokensParams
) -> types.SemanticTokens | None:
    def query(snapshot: LspSnapshot) -> list[int]:
        # Of the legend.
        indices = {
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
            kind, modifier = indices[token.kind]
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
    return types.SemanticTokens(data) if data is not None else None
