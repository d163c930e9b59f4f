"""Forms of fields are the same for the source and for the prompt that runs."""

from __future__ import annotations

import itertools
import re
import sys
import warnings
from contextlib import suppress
from types import ModuleType
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.analysis.project import Project
from foldline.ide.checks import Code, diagnostics
from foldline.ide.features.completion import typed_form
from foldline.ide.render.static_request import costed
from foldline.ide.token_counter import token_counter
from foldline.prompts import ReprPlaceholderWarning
from foldline.prompts.cache.tokens import estimated_tokens
from foldline.prompts.errors import PromptRenderError, PromptValidationError

if TYPE_CHECKING:
    from foldline.ide.analysis.module_analysis import ModuleAnalysis

HEAD = """\
import enum
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple, Optional
from foldline.prompts import *

class Color(enum.Enum):
    RED = "red"

class Size(enum.StrEnum):
    SMALL = "small"

class Mixed(str, enum.Enum):
    ONE = "one"

class Pair(NamedTuple):
    a: int = 1

@dataclass
class Item:
    name: str = "n"
    sizes: tuple[int, ...] = (1, 2)

@dataclass
class Named:
    name: str = "n"
    def __str__(self) -> str:
        return self.name

Alias = Annotated[tuple[str, ...], joined(" & ")]
LIMIT = 5
"""

_TEXT = st.text(
    st.sampled_from("ab `<>/$é日 \n\t🎉'\""),
    max_size=12,
).map(repr)
_INT = st.integers(-3, 1000).map(str).filter(lambda number: number[0] != "-")


def _display(items: st.SearchStrategy[str], opening: str, closing: str) -> st.SearchStrategy[str]:
    # A comma ends it, or one item would be no tuple.
    return st.lists(items, max_size=4).map(
        lambda found: (
            opening + "".join(f"{item}, " for item in found) + closing
            if found or opening != "{"
            else "frozenset()"
        )
    )


_TEXTS = _display(_TEXT, "(", ")")
_NONE = st.just("None")
VALUES = {
    "str": _TEXT,
    "int": _INT,
    "float": st.sampled_from(["1.5", "1e3"]),
    "bool": st.sampled_from(["True", "False"]),
    "str | None": _TEXT | _NONE,
    "Optional[int]": _INT | _NONE,
    "tuple[str, ...]": _TEXTS,
    "list[int]": _display(_INT, "[", "]"),
    "list[str] | None": _display(_TEXT, "[", "]") | _NONE,
    "frozenset[str]": _display(_TEXT, "{", "}"),
    "dict[str, int]": st.dictionaries(_TEXT, _INT, max_size=3).map(
        lambda found: "{" + ", ".join(f"{key}: {value}" for key, value in found.items()) + "}"
    ),
    "tuple[Annotated[str, xml('q')], ...]": _TEXTS,
    "tuple[str, Annotated[list[int], joined('+')]]": st.just('("a", [1, 2])'),
    "Item": st.sampled_from(["Item()", 'Item("é")', "Item(sizes=())"]),
    "Item | None": st.sampled_from(["Item()", "None"]),
    "list[Item]": st.sampled_from(['[Item(), Item("b")]', "[]"]),
    "list[Annotated[Item, as_json]]": st.sampled_from(['[Item(), Item("b")]', "[]"]),
    "Named": st.just('Named("x")'),
    "Pair": st.just("Pair(1)"),
    "Color": st.just("Color.RED"),
    "Size": st.just("Size.SMALL"),
    "Mixed": st.just("Mixed.ONE"),
    "list[Color]": st.just("[Color.RED]"),
    "list[Mixed]": st.just("[Mixed.ONE]"),
    "Literal['a', 'b']": st.just("'a'"),
    "Any": _TEXT | _INT | _TEXTS,
    "object": _TEXT,
    "bytes": st.just("b'a'"),
    "Alias": _TEXTS,
}
EXACT = {
    "str", "int", "float", "bool", "str | None", "Optional[int]", "Size", "Literal['a', 'b']",
}  # fmt: skip
"""Types of which the source tells every text, with and without forms."""
SHAPED = {
    "tuple[str, ...]", "list[int]", "list[str] | None", "frozenset[str]", "dict[str, int]",
    "tuple[Annotated[str, xml('q')], ...]", "tuple[str, Annotated[list[int], joined('+')]]",
    "list[Annotated[Item, as_json]]", "Alias",
}  # fmt: skip
"""Types of which it tells every text in a form for collections."""

