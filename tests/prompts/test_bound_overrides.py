"""Overrides that are bound: their tags, titles, and what falls back to what."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import (
    Chapter,
    MarkdownSection,
    OverridesStore,
    Prompt,
    PromptOverride,
    PromptTemplate,
    Section,
    SectionOverride,
    SectionVisibility,
    SegmentKind,
    Tool,
    ToolContext,
    ToolOverride,
    ToolResult,
    Wording,
    apply_overrides,
    fallback_tags,
    load_overrides,
    seed_override,
)
from foldline.prompts.adapters.scripted import ScriptedAdapter
from foldline.prompts.adapters.transcript import ScriptedTurn, Transcript
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.descriptor import text_hash, tool_hash
from foldline.prompts.errors import PromptConfigurationError, PromptValidationError
from foldline.prompts.forms.segments import Segment
from foldline.prompts.runtime import evaluate_with_disclosure


@FrozenDataclass()
class Who:
    name: str = "Ada"


def find(params: Who, *, context: ToolContext) -> ToolResult[None]:
    return ToolResult()


TOOL = Tool[Who, None](name="find", description="Finds.", handler=find)
TEMPLATE = PromptTemplate(
    ns="team",
    key="greeting",
    sections=[
        MarkdownSection[Who](
            title="Hello",
            key="hello",
            template="Hello ${name}",
            summary="A greeting.",
            tools=[TOOL],
        ),
        MarkdownSection[None](title="Rules", key="rules", template="Be brief."),
    ],
)


class Texts:
    """Overrides in memory, by tag."""

    def __init__(self, *overrides: PromptOverride) -> None:
        self.overrides = {override.tag: override for override in overrides}
        self.asked: list[str] = []

    def load(self, ns: str, key: str, tag: str = "latest") -> PromptOverride | None:
        assert (ns, key) == ("team", "greeting")
        self.asked.append(tag)
        return self.overrides.get(tag)


def under(tag: str, *sections: SectionOverride) -> PromptOverride:
    return PromptOverride("team", "greeting", tag, sections)


def hello(text: str) -> SectionOverride:
    return SectionOverride(("hello",), text, text_hash("Hello ${name}"))


def rules(text: str | None = None, *, title: str | None = None) -> SectionOverride:
    return SectionOverride(
        ("rules",),
        text,
        text_hash("Be brief."),
        title=title,
        title_hash=text_hash("Rules"),
    )


GERMAN = under("de", hello("Hallo ${name}"), rules("Sei knapp.", title="Regeln"))


# Titles


def test_a_title_is_replaced_in_the_heading_and_the_descriptor_stays() -> None:
    applied = apply_overrides(TEMPLATE, under("latest", rules(title="House rules")))
    assert applied.applied == ("rules",)
    rendered = applied.template.render()
    assert "## 2. House rules\n\nBe brief." in rendered.text
    assert rendered.blocks[1].title == "House rules"
    assert rendered.descriptor == TEMPLATE.descriptor
    assert TEMPLATE.sections[1].title == "Rules"


def test_texts_titles_and_summaries_are_stale_on_their_own() -> None:
    item = SectionOverride(
        ("hello",),
        text="Hi ${name}",
        text_hash=text_hash("Hello ${name}"),
        summary="Short.",
        summary_hash=text_hash("another summary"),
        title="Hi",
        title_hash=text_hash("another title"),
    )
    applied = apply_overrides(TEMPLATE, under("latest", item))
    assert [(issue.kind, issue.what) for issue in applied.issues] == [("stale", "hello")] * 2
    assert [issue.reason.split()[1] for issue in applied.issues] == ["title", "summary"]
    assert "## 1. Hello\n\nHi Ada" in applied.template.render().text


@pytest.mark.parametrize("title", ["", "  ", "two\nlines"])
def test_what_cannot_be_a_title_is_refused_with_the_reason(title: str) -> None:
    applied = apply_overrides(TEMPLATE, under("latest", rules("Short.", title=title)))
    (issue,) = applied.issues
    assert (issue.kind, issue.what) == ("refused", "rules")
    assert "one line of text" in issue.reason
    assert "## 2. Rules\n\nShort." in applied.template.render().text


def test_a_section_without_a_template_can_have_another_title() -> None:
    class Custom(Section[None]):
        def render_body(self, params: None) -> list[Segment]:
            return [Segment(SegmentKind.DERIVED, "computed")]

    template = PromptTemplate(ns="n", key="k", sections=[Custom(title="A", key="a")])
    (seeded,) = seed_override(template).sections
    assert (seeded.title, seeded.title_hash, seeded.text) == ("A", text_hash("A"), None)
    override = PromptOverride("n", "k", sections=(replace(seeded, title="B", text="no"),))
    applied = apply_overrides(template, override)
    assert applied.template.render().text == "## 1. B\n\ncomputed"
    assert [issue.reason for issue in applied.issues] == ["the section has no template to replace"]


def test_files_from_before_titles_still_load(tmp_path: Path) -> None:
    store = OverridesStore(tmp_path)
    path = store.path_for("team", "greeting")
    path.parent.mkdir(parents=True)
    old = {
        "path": ["rules"],
        "text": "Short.",
        "text_hash": text_hash("Be brief."),
        "summary": None,
        "summary_hash": None,
    }
    content = {
        "format": 1,
        "ns": "team",
        "key": "greeting",
        "tag": "latest",
        "sections": [old],
        "tools": [],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    text = TEMPLATE.bind(overrides=store).render().text
    assert text.endswith("## 2. Rules\n\nShort.")


# Tags


def test_a_tag_falls_back_to_the_part_before_its_hyphens_and_then_to_latest() -> None:
    assert fallback_tags("latest") == ("latest",)
    assert fallback_tags("de") == ("de", "latest")
    assert fallback_tags("zh-Hant-TW") == ("zh-Hant-TW", "zh-Hant", "zh", "latest")
    assert fallback_tags("latest-de") == ("latest-de", "latest")


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=5))
def test_each_fallback_is_the_one_before_without_its_last_part(parts: list[str]) -> None:
    *tags, last = fallback_tags("-".join(parts))
    assert last == "latest"
    assert tags[0] == "-".join(parts)
    assert [tag.rpartition("-")[0] for tag in tags] == [*tags[1:], ""]


def test_bound_overrides_are_those_of_the_tag() -> None:
    source = Texts(GERMAN, under("latest", rules("Keep it short.")))
    assert TEMPLATE.bind(overrides=source, tag="de").render().text == (
        "## 1. Hello\n\nHallo Ada\n\n## 2. Regeln\n\nSei knapp."
    )
    assert TEMPLATE.bind(overrides=source).render().text.endswith("Keep it short.")
    assert TEMPLATE.render().text.endswith("Be brief.")


def test_each_text_falls_back_on_its_own() -> None:
    source = Texts(
        under("de-CH", hello("Grüezi ${name}")),
        under("de", hello("Hallo ${name}"), rules(title="Regeln")),
        under("latest", rules("Keep it short.", title="Style")),
    )
    rendered = TEMPLATE.bind(overrides=source, tag="de-CH").render()
    assert source.asked == ["de-CH", "de", "latest"]
    assert rendered.text == "## 1. Hello\n\nGrüezi Ada\n\n## 2. Regeln\n\nKeep it short."
    assert rendered.override_issues == ()


def test_a_stale_text_falls_back_and_its_issue_has_the_tag() -> None:
    stale = SectionOverride(("rules",), "Alt.", text_hash("older"))
    source = Texts(under("de-CH", stale), GERMAN)
    prompt = TEMPLATE.bind(overrides=source, tag="de-CH")
    rendered = prompt.render()
    assert rendered.text.endswith("Sei knapp.")
    (issue,) = rendered.override_issues
    assert (issue.kind, issue.what, issue.tag) == ("stale", "rules", "de-CH")
    assert prompt.template.override_issues == (issue,)


def test_a_refused_text_falls_back() -> None:
    source = Texts(under("de-CH", hello("Grüezi ${nmae}")), GERMAN)
    rendered = TEMPLATE.bind(overrides=source, tag="de-CH").render()
    assert "Hallo Ada" in rendered.text
    assert [(issue.kind, issue.tag) for issue in rendered.override_issues] == [("refused", "de-CH")]


def test_a_seeded_file_leaves_to_the_next_what_it_does_not_change(tmp_path: Path) -> None:
    store = OverridesStore(tmp_path)
    store.save(GERMAN)
    store.seed(TEMPLATE, tag="de-AT")
    assert "Hallo Ada" in TEMPLATE.bind(overrides=store, tag="de-AT").render().text
    seeded = store.load("team", "greeting", "de-AT")
    assert seeded is not None
    first = replace(seeded.sections[0], text="Servus ${name}")
    store.save(replace(seeded, sections=(first, *seeded.sections[1:])))
    text = TEMPLATE.bind(overrides=store, tag="de-AT").render().text
    assert text == "## 1. Hello\n\nServus Ada\n\n## 2. Regeln\n\nSei knapp."


def test_descriptions_of_tools_fall_back_too() -> None:
    def of(tag: str, description: str | None, **params: str) -> PromptOverride:
        item = ToolOverride("find", tool_hash(TOOL), description, params)
        return PromptOverride("team", "greeting", tag, tools=(item,))

    source = Texts(of("de-CH", None, name="Wär."), of("de", "Findet.", name="Wer."))
    rendered = TEMPLATE.bind(overrides=source, tag="de-CH").render()
    assert rendered.tools[0].description == "Findet."
    assert rendered.tool_param_descriptions == {"find": {"name": "Wär."}}


def test_a_tag_without_overrides_is_reported_as_missing() -> None:
    source = Texts(under("latest", rules("Keep it short.")))
    (issue,) = TEMPLATE.bind(overrides=source, tag="shroter").render().override_issues
    assert (issue.kind, issue.what) == ("missing", "shroter")
    assert issue.reason == "there are no such overrides; those of 'latest' are used"
    (issue,) = TEMPLATE.bind(overrides=Texts(), tag="fr").render().override_issues
    assert issue.reason == "there are no such overrides; the texts are as declared"
    assert TEMPLATE.bind(overrides=Texts()).render().override_issues == ()
    assert TEMPLATE.bind(overrides=Texts(GERMAN), tag="de-CH").render().override_issues == ()


# Binding


def test_overrides_stay_bound_and_another_tag_replaces_them() -> None:
    french = under("fr", hello("Bonjour ${name}"))
    prompt = TEMPLATE.bind(overrides=Texts(GERMAN, french), tag="de")
    assert "Hallo Bob" in prompt.bind(Who("Bob")).render().text
    text = prompt.bind(tag="fr").render().text
    assert text == "## 1. Hello\n\nBonjour Bob\n\n## 2. Rules\n\nBe brief."
    assert "Hello Bob" in prompt.bind(overrides=Texts()).render().text


def test_what_cannot_be_bound_changes_nothing() -> None:
    prompt = Prompt(TEMPLATE)
    with pytest.raises(PromptConfigurationError, match="the tag 'de' is that of overrides; give"):
        prompt.bind(tag="de")
    with pytest.raises(PromptConfigurationError, match="`overrides` is an OverridesStore"):
        prompt.bind(overrides=GERMAN)  # type: ignore[arg-type]
    with pytest.raises(PromptValidationError, match="dataclasses"):
        prompt.bind("x", overrides=Texts(GERMAN), tag="de")
    with pytest.raises(PromptValidationError, match="not for team/greeting"):
        prompt.bind(overrides=Texts(replace(GERMAN, key="other")), tag="de")
    with pytest.raises(PromptValidationError, match="did you mean 'overrides'"):
        prompt.bind(override=Texts(GERMAN))  # type: ignore[arg-type]
    assert prompt.template is TEMPLATE
    assert "Hello Ada" in prompt.render().text


def test_a_broken_file_is_an_error_where_it_is_bound(tmp_path: Path) -> None:
    store = OverridesStore(tmp_path)
    path = store.path_for("team", "greeting", "de")
    path.parent.mkdir(parents=True)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(PromptValidationError, match="is not JSON"):
        TEMPLATE.bind(overrides=store, tag="de-CH")


def test_overrides_go_with_values_for_one_section_and_with_opening() -> None:
    item = replace(hello("Hallo ${name}"), summary="Gruss.", summary_hash=text_hash("A greeting."))
    source = Texts(under("de", item))
    prompt = TEMPLATE.bind(overrides=source, tag="de", section_params={"hello": Who("Bob")})
    folded = prompt.render(visibility_overrides={("hello",): SectionVisibility.SUMMARY})
    assert "Gruss." in folded.text
    assert "Hallo Bob" in folded.if_opened(("hello",))


def test_overrides_reach_chapters_and_are_kept_by_expansion() -> None:
    inside = MarkdownSection[None](title="In", key="in", template="old")
    chapter = Chapter[None](key="c", title="C", sections=[inside])
    template = PromptTemplate(ns="team", key="greeting", sections=[chapter])
    source = Texts(under("de", SectionOverride(("in",), "neu", text_hash("old"))))
    prompt = template.bind(overrides=source, tag="de")
    expanded = prompt.expand_chapters()
    assert expanded.render().text == "## 1. In\n\nneu"
    with pytest.raises(PromptConfigurationError, match="before `expand_chapters`"):
        expanded.bind(tag="fr")
    german = Wording(background="**Hintergrund:** ${background}")
    assert expanded.bind(wording=german).render().wording == german
    assert expanded.render().text == "## 1. In\n\nneu"
    # What was expanded without overrides can have some.
    bound = template.bind(wording=german).expand_chapters().bind(overrides=source, tag="de")
    assert bound.render().text == "## 1. In\n\nneu"
    assert bound.expand_chapters().render().text == "## 1. In\n\nneu"


def test_evaluate_binds_overrides_for_one_evaluation() -> None:
    script = Transcript.of(*([[ScriptedTurn("x")]] * 3))
    adapter, source = ScriptedAdapter(script), Texts(GERMAN)
    prompt = Prompt(TEMPLATE)
    response = adapter.evaluate(prompt, Who("Bob"), overrides=source, tag="de-CH")
    assert "Hallo Bob" in response.rendered.text
    assert prompt.template is TEMPLATE
    response = adapter.evaluate(TEMPLATE, overrides=source, tag="fr")
    assert [issue.kind for issue in response.rendered.override_issues] == ["missing"]
    source.asked.clear()
    response = evaluate_with_disclosure(adapter, TEMPLATE, overrides=source, tag="de")
    assert "Hallo Ada" in response.rendered.text
    assert source.asked == ["de", "latest"]
    with pytest.raises(PromptConfigurationError, match="sent as is"):
        adapter.evaluate(TEMPLATE.render(), overrides=source)


# Properties

WORDS = st.text("abcdefghijkl äß\n", min_size=1, max_size=12).map(lambda text: f"x{text}x")
TITLES = WORDS.map(lambda text: text.replace("\n", " "))
NAMES = ("hello", "rules")
DECLARED = {
    ("hello", "text"): "Hello ${name}",
    ("hello", "summary"): "A greeting.",
    ("hello", "title"): "Hello",
    ("rules", "text"): "Be brief.",
    ("rules", "title"): "Rules",
}
REPLACEMENTS = st.dictionaries(
    st.sampled_from(sorted(DECLARED)), st.tuples(TITLES, st.booleans()), max_size=5
)


def stored(tag: str, texts: dict[tuple[str, str], tuple[str, bool]]) -> PromptOverride:
    """Return overrides with these texts, where False makes a text stale."""
    sections: dict[str, dict[str, str]] = {}
    for (key, role), (text, valid) in texts.items():
        expected = text_hash(DECLARED[key, role] if valid else "another")
        sections.setdefault(key, {}).update({role: text, f"{role}_hash": expected})
    return under(tag, *(SectionOverride((key,), **given) for key, given in sections.items()))


@given(st.lists(REPLACEMENTS, min_size=1, max_size=3))
def test_each_text_is_the_first_valid_replacement_or_the_declared(
    layers: list[dict[tuple[str, str], tuple[str, bool]]],
) -> None:
    tags = ("de-CH", "de", "latest")[-len(layers) :]
    source = Texts(*map(stored, tags, layers))
    template = TEMPLATE.bind(overrides=source, tag=tags[0]).template
    now = {
        (section.key, role): text
        for section in template.sections
        for role, text in (
            ("text", section.source_text),
            ("summary", section.summary_text),
            ("title", section.title),
        )
        if text is not None
    }
    for place, declared in DECLARED.items():
        valid = [layer[place][0].strip() for layer in layers if place in layer and layer[place][1]]
        assert now[place] == next(iter(valid), declared)
    stale = sum(1 for layer in layers for _, valid in layer.values() if not valid)
    # What a more specific tag has replaced isn't asked of the others.
    assert len([i for i in template.override_issues if i.kind == "stale"]) <= stale


@given(texts=REPLACEMENTS)
def test_what_is_saved_is_what_is_applied(
    texts: dict[tuple[str, str], tuple[str, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = OverridesStore(tmp_path_factory.mktemp("store"))
    override = stored("de", texts)
    store.save(override)
    assert load_overrides(store, "team", "greeting", "de-CH") == (override,)
    bound = TEMPLATE.bind(overrides=store, tag="de-CH").template
    direct = apply_overrides(TEMPLATE, override)
    assert bound.render().text == direct.template.render().text
    assert bound.override_issues == direct.issues
