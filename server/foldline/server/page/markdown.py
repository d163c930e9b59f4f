"""Parses prompts' texts to Markdown tokens; the page builds elements from them, never raw HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

_OPTIONS = {"html": False, "linkify": False, "typographer": False}
# What stands as `&lt;` is sent as `&lt;`.
_PARSER = MarkdownIt("js-default", _OPTIONS).disable("entity")


def with_markdown(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return `block` with the tokens of its body, and of the suffix on how a model opens it."""
    texts = {"body": "", "suffix": ""}
    for segment in block["segments"]:
        if segment["kind"] != "heading":  # which the page shows itself
            texts["suffix" if segment["kind"] == "suffix" else "body"] += segment["text"]
    return {**block, "markdown": {part: tokens_of(text) for part, text in texts.items()}}


def tokens_of(text: str) -> list[dict[str, Any]]:
    """Return the tokens of a text."""
    return _plain(_PARSER.parse(text))


def _plain(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    return [
        {
            "type": token.type,
            "tag": token.tag,
            "nesting": token.nesting,
            "content": token.content,
            "markup": token.markup,
            "map": token.map,
            "hidden": token.hidden,
            "attrs": [[name, str(value)] for name, value in token.attrs.items()],
            "children": _plain(token.children or ()),
        }
        for token in tokens
    ]
