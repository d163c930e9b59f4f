"""Tells Ruby's calls without parentheses from variables: those are bound before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.backends.models import ReferenceKind

if TYPE_CHECKING:
    from tree_sitter import Node

# Blocks see the variables around them, definitions don't.
_DEFINITIONS = re.compile(r"(?:singleton_)?(?:method|class)|module|program")
_BLOCKS = re.compile(r"(?:do_)?block|lambda")
_BINDING = re.compile(
    r"(?:method|block|lambda)_parameters|destructured_\w+|exception_variable"
    r"|left_assignment_list|rest_assignment|(?:array|find|keyword)_pattern"
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
            is_definition = _DEFINITIONS.fullmatch(around.type)
            if is_definition or _BLOCKS.fullmatch(around.type):
                scopes.append(around.id)
            if is_definition:
                break
        sides = [] if parent.type == "binary" else map(parent.child_by_field_name, _FIELDS)
        if _BINDING.fullmatch(parent.type) or any(
            side is not None and side.id == node.id for side in sides
        ):
            self._bound.add(scopes[0])
            return ReferenceKind.WRITE
        is_call = kind == ReferenceKind.READ and self._bound.isdisjoint(scopes)
        return ReferenceKind.CALL if is_call else kind
