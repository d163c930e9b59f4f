"""Forms of fields: what a model reads of a value, and what is said where it would read a repr."""

# ruff: noqa: E501, UP045 - A case reads best in one line; authors write `Optional`, too.

from __future__ import annotations

import enum
import json
import math
import re
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, make_dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Generic, Literal, Optional, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypeAliasType

from foldline.prompts import (
    EachSection,
    Example,
    ExamplesSection,
    ForeignSyntaxWarning,
    MarkdownSection,
    OverridesStore,
    PromptTemplate,
    ReprPlaceholderWarning,
    SectionVisibility,
    SegmentKind,
    Task,
    apply_overrides,
    as_json,
    bullets,
    fenced,
    joined,
    limit,
    numbered,
    or_else,
    xml,
)
from foldline.prompts.cache.tokens import estimated_tokens
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptRenderError, PromptValidationError

if TYPE_CHECKING:
    import fractions

    import foldline.prompts as library
    from foldline.prompts import bullets as list_of


class Color(enum.Enum):
    RED = "red"


class Size(enum.StrEnum):
    SMALL = "small"


class Level(enum.IntEnum):
    LOW = 1


class Mixed(str, enum.Enum):  # noqa: UP042 - Its members show their names, unlike a StrEnum's.
    ONE = "one"


class Loud(enum.Enum):
    YES = 1

    def __str__(self) -> str:
        return "YES!"


@FrozenDataclass()
class Criterion:
    name: str
    weight: float = 1.0


@FrozenDataclass()
class Named:
    name: str = "n"

    def __str__(self) -> str:
        return self.name


class Silent:
    pass


def section_of(hint: object, template: str = "${x}", **more: Any) -> MarkdownSection[Any]:
    kind = make_dataclass("P", [("x", hint)])
    return MarkdownSection[kind](title="T", key="k", template=template, **more)  # type: ignore[valid-type]


def shown(hint: object, value: object, template: str = "${x}") -> str:
    section = section_of(hint, template)
    assert section.params_type is not None
    return section.render(section.params_type(value))


ITEMS = tuple[str, ...]


