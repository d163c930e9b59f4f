"""Prompts' texts as Markdown tokens, of which the page makes elements: never markup of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from markdown_it.token import Token

_PARSER = MarkdownIt("js-default", {"html": False, "linkify": False, "typographer": False})
# What the head of a block says already, and how the model opens it, which is no part of its text.
_NOT_BODY = ("heading", "suffix")


def with_markdown(block: Mapping[str, Any]) -> dict[str, Any]:
    """`block` with the tokens of its body, and of the suffix that says how the model opens it."""
    body = [segment["text"] for segment in block["segments"] if segment["kind"] not in _NOT_BODY]
    suffix = [segment["text"] for segment in block["segments"] if segment["kind"] == "suffix"]
    return {**block, "markdown": {"body": _tokens(body), "suffix": _tokens(suffix)}}


def _tokens(texts: Iterable[str]) -> list[dict[str, Any]]:
    text = "".join(texts)
    return _plain(_PARSER.parse(text)) if text else []


def _plain(tokens: Sequence[Token]) -> list[dict[str, Any]]:
    return [
        {
            "type": token.type,
            "tag": token.tag,
            "nesting": token.nesting,
            "content": token.content,
            "hidden": token.hidden,
            "attrs": [[name, str(value)] for name, value in token.attrs.items()],
            "children": _plain(token.children or ()),
        }
        for token in tokens
    ]
