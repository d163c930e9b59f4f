"""Finds bindings by syntax alone: imports under another name, and functions' variables."""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import itemgetter
from typing import TYPE_CHECKING

from foldline.backends.models import ReferenceKind
from foldline.backends.references.spelling import SCRIPTED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from foldline.backends.models import Reference


# The nodes that give a thing another name, and the fields that may hold that; `<` is the first
# child, `>` the last one.
_RENAMES = {
    kind: tuple(fields.split())
    for fields, kinds in (
        ("alias", "aliased_import import_specifier export_specifier use_as_clause"),
        ("alias", "extern_crate_declaration namespace_use_clause"),
        ("alias", "as_renamed_identifier arrow_renamed_identifier"),
        ("name", "using_directive alias_declaration namespace_alias_definition alias type_item"),
        ("name", "type_alias_declaration typealias_declaration variable_declarator"),
        ("declarator name", "type_definition"),
        ("name type", "type_alias"),
        ("value", "pair_pattern"),
        ("left", "assignment"),
        ("<", "argument_list import_alias"),
        (">", "import"),
    )
    for kind in kinds.split()
}
# What may stand between such a node and the name: qualified names, and `struct`.
_QUALIFIES = re.compile(r"identifier|name|member|scope|specifier|descriptor|qualified|user_type")
_OTHER = re.compile(rb"[*&\s:]*([\w$\x80-\xff]+[?!=]?|[-+*/%<>=!~^&|\[\]]{1,3})")
_MODULE = re.compile(rb"(?:await\s+import|require)\s*\(")
_DEEPEST = 6
# How many nodes around a use are looked at for its function.
_MOST_AROUND = 64

# How a variable is bound: by any assignment in a function, or by a declaration in a block.
_DECLARED = SCRIPTED | {"go", "rust", "java", "c", "cpp", "csharp"}
_FUNCTIONS = re.compile(
    r"lambda(?:_expression)?|\w+_comprehension|generator_(?:expression|function)|arrow_function"
    r"|(?:generator_)?function_(?:declaration|definition|expression|item)|func_literal"
    r"|(?:constructor|method)_declaration|method_definition|closure_expression"
    r"|local_function_statement|anonymous_method_expression"
)
_BLOCKS = re.compile(
    r"(?:statement_)?block|(?:compound|if|for|for_in|foreach|enhanced_for)_statement"
    r"|catch_clause|for_expression|switch_body|(?:expression|type)_switch_statement"
)
_DECLARING = re.compile(r"(?:variable|init)_declarator|let_declaration|short_var_declaration")
_PARAMETERS = re.compile(r"parameter")
_TYPES = re.compile(r"class|interface|enum|struct|trait|impl_item|module\Z|declaration_list")
_VARIABLES = frozenset({"identifier", "shorthand_property_identifier"})
_PATTERNS = frozenset(
    {"shorthand_property_identifier_pattern", "object_assignment_pattern", "object_pattern"}
)


# Of Ruby. Blocks see the variables around them, definitions don't.
_RUBY_DEFINITIONS = re.compile(r"(?:singleton_)?(?:method|class)|module|program")
_RUBY_BLOCKS = re.compile(r"(?:do_)?block|lambda")
_RUBY_BINDING = re.compile(
    r"(?:method|block|lambda)_parameters|destructured_\w+|exception_variable"
    r"|left_assignment_list|rest_assignment|(?:array|find|keyword)_pattern"
)
# Other nodes bind what one of these fields holds.
_RUBY_FIELDS = ("name", "left", "pattern")
_RUBY_NAMING = frozenset({"method", "singleton_method", "setter", "alias", "undef"})