@pytest.mark.parametrize(
    ("hint", "value", "text"),
    [
        (Annotated[ITEMS, bullets], ("a", "b\nc"), "- a\n- b\n  c"),
        (Annotated[list[str], bullets], ["a", "", "b"], "- a\n-\n- b"),
        (Annotated[ITEMS, bullets], (), ""),
        (Annotated[ITEMS, numbered], ["x\ny"] * 10, "\n".join([f"{i}. x\n   y" for i in range(1, 10)] + ["10. x\n    y"])),
        (Annotated[dict[str, int], bullets], {"a": 1, "b": 2}, "- a: 1\n- b: 2"),
        (Annotated[Mapping[str, int], joined("; ")], {"a": 1, "b": 2}, "a: 1; b: 2"),
        (Annotated[frozenset[str], joined()], frozenset("cab"), "a, b, c"),
        (Annotated[ITEMS, joined("")], ("a", "b"), "ab"),
        (Annotated[list[Color], joined()], [Color.RED], "red"),
        (Annotated[list[Size | Level], joined()], [Size.SMALL, Level.LOW], "small, 1"),
        (Annotated[tuple[str, Annotated[Criterion, as_json]], joined(" ")], ("a", Criterion("b")), 'a {"name": "b", "weight": 1.0}'),
        (Annotated[tuple[Annotated[str, xml("q")], ...], joined("\n")], ("a", "b"), "<q>\na\n</q>\n<q>\nb\n</q>"),
        (Annotated[tuple[Annotated[ITEMS, joined()], ...], bullets], (("a", "b"), ("c",)), "- a, b\n- c"),
        (Annotated[str | ITEMS, bullets], "one", "- one"),
        (Annotated[Criterion, as_json], Criterion("ä"), '{"name": "ä", "weight": 1.0}'),
        (Annotated[Any, as_json], {"a": [Color.RED, None, {2, 1}, date(2026, 1, 2)]}, '{"a": ["red", null, [1, 2], "2026-01-02"]}'),
        (Annotated[str | None, as_json], None, "null"),
        (Annotated[str | None, or_else("unknown")], None, "unknown"),
        (Annotated[str | None, or_else("unknown")], "main", "main"),
        (Annotated[str, or_else("unknown")], "", "unknown"),
        (Annotated[int | None, or_else("unknown")], 0, "0"),
        (Annotated[bool | None, or_else("unknown")], False, "False"),
        (Annotated[ITEMS, bullets, or_else("none")], (), "none"),
        (Annotated[str | None, or_else("none"), xml("a")], None, "<a>\nnone\n</a>"),
        (Annotated[str | None, xml("a"), or_else("none")], None, "none"),
        (Annotated[ITEMS | None, bullets, or_else("")], None, ""),
        (Annotated[ITEMS, bullets, or_else("")] | None, ["a"], "- a"),
        (Optional[Annotated[str, or_else("u")]], None, "u"),
        (Annotated[Annotated[ITEMS, bullets], xml("a")], ("b",), "<a>\n- b\n</a>"),
        (Annotated[str, fenced("python")], "x = 1", "```python\nx = 1\n```"),
        (Annotated[str, fenced()], "a\n", "```\na\n```"),
        (Annotated[str, fenced("md")], "````\na\n````", "`````md\n````\na\n````\n`````"),
        (Annotated[str, xml("p")], "a </P> b < / p > <p x='1'> <pre> </p2>", "<p>\na &lt;/P> b &lt; / p > &lt;p x='1'> <pre> </p2>\n</p>"),
        (Annotated[Color, limit(tokens=9)], Color.RED, "red"),
        (Annotated[str, limit(tokens=3), fenced("text")], "hello you there", "```text\nhello you…\n```"),
        (Annotated[str, limit(tokens=2)], "日本語の", "日本…"),
        (Annotated[str, limit(tokens=3)], "ab\U0001f469\u200d\U0001f469\u200d\U0001f467 cd", "ab…"),
        (Annotated[str, limit(tokens=2)], "abcdefe\u0301\u0323 more", "abcdef…"),
        (Annotated[str, limit(tokens=2)], "abc\U0001f44d\U0001f3fd", "abc…"),
        (Annotated[str, limit(tokens=3)], "\U0001f1e6\U0001f1f9\U0001f1e9\U0001f1ea!", "\U0001f1e6\U0001f1f9…"),
        (Annotated[str, limit(tokens=2)], "abc\ud83d\udc4d more", "abc…"),
        (Annotated[str, limit(tokens=1)], "\U0001f469\u200d\U0001f469", "…"),
        (Annotated[str, "a note", 5], "a", "a"),
    ],
)  # fmt: skip
def test_a_form_makes_this_text(hint: object, value: object, text: str) -> None:
    assert shown(hint, value) == text


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (str, "a"), (int, 1), (float, 1.5), (bool, True), (complex, 1j), (Size, Size.SMALL),
        (Level, Level.LOW), (Loud, Loud.YES), (str | int, 1), (Literal["a", 1], "a"),
        (Named, Named()), (Path, Path("a")), (date, date(2026, 1, 2)), (object, None), (Any, ()),
        ("Missing[int].x", 1), (Annotated[str, "a note"], "a"),
    ],
)  # fmt: skip
def test_a_field_that_shows_as_text_needs_no_form(hint: object, value: object) -> None:
    assert shown(hint, value) == str(value)


