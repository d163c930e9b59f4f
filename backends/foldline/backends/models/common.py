"""Kinds of symbols and of their uses; the coverage of answers, and those that are lists.

A coverage is `complete`, or `partial: …` with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import ClassVar, Generic, TypeVar

Item_co = TypeVar("Item_co", covariant=True)

COMPLETE = "complete"
# Begins the coverage of an answer that has more than its budget can show.
CUT_SHORT = "partial: stopped before"

TEXT_ALONE = "partial: text: "
"""The beginning of a coverage of which all references are known."""


class SymbolKind(StrEnum):
    """The kinds of symbols; the first four are those of the specification."""

    FUNCTION = "function"
    CLASS = "class"
    METHOD = "method"
    VARIABLE = "variable"
    INTERFACE = "interface"
    ENUM = "enum"
    NAMESPACE = "namespace"
    TYPE = "type"
    HEADING = "heading"
    KEY = "key"
    BLOCK = "block"
    TEST = "test"
    EXPORT = "export"


class ReferenceKind(StrEnum):
    """The way in which an identifier is used."""

    DEFINITION = "definition"
    IMPORT = "import"
    BASE = "base"
    CALL = "call"
    ATTRIBUTE = "attribute"
    WRITE = "write"
    READ = "read"
    ATOM = "atom"
    SPEC = "spec"
    EXPORT = "export"


class Listed(Generic[Item_co]):
    """An answer that is a list of items: those of the field that `_items` names."""

    __slots__ = ()
    _items: ClassVar[str]

    def __iter__(self) -> Iterator[Item_co]:
        return iter(getattr(self, self._items))

    def __len__(self) -> int:
        return len(getattr(self, self._items))