FORMS = st.sampled_from(
    [
        "bullets",
        "numbered",
        "as_json",
        "joined(', ')",
        'joined("\\n")',
        "fenced()",
        "fenced('python')",
        "xml('q')",
        "xml(tag='p')",
        "or_else('none')",
        "or_else('')",
        "limit(tokens=3)",
        "limit(tokens=LIMIT)",
        "fenced",
        "'a note'",
        "xml('a b')",
    ]
)
LINES = st.sampled_from(["Top ", "\n", "  ", "\n    ", "\n\t- ", "${other}", "$$ ", " end", "${x}"])


@st.composite
def fields(draw: st.DrawFn) -> tuple[str, list[str], str]:
    """A type, its forms, and a value."""
    kind = draw(st.sampled_from(sorted(VALUES)))
    return kind, draw(st.lists(FORMS, max_size=3)), draw(VALUES[kind])


_NUMBERS = itertools.count()


def analysed(source: str) -> ModuleAnalysis:
    project = Project()
    project.open("/w/forms.py", source)
    analysis = project.analysis("/w/forms.py")
    assert analysis is not None
    return analysis


FAILED = "The render failed."


def executed(source: str) -> tuple[str | None, bool]:
    """The prompt's text, None if its section can't be made; and True if a warning was given."""
    text = FAILED
    module = ModuleType(f"forms_{next(_NUMBERS)}")
    sys.modules[module.__name__] = module  # Where dataclasses look for names.
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            exec(compile(source, "forms.py", "exec"), vars(module))
            with suppress(PromptRenderError):
                text = module.PROMPT.render().text
    except PromptValidationError:
        return None, False
    finally:
        del sys.modules[module.__name__]
    return text, any(issubclass(one.category, ReprPlaceholderWarning) for one in caught)


@given(
    fields(),
    st.lists(LINES, min_size=1, max_size=8),
    st.sampled_from(["bound", "default", "factory", "gated", "computed"]),
)
def test_the_source_shows_and_reports_what_running_shows_and_warns_about(
    declared: tuple[str, list[str], str], lines: list[str], way: str
) -> None:
    kind, forms, value = declared
    hint = f"Annotated[{kind}, {', '.join(forms)}]" if forms else kind
    default = f" = field(default_factory=lambda: {value})" if way == "factory" else ""
    default = f" = {value}" if way == "default" and value.isalnum() else default
    bound = "" if default else f"x={value}"
    template = "".join(["T ", *lines, "\n  ${x}"])
    gated = ", enabled=lambda p: True" if way == "gated" else ""
    written = f"{'str()' if way == 'computed' else repr('')} + {template!r}"
    source = (
        f"{HEAD}\n@dataclass\nclass P:\n    x: {hint}{default}\n    other: str = 'o\\no'\n\n"
        f"PROMPT = PromptTemplate(ns='n', key='k', sections=[MarkdownSection[P](\n"
        f"    title='T', key='k', template={written}{gated})]).bind(P({bound}))\n"
    )
    text, warned = executed(source)
    analysis = analysed(source)
    found = {diagnostic.code for diagnostic in diagnostics(analysis)}
    (prompt,) = analysis.prompts
    if way == "computed":
        return  # What code makes of a text, the source doesn't tell.
    assert (Code.INVALID_FORM in found) == (text is None), (hint, found)
    assert (Code.REPR_PLACEHOLDER in found) == warned, (hint, found)
    if text is None:
        return
    if text == FAILED:
        assert not prompt.render.exact
        return
    segments = [segment for block in prompt.render.blocks for segment in block.segments]
    pattern = "".join(re.escape(one.text) if one.known else "(?s:.*)" for one in segments)
    assert re.fullmatch(pattern, text), (prompt.render.text, text)
    shaped = bool(forms) and forms[0].startswith(("bullets", "numbered", "joined", "as_json"))
    if kind in EXACT or (kind in SHAPED and (shaped or kind == "Alias")):
        assert prompt.render.exact == (way != "gated"), (hint, prompt.render.text)
    if prompt.render.exact:
        assert prompt.render.text == text
        tokens = costed(prompt, token_counter(exact=False)).render.tokens
        assert tokens is not None
        assert tokens.text == estimated_tokens(text)