@pytest.mark.parametrize(
    ("hint", "value", "message"),
    [
        (ITEMS, ("a",), "shows tuple[str, ...] as Python writes it, such as `('a', 'b')`: write `x: Annotated[tuple[str, ...], bullets]`"),
        (list, [1], "shows list as"),
        (Sequence[str], ["a"], "shows Sequence[str] as"),
        (dict[str, Criterion], {}, "shows dict[str, Criterion] as"),
        (str | None, None, "shows `None` where there is no value: write `x: Annotated[str | None, or_else('unknown')]`"),
        (Optional[str], None, "shows `None`"),
        (Literal["a", None], None, "shows `None`"),
        (Criterion, Criterion("a"), "shows Criterion as Python writes it, with its name and fields: write `x: Annotated[Criterion, as_json]`"),
        (Color, Color.RED, "shows a member's name, such as `Color.NAME`: make Color a StrEnum"),
        (Mixed, Mixed.ONE, "shows a member's name"),
        (bytes, b"a", "such as `b'a'`: decode it"),
        (Silent, Silent(), "with its address: give its class `__str__`"),
        (Callable[[], str], print, "shows Callable"),
        (Annotated[ITEMS, or_else("u")], ("a",), "write `x: Annotated[tuple[str, ...], bullets, or_else('u')]`"),
        (Annotated[str | None, fenced()], None, "write `x: Annotated[str | None, fenced(), or_else('unknown')]`"),
        (Annotated[list[Criterion], bullets], [], "write `Annotated[Criterion, as_json]` for the items"),
        (Annotated[list[ITEMS], bullets], [], "write `Annotated[tuple[str, ...], joined(', ')]` for the items"),
        (Annotated[ITEMS | None, bullets], None, "write `x: Annotated[tuple[str, ...] | None, bullets, or_else('unknown')]`"),
    ],
)  # fmt: skip
def test_a_field_that_would_show_a_repr_is_warned_about_and_shown_as_ever(
    hint: object, value: object, message: str
) -> None:
    pattern = re.escape("Section 'k': `${x}` of `template` ") + ".*" + re.escape(message)
    with pytest.warns(ReprPlaceholderWarning, match=pattern) as caught:
        section = section_of(hint)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert section.params_type is not None
    if not (value is None or value == []) and "Annotated" not in str(hint):
        assert section.render(section.params_type(value)) == str(value)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Hi {name}", "`{name}`"),
        ("Hi {{ name }}!", "`{{ name }}`"),
        ("{name!r:>10}", "`{name!r:>10}`"),
        ("{% if name %}a{% endif %}", "`{% if name %}`"),
        ("{{#if name}}", "`{{#if name}}`"),
        ("${name} or {name}", "`{name}`"),
        ("${name} or $${name} or {name} or {name}-1", None),
        ('Answer {"name": 1} or {nobody}.', None),
        ("{{x}} {% if x %} GET /{name} `{name}`", None),
        ("```\n{name}\n```", None),
    ],
)
def test_a_field_in_another_template_language_is_warned_of(text: str, written: str | None) -> None:
    kind = make_dataclass("P", [("name", str), ("x", str, "")])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = MarkdownSection[kind](title="T", key="k", template=text)  # type: ignore[valid-type]
    if written is None:
        assert not [one for one in caught if "name" in str(one.message)]
    else:
        (one,) = caught
        assert (one.category, one.filename) == (ForeignSyntaxWarning, __file__)
        assert str(one.message).startswith(
            f"Section 'k', `template`: {written} is another template"
        )
    with pytest.warns(ForeignSyntaxWarning, match=r"`summary`: `\{name\}`.*write `\$\{name\}`"):
        made.clone(template="x", summary="{name}")


