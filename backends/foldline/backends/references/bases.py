"""The types of a source with their bases and members, from its syntax tree.

A base is a node at its own place in each grammar, so the names in its type arguments, in bounds or
in defaults are none. `@base` and `@member` belong to the `@type` of their own match, else to the
innermost type or `@scope` around them; `@mixed` are bases that stand in the body.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.base.languages import parser_for
from foldline.backends.formatting.text import cut_bytes
from foldline.backends.outlines.locations import Location
from foldline.backends.outlines.syntax import ParseRefusedError, parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node, Query

    from foldline.backends.models import SymbolInfo

_SCRIPT = """
[(class_declaration name: (_) @name) (class name: (_) @name)] @type
(variable_declarator name: (identifier) @name value: (class) @type)
(class) @type
(class_body (method_definition name: (_) @member))
"""
_TYPED = (
    _SCRIPT
    + """
[(abstract_class_declaration name: (_) @name) (interface_declaration name: (_) @name)] @type
[(extends_clause value: (_) @base) (implements_clause (_) @base) (extends_type_clause (_) @base)]
(type_alias_declaration name: (_) @name value: [
  (intersection_type (_) @base)
  (intersection_type (intersection_type (_) @base))
  (intersection_type (intersection_type (intersection_type (_) @base)))]) @type
(class_body [(abstract_method_signature name: (_) @member)
  (method_signature name: (_) @member) (public_field_definition name: (_) @member)])
(interface_body [(method_signature name: (_) @member) (property_signature name: (_) @member)])
"""
)
_PATTERNS = {
    "python": """
(class_definition name: (_) @name) @type
(class_definition superclasses:
  (argument_list [(identifier) (attribute) (subscript) (call)] @base))
(class_definition body: (block [
  (function_definition name: (_) @member)
  (decorated_definition definition: (function_definition name: (_) @member))
  (expression_statement (assignment left: (identifier) @member))]))
""",
    "javascript": f"{_SCRIPT} (class_heritage (_) @base)"
    "(class_body (field_definition property: (_) @member))",
    "typescript": _TYPED,
    "tsx": _TYPED,
    "java": """
[(class_declaration name: (_) @name) (record_declaration name: (_) @name)
 (enum_declaration name: (_) @name) (interface_declaration name: (_) @name)] @type
(superclass (_) @base)
(super_interfaces (type_list (_) @base))
(extends_interfaces (type_list (_) @base))
(object_creation_expression type: (_) @base (class_body)) @type
(enum_declaration name: (_) @base body:
  (enum_body (enum_constant name: (_) @name body: (class_body)) @type))
(method_declaration name: (_) @member)
""",
    "kotlin": """
[(class_declaration name: (_) @name) (object_declaration name: (_) @name)] @type
[(companion_object) (object_literal)] @type
(delegation_specifier [(user_type) @base (constructor_invocation (user_type) @base)
  (explicit_delegation . (user_type) @base)])
([(class_body (function_declaration name: (_) @member))
  (enum_class_body (function_declaration name: (_) @member))])
(class_body (property_declaration (variable_declaration (identifier) @member)))
""",
    "scala": """
[(class_definition name: (_) @name) (object_definition name: (_) @name)
 (trait_definition name: (_) @name) (enum_definition name: (_) @name)] @type
(extends_clause [(type_identifier) (generic_type) (stable_type_identifier)] @base)
(instance_expression (template_body)) @type
(instance_expression [(type_identifier) (generic_type) (stable_type_identifier)] @base
  (template_body))
(instance_expression (compound_type base: (_) @base))
(instance_expression (compound_type extra: (_) @base))
(given_definition name: (_) @name return_type: (_) @base body: (_)) @type
([(template_body) (with_template_body)] [(function_definition name: (_) @member)
  (function_declaration name: (_) @member) (val_definition pattern: (identifier) @member)])
""",
    "swift": """
