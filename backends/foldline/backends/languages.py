"""Which language a file is in, and the grammar for it, imported when first needed."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Parser

UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class LanguageInfo:
    """A language: its files, and the module and function of its grammar wheel."""

    name: str
    extensions: tuple[str, ...]
    module: str = ""
    function: str = "language"
    file_names: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()


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
    LanguageInfo("tsx", (".tsx",), "tree_sitter_typescript", "language_tsx"),
    LanguageInfo("go", (".go",), "tree_sitter_go"),
    LanguageInfo("rust", (".rs",), "tree_sitter_rust"),
    LanguageInfo("java", (".java",), "tree_sitter_java"),
    LanguageInfo("c", (".c", ".h"), "tree_sitter_c"),
    LanguageInfo(
        "cpp", (".cpp", ".cc", ".cxx", ".hpp", ".hh", ".hxx", ".ipp", ".C"), "tree_sitter_cpp"
    ),
    LanguageInfo("csharp", (".cs",), "tree_sitter_c_sharp"),
    LanguageInfo(
        "ruby",
        (".rb", ".rake", ".gemspec"),
        "tree_sitter_ruby",
        file_names=("Rakefile", "Gemfile", "Vagrantfile"),
        interpreters=("ruby",),
    ),
    LanguageInfo("php", (".php",), "tree_sitter_php", "language_php", interpreters=("php",)),
    LanguageInfo("kotlin", (".kt", ".kts"), "tree_sitter_kotlin"),
    LanguageInfo(
        "bash",
        (".sh", ".bash", ".zsh", ".ksh"),
        "tree_sitter_bash",
        file_names=(".bashrc", ".bash_profile", ".profile", ".zshrc"),
        interpreters=("sh", "bash", "zsh", "dash", "ksh"),
    ),
    LanguageInfo("markdown", (".md", ".markdown", ".mdx"), "tree_sitter_markdown"),
    LanguageInfo(
        "toml",
        (".toml",),
        "tree_sitter_toml",
        file_names=("Pipfile", "Cargo.lock", "poetry.lock", "uv.lock"),
    ),
    LanguageInfo("yaml", (".yaml", ".yml"), "tree_sitter_yaml", file_names=(".clang-format",)),
    LanguageInfo(
        "json",
        (".json", ".jsonc", ".json5", ".webmanifest", ".ipynb"),
        "tree_sitter_json",
        file_names=("Pipfile.lock", "composer.lock", ".prettierrc", ".babelrc"),
    ),
)
DOCUMENTS = frozenset({"markdown", "toml", "yaml", "json"})

_BY_NAME = {language.name: language for language in LANGUAGES}
_BY_EXTENSION = {extension: each.name for each in LANGUAGES for extension in each.extensions}
_BY_FILE_NAME = {name: each.name for each in LANGUAGES for name in each.file_names}
_BY_INTERPRETER = {name: each.name for each in LANGUAGES for name in each.interpreters}
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?([^/\s]+)(?:[ \t]+(?:-S[ \t]+)?([^-\s]\S*))?")
_parsers = threading.local()


def language_of(path: str, head: bytes = b"") -> str:
    """The language by the file's name, else by a `#!` line in `head`; `unknown` otherwise."""
    name = path.rpartition("/")[2]
    if known := _BY_FILE_NAME.get(name):
        return known
    dot = name.rfind(".")
    if dot >= 0 and (
        known := _BY_EXTENSION.get(name[dot:]) or _BY_EXTENSION.get(name[dot:].lower())
    ):
        return known
    if head.startswith(b"#!") and (match := _SHEBANG.match(head)):
        program, argument = match.group(1).decode("ascii", "replace"), match.group(2)
        if program == "env" and argument:
            program = argument.decode("ascii", "replace").rpartition("/")[2]
        return _BY_INTERPRETER.get(program.rstrip("0123456789."), UNKNOWN)
    return UNKNOWN


def has_grammar(language: str) -> bool:
    """Whether files of the language are parsed by a tree-sitter grammar."""
    info = _BY_NAME.get(language)
    return info is not None and bool(info.module)


def parser_for(language: str) -> Parser:
    """This thread's parser of the language: parsers hold state and are not shared."""
    known: dict[str, Parser] | None = getattr(_parsers, "known", None)
    if known is None:
        known = _parsers.known = {}
    parser = known.get(language)
    if parser is None:
        parser = known[language] = _make_parser(language)
    return parser


def _make_parser(language: str) -> Parser:
    from tree_sitter import Parser

    return Parser(_grammar(language))


@cache
def _grammar(language: str) -> Language:
    from tree_sitter import Language

    info = _BY_NAME[language]
    return Language(getattr(import_module(info.module), info.function)())
