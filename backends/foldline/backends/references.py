"""The uses of a name: identifier nodes of syntax trees, so neither strings nor comments."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.backends.errors import PathError
from foldline.backends.languages import has_grammar, language_of, parse
from foldline.backends.models import Reference, ReferenceKind
from foldline.backends.outlines import outline_source
from foldline.backends.symbols import flatten

if TYPE_CHECKING:
    from tree_sitter import Node

    from foldline.backends.files.base import BaseFileBackend

_TEST_PATH = re.compile(
    r"(^|/)(tests?|testing|__tests__|spec)/|(^|/)(test_[^/]*|conftest\.py$)|[._-](test|spec)s?\.[^/]+$"
)


def references_in(files: BaseFileBackend, path: str, name: str) -> list[Reference]:
    """The uses of `name` in one file, none where the file cannot be read."""
    try:
        source = files.load(path)
    except PathError:
        return []
    data = source.parse_data
    word = name.encode("utf-8", "replace")
    if word not in data:
        return []
    language = language_of(path, data[:128])
    if not has_grammar(language):
        return []
    root = parse(language, data).root_node
    lines = data.split(b"\n")
    located = list(flatten(outline_source(language, data).symbols))
    is_test = is_test_path(path)
    found: list[Reference] = []
    for match in re.finditer(rb"(?<![\w])" + re.escape(word) + rb"(?![\w])", data):
        node = root.descendant_for_byte_range(match.start(), match.end())
        if node is None or not node.type.endswith("identifier"):
            continue
        if (node.start_byte, node.end_byte) != match.span():
            continue
        row = node.start_point[0]
        line = lines[row].rstrip(b"\r")
        start = len(line[: node.start_point[1]].decode("utf-8", "replace"))
        around = [
            each.qualified_name
            for each in located
            if each.symbol.line <= row + 1 <= each.symbol.line_end
            and (each.symbol.name_line != row + 1 or each.symbol.name != name)
        ]
        found.append(
            Reference(
                path,
                row + 1,
                line.decode("utf-8", "replace"),
                _kind(node),
                around[-1] if around else "",
                is_test,
                start + 1,
                start + 1 + len(name),
            )
        )
    return found


def is_test_path(path: str) -> bool:
    """Whether the path is that of a test by the usual conventions."""
    return _TEST_PATH.search(path) is not None


def _kind(node: Node) -> str:
    parent = node.parent
    if parent is None:
        return ReferenceKind.READ
    if parent.type in {"function_definition", "class_definition"}:
        name = parent.child_by_field_name("name")
        if name is not None and name.id == node.id:
            return ReferenceKind.DEFINITION
    if parent.type in {"dotted_name", "aliased_import"}:
        return ReferenceKind.IMPORT
    if parent.type == "call":
        return ReferenceKind.CALL
    if parent.type == "attribute":
        above = parent.parent
        if above is not None and above.type == "call":
            return ReferenceKind.CALL
        return ReferenceKind.ATTRIBUTE
    if parent.type in {"assignment", "augmented_assignment"}:
        left = parent.child_by_field_name("left")
        if left is not None and left.id == node.id:
            return ReferenceKind.WRITE
    return ReferenceKind.READ