def test_the_warning_is_about_what_a_text_shows_only() -> None:
    kind = make_dataclass("P", [("x", ITEMS, field(default=())), ("y", str, "a")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = MarkdownSection[kind](title="T", key="k", template="${y}")  # type: ignore[valid-type]
    with pytest.warns(ReprPlaceholderWarning, match=r"of `summary`"):
        made.clone(summary="${x}")


@pytest.mark.parametrize(
    ("hint", "text"),
    [(str, "None"), (int, "None"), (Annotated[str, xml("x")], "<x>\nNone\n</x>")],
)
def test_none_in_a_field_that_is_not_declared_to_be_none_is_warned_of(
    hint: object, text: str
) -> None:
    section = section_of(hint)
    kind = section.params_type
    assert kind is not None
    template = PromptTemplate(ns="n", key="k", sections=[section])
    pattern = r"Section 'k': `\$\{x\}` of `template` shows `None`.*write `x: Annotated\[… \| None"
    with pytest.warns(ReprPlaceholderWarning, match=pattern) as caught:
        assert template.render(kind(None)).text.endswith(text)
    assert [one.filename for one in caught] == [__file__]


@pytest.mark.parametrize("hint", [Annotated[str, as_json], Annotated[str | None, or_else("None!")]])
def test_none_that_shows_in_a_form_is_not_warned_of(hint: object) -> None:
    section = section_of(hint)
    kind = section.params_type
    assert kind is not None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert section.render(kind(None)) in ("null", "None!")


def test_a_section_that_is_left_out_without_a_value_may_show_an_optional_one() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        section_of(str | None, enabled=lambda p: p.x is not None)
    with pytest.warns(ReprPlaceholderWarning):
        section_of(ITEMS, enabled=lambda p: p.x is not None)


@pytest.mark.parametrize(
    ("hint", "message"),
    [
        (Annotated[str, bullets], "`bullets` takes the items of a collection, and str has none"),
        (Annotated[int | None, joined()], "`joined(', ')` takes the items of a collection, and int | None has none"),
        (Annotated[ITEMS, fenced()], "`fenced()` takes a text, which tuple[str, ...] isn't: write `bullets`, `numbered`, `joined` or `as_json` before it"),
        (Annotated[Criterion, xml("a")], "`xml('a')` takes a text, which Criterion isn't: write `as_json` before it"),
        (Annotated[int, or_else("x")], "`or_else('x')` is for a value that may be None or empty, and int never is"),
        (Annotated[str, fenced(), limit(tokens=3)], "`limit(tokens=3)` would cut off the end of `fenced()`: write `limit(tokens=3), fenced()`"),
        (Annotated[ITEMS, limit(tokens=3), bullets], "`bullets` makes the text that `limit(tokens=3)` needs: write `bullets, limit(tokens=3)`"),
        (Annotated[ITEMS, or_else("a"), bullets], "write `bullets, or_else('a')`"),
        (Annotated[ITEMS, bullets, numbered], "`bullets` makes a text, so `numbered` has no items"),
        (Annotated[ITEMS, bullets, as_json], "`bullets` makes a text, so `as_json` would write a JSON string"),
        (Annotated[str, fenced(), fenced("a")], "put the same around a text twice"),
        (Annotated[str, xml("a"), xml("A")], "`xml('A')` would escape the tags of `xml('a')`"),
        (Annotated[str, limit(tokens=1), limit(tokens=2)], "limit the same text"),
        (Annotated[str, or_else("a"), or_else("b")], "`or_else('b')` has no effect"),
        (Annotated[str, fenced], "`fenced` is a function; call it: `fenced('python')`"),
        (Annotated[str, xml("a")] | int, "the forms are around one type of str | int alone"),
        (Annotated[tuple[Annotated[str, xml("q")], ...], joined(), xml("q")], "`xml('q')` would escape the tags of `xml('q')`; take another tag; the items have it"),
        (Annotated[tuple[Annotated[str, bullets], ...], bullets], "`bullets` takes the items of a collection, and str has none"),
    ],
)  # fmt: skip
def test_forms_that_make_no_sense_are_refused(hint: object, message: str) -> None:
    with pytest.raises(PromptValidationError, match=re.escape(message)) as refused:
        section_of(hint)
    error = refused.value
    assert (error.section_path, error.placeholder) == (("k",), "x")
    assert error.dataclass_type is not None
    assert error.dataclass_type.__name__ == "P"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: limit(tokens=0), "above 0, not 0"),
        (lambda: limit(tokens=True), "above 0, not True"),
        (lambda: xml("a b"), "the name of a tag, such as `'passage'`, not 'a b'"),
        (lambda: fenced("a\nb"), "the name of a language"),
        (lambda: fenced("a`"), "the name of a language"),
        (lambda: joined(5), "takes a text, such as `', '`, not 5"),  # type: ignore[arg-type]
        (lambda: or_else(None), "takes a text, such as `'unknown'`, not None"),  # type: ignore[arg-type]
    ],
)
def test_a_form_checks_its_arguments(make: Callable[[], object], message: str) -> None:
    with pytest.raises(PromptValidationError, match=re.escape(message)):
        make()


def test_a_value_that_a_form_cannot_show_is_an_error_of_the_render() -> None:
    with pytest.raises(
        PromptRenderError, match=r"`\$\{x\}` could not be turned into text"
    ) as failed:
        shown(Annotated[float, as_json], math.nan)
    assert failed.value.placeholder == "x"
    with pytest.raises(PromptRenderError, match="bullets takes a collection, not int"):
        shown(Annotated[ITEMS, bullets], 5)


# Types


