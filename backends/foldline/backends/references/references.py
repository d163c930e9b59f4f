"""The uses of a name: identifiers of syntax trees and names in `__all__`, no other strings."""

from __future__ import annotations

from bisect import bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING

from foldline.backends.base.languages import DOCUMENTS, has_grammar
from foldline.backends.base.path_kinds import is_test_path
from foldline.backends.formatting.text import cut_bytes
from foldline.backends.models import Reference, ReferenceKind, SymbolKind
from foldline.backends.outlines.outlines import outline_of_tree
from foldline.backends.outlines.symbols import flatten
from foldline.backends.outlines.syntax import parse
from foldline.backends.parsers.python_excerpt import excerpt
from foldline.backends.references.ruby_calls import BareNames
from foldline.backends.references.spelling import key_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from foldline.backends.models import SymbolInfo

    _Parsed = tuple[bytes, Node, tuple[SymbolInfo, ...] | None]

_IDENTIFIERS = frozenset({"name", "constant", "word", "variable_name", "variable", "simple_symbol"})
_CALLS = frozenset(
    {
        "call",
        "call_expression",
        "method_invocation",
        "invocation_expression",
        "new_expression",
        "object_creation_expression",
        "function_call_expression",
        "member_call_expression",
        "nullsafe_member_call_expression",
        "scoped_call_expression",
        "macro_invocation",
        "jsx_opening_element",
        "jsx_self_closing_element",
        "command_name",
    }
)
_CALLEE_FIELDS = ("function", "constructor", "name", "method", "macro", "type")
_MEMBERS = frozenset(
    {
        "attribute",
        "member_expression",
        "field_expression",
        "selector_expression",
        "field_access",
        "member_access_expression",
        "navigation_expression",
        "scoped_identifier",
        "scoped_type_identifier",
        "qualified_identifier",
        "qualified_name",
        "qualified_type",
        "nested_identifier",
        "nested_type_identifier",
        "class_constant_access_expression",
        "scoped_property_access_expression",
        "generic_type",
        "navigation_suffix",
        "scope_resolution",
    }
)
_ASSIGNMENTS = frozenset(
    {
        "assignment",
        "augmented_assignment",
        "assignment_expression",
        "augmented_assignment_expression",
        "compound_assignment_expr",
        "operator_assignment",
        "update_expression",
        "named_expression",
        "assignment_statement",
        "short_var_declaration",
        "inc_statement",
        "dec_statement",
        "variable_assignment",
        "for_statement",
        "for_in_clause",
        "for_in_statement",
    }
)
_BINDINGS = frozenset(
    {
        "as_pattern_target",
        "parameters",
        "lambda_parameters",
        "default_parameter",
        "typed_parameter",
        "typed_default_parameter",
        "keyword_argument",
        "required_parameter",
        "optional_parameter",
        "formal_parameters",
        "list_splat_pattern",
        "dictionary_splat_pattern",
        "variable_declarator",
        "parameter_declaration",
        "parameter",
        "formal_parameter",
        "let_declaration",
        "init_declarator",
    }
)
_PATTERNS = frozenset({"pattern_list", "tuple_pattern", "list_pattern", "expression_list"})
# Bytes above ASCII belong to the letters of UTF-8 text.
_WORD_BYTES = frozenset(
    byte for byte in range(256) if byte >= 0x80 or chr(byte).isalnum() or chr(byte) == "_"
)
_NO_DEFINITIONS = frozenset({SymbolKind.TEST, SymbolKind.EXPORT})
_VARIABLES = frozenset({SymbolKind.VARIABLE, SymbolKind.TYPE})
_MOST_ON_A_LINE = 8
# How far above an identifier an import statement may stand.
_IMPORT_DEPTH = 5
# How many of the nodes around an identifier say how it is used: `a.b.c` has one for each dot.
_MOST_AROUND = 32
# How many siblings are tried one by one before all of them are searched.
_MOST_BESIDE = 64


def can_have_references(language: str) -> bool:
    """Return whether the language has a grammar, and code with identifiers."""
    return has_grammar(language) and language not in DOCUMENTS


