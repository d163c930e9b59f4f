"""Uses of names, definitions, and what both mean by syntax alone or with an engine."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "bases": ("types_in_source", "unseen_in"),
        "definitions": ("get_outline", "read_symbol"),
        "meaning": ("Names",),
        "name_fallback": (),
        "references": ("BROKEN", "can_have_references", "references_in_source", "settled"),
        "spelling": ("spelled", "unmarked"),
        "text_uses": ("not_looked_at", "said_of_strings", "with_text"),
        "two_tier_references": ("ReferencesQuery",),
    },
)
