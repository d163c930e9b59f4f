"""Which bare names of Ruby are calls: those that no variable around them was bound to before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.models import ReferenceKind

if TYPE_CHECKING:
    from tree_sitter import Node

# Blocks see the variables around them, definitions don't.
_DEFINITIONS = frozenset(
    {"method", "singleton_method", "class", "singleton_class", "module", "program"}
)
_BLOCKS = frozenset({"block", "do_block", "lambda"})
_BINDING = frozenset(
    {
        "method_parameters",
        "block_parameters",
        "lambda_parameters",
        "destructured_parameter",
        "exception_variable",
        "left_assignment_list",
        "destructured_left_assignment",
        "rest_assignment",
        "array_pattern",
        "find_pattern",
        "keyword_pattern",
    }
)
# Other nodes bind what one of these fields holds.
_FIELDS = ("name", "left", "pattern")
_NAMING = frozenset({"method", "singleton_method", "setter", "alias", "undef"})


class BareNames:
    """The uses of one name in a source, in their order."""

    def __init__(self) -> None:
        self._bound: set[int] = set()

    def kind(self, nodes: list[Node], kind: ReferenceKind) -> ReferenceKind:
        """The use of the last node, which is in the others, where its own place says `kind`."""
        node, parent = nodes[-1], nodes[-2]
        if node.type != "identifier" or parent.type in _NAMING:
            return kind
        scopes: list[int] = []
        for around in reversed(nodes[:-1]):
            if around.type in _BLOCKS or around.type in _DEFINITIONS:
                scopes.append(around.id)
            if around.type in _DEFINITIONS:
                break
        sides = [] if parent.type == "binary" else map(parent.child_by_field_name, _FIELDS)
        if parent.type in _BINDING or any(
            side is not None and side.id == node.id for side in sides
        ):
            self._bound.add(scopes[0])
            return ReferenceKind.WRITE
        is_call = kind == ReferenceKind.READ and self._bound.isdisjoint(scopes)
        return ReferenceKind.CALL if is_call else kind
