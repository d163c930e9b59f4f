"""Outlines of Python files from the tree of tree-sitter-python.

Only the nodes that can hold a definition are visited: a function's body is entered when its bytes
hold `def` or `class`. Nothing recurses, so depth of nesting is no limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.models import SymbolKind
from foldline.backends.parsers.outline_builder import Outline, OutlineBuilder
from foldline.backends.parsers.python_scan import mend_outline
from foldline.backends.parsers.strings import first_line_of_string, one_line, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tree_sitter import Node

_FUNCTION, _CLASS, _METHOD = SymbolKind.FUNCTION, SymbolKind.CLASS, SymbolKind.METHOD
_VARIABLE, _TYPE = SymbolKind.VARIABLE, SymbolKind.TYPE
# Statements that hold blocks of statements.
_COMPOUND = frozenset(
    {
        "if_statement",
        "elif_clause",
        "else_clause",
        "try_statement",
        "except_clause",
        "except_group_clause",
        "finally_clause",
        "with_statement",
        "for_statement",
        "while_statement",
        "match_statement",
        "case_clause",
        "block",
        "ERROR",
    }
)
_IMPORTS = frozenset({"import_statement", "import_from_statement", "future_import_statement"})
# A comment may stand above the docstring.
_STRING_STARTS = frozenset(bytes([byte]) for byte in b"\"'rRuU#")
_LONGEST_VALUE = 60


def outline_python(data: bytes, root: Node) -> Outline:
    """The outline of UTF-8 `data`, whose tree is `root`."""
    walk = _Walk(data)
    walk.run(root)
    docstring = None
    for child in root.named_children:
        if child.type != "comment":
            docstring = walk.docstring_of(child)
            break
    if walk.names_all is not None:
        names = set(walk.builder.names_below(0, -1))
        index, line, line_end = walk.names_all
        for name in dict.fromkeys(walk.exports):
            if name not in names:
                walk.builder.add(index, name, SymbolKind.EXPORT, line, line_end, name)
    symbols = walk.builder.finish()
    if root.has_error:
        symbols = mend_outline(data, symbols)
    return Outline(symbols, walk.imports, walk.exports, docstring)


class _Scope(NamedTuple):
    """A block whose statements are visited, and what its definitions belong to.

    Attributes:
        parent: The index of the enclosing symbol, or -1.
        names: The names assigned so far; None where assignments are not symbols.
    """

    block: Node
    parent: int
    in_class: bool
    names: set[str] | None


class _Walk:
    """One pass over a tree; scopes wait on a stack with the symbol that encloses them."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.builder = OutlineBuilder()
        self.imports: list[str] = []
        self.exports: list[str] = []
        self.names_all: tuple[int, int, int] | None = None  # `__all__`, its first and last line
        self._spaced_oddly = any(
            word + space in data for word in (b"def", b"class") for space in (b"\t", b"\\", b"\f")
        )
        self._waiting: list[_Scope] = []

    def run(self, root: Node) -> None:
        self._waiting.append(_Scope(root, -1, False, set()))
        while self._waiting:
            self._visit(self._waiting.pop())

    def _visit(self, scope: _Scope) -> None:
        # Compound statements are entered at once: of two assignments the first one counts.
        levels = [iter(scope.block.named_children)]
        while levels:
            for node in levels[-1]:
                visit = _VISITS.get(node.type)
                if visit is not None and visit(self, node, scope):
                    levels.append(iter(node.named_children))
                    break
            else:
                levels.pop()

    # Visits return whether to enter the node's children.

    def visit_definition(self, node: Node, scope: _Scope) -> bool:
        self._define(node, node, scope, ())
        return False

    def visit_decorated(self, node: Node, scope: _Scope) -> bool:
        definition = node.child_by_field_name("definition")
        if definition is None:
            return False
        marks = [
            one_line(self.data[child.start_byte + 1 : child.end_byte])
            for child in node.named_children
            if child.type == "decorator"
        ]
        self._define(definition, node, scope, marks)
        return False

    def visit_compound(self, node: Node, scope: _Scope) -> bool:
        return scope.names is not None or self._defines(node)

    def visit_statement(self, node: Node, scope: _Scope) -> bool:
        if scope.names is not None:
            self._statement(node, scope.parent, scope.names)
        return False

    def visit_alias(self, node: Node, scope: _Scope) -> bool:
        if scope.names is not None:
            self._alias(node, scope.parent, scope.names)
        return False

    def visit_import(self, node: Node, scope: _Scope) -> bool:
        if scope.parent < 0:  # The file's imports are those that run when it is imported.
            self._import(node)
        return False

    def _define(self, node: Node, outer: Node, scope: _Scope, marks: Sequence[str]) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None:
            return
        is_class = node.type == "class_definition"
        kind = _CLASS if is_class else _METHOD if scope.in_class else _FUNCTION
        index = self._add(node, outer, name, body, scope.parent, kind, marks)
        if body is not None and (is_class or self._defines(body)):
            self._waiting.append(_Scope(body, index, is_class, set() if is_class else None))

    def _add(  # noqa: PLR0917 - called for every definition.
        self,
        node: Node,
        outer: Node,
        name: Node,
        body: Node | None,
        parent: int,
        kind: str,
        marks: Sequence[str],
    ) -> int:
        data = self.data
        end = node.end_byte
        line_end = node.end_point[0] + 1
        # The grammar counts comments after the last statement to the block, Python does not.
        if data[data.rfind(b"\n", 0, end) + 1 : end].lstrip()[:1] == b"#":
            line_end = _last_statement_row(node) + 1
        docstring = None
        if body is not None:
            end = body.start_byte
            # One byte tells most bodies that do not start with a string, without another node.
            if (
                data[end : end + 1] in _STRING_STARTS
                and body.named_child_count
                and (first := body.named_child(0)) is not None
            ):
                docstring = self.docstring_of(first)
        return self.builder.add(
            parent,
            self._text(name),
            kind,
            outer.start_point[0] + 1,
            line_end,
            _without_colon(one_line(data[node.start_byte : end])),
            marks,
            docstring,
            name.start_point[0] + 1,
        )

    def docstring_of(self, statement: Node) -> str | None:
        """The first line of the string that `statement` is, None when it is anything else."""
        if statement.type != "expression_statement" or statement.named_child_count != 1:
            return None
        string = statement.named_child(0)
        if string is None or string.type not in {"string", "concatenated_string"}:
            return None
        return first_line_of_string(self.data[string.start_byte : string.end_byte])

    def _statement(self, node: Node, parent: int, names: set[str]) -> None:
        assignment = node.named_child(0) if node.named_child_count else None
        if assignment is None:
            return
        if assignment.type == "augmented_assignment" and parent < 0:
            self._exports(assignment)
            return
        targets: list[Node] = []
        inner: Node | None = assignment
        while inner is not None and inner.type == "assignment":
            left = inner.child_by_field_name("left")
            if left is not None:
                targets.append(left)
            inner = inner.child_by_field_name("right")
        if not targets:
            return
        if parent < 0:
            self._exports(assignment)
        while targets:
            target = targets.pop(0)
            if target.type == "identifier":
                self._variable(target, node, parent, names)
            elif target.type in {"pattern_list", "tuple_pattern", "list_pattern"}:
                targets[:0] = target.named_children

    def _variable(self, target: Node, node: Node, parent: int, names: set[str]) -> None:
        name = self._text(target)
        if name in names:
            return
        names.add(name)
        start, end = node.start_byte, node.end_byte
        text = self.data[start : min(end, start + 3 * _LONGEST_VALUE)]
        signature = shorten(one_line(text), _LONGEST_VALUE)
        line = node.start_point[0] + 1
        line_end = node.end_point[0] + 1
        index = self.builder.add(parent, name, _VARIABLE, line, line_end, signature)
        if name == "__all__" and parent < 0:
            self.names_all = index, line, line_end

    def _alias(self, node: Node, parent: int, names: set[str]) -> None:
        left = node.child_by_field_name("left")
        if left is None:
            return
        name = self._text(left).partition("[")[0].strip()
        if name in names:
            return
        names.add(name)
        signature = one_line(self.data[node.start_byte : node.end_byte])
        self.builder.add(
            parent, name, _TYPE, node.start_point[0] + 1, node.end_point[0] + 1, signature
        )

    def _exports(self, assignment: Node) -> None:
        left = assignment.child_by_field_name("left")
        right = assignment.child_by_field_name("right")
        if left is None or right is None:
            return
        if self._text(left) == "__all__":
            texts = [child for child in right.named_children if child.type == "string"]
            self.exports.extend(self._text(child)[1:-1] for child in texts)

    def _import(self, node: Node) -> None:
        text = one_line(self.data[node.start_byte : node.end_byte])
        if node.type == "import_statement":
            self.imports.extend(part.strip() for part in text[6:].split(","))
            return
        module, _, imported = text[4:].partition(" import ")
        self.imports.append(f"{module.strip()}: {imported.strip('( )').rstrip(', ')}")

    def _text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _defines(self, node: Node) -> bool:
        find, start, end = self.data.find, node.start_byte, node.end_byte
        return (
            self._spaced_oddly or find(b"def ", start, end) >= 0 or find(b"class ", start, end) >= 0
        )


_VISITS: Mapping[str, Callable[[_Walk, Node, _Scope], bool]] = {
    "function_definition": _Walk.visit_definition,
    "class_definition": _Walk.visit_definition,
    "decorated_definition": _Walk.visit_decorated,
    "expression_statement": _Walk.visit_statement,
    "type_alias_statement": _Walk.visit_alias,
    **dict.fromkeys(_COMPOUND, _Walk.visit_compound),
    **dict.fromkeys(_IMPORTS, _Walk.visit_import),
}


def _last_statement_row(node: Node) -> int:
    """The last row of `node` without trailing comments."""
    while True:
        for child in reversed(node.children):
            if child.type != "comment":
                break
        else:
            return node.end_point[0]
        if child.type != "block" and not child.type.endswith(
            ("_statement", "_clause", "_definition")
        ):
            return child.end_point[0]
        node = child


def _without_colon(signature: str) -> str:
    """The signature up to its colon; after it there can only be a comment."""
    if signature.endswith(":"):
        return signature[:-1].rstrip()
    head, colon, tail = signature.rpartition(":")
    return head.rstrip() if colon and tail.lstrip().startswith("#") else signature
