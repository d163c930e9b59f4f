"""The languages, a row each; `table_parser` makes outlines by their tables.

A table is a mapping from node types to rules. A rule names the kind of symbol, the way to its
name, and the field that holds its body; node types that only wrap definitions are looked through.
A step of the way is a field's name, `<type>` for a child of that type, or `field*` for that field
followed as deep as it goes (the declarators of C).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from foldline.backends.models import SymbolKind

if TYPE_CHECKING:
    from collections.abc import Mapping

_FUNCTION, _CLASS, _METHOD = SymbolKind.FUNCTION, SymbolKind.CLASS, SymbolKind.METHOD
_VARIABLE, _TYPE, _ENUM = SymbolKind.VARIABLE, SymbolKind.TYPE, SymbolKind.ENUM
_INTERFACE, _NAMESPACE = SymbolKind.INTERFACE, SymbolKind.NAMESPACE


class Rule(NamedTuple):
    """The way from one node type to symbols; `body` is searched where it is given."""

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
    # Where the grammar has no field for the body, a signature ends with the last of these.
    signature_fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LanguageInfo:
    """A language: its files, its grammar, and what an outline is made of.

    Attributes:
        module: The module of the grammar's wheel, and with `function` the grammar in it.
        table: For a language whose outline is read by table; others have a parser of their own.
        document: Its files hold no code: no references are searched in them.
    """

    name: str
    extensions: tuple[str, ...]
    module: str = ""
    function: str = "language"
    file_names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()
    table: LanguageTable | None = None
    document: bool = False


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

LANGUAGES = (
    LanguageInfo(
        "python",
        (".py", ".pyi", ".pyw"),
        "tree_sitter_python",
        file_names=("SConstruct", "SConscript", "wscript"),
        interpreters=("python", "pypy"),
    ),
    LanguageInfo(
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs"),
        "tree_sitter_javascript",
        file_names=("Jakefile",),
        interpreters=("node", "nodejs", "bun"),
    ),
    LanguageInfo(
        "typescript",
        (".ts", ".mts", ".cts"),
        "tree_sitter_typescript",
        "language_typescript",
        interpreters=("deno", "ts-node", "tsx"),
    ),
    LanguageInfo(
        "tsx",
        (".tsx",),
        "tree_sitter_typescript",
        "language_tsx",
    ),
    LanguageInfo(
        "go",
        (".go",),
        "tree_sitter_go",
        table=LanguageTable(
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
    ),
    LanguageInfo(
        "rust",
        (".rs",),
        "tree_sitter_rust",
        table=LanguageTable(
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
    ),
    LanguageInfo(
        "java",
        (".java",),
        "tree_sitter_java",
        table=LanguageTable(
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
    ),
    LanguageInfo(
        "c",
        (".c", ".h"),
        "tree_sitter_c",
        table=LanguageTable(
            _C_RULES,
            _C_THROUGH,
            frozenset({"preproc_include"}),
            import_words=("#include", "# include"),
        ),
    ),
    LanguageInfo(
        "cpp",
        (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".ipp", ".C"),
        "tree_sitter_cpp",
        table=LanguageTable(
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
    ),
    LanguageInfo(
        "csharp",
        (".cs",),
        "tree_sitter_c_sharp",
        table=LanguageTable(
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
    ),
    LanguageInfo(
        "ruby",
        (".rb", ".rake", ".gemspec"),
        "tree_sitter_ruby",
        file_names=("Rakefile", "Gemfile", "Vagrantfile"),
        interpreters=("ruby",),
        table=LanguageTable(
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
    ),
    LanguageInfo(
        "php",
        (".php",),
        "tree_sitter_php",
        "language_php",
        interpreters=("php",),
        table=LanguageTable(
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
                {
                    "namespace_definition",
                    "compound_statement",
                    "if_statement",
                    "else_clause",
                    "ERROR",
                }
            ),
            imports=frozenset({"namespace_use_declaration"}),
            import_words=("use ",),
        ),
    ),
    LanguageInfo(
        "kotlin",
        (".kt", ".kts"),
        "tree_sitter_kotlin",
        table=LanguageTable(
            {
                "class_declaration": _class(body="<class_body>"),
                "object_declaration": _class(body="<class_body>"),
                "companion_object": _class(body="<class_body>", fallback="companion"),
                "function_declaration": Rule(_FUNCTION, body="<function_body>"),
                "secondary_constructor": Rule(_METHOD, body="<block>", fallback="constructor"),
                "property_declaration": Rule(
                    _VARIABLE, ("<variable_declaration>", "<identifier>"), ""
                ),
                "type_alias": Rule(_TYPE, ("type",), ""),
                "enum_entry": Rule(_VARIABLE, ("<identifier>",), ""),
            },
            through=frozenset({"class_body", "enum_class_body", "ERROR"}),
            imports=frozenset({"import"}),
            import_words=("import ",),
        ),
    ),
    LanguageInfo(
        "bash",
        (".sh", ".bash", ".zsh", ".ksh"),
        "tree_sitter_bash",
        file_names=(".bashrc", ".bash_profile", ".profile", ".zshrc"),
        interpreters=("sh", "bash", "zsh", "dash", "ksh"),
        table=LanguageTable(
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
    ),
    LanguageInfo(
        "markdown",
        (".md", ".markdown", ".mdx"),
        "tree_sitter_markdown",
        document=True,
    ),
    LanguageInfo(
        "toml",
        (".toml",),
        "tree_sitter_toml",
        file_names=("Pipfile", "Cargo.lock", "poetry.lock", "uv.lock"),
        document=True,
    ),
    LanguageInfo(
        "yaml",
        (".yaml", ".yml"),
        "tree_sitter_yaml",
        file_names=(".clang-format",),
        document=True,
    ),
    LanguageInfo(
        "json",
        (".json", ".jsonc", ".json5", ".webmanifest", ".ipynb"),
        "tree_sitter_json",
        file_names=("Pipfile.lock", "composer.lock", ".prettierrc", ".babelrc"),
        document=True,
    ),
)
