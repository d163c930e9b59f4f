"""The types of a source with their bases, from its syntax tree.

A base is a node at its own place in each grammar, so names in type arguments, bounds or defaults
are none. It belongs to the type of its own match, else to the innermost type around it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tree_sitter import Query, QueryCursor

from foldline.backends.base.languages import parser_for
from foldline.backends.formatting.text import cut_bytes
from foldline.backends.models import SymbolKind
from foldline.backends.outlines.locations import Location
from foldline.backends.outlines.outlines import reparsed
from foldline.backends.outlines.syntax import parse
from foldline.backends.parsers.language_tables import LANGUAGES
from foldline.backends.references.references import Column

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


class _Row(NamedTuple):
    """The node types whose children are bases, and other patterns, of one language.

    `unseen` is what may implement something and can't be seen here.
    """

    unseen: str
    bases: str = ""
    others: str = ""


_MEMBERS = "types that only have its members"
_SCRIPT = """[(class_declaration) (class)] @type
(variable_declarator name: (_) @name value: (class) @type)"""
_TYPED = _Row(
    _MEMBERS,
    "extends_clause implements_clause extends_type_clause",
    f"""{_SCRIPT} [(abstract_class_declaration) (interface_declaration)] @type
    (type_alias_declaration value: (intersection_type) @base) @type""",
)
_CONSTANT = "[(constant) (scope_resolution)]"
_ROWS = {
    "python": _Row(
        _MEMBERS, "", "(class_definition superclasses: (argument_list (_) @base)?) @type"
    ),
    "javascript": _Row(_MEMBERS, "class_heritage", _SCRIPT),
    **dict.fromkeys(("typescript", "tsx", "vue", "svelte"), _TYPED),
    "java": _Row(
        "lambdas",
        "superclass super_interfaces.type_list extends_interfaces.type_list",
        """(object_creation_expression type: (_) @base (class_body)) @type
        (_ name: (_) @base body: (enum_body (enum_constant body: (class_body)) @type))""",
    ),
    "kotlin": _Row("lambdas", "delegation_specifier", "(object_literal) @type"),
    "scala": _Row(
        "lambdas",
        "extends_clause",
        """(instance_expression . (_) @base (template_body)) @type
        (given_definition return_type: (_) @base) @type""",
    ),
    "swift": _Row("", "inheritance_specifier"),
    "csharp": _Row("", "base_list"),
    "php": _Row(
        "",
        "base_clause class_interface_clause",
        "(anonymous_class) @type (use_declaration [(name) (qualified_name)] @mixed)",
    ),
    "ruby": _Row(
        "what is mixed in at run time",
        "superclass",
        f"""(call !receiver method: (_) @word arguments: (argument_list {_CONSTANT} @mixed))
        (call receiver: {_CONSTANT} @name method: (identifier) @word
          arguments: (argument_list . {_CONSTANT} @base)) @type
        (call receiver: {_CONSTANT} @name
          arguments: (argument_list . (simple_symbol) @word {_CONSTANT} @base)) @type
        (assignment left: (_) @name right:
          (call receiver: (_) @word arguments: (argument_list . {_CONSTANT} @base))) @type
        (assignment left: (constant) @name right: (call receiver: {_CONSTANT} @base
          method: (_) @made arguments: (argument_list . (simple_symbol)))) @type
        (call receiver: (_) @word arguments: (argument_list . {_CONSTANT} @base)) @type""",
    ),
    "go": _Row(
        _MEMBERS,
        others="""(type_spec name: (_) type: (struct_type
          (field_declaration_list (field_declaration !name type: (_) @base)))) @type
        (type_spec name: (_) type: (interface_type (type_elem . (_) @base .))) @type""",
    ),
    "elixir": _Row(
        "what `use` brings in",
        others="""(call target: (_) @module (arguments . (alias) @name)) @type
        (call target: (_) @defimpl (arguments . (alias) @base)) @type
        (call target: (_) @behaviour (arguments . (alias) @base))""",
    ),
    "rust": _Row("what macros make", "trait_item.trait_bounds", "(impl_item trait: (_) @base)"),
    "cpp": _Row("what macros make", "base_class_clause"),
}
_TYPES = {SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM, SymbolKind.NAMESPACE}
_TABLES = {one.name: one.table.rules for one in LANGUAGES if one.table}

# What the captured words of calls may be.
_WORDS = {
    "word": (b"include", b"extend", b"prepend", b"Class"),
    "made": (b"new", b"define"),
    "module": (b"defmodule", b"defprotocol"),
    "defimpl": (b"defimpl",),
    "behaviour": (b"behaviour",),
}
_ARGUMENTS = re.compile(r"(?:\w+_)?arguments?(?:_list)?|.*annotation|mutable_specifier|lifetime")
_NO_BASES = re.compile(
    r".*comment|(?:type_|value_)?arguments|keyword_argument|\w+_splat|access_specifier"
    r"|removed_trait_bound|lifetime|object_type"
)
_EXPRESSIONS = frozenset({"call", "call_expression", "parenthesized_expression"})
_FIRST = frozenset({"subscript", "element_reference", "explicit_delegation"})
_SEVERAL = frozenset({"intersection_type", "compound_type"})
_RAW = re.compile(r"(?:Swift\.)?(?:U?Int\d*|String|Character|Double|Float\d*)")
_SEPARATORS = re.compile(rb"::|\\")
_LONGEST = 200


class TypeBases(NamedTuple):
    """A type or a part of one: its bases as written, dotted, in the order of the language.

    One without a name has the place of its base. `inside` are the places of its first and last
    letters.
    """

    name: str
    place: Location
    inside: tuple[tuple[int, int], tuple[int, int]]
    bases: tuple[str, ...]


def unseen_in(language: str) -> str | None:
    """Name the implementers that syntax hides; None where a language's bases aren't read."""
    row = _ROWS.get(language)
    return row and row.unseen


class FileTypes(NamedTuple):
    """The types of a file in the order of their places; some may be missing in a broken one."""

    types: list[TypeBases]
    is_broken: bool = False


def types_in_source(path: str, language: str, data: bytes, *, guarded: bool = False) -> FileTypes:
    """The types of UTF-8 `data`; none of a language without any.

    Raises:
        ParseRefusedError: The source isn't parsed.
        ParseCostlyError: It has so many errors that a `guarded` parse is given up.
    """
    if language not in _ROWS:
        return FileTypes([])
    root = parse(language, data, guarded=guarded).root_node
    root, _ = reparsed(language, data, root, guarded=guarded)
    types: dict[int, _Type] = {}
    loose: list[tuple[Node, bool]] = []
    owned: set[int] = set()
    for _, captures in QueryCursor(_query(language)).matches(root):
        firsts = {name: nodes[0] for name, nodes in captures.items()}
        called = (
            (_text(firsts[one], data), words) for one, words in _WORDS.items() if one in firsts
        )
        if any(word.lstrip(b":") not in words for word, words in called):
            continue
        node, base = firsts.get("type"), firsts.get("base")
        if "mixed" in firsts and _is_argument(firsts["mixed"]):
            continue
        if node is None:
            loose.append((base or firsts["mixed"], base is None))
        # An enum is the base of each of its constants with a body; other bases are one type's.
        elif base is None or base.id not in owned or base.end_byte <= node.start_byte:
            one = types.setdefault(node.id, _Type(node))
            one.name = one.name or firsts.get("name")
            if base is not None:
                one.bases.append(base)
                owned.add(base.id)
    ordered = sorted(types.values(), key=lambda one: (one.node.start_byte, -one.node.end_byte))
    waiting, around = ordered[::-1], []
    for node, mixed in sorted(loose, key=lambda one: one[0].start_byte):
        while waiting and waiting[-1].node.start_byte <= node.start_byte:
            around.append(waiting.pop())
        while around and around[-1].node.end_byte < node.end_byte:
            around.pop()
        if node.id in owned:
            continue
        if not around:  # In a block of Ruby's, or where the tree is broken.
            ordered.append(_Type(node, named=False))
        owner = around[-1] if around else ordered[-1]
        (owner.mixed if mixed else owner.bases).append(node)
    counted = Column()
    ordered.sort(key=lambda one: one.named.start_byte)
    return FileTypes([one.read(path, language, data, counted) for one in ordered], root.has_error)


@cache
def _query(language: str) -> Query:
    row, rules = _ROWS[language], _TABLES.get(language, {})
    patterns = [f"({node}) @type" for node, rule in rules.items() if rule.kind in _TYPES]
    for bases in row.bases.split():
        outer, dot, inner = bases.rpartition(".")
        patterns.append(f"({outer} ({inner} (_) @base))" if dot else f"({inner} (_) @base)")
    grammar = parser_for(language).language
    assert grammar is not None
    return Query(grammar, "\n".join([*patterns, row.others]))


def _is_argument(mixed: Node) -> bool:
    """Return whether Ruby's `include(A)` is what another call is given, such as a matcher."""
    call = mixed.parent and mixed.parent.parent
    above = call and call.parent
    return above is not None and above.type == "argument_list"


