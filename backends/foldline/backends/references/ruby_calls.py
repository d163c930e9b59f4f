"""Tells Ruby's calls without parentheses from variables: those are bound before."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.backends.models import ReferenceKind
from foldline.backends.references.bindings import is_in

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

    def __init__(self, data: bytes, word: bytes) -> None:
        self._data, self._word = data, word
        self._bound: dict[int, bool] = {}

    def kind(self, nodes: list[Node], kind: ReferenceKind) -> tuple[ReferenceKind, bool]:
        """The use of the last node, where its place says `kind`, and whether it is a variable's.

        The other nodes are around it. `total = self.total` is the thing, not a variable.
        """
        node, parent = nodes[-1], nodes[-2]
        if node.type != "identifier" or parent.type in _NAMING:
            return kind, False
        scopes: list[int] = []
        for around in reversed(nodes[:-1]):
            is_definition = _DEFINITIONS.fullmatch(around.type)
            if is_definition or _BLOCKS.fullmatch(around.type):
                scopes.append(around.id)
            if is_definition:
                break
        binds = parent.type != "binary" and is_in(node, parent, _FIELDS)
        if binds or _BINDING.fullmatch(parent.type):
            right = parent.child_by_field_name("right")
            is_own = not (
                right and self._data.endswith(self._word, right.start_byte, right.end_byte)
            )
            self._bound[scopes[0]] = self._bound.get(scopes[0], False) or is_own
            return ReferenceKind.WRITE, is_own
        bound = [self._bound[scope] for scope in scopes if scope in self._bound]
        is_call = kind == ReferenceKind.READ and not bound
        return ReferenceKind.CALL if is_call else kind, kind == ReferenceKind.READ and any(bound)