[(class_declaration name: (_) @name) (protocol_declaration name: (_) @name)] @type
(inheritance_specifier inherits_from: (_) @base)
([(class_body) (enum_class_body)] (function_declaration name: (simple_identifier) @member))
(protocol_body (protocol_function_declaration name: (simple_identifier) @member))
""",
    "csharp": """
[(class_declaration name: (_) @name) (struct_declaration name: (_) @name)
 (record_declaration name: (_) @name) (interface_declaration name: (_) @name)] @type
(base_list [(identifier) (qualified_name) (generic_name) (alias_qualified_name)] @base)
(primary_constructor_base_type type: (_) @base)
[(method_declaration name: (_) @member) (property_declaration name: (_) @member)]
""",
    "php": """
[(class_declaration name: (_) @name) (interface_declaration name: (_) @name)
 (trait_declaration name: (_) @name) (enum_declaration name: (_) @name)] @type
(anonymous_class) @type
[(base_clause (_) @base) (class_interface_clause (_) @base)]
(use_declaration [(name) (qualified_name)] @mixed)
(method_declaration name: (_) @member)
""",
    "ruby": """
[(class name: (_) @name) (module name: (_) @name)] @type
[(method) (singleton_method)] @scope
(superclass (_) @base)
(call !receiver method: (identifier) @word
  arguments: (argument_list [(constant) (scope_resolution)] @mixed))
(call receiver: [(constant) (scope_resolution)] @name method: (identifier) @word
  arguments: (argument_list . [(constant) (scope_resolution)] @base)) @type
(call receiver: [(constant) (scope_resolution)] @name
  arguments: (argument_list . (simple_symbol) @word [(constant) (scope_resolution)] @base)) @type
(assignment left: (_) @name right: (call receiver: (constant) @word
  arguments: (argument_list . [(constant) (scope_resolution)] @base))) @type
(call receiver: (constant) @word
  arguments: (argument_list . [(constant) (scope_resolution)] @base)) @type
(body_statement [(method name: (_) @member) (singleton_method name: (_) @member)])
""",
    "go": """
(type_spec name: (_) @name type: (struct_type
  (field_declaration_list (field_declaration !name type: (_) @base)))) @type
(type_spec name: (_) @name type: (interface_type (type_elem . (_) @base .))) @type
(type_spec name: (_) @name type: (interface_type (method_elem name: (_) @member))) @type
""",
    "rust": """
(impl_item trait: (_) @base type: (_) @name) @type
(impl_item !trait type: (_) @name) @type
(trait_item name: (_) @name) @type
(trait_item bounds: (trait_bounds
  [(type_identifier) (scoped_type_identifier) (generic_type)] @base))
(declaration_list [(function_item name: (_) @member) (function_signature_item name: (_) @member)
  (const_item name: (_) @member) (type_item name: (_) @member)])
[(macro_invocation (token_tree) @opaque) (macro_rule right: (token_tree) @opaque)]
""",
    "cpp": """
