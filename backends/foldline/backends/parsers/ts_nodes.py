"""The node types of JavaScript and TypeScript that outlines are made of."""

from __future__ import annotations

from foldline.backends.models import SymbolKind

DECLARATIONS = {
    "function_declaration": SymbolKind.FUNCTION,
    "generator_function_declaration": SymbolKind.FUNCTION,
    "function_signature": SymbolKind.FUNCTION,
    "class_declaration": SymbolKind.CLASS,
    "abstract_class_declaration": SymbolKind.CLASS,
    "interface_declaration": SymbolKind.INTERFACE,
    "enum_declaration": SymbolKind.ENUM,
    "type_alias_declaration": SymbolKind.TYPE,
    "internal_module": SymbolKind.NAMESPACE,
    "module": SymbolKind.NAMESPACE,
}
MEMBERS = {
    "method_definition": SymbolKind.METHOD,
    "method_signature": SymbolKind.METHOD,
    "abstract_method_signature": SymbolKind.METHOD,
    "public_field_definition": SymbolKind.VARIABLE,
    "field_definition": SymbolKind.VARIABLE,
    "property_signature": SymbolKind.VARIABLE,
    "enum_assignment": SymbolKind.VARIABLE,
}
FUNCTION_VALUES = frozenset(
    {"arrow_function", "function_expression", "function", "generator_function"}
)
# Whose statements may hold declarations that count as those of the scope around.
COMPOUND = frozenset(
    {
        "statement_block",
        "if_statement",
        "else_clause",
        "try_statement",
        "catch_clause",
        "finally_clause",
        "for_statement",
        "for_in_statement",
        "while_statement",
        "do_statement",
        "switch_statement",
        "switch_body",
        "switch_case",
        "switch_default",
        "labeled_statement",
        "ERROR",
    }
)
CALLS = frozenset(
    {
        "call_expression",
        "parenthesized_expression",
        "unary_expression",
        "arguments",
        "sequence_expression",
        "await_expression",
    }
)
