"""Changes one value in JSON with comments and trailing commas, and keeps every other byte."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import tree_sitter_json
from tree_sitter import Language, Parser

from foldline.agent.install.errors import UnparsableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

_LANGUAGE = Language(tree_sitter_json.language())
_DEEPEST = 200
_INDENT = "  "
_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)|[^\s"/]|/', re.DOTALL)


class _Text(NamedTuple):
    """A text that was parsed.

    Attributes:
        data: Its bytes.
        root: The node of its value; None if it has none.
        commas: Where commas follow the last member of an object or an array.
    """

    data: bytes
    root: Node | None
    commas: frozenset[int]


def read(text: str) -> Any:
    """Return the value in a text, an empty object for one that holds none.

    Raises:
        UnparsableError: It isn't JSON with comments.
    """
    root = _parse(text).root
    return {} if root is None else _value(root)


def with_value(text: str, keys: Sequence[str], value: object) -> str:
    """Return the text with the value at `keys`; objects on the way are made.

    Raises:
        UnparsableError: The text isn't JSON with comments, or has no object there.
    """
    parsed = _parse(text)
    data, node, _ = parsed
    if node is None:
        blank = text and not text.endswith("\n")
        return text + "\n" * bool(blank) + _written(_nested(keys, value), "", _unit(data)) + "\n"
    for depth, key in enumerate(keys):
        _check_object(node)
        pair = _pair(node, key)
        if pair is None:
            return _inserted(parsed, node, key, _nested(keys[depth + 1 :], value)).decode()
        node = _value_node(pair)
    indent = _indent(data, node.start_byte)
    new = _written(value, indent, _unit(data)).encode()
    return (data[: node.start_byte] + new + data[node.end_byte :]).decode()


def without(text: str, keys: Sequence[str]) -> str:
    """Return the text without the member at `keys`.

    Objects that it leaves without values and comments go, too.

    Raises:
        UnparsableError: As `with_value`.
    """
    parsed = _parse(text)
    node = parsed.root
    found: list[Node] = []
    for key in keys:
        if node is None:
            return text
        _check_object(node)
        pair = _pair(node, key)
        if pair is None:
            return text
        found.append(pair)
        node = _value_node(pair)
    while len(found) > 1 and _is_all_of(found[-2], found[-1]):
        found.pop()
    return _removed(parsed, found[-1]).decode()


def _parse(text: str) -> _Text:
    data = text.encode()
    commas = frozenset(_trailing_commas(data))
    strict = bytearray(data)
    for at in commas:
        strict[at : at + 1] = b" "
    document = Parser(_LANGUAGE).parse(bytes(strict)).root_node
    for child in document.children:
        _check(child, 0)
    values = [child for child in document.children if child.type != "comment"]
    if len(values) > 1:
        raise UnparsableError("a second value begins", *_place(values[1]))
    return _Text(data, values[0] if values else None, commas)


def _trailing_commas(data: bytes) -> Iterator[int]:
    """Yield where commas stand between a value and the end of what it is in."""
    before, comma = b"", None
    for found in _TOKEN.finditer(data):
        token = found[0]
        if token.startswith((b"//", b"/*")):
            continue
        if comma is not None and token in b"}]":
            yield comma
        comma = (
            found.start() if token == b"," and before not in (b"", b"{", b"[", b",", b":") else None
        )
        before = token


def _check(node: Node, depth: int) -> None:
    """Raise for what isn't JSON."""
    if depth > _DEEPEST:
        raise UnparsableError("nested too deep", *_place(node))
    if node.is_missing:
        raise UnparsableError(f"{node.type} is missing", *_place(node))
    if node.type == "ERROR":
        raise UnparsableError("not JSON", *_place(node))
    for child in node.children:
        _check(child, depth + 1)


def _neighbour(node: Node, step: int) -> Node | None:
    other: Node | None = node
    while other is not None:
        other = other.next_sibling if step > 0 else other.prev_sibling
        if other is None or other.type != "comment":
            return other
    return None


def _value(node: Node) -> Any:
    if node.type == "object":
        return {_key(pair): _value(_value_node(pair)) for pair in _pairs(node)}
    if node.type == "array":
        return [_value(item) for item in node.named_children if item.type != "comment"]
    return _scalar(node)


def _scalar(node: Node) -> Any:
    try:
        return json.loads(node.text or b"")
    except ValueError as error:
        raise UnparsableError("not a value of JSON", *_place(node)) from error


def _pairs(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type == "pair"]


def _pair(node: Node, key: str) -> Node | None:
    """Return the member of that name; of several, the last one counts."""
    return next((pair for pair in reversed(_pairs(node)) if _key(pair) == key), None)