@dataclass
class Strings:
    """Its annotations are strings, and some of their names exist for type checkers alone."""

    rules: Annotated[tuple[fractions.Fraction, ...], list_of]
    other: Annotated[tuple[fractions.Fraction, ...], library.bullets]
    limit: Annotated[str | None, or_else("?"), limit(tokens=9)] = None
    note: Annotated[str, library.Doc("a note")] = "a"
    exact: fractions.Fraction | None = None


@dataclass
class Inheriting(Strings):
    more: Annotated[ITEMS, numbered] = ()


def test_annotations_may_name_what_only_type_checkers_import() -> None:
    section = MarkdownSection[Inheriting](
        title="T", key="k", template="${other}\n${limit}\n${note}\n${more}"
    )
    value: Any = ("x",)
    params = Inheriting(value, value, more=("y",))
    assert section.render(params) == "- x\n?\na\n1. y"
    with pytest.warns(ReprPlaceholderWarning, match=r"Annotated\[Fraction \| None, or_else"):
        MarkdownSection[Strings](title="T", key="k", template="${exact}")


def test_an_annotation_that_fails_says_so_where_a_form_is_lost() -> None:
    kind = make_dataclass("P", [("x", "Annotated[str, limit(token=3)]"), ("y", "1 / 0", 0)])
    sys.modules[kind.__module__].__dict__.setdefault("limit", limit)
    with pytest.raises(
        PromptValidationError, match=r"raises TypeError: limit\(\) got an unexpected"
    ):
        MarkdownSection[kind](title="T", key="k", template="${x}")  # type: ignore[valid-type]
    section = MarkdownSection[kind](title="T", key="k", template="${y}")  # type: ignore[valid-type]
    assert section.render(kind(x="")) == "0"


@dataclass
class WithClassVariables:
    rules: ClassVar[Annotated[ITEMS, bullets]] = ("a",)


def test_a_class_variable_may_have_a_form() -> None:
    section = MarkdownSection[WithClassVariables](title="T", key="k", template="${rules}")
    assert section.render(WithClassVariables()) == "- a"


T = TypeVar("T")


@FrozenDataclass()
class Box(Generic[T]):
    items: Annotated[tuple[T, ...], bullets]
    one: T


def test_a_generic_dataclass_may_have_forms() -> None:
    section = MarkdownSection[Box[int]](title="T", key="k", template="${items} ${one}")
    assert section.render(Box((1, 2), 3)) == "- 1\n- 2 3"


def test_a_type_alias_may_hold_a_form() -> None:
    # As `type Rules[T] = …` in Python 3.12.
    rules = TypeAliasType("rules", Annotated[tuple[T, ...], bullets], type_params=(T,))
    assert shown(rules[str], ("a",)) == "- a"
    plain = TypeAliasType("plain", Annotated[ITEMS, bullets])
    assert shown(plain, ("a",)) == "- a"


# Where a form works


@FrozenDataclass()
class Review:
    rules: Annotated[ITEMS, bullets] = ("be brief",)
    code: Annotated[str, fenced("python")] = "x = 1\ny = 2"


REVIEW = PromptTemplate[None](
    ns="n",
    key="k",
    sections=[
        MarkdownSection[Review](
            title="R",
            key="r",
            template="Rules:\n\n${rules}\n\n1. Read:\n\n    ${code}",
            summary="Rules: ${rules}",
        )
    ],
)


def test_a_render_and_its_blocks_have_the_form() -> None:
    rendered = REVIEW.render(Review(("a", "b")))
    assert rendered.text == (
        "## 1. R\n\nRules:\n\n- a\n- b\n\n1. Read:\n\n    ```python\n    x = 1\n    y = 2\n    ```"
    )
    segments = [s for s in rendered.blocks[0].segments if s.field == "rules"]
    assert [(s.kind, s.text) for s in segments] == [(SegmentKind.PARAM, "- a\n- b")]
    defaults = REVIEW.render().blocks[0].segments
    assert [s.kind for s in defaults if s.field] == [SegmentKind.DEFAULT] * 2


def test_a_summary_and_a_text_that_overrides_another_have_the_form(tmp_path: Path) -> None:
    summary = REVIEW.render(visibility_overrides={("r",): SectionVisibility.SUMMARY})
    assert "Rules: - be brief" in summary.text
    store = OverridesStore(tmp_path)
    path = store.seed(REVIEW)
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored["sections"][0]["text"] = "Follow these:\n  ${rules}"
    path.write_text(json.dumps(stored), encoding="utf-8")
    override = store.load("n", "k", "latest")
    assert override is not None
    applied = apply_overrides(REVIEW, override)
    assert applied.template.render(Review(("a", "b"))).text.endswith("Follow these:\n  - a\n  - b")