def other_name(data: bytes, nodes: list[Node]) -> str:
    """The name under which an import, a re-export or a type's alias binds the last of `nodes`."""
    nodes = nodes[-2 * _DEEPEST :]
    node = nodes[-1]
    for depth in range(1, min(len(nodes), _DEEPEST)):
        above, inner = nodes[-depth - 1], nodes[-depth]
        fields = _RENAMES.get(above.type)
        if fields is not None:
            ends_it = inner.end_byte == node.end_byte
            # `typedef struct node { … } Node;`
            if not (ends_it or inner.type.endswith("_specifier")) or not _renames(
                data, nodes[:-depth]
            ):
                return ""
            children = above.named_children or [node]
            ends = {"<": children[0], ">": children[-1]}
            sides = (ends.get(field) or above.child_by_field_name(field) for field in fields)
            other = next(filter(None, sides), None)
            if other is None or other.start_byte <= node.start_byte < other.end_byte:
                return ""
            match = _OTHER.match(data, other.start_byte, other.end_byte)
            return match[1].decode("utf-8", "replace") if match else ""
        if not _QUALIFIES.search(above.type):
            return ""
    return ""


def _renames(data: bytes, nodes: list[Node]) -> bool:
    """Return whether the last node, which may bind anything, gives a thing another name."""
    node = nodes[-1]
    if node.type == "assignment":  # `Name = Module::Other` of Ruby.
        left = node.child_by_field_name("left")
        return left is not None and left.type == "constant"
    if node.type == "argument_list":
        return len(nodes) > 1 and data.startswith(b"alias_method", nodes[-2].start_byte)
    return node.type not in {"variable_declarator", "pair_pattern"} or any(
        one.type == "variable_declarator" and is_module(data, one) for one in nodes
    )


def is_module(data: bytes, declarator: Node) -> bool:
    """Return whether a variable is bound to a module, or to a part of it, of JavaScript."""
    value = declarator.child_by_field_name("value")
    return value is not None and _MODULE.match(data, value.start_byte) is not None


def renamed_in(uses: Iterable[Reference], name: str) -> list[tuple[Reference, str]]:
    """The imports and exports that give something the name, with the name that it had before."""
    renaming = re.compile(rf"([\w$]+)\s+as\s+{re.escape(name)}(?![\w$])")
    matches = ((use, renaming.search(use.context)) for use in uses)
    return [(use, match[1]) for use, match in matches if match and use.kind == ReferenceKind.IMPORT]


class Variables:
    """The uses of one name in a source that are those of a function's own variables.

    A use is one by what binds it: a parameter, a declaration in a block around it, or in Python an
    assignment in the same function. Members, and what is destructured, aren't.
    """

    def __init__(self, language: str, data: bytes, word: bytes) -> None:
        self._language, self._data, self._word = language, data, word
        self._bound: list[tuple[int, int]] = []
        self._elsewhere: list[tuple[int, int]] = []
        self._plain: list[tuple[int, int]] = []

    def add(self, number: int, nodes: list[Node], kind: str) -> None:
        """Look at the use with that number: the last of `nodes`, the others are around it."""
        nodes = nodes[-_MOST_AROUND:]
        node, parent = nodes[-1], nodes[-2] if len(nodes) > 1 else nodes[-1]
        is_known = self._language == "python" or self._language in _DECLARED
        is_pattern = node.type in _PATTERNS
        if not is_known or not (is_pattern or node.type in _VARIABLES) or _is_member(node, parent):
            return
        if parent.type in {"global_statement", "nonlocal_statement"}:
            self._elsewhere += [(one.start_byte, one.end_byte) for one in self._scope(nodes)[:1]]
        if kind == ReferenceKind.WRITE or is_pattern:
            self._bind(nodes, is_pattern=is_pattern)
        if kind not in {ReferenceKind.DEFINITION, ReferenceKind.IMPORT, ReferenceKind.EXPORT}:
            self._plain.append((number, node.start_byte))

    def finish(self) -> list[int]:
        """The numbers of the uses that are a variable's."""
        bound, elsewhere = _joined(self._bound), _joined(self._elsewhere)
        return [
            number
            for number, at in self._plain
            if _is_inside(bound, at) and not _is_inside(elsewhere, at)
        ]

    def _bind(self, nodes: list[Node], *, is_pattern: bool) -> None:
        scopes = self._scope(nodes)
        until = scopes[0] if scopes else nodes[0]
        around = [one for one in nodes[:-1] if one.start_byte >= until.start_byte][1:]
        is_parameter = any(_PARAMETERS.search(one.type) for one in around)
        at = nodes[-1].start_byte
        declared: Node | None = None
        for one in reversed(around):
            value = one.child_by_field_name("value") or one.child_by_field_name("right")
            is_declaring = _DECLARING.fullmatch(one.type) is not None
            if is_declaring if value is None else not value.start_byte <= at < value.end_byte:
                declared = one
                # `total = self.total` is the thing, and so is what comes out of a module.
                if value and self._data.endswith(self._word, value.start_byte, value.end_byte):
                    return
                break
        is_declared = declared is not None and _DECLARING.fullmatch(declared.type) is not None
        if not (is_parameter or is_pattern or is_declared or self._language == "python"):
            return  # An assignment, maybe to a variable of the module.
        if is_parameter or (scopes and not is_pattern):
            self._bound.append((nodes[-1].start_byte, nodes[-1].end_byte))
        if not scopes or (is_pattern and not is_parameter):
            return
        body = until.child_by_field_name("body") or until
        start = body.start_byte
        if not is_parameter and self._language not in {"python", *SCRIPTED}:
            start = max(start, (declared or nodes[-1]).end_byte)
        self._bound.append((start, until.end_byte))

    def _scope(self, nodes: list[Node]) -> list[Node]:
        """The function or block whose variable the last node is, if it is one."""
        is_block = self._language in _DECLARED
        for one in reversed(nodes[:-1]):
            if one.type == "variable_declaration":  # `var`
                is_block = is_block and self._language not in SCRIPTED
            if _FUNCTIONS.fullmatch(one.type) or (is_block and _BLOCKS.fullmatch(one.type)):
                return [one]
            if _TYPES.search(one.type):
                break
        return []


