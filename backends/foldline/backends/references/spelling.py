"""The names that people and models write: signatures, other languages' separators, places."""

from __future__ import annotations

import re
from typing import NamedTuple

from foldline.backends.base.languages import SCRIPTS
from foldline.backends.parsers.markup import MARKUP

# `func (r *Repository) ReadBlob`, `(*Repository).ReadBlob`
_RECEIVER = re.compile(
    r"(?:func\s*)?\(\s*(?:\w+\s+)?[*&\s]*([\w.]+)(?:\[[^\]]*\])?\s*\)\s*\.?\s*(\w+)"
)
_GENERICS = re.compile(r"(?<=[\w>\]])<[^<>]*>|(?<=\w)::<[^<>]*>|\[(?!\d+\])[^\[\]]*\]")
_END = re.compile(
    r"\s*(?:[({;,]|=(?!=)|(?<!:):(?!:)|<|\b(?:extends|implements|where|throws)\b)", re.DOTALL
)
_SEPARATOR = re.compile(r"(?<=[\w)$?!>])(?:::|->|\?\.|#|\\|!\.)(?=[#$~@]?\w)")
_SIGNATURE = re.compile(
    r"[({:=<]|\b(?:def|class|func|fn|fun|function|async|get|set|static|const|let|var|val|type|enum"
    r"|interface|struct|trait|impl|module|namespace|object|record|public|private|protected|export)\s"
)
# The parameters of a test, as pytest prints them.
_TEST_ID = re.compile(r"\b(test\w*)\[.*\]\Z", re.DOTALL)
# `operator[]`, `operator==` and `operator bool` of C++.
_OPERATOR = re.compile(
    r"(?:.*\s)?([\w:.]*)\boperator\s*"
    r"(\(\)|\[\]|\"\"\s*\w+|[-+*/%^&|~!=<>,]+|(?<=\s)\w[\w:]*[*&]*)(?=\s*(?:\(|\Z))",
    re.DOTALL,
)
# The sign of such a name.
OPERATOR = re.compile(r"(?<!\w)operator(\(\)|[^\w\s().]+|\"\"\w+)\Z")
# Words for the type or package around the code, which add nothing to a name.
_THIS = re.compile(r"(?:self|this|cls|super|crate|Self)\.(?=[#\w])")


# Other marks than letters, as in `operator==`, and those that begin or end names of some languages.
SIGNS = re.compile(r"[-+*/%<>=!~^&|\[\]]{1,3}")
_NAME = re.compile(
    r"(?:[^\W\d]|[^\x00-\x7f]|\$)(?:[\w$-]|[^\x00-\x7f])*(?:[?!]|'+|(?<![=!])=)?"
    r"|operator(?:\S{1,3}|\"\"\w+| \w[\w:]*[*&]*)"
)
_WORD = re.compile(r"(?:\w|[^\x00-\x7f])+")


# The types of leaves that are names, in all grammars; what a broken parse left alone is one, too.
NAMES = re.compile(
    r"(?!.*(?:keyword_|tag_name|string))(?:.*(?:identifier(?:_pattern)?|name|variable|symbol|operator)"
    r"|constant|alias|atom|bang|implicit_parameter|keyword|literal_suffix|metavariable|operator_cast"
    r"|preproc_arg|primitive_type|setter|word|ERROR)"
)
SCRIPTED = SCRIPTS | MARKUP
# The text of a macro of C is one token: words in it count, but for those in strings and comments.
_MACRO = rb"(?:[^\"/]|\"(?:[^\"\\\\]|\\\\.)*+\"|/(?!/))*+", rb".*"
# What such a leaf has before and behind the name.
AROUND = {
    **dict.fromkeys(SCRIPTED, (rb"#?", b"")),
    **dict.fromkeys(("c", "cpp"), _MACRO),
    **dict.fromkeys(("kotlin", "scala", "swift"), (rb"`?", rb"`?")),
    "rust": (rb"\$?|r#", b""),
    "csharp": (rb"@?", b""),
    "ruby": (rb":?@{0,2}|:?\$", b""),
    # `Plug.Conn` is one.
    "elixir": (rb":?(?:[\w.]+\.)?", rb":?\s*|\..*"),
}
# Where `$` is a letter, where `?` and `!` are, and where operators are names.
DOLLARS = SCRIPTED | {"java", "kotlin", "scala"}
MARKED = frozenset({"ruby", "elixir"})
OPERATORS = frozenset({"ruby", "elixir", "scala", "swift"})