([(class_specifier name: (_) @name body: (_)) (struct_specifier name: (_) @name body: (_))]) @type
(base_class_clause [(type_identifier) (qualified_identifier) (template_type)] @base)
(function_declarator declarator: (field_identifier) @member)
""",
}
# What by the rules of a language may be an implementation that these patterns can't see.
_MEMBERS_ALONE = "types that only have its members"
UNSEEN = {
    **dict.fromkeys(("java", "kotlin", "scala", "csharp"), "lambdas"),
    **dict.fromkeys(("go", "python", "typescript", "tsx", "javascript"), _MEMBERS_ALONE),
    **dict.fromkeys(("rust", "cpp"), "what macros make"),
    **dict.fromkeys(("ruby", "php", "swift"), "what is mixed in at run time"),
}
# What makes a source of a part of one; the bodies of some languages have bases, too.
_AROUND = {
    "python": ("", ": pass"),
    "cpp": ("", " {};"),
    "php": ("<?php ", ""),
    "ruby": ("", ""),
    "go": ("package p\ntype ", ""),
}
_BODIED = frozenset({"go", "php", "ruby"})
_MIXES = frozenset({b"include", b"extend", b"prepend", b"Class"})
_ARGUMENTS = frozenset(
    {
        "type_arguments",
        "type_argument_list",
        "template_argument_list",
        "argument_list",
        "arguments",
        "mutable_specifier",
        "lifetime",
        "annotation",
        "marker_annotation",
    }
)
_EXPRESSIONS = frozenset({"call", "call_expression", "parenthesized_expression"})
_NO_BASES = frozenset({"comment", "line_comment", "block_comment", "type_arguments"})
_SEPARATORS = re.compile(rb"::|\\|->")
_DOTTED = re.compile(r"[\w$.]+")
_LONGEST_BASE = 200


class Members(NamedTuple):
    """A type or a part of one: its bases as written, dotted, in the order of the language.

    One without a name has the place of its base. An `alias` only gives several types a name.
    """

    path: str
    name: str
    place: Location
    line_end: int
    bases: tuple[str, ...]
    members: tuple[tuple[str, Location], ...] = ()
    alias: bool = False


class Opaque(NamedTuple):
    """The lines of tokens that only a macro gives a meaning, and that implement something."""

    path: str
    line: int
    line_end: int

    def __str__(self) -> str:
        return f"the macro at {self.path}:{self.line}"


def can_have_bases(language: str) -> bool:
    """Return whether the types of the language are known."""
    return language in _PATTERNS


def types_in_source(
    path: str, language: str, data: bytes, *, guarded: bool = False
) -> list[Members | Opaque]:
    """The types of UTF-8 `data` in the order of their places.

    Raises:
        ParseRefusedError: The source isn't parsed.
        ParseCostlyError: It has so many errors that a `guarded` parse is given up.
    """
    from tree_sitter import QueryCursor

    if language not in _PATTERNS:
        return []
    root = parse(language, data, guarded=guarded).root_node
    walk = _Walk(path, language, data)
    for _, captures in QueryCursor(_query(language)).matches(root):
        walk.add({name: nodes[0] for name, nodes in captures.items()})
    return walk.finish()


def bases_of(language: str, symbol: SymbolInfo, lines: Sequence[str]) -> tuple[str, ...]:
    """The bases of a symbol of a file with these lines; none of what isn't a type."""
    before, after = _AROUND.get(language, ("", " {}"))
    text = symbol.signature
    if language in _BODIED:
        text = "\n".join(lines[symbol.line - 1 : symbol.line_end])
        text = text[text.find(symbol.name) :] if language == "go" else text
    data = f"{before}{text}{after}".encode("utf-8", "replace")
    with suppress(ParseRefusedError):
        for one in types_in_source("", language, data, guarded=True):
            return one.bases if isinstance(one, Members) else ()
    return ()


def dotted(node: Node, data: bytes) -> str:
    """A type's name without its arguments, or the text of an expression that is no name."""
    parts: list[bytes] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type in _ARGUMENTS and one.is_named:
            continue
        if one.type in {"subscript", "element_reference"} and one.named_children:
            waiting.append(one.named_children[0])
        elif one.type in _EXPRESSIONS:
            parts.append(b"(")
        elif one.child_count:
            waiting.extend(reversed(one.children))
        elif one.is_named or not one.type.isalpha():  # No `dyn`, no `mut`.
            parts.append(data[one.start_byte : one.end_byte])
    name = _SEPARATORS.sub(b".", b"".join(parts)).decode("utf-8", "replace")
    name = name.strip(".&*?@")
    if _DOTTED.fullmatch(name):
        return name
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    return " ".join(text.split())[:_LONGEST_BASE]


@cache
def _query(language: str) -> Query:
    from tree_sitter import Query

    grammar = parser_for(language).language
    assert grammar is not None
    return Query(grammar, _PATTERNS[language])