class _Type:
    """A type while its bases are gathered."""

    def __init__(self, node: Node, *, named: bool = True) -> None:
        self.node = node
        name = node.child_by_field_name("type" if node.type == "impl_item" else "name")
        self.name = name if named else None
        self.bases: list[Node] = []
        self.mixed: list[Node] = []

    @property
    def named(self) -> Node:
        return self.name or next(iter(self.bases), self.node)

    def read(self, path: str, language: str, data: bytes, counted: Column) -> TypeBases:
        # The module that Ruby mixes in last is asked first.
        mixed = self.mixed[::-1] if language == "ruby" else self.mixed
        bases = [_dotted(one, data) for base in (*mixed, *self.bases) for one in _parts(base)]
        at, (row, column) = self.named.start_byte, self.named.start_point
        before = counted.to(data, at - column, at)
        context = cut_bytes(data, at - column, at, before)
        end = (
            before + 1 + len(_text(self.named, data).partition(b"\n")[0].decode("utf-8", "replace"))
        )
        (first, start), (last, stop) = self.node.start_point, self.node.end_point
        if language == "swift":  # An enum has a raw type, of which nothing is an heir.
            bases = [one for one in bases if not _RAW.fullmatch(one)]
        return TypeBases(
            _dotted(self.name, data) if self.name else "",
            Location(path, row + 1, before + 1, end, context),
            ((first + 1, start + 1), (last + 1, stop + 1)),
            tuple(dict.fromkeys(filter(None, bases))),
        )


def _parts(node: Node) -> Iterator[Node]:
    """The types that a node has as bases: several, one, or none."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type in _SEVERAL:
            waiting += reversed(one.named_children)
        elif not _NO_BASES.fullmatch(one.type):
            yield one


def _dotted(node: Node, data: bytes) -> str:
    """A type's name without its arguments, or the text of an expression that is no name."""
    parts: list[bytes] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if _ARGUMENTS.fullmatch(one.type):
            continue
        if one.type in _EXPRESSIONS:
            parts.append(b"(")
        elif one.type in _FIRST:
            waiting += one.named_children[:1]
        elif one.child_count:
            waiting += reversed(one.children)
        elif one.is_named or not one.type.isalpha():  # No `dyn`.
            parts.append(_text(one, data))
    name = _SEPARATORS.sub(b".", b"".join(parts)).decode("utf-8", "replace").strip(".&*?@")
    if re.fullmatch(r"[\w$.]+", name):
        return name
    return " ".join(_text(node, data).decode("utf-8", "replace").split())[:_LONGEST]


def _text(node: Node, data: bytes) -> bytes:
    return data[node.start_byte : node.end_byte]