@FrozenDataclass()
class Passage:
    text: Annotated[str, xml("passage")]
    tags: Annotated[ITEMS, joined("/"), or_else("no tags")] = ()
    source: str | None = None


@FrozenDataclass()
class Found:
    passages: tuple[Passage, ...] = ()


def test_the_items_of_a_list_have_the_forms_of_their_fields() -> None:
    section = EachSection[Found, Passage](
        title="P", key="p", items="passages", template="- ${tags}:\n  ${text}"
    )
    found = Found((Passage("a\nb", ("x", "y")), Passage("c")))
    assert section.render(found) == (
        "- x/y:\n  <passage>\n  a\n  b\n  </passage>\n\n- no tags:\n  <passage>\n  c\n  </passage>"
    )
    with pytest.warns(ReprPlaceholderWarning, match="passages"):
        section.clone(empty="${passages}")
    with pytest.warns(ReprPlaceholderWarning, match="source"):
        # An item isn't left out.
        section.clone(template="${source}", enabled=lambda found: True)


def test_the_librarys_own_examples_may_show_their_reasoning() -> None:
    section = ExamplesSection[None, str, str](
        items=[Example("a", "b"), Example("c", "d", "e")], template="${input}(${reasoning})"
    )
    assert section.render() == "a()\n\nc(e)"


def test_the_librarys_own_task_is_shown_as_ever() -> None:
    with pytest.warns(ReprPlaceholderWarning, match="background"):
        MarkdownSection[Task](title="T", key="k", template="${background}")


# What holds for every text

TEXT = st.text(
    st.one_of(st.sampled_from("`~<>/p \n\r\t&$"), st.characters(exclude_categories=["Cs"]))
)


@given(TEXT)
def test_no_text_closes_its_fence(text: str) -> None:
    first, *inner, last = shown(Annotated[str, fenced("md")], text).split("\n")
    fence = first.removesuffix("md")
    assert last == fence
    assert set(fence) == {"`"}
    assert len(fence) >= 3
    assert all(fence not in line for line in inner)
    assert "\n".join(inner) == text.removesuffix("\n")


@given(TEXT)
def test_no_text_closes_its_tag(text: str) -> None:
    made = shown(Annotated[str, xml("p")], text)
    assert len(re.findall(r"<\s*/?\s*p(?![\w.:-])", made, re.IGNORECASE)) == 2
    assert made.startswith("<p>\n")
    assert made.endswith("\n</p>")
    assert made.count("<") == text.count("<") + 2 - (made.count("&lt;") - text.count("&lt;"))


@given(TEXT, st.integers(1, 12))
def test_a_limited_text_is_the_text_or_its_beginning_within_the_limit(text: str, most: int) -> None:
    made = shown(Annotated[str, limit(tokens=most)], text)
    assert estimated_tokens(made) <= most
    if estimated_tokens(text) <= most:
        assert made == text
    else:
        assert made.endswith("…")
        assert text.startswith(made.removesuffix("…"))


@given(
    st.text("ab \t\n"), st.sampled_from(["", " ", "    ", "\t"]), st.sampled_from(["", "Read: "])
)
def test_lines_of_a_value_have_the_indentation_of_its_placeholders_line(
    value: str, indent: str, before: str
) -> None:
    made = shown(str, value, f"top\n{indent}{before}${{x}} end")
    first, *rest = value.split("\n")
    expected = [f"top\n{indent}{before}{first}"]
    expected += [indent + line if line.strip() else line for line in rest]
    assert made == "\n".join(expected) + " end"


@given(st.lists(TEXT))
def test_bullets_are_as_many_as_items(items: list[str]) -> None:
    lines = shown(Annotated[list[str], bullets], items).split("\n")
    assert sum(line.startswith("-") for line in lines) == len(items)
    inside = [line for line in lines if not line.startswith("-")]
    assert all(line.startswith("  ") or not line.strip() for line in inside)