class BareNames:
    """Ruby's calls without parentheses and its variables, which are bound before, of one name."""

    def __init__(self, data: bytes, word: bytes) -> None:
        self._data, self._word = data, word
        self._bound: dict[int, bool] = {}

    def kind(self, nodes: list[Node], kind: ReferenceKind) -> tuple[ReferenceKind, bool]:
        """The use of the last node, where its place says `kind`, and whether it is a variable's.

        The other nodes are around it. `total = self.total` is the thing, not a variable.
        """
        node, parent = nodes[-1], nodes[-2]
        if node.type != "identifier" or parent.type in _RUBY_NAMING:
            return kind, False
        scopes: list[int] = []
        for around in reversed(nodes[:-1]):
            is_definition = _RUBY_DEFINITIONS.fullmatch(around.type)
            if is_definition or _RUBY_BLOCKS.fullmatch(around.type):
                scopes.append(around.id)
            if is_definition:
                break
        binds = parent.type != "binary" and is_in(node, parent, _RUBY_FIELDS)
        if binds or _RUBY_BINDING.fullmatch(parent.type):
            right = parent.child_by_field_name("right")
            is_own = not (
                right and self._data.endswith(self._word, right.start_byte, right.end_byte)
            )
            self._bound[scopes[0]] = self._bound.get(scopes[0], False) or is_own
            return ReferenceKind.WRITE, is_own
        bound = [self._bound[scope] for scope in scopes if scope in self._bound]
        is_call = kind == ReferenceKind.READ and not bound
        return ReferenceKind.CALL if is_call else kind, kind == ReferenceKind.READ and any(bound)


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The ranges in order, those that overlap as one."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(ranges):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined


def _is_inside(ranges: list[tuple[int, int]], at: int) -> bool:
    after = bisect_right(ranges, at, key=itemgetter(0))
    return after > 0 and at < ranges[after - 1][1]


def is_in(node: Node, parent: Node, fields: Iterable[str]) -> bool:
    """Return whether a node is all that one of these fields of its parent holds."""
    sides = map(parent.child_by_field_name, fields)
    return any(side is not None and side.id == node.id for side in sides)


def _is_member(node: Node, parent: Node) -> bool:
    """Return whether a name is that of a member or an argument, or stands for a method."""
    named = {"method_invocation", "keyword_argument", "member_access_expression"}
    named |= {"scoped_identifier", "qualified_identifier"}
    members = ["attribute", "method", "property", "field"]
    return is_in(node, parent, ["name"] if parent.type in named else members)