def references_in_source(
    path: str, language: str, data: bytes, name: str, *, guarded: bool = False
) -> list[Reference]:
    """The uses of the identifier `name` in UTF-8 `data`, in the order of their places.

    Time and memory grow with the source and the uses, however long its lines and deep its nesting.

    Raises:
        ParseRefusedError: The source isn't parsed.
        ParseCostlyError: It has so many errors that a `guarded` parse is given up.
    """
    word = name.encode("utf-8", "replace")
    if not _places(data, word):
        return []
    if language == "python":
        data, root, symbols = _python(data, word, guarded=guarded)
    else:
        data, root, symbols = _whole(language, data, guarded=guarded)
    definitions: set[int] | None = None
    is_test = is_test_path(path)
    found: list[Reference] = []
    descent = _Descent(root)
    counted = _Column()
    bare_names = BareNames() if language == "ruby" else None
    for start in _places(data, word):
        nodes = descent.to(start, start + len(word))
        node = nodes[-1]
        is_export = _is_export(data, nodes, start, start + len(word))
        if not (is_export or _is_identifier(node, start, start + len(word))):
            continue
        if symbols is None:
            symbols = outline_of_tree(language, data, root, guarded=guarded).symbols
        if definitions is None:
            definitions = set(_definition_lines(symbols, name))
        row, _ = node.start_point
        kind = ReferenceKind.EXPORT if is_export else _kind(nodes)
        if bare_names is not None and len(nodes) > 1:
            kind = bare_names.kind(nodes, kind)
        line = row + 1
        is_definition = line in definitions and kind not in {
            ReferenceKind.CALL,
            ReferenceKind.IMPORT,
        }
        if is_definition:
            definitions.discard(line)
            kind = ReferenceKind.DEFINITION
        begin = node.start_byte - node.start_point[1]
        before = counted.to(data, begin, node.start_byte)
        found.append(
            Reference(
                path,
                line,
                cut_bytes(data, begin, node.start_byte, before),
                kind,
                _enclosing(symbols, line, name if is_definition else None),
                is_test,
                before + 1,
                before + 1 + len(name),
            )
        )
    return found


class _Descent:
    """Finds the innermost nodes at ascending places, with the nodes around them.

    A node finds its parent by searching from the root. So the nodes on the way down are kept, and
    from one place to the next only those that don't hold both are replaced.
    """

    def __init__(self, root: Node) -> None:
        self._cursor = root.walk()
        self._nodes = [root]

    def to(self, start: int, end: int) -> list[Node]:
        """The nodes around a place, the root first; places come in ascending order."""
        cursor, nodes = self._cursor, self._nodes
        while len(nodes) > 1 and nodes[-1].end_byte < end:
            nodes.pop()
            if self._beside(start, end):
                break
            cursor.goto_parent()
        while cursor.goto_first_child_for_byte(start) is not None:
            node = cursor.node
            if node is None or node.start_byte > start or node.end_byte < end:
                cursor.goto_parent()
                break
            nodes.append(node)
        return nodes

    def _beside(self, start: int, end: int) -> bool:
        """Go to the next sibling that holds a place, without searching all of them from above."""
        cursor = self._cursor
        for _ in range(_MOST_BESIDE):
            if not cursor.goto_next_sibling():
                return False
            node = cursor.node
            if node is not None and node.end_byte > start:
                if node.start_byte > start or node.end_byte < end:
                    return False
                self._nodes.append(node)
                return True
        return False


class _Column:
    """Counts the characters before ascending places of a line."""

    def __init__(self) -> None:
        self._begin = self._at = self._count = 0

    def to(self, data: bytes, begin: int, at: int) -> int:
        """The characters from the line's beginning to a place; places come in ascending order."""
        if begin != self._begin:
            self._begin = self._at = begin
            self._count = 0
        self._count += len(data[self._at : at].decode("utf-8", "replace"))
        self._at = at
        return self._count


def _whole(language: str, data: bytes, *, guarded: bool) -> _Parsed:
    return data, parse(language, data, guarded=guarded).root_node, None


def _python(data: bytes, word: bytes, *, guarded: bool) -> _Parsed:
    """The parsed part of the file that decides about `word`: mostly a small one."""
    places = _places(data, word)
    short = excerpt(data, places)
    root = parse("python", short, guarded=guarded).root_node
    symbols = None if root.has_error else outline_of_tree("python", short, root).symbols
    # A variable is a symbol where it is first assigned, so everything before it matters.
    others = [
        other
        for symbol, _, _ in flatten(symbols or ())
        if symbol.kind in _VARIABLES
        and (other := symbol.name.encode()) != word
        and data.count(other) > short.count(other)
    ]
    if others:
        places = sorted({*places, *(place for other in others for place in _places(data, other))})
        short = excerpt(data, places)
        root = parse("python", short, guarded=guarded).root_node
        symbols = None
    if root.has_error:
        return _whole("python", data, guarded=guarded)
    return short, root, symbols


