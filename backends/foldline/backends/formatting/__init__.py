"""Answers as text for models and people, and how much of an answer a byte budget holds."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "outline_text": ("class_parts", "outline_lines"),
        "reference_text": (
            "first_reference",
            "most_references",
            "page_references",
            "references_lines",
        ),
        "symbol_pages": ("page_symbol", "share_budget"),
    },
)
