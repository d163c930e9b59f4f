"""The kinds of symbols and of their uses."""

from __future__ import annotations

from enum import StrEnum


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
    CALL = "call"
    ATTRIBUTE = "attribute"
    WRITE = "write"
    READ = "read"
    ATOM = "atom"
    SPEC = "spec"
    EXPORT = "export"