def _places(data: bytes, word: bytes) -> list[int]:
    """The offsets of `word` between bytes that belong to no identifier."""
    found: list[int] = []
    at = data.find(word)
    while at >= 0:
        after = at + len(word)
        before = data[at - 1] if at else 0
        behind = data[after] if after < len(data) else 0
        if before not in _WORD_BYTES and behind not in _WORD_BYTES:
            found.append(at)
        at = data.find(word, after)
    return found


def _is_identifier(node: Node, start: int, end: int) -> bool:
    kind = node.type
    if not (kind.endswith("identifier") or kind in _IDENTIFIERS):
        return False
    # `#private`, `$variable` and `:symbol` have one byte more than the word.
    return node.end_byte == end and start - node.start_byte in {0, 1}


def _is_export(data: bytes, nodes: list[Node], start: int, end: int) -> bool:
    """Return whether the last node is a name in `__all__`."""
    node = nodes[-1]
    is_whole = node.type == "string_content" and (node.start_byte, node.end_byte) == (start, end)
    return is_whole and data.startswith(b"__all__", nodes[1].start_byte)


def _definition_lines(symbols: Iterable[SymbolInfo], name: str) -> Iterable[int]:
    waiting = list(symbols)
    while waiting:
        symbol = waiting.pop()
        named = key_of(symbol.name.rpartition(".")[2]) == name
        if named and symbol.kind not in _NO_DEFINITIONS:
            yield symbol.name_line
        waiting.extend(symbol.children)


def _enclosing(symbols: tuple[SymbolInfo, ...], line: int, defined: str | None) -> str:
    """The qualified name of the innermost symbol around `line`; a definition is not in itself."""
    names: list[str] = []
    level = symbols
    while True:
        after = bisect_right(level, line, key=attrgetter("line"))
        around = None
        # Symbols of one level follow each other, except several on one line.
        for symbol in reversed(level[max(after - _MOST_ON_A_LINE, 0) : after]):
            if line > symbol.line_end or symbol.kind == SymbolKind.EXPORT:
                continue
            owner, _, last = symbol.name.rpartition(".")
            if symbol.name_line != line or key_of(last) != defined:
                around = symbol
                break
            if owner:
                return ".".join((*names, owner))
        if around is None:
            return ".".join(names)
        names.append(around.name)
        level = around.children


def _kind(nodes: list[Node]) -> ReferenceKind:
    """The use of the last of `nodes`; the others are around it, the root first."""
    around = nodes[-_MOST_AROUND:-1]
    node = nodes[-1]
    if not around:
        return ReferenceKind.READ
    if _is_imported(around):
        return ReferenceKind.IMPORT
    target, parent = node, around.pop()
    is_member = False
    if parent.type == "variable_name":  # PHP: `$name` is a name in a variable.
        target, parent = parent, around.pop() if around else parent
    while parent.type in _MEMBERS and around:
        last = parent.named_child(parent.named_child_count - 1)
        if last is None or last.id != target.id:
            break  # The object, not the member.
        is_member = parent.type != "scope_resolution"  # A constant of Ruby's.
        target, parent = parent, around.pop()
    if parent.type in _CALLS and any(
        (callee := parent.child_by_field_name(field)) is not None and callee.id == target.id
        for field in _CALLEE_FIELDS
    ):
        return ReferenceKind.CALL
    if parent.type in {"call_expression", "command_name"}:
        first = parent.child(0)
        # Kotlin's grammar names no field; Bash's commands have one child.
        if first is not None and first.id == target.id:
            return ReferenceKind.CALL
    if _is_written(target, parent, around):
        return ReferenceKind.WRITE
    return ReferenceKind.ATTRIBUTE if is_member else ReferenceKind.READ


def _is_imported(around: list[Node]) -> bool:
    for above in reversed(around[-_IMPORT_DEPTH:]):
        kind = above.type
        if "import" in kind or kind in {
            "use_declaration",
            "using_directive",
            "using_declaration",
            "namespace_use_declaration",
        }:
            return True
        if kind == "export_clause":
            return True
        if kind.endswith(("_statement", "_definition", "block")):
            return False
    return False


def _is_written(target: Node, parent: Node, around: list[Node]) -> bool:
    while parent.type in _PATTERNS and around:
        target, parent = parent, around.pop()
    if parent.type in _ASSIGNMENTS:
        for field in ("left", "name", "argument", "operand"):
            side = parent.child_by_field_name(field)
            if side is not None and side.id == target.id:
                return True
        return False
    if parent.type not in _BINDINGS:
        return False
    for field in ("value", "type"):
        side = parent.child_by_field_name(field)
        if side is not None and side.start_byte <= target.start_byte < side.end_byte:
            return False
    return True
