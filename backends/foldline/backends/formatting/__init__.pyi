from foldline.backends.formatting.outline_text import class_parts, outline_lines
from foldline.backends.formatting.reference_text import (
    first_reference,
    most_references,
    page_references,
    references_lines,
)
from foldline.backends.formatting.symbol_pages import page_symbol, share_budget

__all__ = [
    "class_parts",
    "first_reference",
    "most_references",
    "outline_lines",
    "page_references",
    "page_symbol",
    "references_lines",
    "share_budget",
]
__version__: str
