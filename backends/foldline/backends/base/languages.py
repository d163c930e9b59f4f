"""The language of a file, with its grammar, and whether it is code, text or binary.

Grammars are imported when they are first needed.
"""

from __future__ import annotations

import re
import threading
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from foldline.backends.parsers.language_tables import LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Language, Parser

UNKNOWN = "unknown"
SCRIPTS = frozenset({"javascript", "typescript", "tsx"})
DOCUMENTS = frozenset(language.name for language in LANGUAGES if language.document)

_BY_NAME = {language.name: language for language in LANGUAGES}
_BY_EXTENSION = {
    extension: language.name for language in LANGUAGES for extension in language.extensions
}
_BY_FILE_NAME = {name: language.name for language in LANGUAGES for name in language.file_names}
_BY_INTERPRETER = {name: language.name for language in LANGUAGES for name in language.interpreters}
_SHEBANG = re.compile(rb"#!\s*(?:\S*/)?([^/\s]+)(?:[ \t]+(?:-S[ \t]+)?([^-\s]\S*))?")
# What begins a line of C++ in a header that its name says is C.
_CPLUSPLUS = re.compile(
    rb"^[ \t]*(?:template\s*<|namespace\b[\w\s:]*\{|(?:public|private|protected)\s*:"
    rb"|(?:enum )?class \w[\w: ]*[;{])|^[^\"'/*#\n]*\w::~?\w"
    rb"|\boperator(?:\(\)|\[\]|\"\"|[-+*/%^&|~!=<>]{1,3}) ?\w*\(",
    re.MULTILINE,
)
CODE, TEXT, BINARY = range(3)
_BINARY = re.compile(
    r"\.(7z|a|ai|avif|bin|blend|bmp|bz2|class|db|dll|dylib|eot|exe|flindex|gif|gz|ico|jar|jpe?g|kra|"
    r"lib|mo|mov|mp[34]|npy|npz|o|ogg|onnx|otf|parquet|pdf|pkl|png|psd|pyc|pyd|sketch|so|sqlite|svgz|"
    r"tar|tgz|tiff?|ttf|wasm|wav|webm|webp|whl|woff2?|xcf|xlsx?|xz|zip|zst)$",
    re.IGNORECASE,
)
_MOST_HEAD = 100_000
# No file's name is longer; the ending of a longer text decides.
_LONGEST_NAME = 255
_parsers = threading.local()


def language_of(path: str, head: bytes = b"") -> str:
    """The language by the file's name, or by its text `head`: a `#!` line, or C++ in a `.h`."""
    name = path.rpartition("/")[2]
    if matched := _BY_FILE_NAME.get(name):
        return matched
    dot = name.rfind(".")
    if dot >= 0 and (
        matched := _BY_EXTENSION.get(name[dot:]) or _BY_EXTENSION.get(name[dot:].lower())
    ):
        is_header = matched == "c" and name.endswith(".h")
        return "cpp" if is_header and _CPLUSPLUS.search(head, 0, _MOST_HEAD) else matched
    if head.startswith(b"#!") and (match := _SHEBANG.match(head)):
        program, argument = match.group(1).decode("ascii", "replace"), match.group(2)
        if program == "env" and argument:
            program = argument.decode("ascii", "replace").rpartition("/")[2]
        return _BY_INTERPRETER.get(program.rstrip("0123456789."), UNKNOWN)
    return UNKNOWN


def has_grammar(language: str) -> bool:
    """Return whether files of the language are parsed by a tree-sitter grammar."""
    info = _BY_NAME.get(language)
    return info is not None and bool(info.module) and _is_installed(info.module)


@cache
def _is_installed(module: str) -> bool:
    return find_spec(module) is not None


def parser_for(language: str) -> Parser:
    """This thread's parser of the language: parsers hold state and are not shared."""
    parsers: dict[str, Parser] | None = getattr(_parsers, "known", None)
    if parsers is None:
        parsers = _parsers.known = {}
    parser = parsers.get(language)
    if parser is None:
        parser = parsers[language] = _make_parser(language)
    return parser


def _make_parser(language: str) -> Parser:
    from tree_sitter import Parser

    return Parser(_grammar(language))


@cache
def _grammar(language: str) -> Language:
    from tree_sitter import Language

    info = _BY_NAME[language]
    return Language(getattr(import_module(info.module), info.function)())


def is_indexed(path: str) -> bool:
    """Return whether it is code with identifiers."""
    return kind_of(path) == CODE


def is_text(path: str) -> bool:
    """Return whether it may be text without identifiers: of another language, or no code."""
    return kind_of(path) == TEXT


def kind_of(path: str) -> int:
    """`CODE`, `TEXT` or `BINARY`, by the file's name alone."""
    return _kind_of_name(path[path.rfind("/") + 1 :][-_LONGEST_NAME:])


@lru_cache(maxsize=1 << 14)
def _kind_of_name(name: str) -> int:
    # A workspace has far fewer names than files.
    language = language_of(name)
    if has_grammar(language) and language not in DOCUMENTS:
        return CODE
    return BINARY if _BINARY.search(name) else TEXT
