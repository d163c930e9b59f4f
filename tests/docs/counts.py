"""Texts with token counts, comparable where there is no tokenizer."""

import re
from importlib.util import find_spec


def comparable(text: str) -> str:
    """Return a text as it is, or without its numbers where they can only be estimated."""
    if find_spec("rs_bpe") is not None:
        return text
    text = text.replace(", estimated: install foldline[tokens] for exact counts", "")
    return re.sub(r"(?:&#160;| )*[~+]?\d[\d,.]*", " N", text)
