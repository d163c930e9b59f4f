"""Sections that show each item of a list: text, limits, checks, overrides, blocks."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import (
    Chapter,
    EachSection,
    MarkdownSection,
    PromptTemplate,
    SectionVisibility,
    SegmentKind,
    apply_overrides,
    seed_override,
)
from foldline.prompts.cache.tokens import estimated_tokens
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.descriptor import text_hash
from foldline.prompts.errors import PromptRenderError, PromptValidationError
from foldline.prompts.overrides.overrides import PromptOverride, SectionOverride

T = TypeVar("T")


@FrozenDataclass()
class Passage:
    source: str
    text: str = "text"


@FrozenDataclass()
class Titled(Passage):
    title: str = ""


@FrozenDataclass()
class Found:
    query: str = "?"
    passages: tuple[Passage, ...] = ()
    more: Sequence[Passage] | None = None
    name: str = ""


@dataclass(frozen=True)
class Pair(Generic[T]):
    left: T


A, B, C = Passage("a", "One."), Passage("b", "Two."), Passage("c", "Three.")


def passages(**arguments: Any) -> EachSection[Found, Passage]:
    given = {"title": "P", "key": "p", "items": "passages", "template": "${source}: ${text}"}
    return EachSection[Found, Passage](**{**given, **arguments})


def text(section: EachSection[Any, Any], *params: object) -> str:
    rendered = PromptTemplate(ns="n", key="k", sections=[section]).render(*params)
    assert "".join(block.text for block in rendered.blocks) == rendered.text
    return rendered.text.removeprefix("## 1. P").strip()


def test_each_item_is_shown_by_the_template() -> None:
    assert text(passages(), Found(passages=(A, B))) == "a: One.\n\nb: Two."
    numbered = passages(template="${_number}. ${text}", separator="\n")
    assert text(numbered, Found(passages=(A, B, C))) == "1. One.\n2. Two.\n3. Three."


def test_no_items_are_said_in_words() -> None:
    assert text(passages(), Found()) == "None."
    assert text(passages(empty="Nothing on ${query}, $$0."), Found("x")) == "Nothing on x, $0."
    assert text(passages(empty=""), Found()) == ""
    assert text(passages(items="more"), Found()) == "None."


def test_items_may_be_given_with_the_section() -> None:
    section = EachSection[None, Passage](
        title="P", key="p", items=[A, B], template="- ${text}", separator="\n"
    )
    assert text(section) == "- One.\n- Two."
    assert section.items == (A, B)


def test_values_are_inserted_verbatim() -> None:
    assert text(passages(), Found(passages=(Passage("$x", "${text} {y}"),))) == "$x: ${text} {y}"


def test_an_item_of_a_derived_class_is_an_item() -> None:
    assert text(passages(), Found(passages=(Titled("t", "Four."),))) == "t: Four."


# Limits


def test_items_beyond_the_limit_are_counted_in_a_note() -> None:
    found = Found(passages=(A, B, C))
    assert text(passages(max_items=3), found) == "a: One.\n\nb: Two.\n\nc: Three."
    assert text(passages(max_items=1), found) == "a: One.\n\n… and 2 more"
    section = passages(max_items=2, more="${_left_out} of ${_total}: `search` has more on ${query}")
    assert text(section, found).endswith("b: Two.\n\n1 of 3: `search` has more on ?")


def test_items_that_exceed_the_budget_are_left_out() -> None:
    found = Found(passages=(A, B, C))
    counts = {"count_tokens": len, "separator": "\n"}
    # 7 + 1 + 7 + 1 + 9
    assert text(passages(budget=25, **counts), found) == "a: One.\nb: Two.\nc: Three."
    assert text(passages(budget=24, **counts, more="+"), found) == "a: One.\nb: Two.\n+"
    # The note counts, too, with the separator before it: 7 + 1 + 7 + 1 + 1.
    assert text(passages(budget=17, **counts, more="+"), found) == "a: One.\nb: Two.\n+"
    assert text(passages(budget=16, **counts, more="+"), found) == "a: One.\n+"
    # The first item is always shown.
    assert text(passages(budget=1, **counts, more="+"), found) == "a: One.\n+"
    assert text(passages(budget=1, **counts), Found(passages=(A,))) == "a: One."
    assert text(passages(budget=24, max_items=1, **counts, more="+"), found) == "a: One.\n+"


def test_the_default_budget_is_in_estimated_tokens() -> None:
    many = Found(passages=tuple(Passage(str(n), "word " * 40) for n in range(100)))
    shown = text(passages(budget=500), many)
    assert 400 < estimated_tokens(shown) <= 500
    kept = shown.count("word " * 40)
    assert shown.endswith(f"… and {100 - kept} more")


@given(
    st.lists(st.text(max_size=12), max_size=12),
    st.integers(1, 60) | st.none(),
    st.integers(1, 12) | st.none(),
    st.sampled_from(["", "\n", "\n\n"]),
)
def test_as_many_items_as_fit_are_shown(
    texts: list[str], budget: int | None, most: int | None, separator: str
) -> None:
    found = Found(passages=tuple(Passage(value) for value in texts))
    section = passages(
        template="${source}.",
        budget=budget,
        max_items=most,
        separator=separator,
        more="<${_left_out}>",
        empty="",
        count_tokens=len,
    )
    body = section.render(found)
    shown = section.shown_items(found)
    parts = [f"{value}." for value in texts[: len(shown)]]
    left = len(texts) - len(shown)
    assert body == separator.join([*parts, f"<{left}>"] if left else parts)
    assert shown == found.passages[: len(shown)]
    assert len(shown) <= (most or 12)
    assert not texts or shown
    if budget is not None and len(shown) > 1:
        assert len(body) <= budget
    if left and len(shown) < (most or 12):
        assert budget is not None
        more = separator.join([*(f"{value}." for value in texts[: len(shown) + 1])])
        more += f"{separator}<{left - 1}>" if left > 1 else ""
        assert len(more) > budget


# Checks


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"items": "pasages"}, "`items` is 'pasages', which isn't a field of Found; did you mean"),
        ({"items": "query"}, "`Found.query` is declared as `str`; `items` needs a field with a"),
        ({"items": 5}, "`items` is an int; give the name of a field that has the items, or a list"),
        ({"items": iter([A])}, "`items` is a list_iterator; give the name"),
        ({"items": [A, "b"]}, r"`items\[1\]` is a str, where Passage is needed"),
        ({"template": "${txt}"}, "`\\${txt}` of `template` isn't a field of Passage. Did you mean"),
        ({"template": "${query}"}, "`\\${query}` of `template` isn't a field of Passage"),
        ({"summary": "${text}"}, "`\\${text}` of `summary` isn't a field of Found"),
        ({"empty": "${text}"}, "`\\${text}` of `empty` isn't a field of Found"),
        ({"more": "${_lft_out}"}, "`\\${_lft_out}` of `more` isn't a field of Found. Did you mean"),
        ({"empty": "${_left_out}"}, "isn't a field of Found"),
        ({"more": 5}, "`more` must be a string, not an int"),
        ({"empty": 3}, "`empty` must be a string, not an int"),
        ({"separator": None}, "`separator` must be a string, not None"),
        ({"budget": 0}, "`budget` must be a number above zero, or None for no limit, not 0"),
        ({"budget": True}, "`budget` must be a number above zero"),
        ({"max_items": 2.5}, "`max_items` must be a number above zero"),
        ({"count_tokens": 3}, "`count_tokens` must be a callable"),
        ({"visibility": SectionVisibility.SUMMARY}, "the visibility SUMMARY but no `summary`"),
    ],
)
def test_what_can_never_work_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(PromptValidationError, match=message) as caught:
        passages(**arguments)
    assert caught.value.section_path == ("p",)
    if "template" not in arguments:
        with pytest.raises(PromptValidationError, match=message):
            passages(summary="s").clone(**{"summary": None, **arguments})


def test_a_wrong_field_has_near_names() -> None:
    with pytest.raises(PromptValidationError) as caught:
        passages(items="pasages")
    assert caught.value.near == ("passages",)
    assert caught.value.placeholder == "pasages"
    assert caught.value.dataclass_type is Found


def test_the_section_is_specialised_with_the_dataclass_of_an_item() -> None:
    arguments: dict[str, Any] = {"title": "P", "key": "p", "items": (), "template": "x"}
    with pytest.raises(PromptValidationError, match=r"write `EachSection\[Params, Item\]\(…\)`"):
        EachSection(**arguments)
    with pytest.raises(PromptValidationError, match=r"an item, not str: .*bullets"):
        EachSection[Found, str](**arguments)
    with pytest.raises(PromptValidationError, match="the section takes no parameters"):
        EachSection[None, Passage](**{**arguments, "items": "passages"})
    with pytest.raises(TypeError):
        EachSection[Found]  # type: ignore[misc]

    @FrozenDataclass()
    class Numbered:
        _number: int = 0

    with pytest.raises(PromptValidationError, match="has a field '_number', which EachSection"):
        EachSection[None, Numbered](**arguments)


HOLDERS: list[tuple[object, bool]] = [
    (tuple[Passage, ...], True),
    (tuple[Passage, Titled], True),
    (list[Titled], True),
    (Sequence[Passage], True),
    (Sequence[Passage | Titled], True),
    (list[Passage] | None, True),
    (Annotated[tuple[Passage, ...], "form"], True),
    (list[Annotated[Passage, "form"]], True),
    (list, True),
    (list[Any], True),
    (Any, True),
    (object, True),
    ("tuple[Later, ...]", True),
    (tuple[str, ...], False),
    (list[Passage | None], False),
    (list[None], False),
    (list[Passage] | Passage, False),
    (set[Passage], False),
    (Iterable[Passage], False),
    (Iterator[Passage], False),
    (Mapping[str, Passage], False),
    (dict[str, Passage], False),
    (str, False),
    (Passage, False),
    (list[Found], False),
    (None, True),
]


@pytest.mark.parametrize(("hint", "right"), HOLDERS, ids=str)
def test_the_field_must_have_a_sequence_of_items(hint: object, right: bool) -> None:
    kind: Any = dataclass(type("Holder", (), {"__annotations__": {"xs": hint}}))
    arguments: dict[str, Any] = {"title": "P", "key": "p", "items": "xs", "template": "${text}"}
    section: Any = EachSection[kind, Passage]
    if right:
        section(**arguments)
        return
    with pytest.raises(PromptValidationError, match=r"such as `tuple\[Passage, \.\.\.\]`"):
        section(**arguments)


def test_a_value_of_another_type_fails_the_render_with_its_place() -> None:
    template = PromptTemplate(ns="n", key="k", sections=[passages()])
    wrong: list[tuple[Any, str]] = [
        ("text", "`Found.passages` holds a str, where a sequence of Passage is needed"),
        ({1: A}, "`Found.passages` holds a dict, where"),
        (iter([A]), "holds a list_iterator, where"),
        ([A, {"text": "b"}], r"`Found.passages` \[1\] is a dict, where Passage is needed"),
    ]
    for value, message in wrong:
        with pytest.raises(PromptRenderError, match=message) as caught:
            template.render(Found(passages=value))
        assert caught.value.section_path == ("p",)
        assert caught.value.placeholder == "passages"


def test_an_item_that_has_no_text_fails_with_its_number() -> None:
    class Broken:
        def __str__(self) -> str:
            raise ValueError("no text")

    broken: Any = Passage("a", Broken())  # type: ignore[arg-type]
    with pytest.raises(PromptRenderError, match=r"`\$\{text\}` could not.* \(item 2\)"):
        text(passages(), Found(passages=(A, broken)))


# As every section


def test_blocks_say_which_item_and_field_a_text_comes_from() -> None:
    section = passages(max_items=2, default_params=Found("q"))
    template = PromptTemplate(ns="n", key="k", sections=[section])
    (block,) = template.render(Found(passages=(A, B, C))).blocks
    assert [(s.kind, s.text, s.field) for s in block.segments[2:]] == [
        (SegmentKind.PARAM, "a", "passages[0].source"),
        (SegmentKind.LITERAL, ": ", None),
        (SegmentKind.PARAM, "One.", "passages[0].text"),
        (SegmentKind.LITERAL, "\n\n", None),
        (SegmentKind.PARAM, "b", "passages[1].source"),
        (SegmentKind.LITERAL, ": ", None),
        (SegmentKind.PARAM, "Two.", "passages[1].text"),
        (SegmentKind.LITERAL, "\n\n", None),
        (SegmentKind.LITERAL, "… and ", None),
        (SegmentKind.DERIVED, "1", "_left_out"),
        (SegmentKind.LITERAL, " more", None),
    ]
    (block,) = template.render().blocks
    assert [s.text for s in block.segments[2:]] == ["None."]
    defaults = passages(default_params=Found(passages=(A,)))
    (block,) = PromptTemplate(ns="n", key="k", sections=[defaults]).render().blocks
    assert block.segments[2].kind is SegmentKind.DEFAULT
    fixed = EachSection[None, Passage](title="P", key="p", items=(A,), template="${text}")
    (block,) = PromptTemplate(ns="n", key="k", sections=[fixed]).render().blocks
    assert block.segments[2].kind is SegmentKind.LITERAL
    assert block.segments[2].field == "items[0].text"


def test_a_list_is_summarized_and_opened_as_any_section() -> None:
    section = passages(
        summary="Passages on ${query}.",
        visibility=SectionVisibility.SUMMARY,
        children=[MarkdownSection[None](title="C", key="c", template="Child.")],
    )
    rendered = PromptTemplate(ns="n", key="k", sections=[section]).render(Found("x", (A,)))
    assert rendered.text.startswith("## 1. P\n\nPassages on x.\n\n---\n")
    assert rendered.if_opened(("p",)) == "## 1. P\n\na: One.\n\n### 1.1. C\n\nChild."


def test_enabled_and_chapters_work_as_for_any_section() -> None:
    section = passages(enabled=lambda params: bool(params.passages))
    template = PromptTemplate(
        ns="n",
        key="k",
        sections=[section],
        chapters=[Chapter[None](key="c", title="C", sections=[passages(key="q")])],
    )
    assert template.render(Found()).text == ""
    assert template.expand_chapters().render(Found(passages=(A,))).text.count("a: One.") == 2


def test_an_override_replaces_the_template_and_the_summary() -> None:
    template = PromptTemplate(ns="n", key="k", sections=[passages(summary="s")])
    (seeded,) = seed_override(template).sections
    assert (seeded.text, seeded.text_hash) == (
        "${source}: ${text}",
        text_hash("${source}: ${text}"),
    )
    changed = SectionOverride(
        ("p",), "<${text}>", seeded.text_hash, "${query}", seeded.summary_hash
    )
    applied = apply_overrides(template, PromptOverride("n", "k", sections=(changed,)))
    assert (applied.applied, applied.issues) == (("p",), ())
    assert applied.template.render(Found(passages=(A, B))).text == "## 1. P\n\n<One.>\n\n<Two.>"
    wrong = SectionOverride(("p",), "${query}", seeded.text_hash)
    applied = apply_overrides(template, PromptOverride("n", "k", sections=(wrong,)))
    (issue,) = applied.issues
    assert issue.kind == "refused"
    assert "isn't a field of Passage" in issue.reason
    stale = SectionOverride(("p",), "<${text}>", text_hash("before"))
    applied = apply_overrides(template, PromptOverride("n", "k", sections=(stale,)))
    assert [issue.kind for issue in applied.issues] == ["stale"]


def test_every_text_is_in_the_content_hash() -> None:
    def hashed(section: EachSection[Any, Any]) -> str:
        return PromptTemplate(ns="n", key="k", sections=[section]).descriptor.content_hash

    fixed = EachSection[None, Passage]
    variants = [
        passages(),
        *(
            passages(**change)
            for change in (
                {"items": "more"},
                {"separator": "\n"},
                {"empty": ""},
                {"more": "…"},
                {"max_items": 3},
                {"budget": 3},
                {"template": "${text}"},
            )
        ),
        fixed(title="P", key="p", items=[A], template="${text}"),
        fixed(title="P", key="p", items=[B], template="${text}"),
    ]
    assert len({hashed(section) for section in variants}) == len(variants)
    assert hashed(passages()) == hashed(passages())


def test_a_clone_gets_other_arguments() -> None:
    section = passages(children=[MarkdownSection[None](title="C", key="c", template="x")])
    copy = section.clone(items="more", separator="; ", key="q", template="${text}", max_items=1)
    assert type(copy) is type(section)
    assert (copy.items, copy.separator, copy.key) == ("more", "; ", "q")
    assert copy.children[0] is not section.children[0]
    assert text(copy.clone(children=()), Found(more=[A, B])) == "One.; … and 1 more"
    assert text(section.clone(children=()), Found(passages=(A,))) == "a: One."
    with pytest.raises(PromptValidationError, match="did you mean 'separator'"):
        section.clone(seperator="")
    with pytest.raises(AttributeError, match=r"`clone\(items=…\)`"):
        section.items = "more"


def test_subclasses_may_fix_or_keep_their_types() -> None:
    params_co = TypeVar("params_co", covariant=True)

    class Passages(EachSection[params_co, Passage]):
        pass

    class Own(EachSection[Found, Passage]):
        derived_placeholders = ("_digest",)
        derived_item_placeholders = ("_number", "_upper")

        def derive(self, params: Found) -> Mapping[str, str]:
            return {"_digest": params.query[::-1]}

        def derive_item(self, item: Passage, number: int) -> Mapping[str, str]:
            return {**super().derive_item(item, number), "_upper": item.text.upper()}

    section = Passages[Found](title="P", key="p", items="passages", template="${text}")
    assert (section.params_type, section.item_type) == (Found, Passage)
    assert type(section).__name__ == "Passages[Found]"
    assert text(section, Found(passages=(A, B))) == "One.\n\nTwo."
    own = Own(
        title="P", key="p", items="passages", template="${_number} ${_upper}", empty="${_digest}"
    )
    assert text(own, Found(passages=(A,))) == "1 ONE."
    assert text(own, Found("abc")) == "cba"


def test_items_may_be_of_a_generic_dataclass() -> None:
    @dataclass(frozen=True)
    class Pairs:
        pairs: tuple[Pair[int], ...] = (Pair(1), Pair(2))

    section = EachSection[Pairs, Pair[int]](
        title="P", key="p", items="pairs", template="${left}", separator=", "
    )
    assert text(section) == "1, 2"
    assert section.item_type is Pair
    assert section.item_hint == Pair[int]


def test_a_field_whose_type_cannot_be_resolved_yet_is_not_refused() -> None:
    @dataclass
    class Early:
        day: "Day"  # type: ignore[name-defined]  # noqa: F821, UP037 - Defined nowhere.
        xs: tuple[Passage, ...] = (A,)

    section = EachSection[Early, Passage](title="P", key="p", items="xs", template="${text}")
    assert text(section, Early(datetime.date(2020, 1, 1))) == "One."
