"""The languages, a row each; `table_parser` makes outlines by their tables.

A table maps node types to rules. A rule is written `kind way body fallback: node types`: the kind
of symbol, the way to its name, the field of its body, and the name of a symbol that has none. The
way is `name` by default; the body is `body`, but variables and types have none. A `+` after the
kind makes the parser search the body for symbols, as it does for classes; `-` is nothing.

A way is steps with dots between them:

- `field`: the nodes in that field; `field:type` those of a type, `field:1` the first
- `field*`: that field of that field, as deep as it goes (the declarators of C)
- `<type>`: the children of that type; `<type>1` the first
- `?a|b`: the node itself, if one of these words is in it
- `&`: the labels of a block: `resource "a" "b"`
- `*`: each argument of a call

Node types in `through` only wrap definitions: the parser looks through them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any, NamedTuple

from foldline.backends.models import SymbolKind
from foldline.records import record


class Rule(NamedTuple):
    """The way from one node type to symbols; `body` is searched where it is given."""

    kind: SymbolKind
    name: tuple[str, ...] = ("name",)
    body: str = "body"
    opens: bool = False
    fallback: str = ""


@record
class LanguageTable:
    """The node types of one language that an outline is made of."""

    rules: Mapping[str, Rule]
    through: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()
    attributes: frozenset[str] = frozenset()
    import_words: tuple[str, ...] = ()
    # Methods are named after the type of their receiver, and fields without a name after theirs.
    receivers: bool = False
    hash_comments: bool = False
    # Where the grammar has no field for the body, a signature ends with the last of these.
    signature_fields: tuple[str, ...] = ()
    # What a call of a function defines, by its name: each argument if the way is `*`, or the first.
    calls: Mapping[str, Rule] = field(default_factory=dict)
    # The ways to parameters that are members, by the types of classes and constructors.
    members: Mapping[str, str] = field(default_factory=dict)
    # Finds where functions inside functions may start.
    inner: re.Pattern[bytes] | None = None


@record
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


_OPENS = frozenset(
    {SymbolKind.CLASS, SymbolKind.INTERFACE, SymbolKind.ENUM, SymbolKind.NAMESPACE, SymbolKind.TEST}
)


def _rules(*rows: str) -> dict[str, Rule]:
    """The rules by their rows."""
    rules: dict[str, Rule] = {}
    for row in rows:
        head, _, nodes = row.partition(": ")
        word, *values = (*head.split(), *("", "", "")[head.count(" ") :])
        kind = SymbolKind(word.rstrip("+"))
        opens = kind in _OPENS or word.endswith("+")
        bodied = opens or kind in {SymbolKind.FUNCTION, SymbolKind.METHOD}
        name, body, fallback = (
            values[0] or "name",
            values[1] or ("body" if bodied else "-"),
            values[2],
        )
        way = () if name == "-" else tuple(name.split("."))
        rule = Rule(kind, way, "" if body == "-" else body, opens, fallback)
        rules.update(dict.fromkeys(nodes.split(), rule))
    return rules


def _language(
    name: str,
    files: str,
    *rows: str,
    through: str = "",
    imports: str = "",
    words: str = "",
    module: str = "",
    function: str = "language",
    interpreters: str = "",
    **others: Any,
) -> LanguageInfo:
    """A language by table, with its rules.

    Broken code is looked through. A `,` stands between import words.
    """
    table = LanguageTable(
        _rules(*rows),
        frozenset({"ERROR", *through.split()}),
        frozenset(imports.split()),
        import_words=tuple(filter(None, words.split(","))),
        **others,
    )
    return _parsed(
        name, files, module or f"tree_sitter_{name}", function, interpreters, table=table
    )


def _parsed(
    name: str,
    files: str,
    module: str = "",
    function: str = "language",
    interpreters: str = "",
    *,
    table: LanguageTable | None = None,
    document: bool = False,
) -> LanguageInfo:
    """A language: its extensions and, behind `/`, names of files; its grammar and interpreters."""
    extensions, _, names = files.partition("/")
    entry = tuple(extensions.split()), module, function, tuple(names.split())
    return LanguageInfo(name, *entry, tuple(interpreters.split()), table, document)


# A call defines each argument, its first, a test; or it only wraps the definitions it is given.
_EACH, _FIRST = Rule(SymbolKind.VARIABLE, ("*",)), Rule(SymbolKind.VARIABLE)
_TESTS, _WRAPS = Rule(SymbolKind.TEST, opens=True), Rule(SymbolKind.VARIABLE, (), "")

_C_ROWS = (
    "function declarator*: function_definition",
    "variable declarator*: declaration field_declaration",
    "type declarator*: type_definition",
    "class: struct_specifier union_specifier",
    "enum: enum_specifier",
    "variable: enumerator preproc_def",
    "function name value: preproc_function_def",
)
_C_THROUGH = (
    "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef linkage_specification "
    "declaration_list"
)

_TYPESCRIPT = ("tree_sitter_typescript", "language_typescript")

LANGUAGES = (
    _parsed(
        "python",
        ".py .pyi .pyw/SConstruct SConscript wscript",
        "tree_sitter_python",
        interpreters="python pypy",
    ),
    _parsed(
        "javascript",
        ".js .jsx .mjs .cjs/Jakefile",
        "tree_sitter_javascript",
        interpreters="node nodejs bun",
    ),
    _parsed("typescript", ".ts .mts .cts", *_TYPESCRIPT, "deno ts-node tsx"),
    _parsed("tsx", ".tsx", "tree_sitter_typescript", "language_tsx"),
    _language(
        "go",
        ".go",
        "function: function_declaration",
        "method: method_declaration",
        "type+ name type: type_spec",
        "type: type_alias",
        "variable: const_spec var_spec field_declaration",
        "method name -: method_elem",
        "type -: type_elem",
        through="type_declaration const_declaration var_declaration var_spec_list struct_type "
        "field_declaration_list",
        imports="import_declaration",
        words="import",
        receivers=True,
        inner=re.compile(rb"func(?=\()(?<=[=,] func)"),
    ),
    _language(
        "rust",
        ".rs",
        "function: function_item",
        "function name -: function_signature_item",
        "class: struct_item union_item",
        "enum: enum_item",
        "variable: enum_variant field_declaration const_item static_item",
        "interface: trait_item",
        "class type: impl_item",
        "namespace: mod_item",
        "type: type_item associated_type",
        "function name <macro_rule>: macro_definition",
        "export alias -: use_as_clause",
        through="foreign_mod_item declaration_list use_declaration use_list scoped_use_list",
        imports="use_declaration extern_crate_declaration",
        words="pub ,use ,extern crate ",
        attributes=frozenset({"attribute_item"}),
        inner=re.compile(rb"\bfn +(?=\w)|= *(?:move *)?\||\bmacro_rules! (?=\w)"),
    ),
    _language(
        "java",
        ".java",
        "class: class_declaration record_declaration",
        "enum: enum_declaration",
        "interface: interface_declaration annotation_type_declaration",
        "method: method_declaration constructor_declaration compact_constructor_declaration",
        "method name -: annotation_type_element_declaration",
        "variable declarator.name: field_declaration constant_declaration",
        "variable: formal_parameter",
        "variable <variable_declarator>.name: spread_parameter",
        "variable+: enum_constant",
        through="enum_body_declarations",
        members={"record_declaration": "parameters"},
        imports="import_declaration",
        words="import ,static ",
    ),
    _language(
        "c",
        ".c .h",
        *_C_ROWS,
        through=_C_THROUGH,
        imports="preproc_include",
        words="#include,# include",
    ),
    _language(
        "cpp",
        ".cpp .cc .cxx .hpp .hh .hxx .ipp .C",
        *_C_ROWS,
        "class: class_specifier",
        "namespace name body (anonymous): namespace_definition",
        "type: alias_declaration concept_definition",
        through=f"{_C_THROUGH} template_declaration export_declaration",
        imports="preproc_include using_declaration import_declaration",
        words="#include,# include,using ",
    ),
    _language(
        "csharp",
        ".cs",
        "namespace: namespace_declaration",
        "class: class_declaration struct_declaration record_declaration",
        "interface: interface_declaration",
        "enum: enum_declaration",
        "variable: enum_member_declaration",
        "method: method_declaration constructor_declaration destructor_declaration",
        "function: local_function_statement",
        "method operator body operator: operator_declaration",
        "method name accessors this: indexer_declaration",
        "type: delegate_declaration",
        "variable name accessors: property_declaration event_declaration",
        "variable <variable_declaration>.<variable_declarator>.name: field_declaration "
        "event_field_declaration",
        "variable: parameter",
        through="file_scoped_namespace_declaration declaration_list",
        imports="using_directive",
        words="global ,using ,static ",
        module="tree_sitter_c_sharp",
        members=dict.fromkeys(
            ("class_declaration", "struct_declaration", "record_declaration"), "<parameter_list>"
        ),
    ),
    _language(
        "ruby",
        ".rb .rake .gemspec .ru .podspec .jbuilder .thor/Rakefile Gemfile Vagrantfile Guardfile "
        "Capfile Podfile Fastfile Dangerfile Brewfile Berksfile Thorfile",
        "namespace: module",
        "class: class",
        "class value: singleton_class",
        "function: method singleton_method",
        "variable+ left:constant right.block: assignment",
        "function name -: alias",
        through="body_statement block_body if unless begin then else",
        hash_comments=True,
        signature_fields=("name", "parameters", "superclass", "value", "right", "alias"),
        calls={
            **dict.fromkeys(("attr_accessor", "attr_reader", "attr_writer"), _EACH),
            **dict.fromkeys(("has_many", "has_one", "belongs_to", "scope"), _FIRST),
            **dict.fromkeys(("define_method", "alias_method", "task"), Rule(SymbolKind.FUNCTION)),
            **dict.fromkeys(("describe", "context", "feature", "shared_examples"), _TESTS),
            **dict.fromkeys(("it", "specify", "scenario", "test"), _TESTS),
            **dict.fromkeys(("private", "protected", "public", "module_function"), _WRAPS),
            "namespace": Rule(SymbolKind.NAMESPACE, opens=True),
        },
        interpreters="ruby",
    ),
    _language(
        "php",
        ".php",
        "class: class_declaration trait_declaration",
        "interface: interface_declaration",
        "enum: enum_declaration",
        "variable: enum_case",
        "function: function_definition",
        "method: method_declaration",
        "variable <const_element>.<name>: const_declaration",
        "variable <property_element>.name: property_declaration",
        "variable: property_promotion_parameter",
        through="namespace_definition compound_statement if_statement else_clause",
        imports="namespace_use_declaration",
        words="use ",
        interpreters="php",
        function="language_php",
        members={"method_declaration": "parameters"},
    ),
    _language(
        "kotlin",
        ".kt .kts",
        "class name <class_body>: class_declaration object_declaration",
        "class name <class_body> companion: companion_object",
        "function name <function_body>: function_declaration",
        "method name <block> constructor: secondary_constructor",
        "variable <variable_declaration>.<identifier>: property_declaration",
        "type type: type_alias",
        "variable <identifier>: enum_entry",
        "variable ?val|var.<identifier>: class_parameter",
        through="class_body enum_class_body",
        members={"class_declaration": "<primary_constructor>.<class_parameters>"},
        imports="import",
        words="import ",
    ),
    _language(
        "bash",
        ".sh .bash .zsh .ksh/.bashrc .bash_profile .profile .zshrc",
        "function+: function_definition",
        "variable: variable_assignment",
        through="declaration_command if_statement else_clause compound_statement "
        "case_statement case_item",
        hash_comments=True,
        calls={"alias": _EACH},
        interpreters="sh bash zsh dash ksh",
    ),
    _language(
        "lua",
        ".lua",
        "function: function_declaration",
        "variable <variable_list>.name: assignment_statement",
        through="variable_declaration",
    ),
    _language(
        "scala",
        ".scala .sc",
        "class: class_definition object_definition given_definition",
        "namespace: package_object",
        "interface: trait_definition",
        "enum: enum_definition",
        "function: function_definition function_declaration",
        "variable pattern: val_definition var_definition",
        "variable: class_parameter",
        "variable name: val_declaration var_declaration simple_enum_case full_enum_case",
        "type: type_definition",
        through="enum_case_definitions extension_definition package_clause template_body",
        members={"class_definition": "<class_parameters>"},
        imports="import_declaration",
        words="import ",
    ),
    _language(
        "swift",
        ".swift",
        "class: class_declaration",
        "interface: protocol_declaration",
        "function name:1: function_declaration protocol_function_declaration",
        "variable <custom_operator>: operator_declaration",
        "method name body init: init_declaration",
        "method body <computed_property> subscript: subscript_declaration",
        "variable name.bound_identifier: property_declaration protocol_property_declaration",
        "variable name:simple_identifier: enum_entry",
        "type name:type_identifier: typealias_declaration",
        imports="import_declaration",
        words="import ",
    ),
    _language(
        "elixir",
        ".ex .exs",
        through="unary_operator",
        hash_comments=True,
        calls={
            **dict.fromkeys(
                ("def", "defp", "defmacro", "defmacrop", "defguard", "callback"),
                Rule(SymbolKind.FUNCTION),
            ),
            **dict.fromkeys(("type", "typep", "opaque"), Rule(SymbolKind.TYPE)),
            **dict.fromkeys(("if", "for", "unless", "quote"), _WRAPS),
            **dict.fromkeys(
                ("defmodule", "defprotocol", "defimpl"), Rule(SymbolKind.NAMESPACE, opens=True)
            ),
            **dict.fromkeys(("describe", "test"), _TESTS),
        },
    ),
    _language(
        "sql",
        ".sql",
        "class <object_reference>1 <column_definitions>: create_table",
        "class <object_reference>1 -: create_view create_materialized_view create_type",
        "function <object_reference>1 <function_body>: create_function create_trigger",
        "variable column: create_index",
        "variable: column_definition",
        through="statement transaction block",
    ),
    _language(
        "hcl",
        ".tf .tfvars .hcl",
        "namespace & <body>: block",
        "variable <identifier>: attribute",
        through="body",
        hash_comments=True,
    ),
    _language(
        "css",
        ".css",
        "class <selectors> <block>: rule_set",
        "namespace name <block> @media: media_statement",
        "function <keyframes_name> <keyframe_block_list>: keyframes_statement",
        imports="import_statement",
    ),
    _language(
        "make",
        ".mk .mak/Makefile makefile GNUmakefile",
        "variable: variable_assignment define_directive",
        "function <targets>.<word> <recipe>: rule",
        through="conditional else_directive elsif_directive",
        hash_comments=True,
    ),
    _language(
        "dockerfile",
        ".dockerfile/Dockerfile Containerfile",
        "namespace as - FROM: from_instruction",
        "variable <arg_pair>.name: arg_instruction",
        "variable <env_pair>.name: env_instruction",
        "function name - ENTRYPOINT: entrypoint_instruction",
        "function name - CMD: cmd_instruction",
        module="tree_sitter_containerfile",
        hash_comments=True,
    ),
    # No grammar: their scripts are read as TypeScript, and their blocks by indentation.
    _parsed("vue", ".vue", *_TYPESCRIPT),
    _parsed("svelte", ".svelte", *_TYPESCRIPT),
    _parsed("html", ".html .htm", *_TYPESCRIPT),
    _parsed("proto", ".proto"),
    _parsed("graphql", ".graphql .gql .graphqls"),
    _parsed("notebook", ".ipynb", "tree_sitter_python", document=True),
    _parsed("markdown", ".md .markdown .mdx", "tree_sitter_markdown", document=True),
    _parsed(
        "toml", ".toml/Pipfile Cargo.lock poetry.lock uv.lock", "tree_sitter_toml", document=True
    ),
    _parsed("yaml", ".yaml .yml/.clang-format", "tree_sitter_yaml", document=True),
    _parsed(
        "json",
        ".json .jsonc .json5 .webmanifest/Pipfile.lock composer.lock .prettierrc .babelrc",
        "tree_sitter_json",
        document=True,
    ),
)
