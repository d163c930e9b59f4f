"""Texts for people in the format that the client shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.server.server import FoldlineServer

# The Markdown that `foldline.ide.features` writes.
_FENCE = re.compile(r"^```.*\n?", re.MULTILINE)
_RULE = re.compile(r"^---$", re.MULTILINE)
_MARKED = re.compile(r"(\*\*|\*|`)(?=\S)(.+?)(?<=\S)\1")


def hover_markup(ls: FoldlineServer, markdown: str) -> types.MarkupContent:
    """Return a text as hovers show it, and tooltips, whose format no client states."""
    document = ls.client_capabilities.text_document
    hover = document and document.hover
    return _markup(markdown, (hover and hover.content_format) or ())


def completion_markup(ls: FoldlineServer, markdown: str) -> types.MarkupContent:
    """Return the documentation of a completion item."""
    document = ls.client_capabilities.text_document
    completion = document and document.completion
    item = completion and completion.completion_item
    return _markup(markdown, (item and item.documentation_format) or ())


def _markup(markdown: str, formats: Sequence[types.MarkupKind]) -> types.MarkupContent:
    if types.MarkupKind.Markdown in formats:
        return types.MarkupContent(types.MarkupKind.Markdown, markdown)
    text = _RULE.sub("", _FENCE.sub("", markdown))
    return types.MarkupContent(types.MarkupKind.PlainText, _MARKED.sub(r"\2", text))
