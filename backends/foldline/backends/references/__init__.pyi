from foldline.backends.references import name_fallback as name_fallback
from foldline.backends.references.definitions import get_outline, read_symbol
from foldline.backends.references.meaning import Names
from foldline.backends.references.spelling import spelled, unmarked
from foldline.backends.references.text_uses import not_looked_at, said_of_strings, with_text
from foldline.backends.references.two_tier_references import ReferencesQuery

__all__ = [
    "Names",
    "ReferencesQuery",
    "get_outline",
    "not_looked_at",
    "read_symbol",
    "said_of_strings",
    "spelled",
    "unmarked",
    "with_text",
]
__version__: str