def _key(pair: Node) -> str:
    node = pair.child_by_field_name("key")
    assert node is not None
    key = _scalar(node)
    if not isinstance(key, str):
        raise UnparsableError("a name is a text in double quotes", *_place(node))
    return key


def _value_node(pair: Node) -> Node:
    node = pair.child_by_field_name("value")
    assert node is not None
    return node


def _check_object(node: Node) -> None:
    if node.type != "object":
        raise UnparsableError("an object is expected", *_place(node))


def _is_all_of(outer: Node, pair: Node) -> bool:
    """Return whether a member's value holds nothing but `pair`, not even a comment."""
    within = pair.parent
    comments = [child for child in outer.children if child.type == "comment"]
    return not comments and within is not None and within.named_child_count == 1


def _comma_after(text: _Text, pair: Node) -> int | None:
    """Return where the comma after a member is."""
    after = _neighbour(pair, 1)
    if after is not None and after.type == ",":
        return after.start_byte
    end = pair.parent.end_byte if pair.parent else len(text.data)
    return next((at for at in sorted(text.commas) if pair.end_byte <= at < end), None)


def _inserted(text: _Text, node: Node, key: str, value: object) -> bytes:
    """Return the text with a new last member of the object `node`."""
    data = text.data
    own = _indent(data, node.start_byte)
    pairs = _pairs(node)
    unit = _unit(data)
    name = json.dumps(key, ensure_ascii=False)
    if pairs and node.start_point.row == node.end_point.row:
        inline = f", {name}: {json.dumps(value, ensure_ascii=False)}"
        at = pairs[-1].end_byte
        return data[:at] + inline.encode() + data[at:]
    indent = _indent(data, pairs[-1].start_byte) if pairs else own + unit
    member = f"\n{indent}{name}: {_written(value, indent, unit)}"
    comma = _comma_after(text, pairs[-1]) if pairs else None
    member += "," * (comma is not None)
    if not pairs:
        end, mark = node.start_byte + 1, b""
    elif comma is None:
        end, mark = pairs[-1].end_byte, b","
    else:
        end, mark = comma + 1, b""
    # Comments stay in front of it: all of an object without members, else those of the last line.
    closing = node.end_byte - 1
    comments = [child for child in node.children if child.type == "comment"]
    first_break = data.find(b"\n", end, closing)
    kept = [
        child.end_byte
        for child in comments
        if child.start_byte >= end and (not pairs or child.start_byte < first_break)
    ]
    after = max([end, *kept])
    rest = data[after:]
    if b"\n" not in data[after:closing]:
        rest = f"\n{own}".encode() + rest.lstrip()
    return data[:end] + mark + data[end:after] + member.encode() + rest


def _removed(text: _Text, pair: Node) -> bytes:
    """Return the text without a member, its comma, and its line where nothing else is on it."""
    data = text.data
    start, end = pair.start_byte, pair.end_byte
    before, comma = _neighbour(pair, -1), _comma_after(text, pair)
    if comma is not None:
        data = data[:comma] + b" " + data[comma + 1 :]
        end = comma + 1 if not data[end:comma].strip() else end
    elif before is not None and before.type == ",":
        # The last member: the comma before it goes, what stands between them stays.
        data = data[: before.start_byte] + data[before.end_byte :]
        start, end = start - 1, end - 1
    line_start = data.rfind(b"\n", 0, start) + 1
    line_end = data.find(b"\n", end)
    if line_start and line_end >= 0 and not (data[line_start:start] + data[end:line_end]).strip():
        start, end = line_start, line_end + 1
    elif data[start - 1 : start] == b" ":
        start -= 1
    opening, closing = data[:start], data[end:]
    # An object that has nothing left is written as it was before.
    if opening.rstrip().endswith(b"{") and closing.lstrip().startswith(b"}"):
        return opening.rstrip() + closing.lstrip()
    return opening + closing


def _nested(keys: Sequence[str], value: object) -> object:
    for key in reversed(keys):
        value = {key: value}
    return value


def _written(value: object, indent: str, unit: str) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=unit)
    return text.replace("\n", f"\n{indent}")


def _indent(data: bytes, at: int) -> str:
    """Return the white space at the beginning of the line."""
    line = data[data.rfind(b"\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())].decode()


def _unit(data: bytes) -> str:
    """Return the white space of the first line that is indented."""
    for line in data.splitlines():
        blank = line[: len(line) - len(line.lstrip())]
        if blank and line.strip() and not line.lstrip().startswith((b"*", b"//", b"/*")):
            return blank.decode()
    return _INDENT


def _place(node: Node) -> tuple[int, int]:
    return node.start_point.row + 1, node.start_point.column + 1
