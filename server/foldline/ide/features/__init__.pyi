from foldline.ide.features.completion import CompletionKind
from foldline.ide.features.field_references import (
    Role,
    highlights,
    key_to_rename,
    references,
    rename,
    rename_key,
    target_at,
)
from foldline.ide.features.hover import title
from foldline.ide.features.keys import definitions
from foldline.ide.features.prompt_symbols import symbols
from foldline.ide.features.structure import TokenKind, links, selection, semantic_tokens

__all__ = [
    "CompletionKind",
    "Role",
    "TokenKind",
    "definitions",
    "highlights",
    "key_to_rename",
    "links",
    "references",
    "rename",
    "rename_key",
    "selection",
    "semantic_tokens",
    "symbols",
    "target_at",
    "title",
]
__version__: str
