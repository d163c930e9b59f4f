"""Outlines of languages that are described by a table rather than by code.

A language is a mapping from node types to rules. A rule names the kind of symbol, the way to its
name, and the field that holds its body; node types that only wrap definitions are looked through.
A step of the way is a field's name, `<type>` for a child of that type, or `field*` for that field
followed as deep as it goes (the declarators of C).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.models import SymbolKind
from foldline.backends.parsers.comments import doc_above
from foldline.backends.parsers.draft import Drafts, Outline
from foldline.backends.parsers.strings import fold_space, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tree_sitter import Node

_FUNCTION, _CLASS, _METHOD = SymbolKind.FUNCTION, SymbolKind.CLASS, SymbolKind.METHOD
_VARIABLE, _TYPE, _ENUM = SymbolKind.VARIABLE, SymbolKind.TYPE, SymbolKind.ENUM
_INTERFACE, _NAMESPACE = SymbolKind.INTERFACE, SymbolKind.NAMESPACE
_CONTAINERS = frozenset({_CLASS, _INTERFACE, _ENUM})
_GENERICS = re.compile(r"<[^()]*>")
_BRACKETS = re.compile(rb"\[.*\]", re.DOTALL)
_WORD = re.compile(rb"[^\W\d]\w*")
_LONGEST_VALUE = 60
_LONGEST_SIGNATURE = 300
# A declarator can only nest this deep before the code is no longer looked at for a name.
_DEEPEST = 50


class Rule(NamedTuple):
    """How one node type becomes symbols; `body` is looked into where it is given."""

    kind: SymbolKind
    name: tuple[str, ...] = ("name",)
    body: str = "body"
    opens: bool = False
    fallback: str = ""
    receiver: str = ""


@dataclass(frozen=True, slots=True)
class LanguageTable:
    """The node types of one language that an outline is made of."""

    rules: Mapping[str, Rule]
    through: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    import_words: tuple[str, ...] = ()
    hash_comments: bool = False
    # Where a body is no field of its own, a signature ends with the last of these.
    signature_fields: tuple[str, ...] = ()


def _class(kind: SymbolKind = _CLASS, *name: str, body: str = "body", fallback: str = "") -> Rule:
    return Rule(kind, name or ("name",), body, opens=True, fallback=fallback)


_C_RULES = {
    "function_definition": Rule(_FUNCTION, ("declarator*",)),
    "declaration": Rule(_VARIABLE, ("declarator*",), ""),
    "field_declaration": Rule(_VARIABLE, ("declarator*",), ""),
    "type_definition": Rule(_TYPE, ("declarator*",), ""),
    "struct_specifier": _class(),
    "union_specifier": _class(),
    "enum_specifier": _class(_ENUM),
    "enumerator": Rule(_VARIABLE, body=""),
    "preproc_def": Rule(_VARIABLE, body=""),
    "preproc_function_def": Rule(_FUNCTION, body="value"),
}
_C_THROUGH = frozenset(
    {
        "preproc_if",
        "preproc_ifdef",
        "preproc_else",
        "preproc_elif",
        "preproc_elifdef",
        "linkage_specification",
        "declaration_list",
        "ERROR",
    }
)

TABLES: Mapping[str, LanguageTable] = {
    "go": LanguageTable(
        {
            "function_declaration": Rule(_FUNCTION),
            "method_declaration": Rule(_METHOD, receiver="receiver"),
            "type_spec": _class(_TYPE, body="type"),
            "type_alias": Rule(_TYPE, body=""),
            "const_spec": Rule(_VARIABLE, body=""),
            "var_spec": Rule(_VARIABLE, body=""),
            "field_declaration": Rule(_VARIABLE, body=""),
            "method_elem": Rule(_METHOD, body=""),
        },
        through=frozenset(
            {
                "type_declaration",
                "const_declaration",
                "var_declaration",
                "var_spec_list",
                "struct_type",
                "field_declaration_list",
                "ERROR",
            }
        ),
        imports=frozenset({"import_declaration"}),
        import_words=("import",),
    ),
    "rust": LanguageTable(
        {
            "function_item": Rule(_FUNCTION),
            "function_signature_item": Rule(_FUNCTION, body=""),
            "struct_item": _class(),
            "union_item": _class(),
            "enum_item": _class(_ENUM),
            "enum_variant": Rule(_VARIABLE, body=""),
            "field_declaration": Rule(_VARIABLE, body=""),
            "trait_item": _class(_INTERFACE),
            "impl_item": _class(_CLASS, "type"),
            "mod_item": _class(_NAMESPACE),
            "const_item": Rule(_VARIABLE, body=""),
            "static_item": Rule(_VARIABLE, body=""),
            "type_item": Rule(_TYPE, body=""),
            "macro_definition": Rule(_FUNCTION, body="<macro_rule>"),
            "associated_type": Rule(_TYPE, body=""),
        },
        through=frozenset({"ERROR", "foreign_mod_item", "declaration_list"}),
        imports=frozenset({"use_declaration", "extern_crate_declaration"}),
        attributes=frozenset({"attribute_item"}),
        import_words=("pub ", "use ", "extern crate "),
    ),
    "java": LanguageTable(
        {
            "class_declaration": _class(),
            "record_declaration": _class(),
            "enum_declaration": _class(_ENUM),
            "interface_declaration": _class(_INTERFACE),
            "annotation_type_declaration": _class(_INTERFACE),
            "method_declaration": Rule(_METHOD),
            "constructor_declaration": Rule(_METHOD),
            "compact_constructor_declaration": Rule(_METHOD),
            "annotation_type_element_declaration": Rule(_METHOD, body=""),
            "field_declaration": Rule(_VARIABLE, ("declarator", "name"), ""),
            "constant_declaration": Rule(_VARIABLE, ("declarator", "name"), ""),
            "enum_constant": Rule(_VARIABLE, body=""),
        },
        through=frozenset({"enum_body_declarations", "ERROR"}),
        imports=frozenset({"import_declaration"}),
        import_words=("import ", "static "),
    ),
    "c": LanguageTable(
        _C_RULES,
        _C_THROUGH,
        frozenset({"preproc_include"}),
        import_words=("#include", "# include"),
    ),
    "cpp": LanguageTable(
        {
            **_C_RULES,
            "class_specifier": _class(),
            "namespace_definition": _class(_NAMESPACE, fallback="(anonymous)"),
            "alias_declaration": Rule(_TYPE, body=""),
            "concept_definition": Rule(_TYPE, body=""),
        },
        _C_THROUGH | {"template_declaration", "export_declaration"},
        frozenset({"preproc_include", "using_declaration", "import_declaration"}),
        import_words=("#include", "# include", "using "),
    ),
    "csharp": LanguageTable(
        {
            "namespace_declaration": _class(_NAMESPACE),
            "class_declaration": _class(),
            "struct_declaration": _class(),
            "record_declaration": _class(),
            "interface_declaration": _class(_INTERFACE),
            "enum_declaration": _class(_ENUM),
            "enum_member_declaration": Rule(_VARIABLE, body=""),
            "method_declaration": Rule(_METHOD),
            "constructor_declaration": Rule(_METHOD),
            "destructor_declaration": Rule(_METHOD),
            "local_function_statement": Rule(_FUNCTION),
            "operator_declaration": Rule(_METHOD, fallback="operator"),
            "indexer_declaration": Rule(_METHOD, body="accessors", fallback="this"),
            "delegate_declaration": Rule(_TYPE, body=""),
            "property_declaration": Rule(_VARIABLE, body="accessors"),
            "event_declaration": Rule(_VARIABLE, body="accessors"),
            "field_declaration": Rule(
                _VARIABLE, ("<variable_declaration>", "<variable_declarator>", "name"), ""
            ),
            "event_field_declaration": Rule(
                _VARIABLE, ("<variable_declaration>", "<variable_declarator>", "name"), ""
            ),
        },
        through=frozenset({"file_scoped_namespace_declaration", "declaration_list", "ERROR"}),
        imports=frozenset({"using_directive"}),
        import_words=("global ", "using ", "static "),
    ),
    "ruby": LanguageTable(
        {
            "module": _class(_NAMESPACE),
            "class": _class(),
            "singleton_class": _class(_CLASS, "value"),
            "method": Rule(_FUNCTION),
            "singleton_method": Rule(_FUNCTION),
            "assignment": Rule(_VARIABLE, ("left:constant",), ""),
        },
        through=frozenset({"body_statement", "if", "unless", "begin", "then", "else", "ERROR"}),
        hash_comments=True,
        signature_fields=("name", "parameters", "superclass", "value", "right"),
    ),
    "php": LanguageTable(
        {
            "class_declaration": _class(),
            "trait_declaration": _class(),
            "interface_declaration": _class(_INTERFACE),
            "enum_declaration": _class(_ENUM),
            "enum_case": Rule(_VARIABLE, body=""),
            "function_definition": Rule(_FUNCTION),
            "method_declaration": Rule(_METHOD),
            "const_declaration": Rule(_VARIABLE, ("<const_element>", "<name>"), ""),
            "property_declaration": Rule(_VARIABLE, ("<property_element>", "name"), ""),
        },
        through=frozenset(
            {"namespace_definition", "compound_statement", "if_statement", "else_clause", "ERROR"}
        ),
        imports=frozenset({"namespace_use_declaration"}),
        import_words=("use ",),
    ),
    "kotlin": LanguageTable(
        {
            "class_declaration": _class(body="<class_body>"),
            "object_declaration": _class(body="<class_body>"),
            "companion_object": _class(body="<class_body>", fallback="companion"),
            "function_declaration": Rule(_FUNCTION, body="<function_body>"),
            "secondary_constructor": Rule(_METHOD, body="<block>", fallback="constructor"),
            "property_declaration": Rule(_VARIABLE, ("<variable_declaration>", "<identifier>"), ""),
            "type_alias": Rule(_TYPE, ("type",), ""),
            "enum_entry": Rule(_VARIABLE, ("<identifier>",), ""),
        },
        through=frozenset({"class_body", "enum_class_body", "ERROR"}),
        imports=frozenset({"import"}),
        import_words=("import ",),
    ),
    "bash": LanguageTable(
        {
            "function_definition": _class(_FUNCTION),
            "variable_assignment": Rule(_VARIABLE, body=""),
        },
        through=frozenset(
            {
                "declaration_command",
                "if_statement",
                "else_clause",
                "compound_statement",
                "case_statement",
                "case_item",
                "ERROR",
            }
        ),
        hash_comments=True,
    ),
}


def table_parser(language: str) -> Callable[[bytes, Node], Outline]:
    """The parser that follows the table of `language`."""
    table = TABLES[language]
    return lambda data, root: _Walk(data, table).run(root)


class _Scope(NamedTuple):
    node: Node
    parent: int
    kind: str
    outer: Node | None


class _Walk:
    """One pass over a tree; scopes wait on a stack with the symbol that encloses them."""

    def __init__(self, data: bytes, table: LanguageTable) -> None:
        self.data = data
        self.table = table
        self.drafts = Drafts()
        self.imports: list[str] = []
        self._seen: set[tuple[int, str]] = set()

    def run(self, root: Node) -> Outline:
        waiting = [_Scope(root, -1, "", None)]
        while waiting:
            scope = waiting.pop()
            attributes: list[Node] = []
            for node in scope.node.named_children:
                if node.type in self.table.attributes:
                    attributes.append(node)
                    continue
                waiting.extend(self._visit(node, scope, attributes))
                attributes = []
        return Outline(self.drafts.finish(), self.imports)

    def _visit(self, node: Node, scope: _Scope, attributes: list[Node]) -> list[_Scope]:
        rule = self.table.rules.get(node.type)
        if rule is not None:
            return self._define(node, rule, scope, attributes)
        if node.type in self.table.through:
            # What wraps exactly one definition gives it its own first line: `template <…>`.
            alone = node.type.endswith("_declaration") and node.named_child_count == 1
            outer = node if alone or node.type == "template_declaration" else None
            return [_Scope(node, scope.parent, scope.kind, outer)]
        if node.type in self.table.imports and scope.parent < 0:
            self._import(node)
        return []

    def _define(
        self, node: Node, rule: Rule, scope: _Scope, attributes: list[Node]
    ) -> list[_Scope]:  # fmt: skip
        body = _body(node, rule.body)
        names = self._names(node, rule)
        if rule.opens and body is None and node.type.endswith("_specifier"):
            return []  # `struct s x;` uses a type and defines none.
        below = self._types_inside(node, scope)
        if not names:
            if not rule.fallback:
                return below
            names = [(rule.fallback, node)]
        outer = scope.outer or node
        first = attributes[0] if attributes else outer
        signature = self._signature(outer, node, body, rule.kind)
        index = -1
        for title, name in names:
            kind = self._kind(rule.kind, node, name, scope)
            if kind == _VARIABLE and (scope.parent, title) in self._seen:
                continue
            self._seen.add((scope.parent, title))
            index = self.drafts.add(
                scope.parent,
                title,
                kind,
                first.start_point[0] + 1,
                _last_line(self.data, node),
                signature,
                [self._mark(each) for each in attributes],
                doc_above(self.data, first.start_byte, hashes=self.table.hash_comments),
                name.start_point[0] + 1,
            )
        if body is not None and rule.opens and index >= 0:
            below.append(_Scope(body, index, rule.kind, None))
        return below

    def _types_inside(self, node: Node, scope: _Scope) -> list[_Scope]:
        """The struct, union or enum that a declaration of C defines on the way."""
        inner = node.child_by_field_name("type")
        if inner is None or not inner.type.endswith("_specifier"):
            return []
        rule = self.table.rules.get(inner.type)
        if rule is None or inner.child_by_field_name("body") is None:
            return []
        return self._define(inner, rule, _Scope(inner, scope.parent, scope.kind, None), [])

    def _kind(self, kind: SymbolKind, node: Node, name: Node, scope: _Scope) -> SymbolKind:
        if kind is _VARIABLE and _declares_function(node, name):
            kind = _FUNCTION
        if kind is _FUNCTION and scope.kind in _CONTAINERS:
            return _METHOD
        return kind

    def _names(self, node: Node, rule: Rule) -> list[tuple[str, Node]]:
        nodes = [node]
        for step in rule.name:
            nodes = [found for each in nodes for found in _follow(each, step)]
        prefix = self._receiver(node, rule.receiver) if rule.receiver else ""
        return [
            (prefix + self._title(each), each) for each in nodes if each.end_byte > each.start_byte
        ]

    def _title(self, name: Node) -> str:
        """The name as it is asked for: `a::b::C<int>::f` is `a.b.C.f`."""
        text = fold_space(self.data[name.start_byte : name.end_byte]).lstrip("$")
        if "operator" in text:
            return text
        return _GENERICS.sub("", text).replace("::", ".").replace("\\", ".") or text

    def _receiver(self, node: Node, field_name: str) -> str:
        """`Server.` for a method with the receiver `(s *Server[T])`."""
        receiver = node.child_by_field_name(field_name)
        if receiver is None:
            return ""
        words = _WORD.findall(
            _BRACKETS.sub(b"", self.data[receiver.start_byte : receiver.end_byte])
        )
        return f"{words[-1].decode('utf-8', 'replace')}." if words else ""

    def _signature(self, outer: Node, node: Node, body: Node | None, kind: SymbolKind) -> str:
        end = node.end_byte if body is None else body.start_byte
        parts = [node.child_by_field_name(name) for name in self.table.signature_fields]
        end = max((part.end_byte for part in parts if part is not None), default=end)
        text = self.data[outer.start_byte : end]
        if body is not None and body.type.endswith("_type"):
            # The body of a Go type is the type, of which the part before the brace is signature.
            text = self.data[outer.start_byte : node.end_byte].partition(b"{")[0]
        if kind in {_VARIABLE, _TYPE} and body is None:
            return shorten(fold_space(text[: 3 * _LONGEST_VALUE]).rstrip(";,"), _LONGEST_VALUE)
        signature = fold_space(text).rstrip(";{ ").removesuffix("=").rstrip()
        return shorten(signature, _LONGEST_SIGNATURE)

    def _mark(self, attribute: Node) -> str:
        text = fold_space(self.data[attribute.start_byte : attribute.end_byte])
        return text.removeprefix("#[").removesuffix("]")

    def _import(self, node: Node) -> None:
        text = fold_space(self.data[node.start_byte : node.end_byte]).rstrip("; ")
        for word in self.table.import_words:
            text = text.removeprefix(word).strip()
        if text.startswith("(") and text.endswith(")"):
            self.imports.extend(text[1:-1].replace('"', "").split())
        else:
            self.imports.append(text.strip('"<>'))


def _body(node: Node, field_name: str) -> Node | None:
    if not field_name:
        return None
    if field_name.startswith("<"):
        kinds = {field_name[1:-1], "enum_class_body"}
        return next((child for child in node.named_children if child.type in kinds), None)
    return node.child_by_field_name(field_name)


def _follow(node: Node, step: str) -> list[Node]:
    if step.startswith("<"):
        return [child for child in node.named_children if child.type == step[1:-1]]
    if step.endswith("*"):
        return [_innermost(each, step[:-1]) for each in node.children_by_field_name(step[:-1])]
    name, _, kind = step.partition(":")
    found = node.children_by_field_name(name)
    return [each for each in found if not kind or each.type == kind]


def _innermost(node: Node, name: str) -> Node:
    for _ in range(_DEEPEST):
        inner = node.child_by_field_name(name)
        if inner is None and node.type in {"parenthesized_declarator", "reference_declarator"}:
            inner = node.named_children[-1] if node.named_child_count else None
        if inner is None:
            break
        node = inner
    return node


def _declares_function(node: Node, name: Node) -> bool:
    """Whether a declaration of C or C++ is a function's prototype."""
    if node.type not in {"declaration", "field_declaration"}:
        return False
    above = name.parent
    return above is not None and above.type == "function_declarator"


def _last_line(data: bytes, node: Node) -> int:
    """The last line with text: some grammars count the newline after a definition to it."""
    end = node.end_byte
    if end > node.start_byte and data[end - 1 : end] == b"\n":
        while end > node.start_byte and data[end - 1 : end].isspace():
            end -= 1
        return node.start_point[0] + 1 + data.count(b"\n", node.start_byte, end)
    return node.end_point[0] + 1
