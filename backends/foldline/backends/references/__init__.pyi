from foldline.backends.references import name_fallback as name_fallback
from foldline.backends.references.bases import types_in_source, unseen_in
from foldline.backends.references.definitions import get_outline, read_symbol
from foldline.backends.references.meaning import Names
from foldline.backends.references.references import (
    BROKEN,
    can_have_references,
    references_in_source,
    settled,
)
from foldline.backends.references.spelling import spelled, unmarked
from foldline.backends.references.text_uses import not_looked_at, said_of_strings, with_text
from foldline.backends.references.two_tier_references import ReferencesQuery

__all__ = [
    "BROKEN",
    "Names",
    "ReferencesQuery",
    "can_have_references",
    "get_outline",
    "not_looked_at",
    "read_symbol",
    "references_in_source",
    "said_of_strings",
    "settled",
    "spelled",
    "types_in_source",
    "unmarked",
    "unseen_in",
    "with_text",
]
__version__: str