class _Type:
    """A type or scope while its parts are gathered."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.name: Node | None = None
        self.is_type = False
        self.bases: list[Node] = []
        self.mixed: list[Node] = []
        self.members: list[Node] = []


class _Walk:
    """The matches of one source's patterns, put together by the places of their nodes."""

    def __init__(self, path: str, language: str, data: bytes) -> None:
        self._path, self._language, self._data = path, language, data
        self._types: dict[int, _Type] = {}
        self._loose: list[tuple[str, Node]] = []
        self._owned: set[int] = set()
        self._opaque: list[Opaque] = []

    def add(self, found: dict[str, Node]) -> None:
        """Take the nodes of one match."""
        word = found.get("word")
        if word is not None and self._text(word).lstrip(b":") not in _MIXES:
            return
        if (opaque := found.get("opaque")) is not None:
            text = self._text(opaque)
            if re.search(rb"\bimpl\b.*\bfor\b", text, re.DOTALL):
                row, last = opaque.start_point[0] + 1, opaque.end_point[0] + 1
                self._opaque.append(Opaque(self._path, row, last))
            return
        base = found.get("base")
        if base is not None and (base.type in _NO_BASES or self._negative(base)):
            return
        node = found.get("type") or found.get("scope")
        if node is None:
            self._loose += [(kind, one) for kind, one in found.items() if kind != "word"]
            return
        if base is not None and base.id in self._owned:
            return
        one = self._types.setdefault(node.id, _Type(node))
        one.is_type = one.is_type or "type" in found
        one.name = one.name or found.get("name")
        if base is not None:
            one.bases.append(base)
            self._owned.add(base.id)
        if "member" in found:
            one.members.append(found["member"])

    def finish(self) -> list[Members | Opaque]:
        """The types, once all matches are known."""
        every = self._types.values()
        types = sorted(every, key=lambda one: (one.node.start_byte, -one.node.end_byte))
        stack: list[_Type] = []
        at = 0
        for kind, node in sorted(self._loose, key=lambda one: one[1].start_byte):
            while at < len(types) and types[at].node.start_byte <= node.start_byte:
                stack.append(types[at])
                at += 1
            while stack and stack[-1].node.end_byte < node.end_byte:
                stack.pop()
            if stack and node.id not in self._owned:
                own = stack[-1]
                {"base": own.bases, "mixed": own.mixed, "member": own.members}[kind].append(node)
        return [*self._opaque, *(self._made(one) for one in types if one.is_type)]

    def _made(self, one: _Type) -> Members:
        if self._language == "ruby":
            # The last module that is mixed in is asked first.
            one.mixed.reverse()
        bases = [dotted(base, self._data) for base in (*one.mixed, *one.bases)]
        named = one.name or next(iter(one.bases), one.node)
        return Members(
            self._path,
            dotted(one.name, self._data) if one.name is not None else "",
            self._place(named),
            one.node.end_point[0] + 1,
            tuple(dict.fromkeys(filter(None, bases))),
            tuple((dotted(node, self._data), self._place(node)) for node in one.members),
            one.node.type == "type_alias_declaration",
        )

    def _place(self, node: Node) -> Location:
        begin = node.start_byte - node.start_point[1]
        before = len(self._data[begin : node.start_byte].decode("utf-8", "replace"))
        line_end = self._data.find(b"\n", node.start_byte)
        end = min(node.end_byte, line_end if line_end >= 0 else len(self._data))
        length = len(self._data[node.start_byte : end].decode("utf-8", "replace"))
        context = cut_bytes(self._data, begin, node.start_byte, before)
        row, column = node.start_point[0] + 1, before + 1
        return Location(self._path, row, column, column + length, context)

    def _negative(self, base: Node) -> bool:
        """Return whether it is that of `impl !Send for T`."""
        before = self._data[max(base.start_byte - 8, 0) : base.start_byte]
        return self._language == "rust" and before.rstrip().endswith(b"!")

    def _text(self, node: Node) -> bytes:
        return self._data[node.start_byte : node.end_byte]