@pytest.mark.parametrize(
    ("line", "typed"),
    [
        ("x: Annotated[str, ", ""),
        ("x: Annotated[str, fen", "fen"),
        ("x: Annotated[tuple[str, int], bullets, or", "or"),
        ("x: t.Annotated[dict[str, int], joined(', '), ", ""),
        ("x: tuple[str, Annotated[\n    int,\n    li", "li"),
        ("x: Annotated[st", None),
        ("x: Annotated[tuple[str, ", None),
        ("x: dict[str, ", None),
        ("x = joined(a, ", None),
        ("x = 1, ", None),
        ("", None),
    ],
)
def test_a_form_is_typed_after_the_type(line: str, typed: str | None) -> None:
    assert typed_form(line, len(line)) == typed


UNTRUSTED = [
    "Untrusted[str]",
    "Annotated[Untrusted[str], xml('q')]",
    "Annotated[Untrusted[str], limit(tokens=3), fenced()]",
    "Annotated[Untrusted[str], as_json]",
    "Annotated[Untrusted[str] | None, or_else('')]",
    "Annotated[Untrusted[str], fenced(), xml('q')]",
    "Annotated[tuple[Untrusted[str], ...], bullets]",
    "Annotated[tuple[Untrusted[str], ...], bullets, xml('q')]",
    "Annotated[tuple[Annotated[Untrusted[str], fenced()], ...], numbered]",
    "Annotated[tuple[Annotated[Untrusted[str], fenced()], ...], joined(', ')]",
    "Annotated[dict[Untrusted[str], str], bullets]",
    "Mail",
    "'Mail'",
    "'Untrusted[str]'",
    "Optional['Bare']",
    "Annotated[tuple['Shown', ...], bullets]",
    "Annotated['Mail', xml('p')]",
    "Inner",
    "Annotated[Inner, as_json]",
    "Shown",
    "Below",
    "Annotated[Row, bullets]",
    "Box[Untrusted[str]]",
    "Annotated[Many[Untrusted[str]], joined(', ')]",
    "Annotated[Many[Mail], joined(', ')]",
    "Annotated[tuple[Image, ...], as_json]",
    "File | None",
    "Optional['Image']",
    "Pictured",
    "Annotated[list[Pictured], as_json]",
    "str",
]
KINDS = ["class P:\n    x: {}", "class P(Box[{}]):\n    pass", "class Q:\n    pass\nP = Box[{}]"]
CLASSES = """\
from typing import Generic, TypedDict, TypeVar
from foldline.prompts.runtime import File, Image
T = TypeVar("T")
Mail = Annotated[Untrusted[str], xml("mail")]
Bare = Untrusted[str]
Many = tuple[T, ...]

@dataclass
class Box(Generic[T]):
    x: T

@dataclass
class Inner:
    note: "Bare"

class Shown:
    inner: Inner
    again: "Shown"
    def __str__(self) -> str:
        return self.inner.note

class Below(Shown):
    pass

class Row(TypedDict):
    note: Bare

@dataclass
class Pictured:
    picture: Image
"""
PLACES = ["{}", "{}, role='system'", "{}, role='developer'", "{}, role='user'"]
TEMPLATES = ["${x}", "It's ${x}", "It's:\n${x}", "It's:\n\n  ${x}\nYes.", "A.\n\n    ${x}", "No."]
LISTED = "EachSection[L, P](items='xs', title='T', key='t', template={!r}, separator={!r}"


@pytest.mark.parametrize("every", [71, pytest.param(5, marks=pytest.mark.slow)])
def test_untrusted_text_is_reported_where_it_is_refused(every: int) -> None:
    seen = set()
    cases = [*itertools.product(UNTRUSTED, KINDS, PLACES, TEMPLATES, ["", "\n\n", ", "])]
    for hint, kind, place, template, between in cases[::every]:
        section = f"MarkdownSection[P](title='T', key='t', template={template!r}"
        if between:
            section = LISTED.format(template, between)
        source = (
            f"{HEAD}{CLASSES}\n@dataclass\n{kind.format(hint)}\n\n@dataclass\nclass L:\n"
            f"    xs: tuple[P, ...]\n\nPROMPT = PromptTemplate(ns='n', key='k', sections=["
            f"{place.format(section)})])\n"
        )
        is_refused = executed(source)[0] is None
        found = {diagnostic.code for diagnostic in diagnostics(analysed(source))}
        is_reported = bool(found & {Code.UNTRUSTED_TEXT, Code.INVALID_FORM})
        assert is_reported is is_refused, (hint, kind, section, found)
        seen.add((is_refused, Code.UNTRUSTED_TEXT in found))
    assert seen == {(False, False), (True, True), (True, False)}
