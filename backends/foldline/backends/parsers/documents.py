"""Outlines of documents: Markdown headings, and the keys of TOML, YAML and JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.backends.models import SymbolKind
from foldline.backends.parsers.markdown import ends_of, headings
from foldline.backends.parsers.outline_builder import Outline, OutlineBuilder
from foldline.backends.parsers.strings import fold_space, last_line, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

_LONGEST_VALUE = 60
# Keys below the top are listed to depth 2, in a small file of YAML to 3, and at most so many.
_SMALL, _MOST_KEYS = 5_000, 500
# Entries of a list of tables differ in their `name`, so that outlines show it.
_PACKAGE = re.compile(rb"\]\][ \t]*\r?\n[ \t]*name[ \t]*=[ \t]*[\"']([^\"'\n]{1,100})[\"']")


def outline_markdown(data: bytes, root: Node) -> Outline:
    """The headings, each with the lines up to the next one of its level or above."""
    every = list(headings(data, root))
    rows = [row for _, _, row, _ in every]
    builder = OutlineBuilder()
    last_row = max(data.count(b"\n") - data.endswith(b"\n"), 0)
    ends = ends_of([level for level, *_ in every], last_row + 1, rows)
    for (level, title, row, _), (end, parent) in zip(every, ends, strict=True):
        builder.add(parent, title, SymbolKind.HEADING, row + 1, end, f"{'#' * level} {title}")
    return Outline(builder.finish())


def outline_toml(data: bytes, root: Node) -> Outline:
    """The tables and the keys above them; a table's own keys are inside it."""
    builder = OutlineBuilder()
    for node in root.named_children:
        if node.type == "pair":
            _add_toml_pair(builder, data, node, -1)
        elif node.type in {"table", "table_array_element"}:
            name = next((child for child in node.named_children if "key" in child.type), None)
            if name is None:
                continue
            title = data[name.start_byte : name.end_byte].decode("utf-8", "replace")
            brackets = ("[[", "]]") if node.type == "table_array_element" else ("[", "]")
            signature = f"{brackets[0]}{title}{brackets[1]}"
            named = _PACKAGE.match(data, name.end_byte) if brackets[0] == "[[" else None
            if named is not None:
                title = f"{title}.{named[1].decode('utf-8', 'replace')}"
                signature += f" {named[1].decode('utf-8', 'replace')}"
            index = builder.add(
                -1, title, SymbolKind.KEY, node.start_point[0] + 1, last_line(data, node), signature
            )
            for pair in node.named_children:
                if pair.type == "pair" and named is None:
                    _add_toml_pair(builder, data, pair, index)
    return Outline(builder.finish())


def _add_toml_pair(builder: OutlineBuilder, data: bytes, pair: Node, parent: int) -> None:
    key = pair.named_children[0]
    title = data[key.start_byte : key.end_byte].decode("utf-8", "replace")
    builder.add(
        parent,
        title.strip("\"'"),
        SymbolKind.KEY,
        pair.start_point[0] + 1,
        last_line(data, pair),
        _short(data, pair),
    )


def outline_yaml(data: bytes, root: Node) -> Outline:
    """The keys of every document's mapping, and those one or two levels below them."""
    builder = OutlineBuilder()
    for document in root.named_children:
        for block in document.named_children:
            _add_mapping(builder, data, block, _yaml_pairs, 3 if len(data) < _SMALL else 2)
    return Outline(builder.finish())


def outline_json(data: bytes, root: Node) -> Outline:
    """The keys of the object, and those one level below them."""
    builder = OutlineBuilder()
    for value in root.named_children:
        _add_mapping(builder, data, value, _json_pairs)
    return Outline(builder.finish())


def _add_mapping(
    builder: OutlineBuilder,
    data: bytes,
    node: Node,
    pairs: Callable[[Node], Iterator[Node]],
    deepest: int = 2,
) -> None:
    waiting = [(pair, -1, 1) for pair in pairs(node)]
    for pair, parent, depth in waiting:
        key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if key is None:
            continue
        title = data[key.start_byte : key.end_byte].decode("utf-8", "replace").strip("\"'")
        index = builder.add(
            parent,
            title,
            SymbolKind.KEY,
            pair.start_point[0] + 1,
            last_line(data, pair),
            _short(data, pair),
        )
        if value is not None and depth < deepest and len(waiting) < _MOST_KEYS:
            waiting.extend((below, index, depth + 1) for below in pairs(value))


def _yaml_pairs(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.type in {"block_node", "flow_node", "ERROR"}:
            waiting.extend(reversed(inner.named_children))
        elif inner.type in {"block_mapping", "flow_mapping"}:
            yield from (
                child
                for child in inner.named_children
                if child.type in {"block_mapping_pair", "flow_pair"}
            )
        elif inner.type == "block_mapping_pair":
            yield inner


def _json_pairs(node: Node) -> Iterator[Node]:
    if node.type in {"object", "ERROR"}:
        yield from (child for child in node.named_children if child.type == "pair")


def _short(data: bytes, node: Node) -> str:
    value = data[node.start_byte : min(node.end_byte, node.start_byte + 3 * _LONGEST_VALUE)]
    line, newline, _ = value.partition(b"\n")
    text = shorten(fold_space(line), _LONGEST_VALUE)
    return f"{text} …" if newline and text.endswith(("{", "[", "|", ">")) else text


DOCUMENT_PARSERS: dict[str, Callable[[bytes, Node], Outline]] = {
    "markdown": outline_markdown,
    "toml": outline_toml,
    "yaml": outline_yaml,
    "json": outline_json,
}