class Written(NamedTuple):
    """A place that was written as one text: a file, a name in it, or a line."""

    path: str
    name: str
    line: int | None = None
    column: int | None = None


def written_place(text: str) -> Written | None:
    """The parts of `cart.py:12`, `cart.py:12:5`, `cart.py:Cart.total`, `cart.py::Cart::total`.

    None for a text that isn't the path of a source file with something behind it.
    """
    match = re.match(r"([^:\s(]*[^:\s(.]\.\w+|[^:\s(]+/[^:\s(]+):{1,2}(?=[^:\s])", text.strip())
    if match is None:
        return None
    rest = text.strip()[match.end() :]
    found_line = re.match(r"(?:(.*?[^\d:]):)?(\d{1,9})(?::(.+))?\Z", rest)
    if found_line is None:
        return Written(match[1], rest)
    name, line, behind = found_line.groups("")
    if behind.isdecimal():
        return Written(match[1], name, int(line), int(behind[:9]))
    return Written(match[1], behind or name, int(line))


def spelled(text: str) -> str:
    """The dotted name that a text means: of `T::m`, `T#m`, `(*T).m`, `m()` or a signature.

    >>> [spelled(text) for text in ("Headers#get_all", "(*T).m", "async foo(a): b", "x.#own()")]
    ['Headers.get_all', 'T.m', 'foo', 'x.#own']
    """
    text = text.strip().rstrip('`"')
    # `x'` is a name of Haskell's.
    text = _TEST_ID.sub(r"\1", text.strip("`'\"") if text[:1] in "`'\"" else text)
    if receiver := _RECEIVER.match(text):
        return f"{receiver[1]}.{receiver[2]}"
    if method := re.fullmatch(rf"([\w.:]*\w)?(?:\.|#|::)?(?<!\w)({SIGNS.pattern})", text):
        return ".".join(filter(None, (method[1], method[2]))).replace("::", ".")
    if operator := _OPERATOR.match(text):
        owner, sign = operator[1].replace("::", ".").strip("."), "".join(operator[2].split())
        return f"{owner}.operator{' ' * sign[0].isalpha()}{sign}".lstrip(".")
    bare, count = text, 1
    while count:
        bare, count = _GENERICS.subn("", bare)
    if len(text.split()) > 1 and not _SIGNATURE.search(text):
        return text
    words = _END.split(bare, maxsplit=1)[0].split()
    name = words[-1].lstrip("*&@") if words else ""
    if re.fullmatch(r"[^=\s]*\w=", text):
        name += "="  # A setter of Ruby.
    # `$this->name` and `Type::$name` of PHP; a `$` may be a letter, too.
    name = name.lstrip("$") if "->" in name else name.replace("::$", "::")
    name = _THIS.sub("", _SEPARATOR.sub(".", name).lstrip("\\").removeprefix("::"))
    return name.strip(".") or text


def is_name(text: str) -> bool:
    """Return whether some language may call it a name."""
    return bool(_NAME.fullmatch(text) or SIGNS.fullmatch(text))


def word_of(name: str) -> str:
    """The longest part of a name that an index of words has; empty for an operator."""
    return max(_WORD.findall(name), key=len, default="")


def unmarked(name: str) -> str:
    """The name without the `?`, `!`, `=`, `'` or `()` that only some languages have in names."""
    if "operator" in name:
        return name.removesuffix("()")
    return name.rstrip("?!='") if word_of(name) else name


def token_of(language: str, name: str) -> str:
    """A name as the language writes it, without signs before it; empty where it has no such one.

    >>> token_of("ruby", "stop!"), token_of("rust", "vec!"), token_of("go", "stop!")
    ('stop!', 'vec', '')
    """
    if not word_of(name):
        return name if language in OPERATORS else name * ("$" in name and language in DOLLARS)
    name = key_of(name, language).strip("`")
    if language in MARKED or unmarked(name) == name or name.endswith("()"):
        return name
    return name[:-1] if name.endswith("!") and language == "rust" else ""


def key_of(name: str, language: str = "") -> str:
    """A name without signs before it, of which `$` may be a letter; an operator as it is."""
    signs = "#$@~" if language and language not in DOLLARS else "#@~"
    return name.lstrip(signs) if word_of(name) else name
