"""The library's own sentences: their defaults, replacements, and where they are used."""

from dataclasses import fields, replace
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import (
    ENGLISH,
    EachSection,
    MarkdownSection,
    OpenSectionsParams,
    PromptTemplate,
    ReadSectionParams,
    RenderedPrompt,
    SectionPath,
    SectionVisibility,
    Task,
    TaskSection,
    Tool,
    ToolContext,
    ToolExample,
    ToolResult,
    Wording,
)
from foldline.prompts.adapters.schemas import anthropic_tools, openai_tools
from foldline.prompts.adapters.scripted import ScriptedAdapter
from foldline.prompts.adapters.transcript import ScriptedTurn, Transcript
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptValidationError, VisibilityExpansionRequired

GERMAN = Wording(
    more_items="und ${_left_out} weitere",
    no_items="Nichts.",
    summarized="[Zusammengefasst. Mit `${tool}` und dem Schlüssel „${key}“ ganz zu sehen.]",
    summarized_with_subsections="[Gekürzt: ${subsections}. `${tool}`, „${key}“.]",
    background="**Hintergrund:** ${background}",
    expansion_context="**Hinweis:** ${instructions}",
    expansion_instructions="Geöffnet: ${keys}. Grund: ${reason}. Weiter.",
    open_sections="Öffnet Abschnitte.",
    open_sections_keys="Schlüssel.",
    open_sections_reason="Grund.",
    read_section="Liest einen Abschnitt.",
    read_section_key="Der Schlüssel.",
    read_section_result="Abschnitt „${key}“.",
    tool_example="Beispiel: ${description} ${call}",
    tool_example_result="Beispiel: ${description} ${call} ergibt ${result}",
)


@FrozenDataclass()
class Query:
    word: str


def find(params: Query, *, context: ToolContext) -> ToolResult[str]:
    return ToolResult()


TOOL = Tool[Query, str](
    name="find",
    description="Findet.",
    handler=find,
    examples=(
        ToolExample(description="Ein Wort.", params=Query("a")),
        ToolExample(description="Noch eins.", params=Query("b"), result="B"),
    ),
)


def folded(key: str, *children: MarkdownSection[None], tool: bool = False) -> MarkdownSection[None]:
    return MarkdownSection[None](
        title=key,
        key=key,
        template="body",
        summary="short",
        children=children,
        tools=[TOOL] if tool else [],
        visibility=SectionVisibility.SUMMARY,
    )


SECTIONS = [
    TaskSection[Task](),
    folded("docs"),
    folded("tools", MarkdownSection[None](title="in", key="in", template="x"), tool=True),
]
TASK = Task("Do it.", background="It is urgent.", expansion_instructions="Go on.")


def template(wording: Wording = ENGLISH) -> PromptTemplate[None]:
    return PromptTemplate(ns="n", key="k", sections=SECTIONS, wording=wording)


def test_the_default_is_english() -> None:
    assert template().render(TASK).text == (
        "## 1. Task\n\n**Expansion Context:** Go on.\n\n---\n\nDo it.\n\n"
        "**Background:** It is urgent.\n\n"
        "## 2. docs\n\nshort\n\n---\n[This section is summarized. To view full content, call "
        '`read_section` with key "docs".]\n\n'
        "## 3. tools\n\nshort\n\n---\n[This section is summarized. Call `open_sections` with key "
        '"tools" to view full content including subsections: in.]'
    )


IN_GERMAN = (
    "## 1. Task\n\n**Hinweis:** Go on.\n\n---\n\nDo it.\n\n"
    "**Hintergrund:** It is urgent.\n\n"
    "## 2. docs\n\nshort\n\n---\n[Zusammengefasst. Mit `read_section` und dem Schlüssel „docs“ "
    "ganz zu sehen.]\n\n"
    "## 3. tools\n\nshort\n\n---\n[Gekürzt: in. `open_sections`, „tools“.]"
)


def test_a_template_speaks_in_its_wording() -> None:
    assert template(GERMAN).render(TASK).text == IN_GERMAN


def test_a_bound_wording_replaces_the_template_s() -> None:
    made = template()
    english = made.render(TASK).text
    prompt = made.bind(TASK, wording=GERMAN)
    assert prompt.render().text == IN_GERMAN
    assert prompt.render().wording == GERMAN
    assert prompt.expand_chapters().render().text == IN_GERMAN
    assert prompt.bind(wording=ENGLISH).render().text == english
    assert template(GERMAN).bind(TASK, wording=ENGLISH).render().text == english
    assert made.render(TASK).text == english


def test_sections_of_a_template_with_a_wording_speak_that_of_the_next() -> None:
    sections = template(GERMAN).sections
    again = PromptTemplate(ns="n", key="k", sections=sections)
    assert again.render(TASK).text == template().render(TASK).text
    assert SECTIONS[0].wording == ENGLISH


def test_evaluate_speaks_in_the_wording_it_is_given() -> None:
    adapter = ScriptedAdapter(Transcript.of([ScriptedTurn("x")]))
    assert adapter.evaluate(template(), TASK, wording=GERMAN).rendered.text == IN_GERMAN


def opened(rendered: RenderedPrompt[None]) -> VisibilityExpansionRequired:
    tool = next(tool for tool in rendered.tools if tool.name == "open_sections")
    with pytest.raises(VisibilityExpansionRequired) as caught:
        tool.handler(OpenSectionsParams(("docs",), "Warum"), context=None)  # type: ignore[arg-type]
    return caught.value


def test_the_tools_speak_in_the_wording() -> None:
    rendered = template(GERMAN).render(
        TASK, visibility_overrides={("tools",): SectionVisibility.SUMMARY}
    )
    described = {tool["name"]: tool for tool in anthropic_tools(rendered)}
    opening, reading = described["open_sections"], described["read_section"]
    assert (opening["description"], reading["description"]) == (
        "Öffnet Abschnitte.",
        "Liest einen Abschnitt.",
    )
    assert rendered.tool_param_descriptions == {
        "open_sections": {"section_keys": "Schlüssel.", "reason": "Grund."},
        "read_section": {"section_key": "Der Schlüssel."},
    }
    assert "Der Schlüssel." in str(reading["input_schema"])
    assert opened(rendered).expansion_instructions == "Geöffnet: `docs`. Grund: Warum. Weiter."
    tool = next(tool for tool in rendered.tools if tool.name == "read_section")
    result = tool.handler(ReadSectionParams("docs"), context=None)  # type: ignore[arg-type]
    assert result.message == "Abschnitt „docs“."


def test_the_tools_speak_english_by_default() -> None:
    rendered = template().render(TASK)
    assert rendered.tool_param_descriptions == {}
    (reading,) = (tool for tool in rendered.tools if tool.name == "read_section")
    assert reading.description == ENGLISH.read_section
    assert reading.param_descriptions == {"section_key": ENGLISH.read_section_key}


def test_examples_of_tools_are_in_the_wording() -> None:
    shown: dict[SectionPath, SectionVisibility] = {("tools",): SectionVisibility.FULL}
    for wording, words in (
        (ENGLISH, 'Findet.\n\nExample: Ein Wort. {"word": "a"}\n\nExample: Noch eins. '
                  '{"word": "b"} returns B'),
        (GERMAN, 'Findet.\n\nBeispiel: Ein Wort. {"word": "a"}\n\nBeispiel: Noch eins. '
                 '{"word": "b"} ergibt B'),
    ):  # fmt: skip
        rendered = template(wording).render(TASK, visibility_overrides=shown)
        function = openai_tools(rendered)[0]["function"]
        assert isinstance(function, dict)
        assert function["description"] == words


@FrozenDataclass()
class Found:
    queries: tuple[Query, ...] = ()


@pytest.mark.parametrize(
    ("count", "english", "german"),
    [(0, "None.", "Nichts."), (1, "- w", "- w"), (3, "- w\n… and 2 more", "- w\nund 2 weitere")],
)
def test_what_a_list_leaves_out_is_said_in_the_wording(
    count: int, english: str, german: str
) -> None:
    section = EachSection[Found, Query](
        title="Found",
        key="found",
        items="queries",
        template="- ${word}",
        separator="\n",
        max_items=1,
    )
    plain = PromptTemplate(ns="n", key="k", sections=[section])
    found = Found((Query("w"),) * count)
    assert plain.render(found).text == f"## 1. Found\n\n{english}"
    assert plain.bind(found, wording=GERMAN).render().text == f"## 1. Found\n\n{german}"
    # A section's own words are those of its author.
    own = section.clone(empty="Leer.", more="+${_left_out} of ${_total}")
    rendered = PromptTemplate(ns="n", key="k", sections=[own], wording=GERMAN).render(found)
    assert rendered.text.endswith({0: "Leer.", 1: "- w", 3: "- w\n+2 of 3"}[count])


def test_a_wording_of_its_own_changes_the_hash_of_the_content() -> None:
    assert template().descriptor == template(Wording()).descriptor
    assert template().descriptor.content_hash != template(GERMAN).descriptor.content_hash
    # Bound, it is like an override: the descriptor is that of the declaration.
    bound = template().bind(TASK, wording=GERMAN).render()
    assert bound.descriptor == template().descriptor


# What is refused


@pytest.mark.parametrize(
    ("name", "sentence", "words"),
    [
        ("summarized", "[`${tool}`]", r"`summarized` leaves out `\$\{key\}`"),
        ("summarized", "${tool} ${key} ${x}", r"no placeholder `\$\{x\}`; its placeholders are"),
        ("background", "${backgrond}", r"Did you mean `\$\{background\}`\?"),
        ("open_sections", "Opens ${key}", "its placeholders are none"),
        ("read_section", " ", "must be a sentence"),
        ("read_section", 3, "must be a sentence, not 3"),
        ("background", "5 $ ${background}", r"write `\$\$` for a dollar sign"),
    ],
)
def test_a_sentence_with_other_placeholders_is_refused(
    name: str, sentence: object, words: str
) -> None:
    with pytest.raises(PromptValidationError, match=words):
        replace(ENGLISH, **{name: sentence})  # type: ignore[arg-type]


def test_only_a_wording_is_a_wording() -> None:
    with pytest.raises(PromptValidationError, match="`wording` is a Wording, not 'de'"):
        template("de")  # type: ignore[arg-type]
    with pytest.raises(PromptValidationError, match="`wording` is a Wording, not 'de'"):
        template().bind(wording="de")  # type: ignore[arg-type]


VALUES = st.text(max_size=20)


@given(
    before=st.text("ab{}$%\n ", max_size=8),
    between=st.text("ab{}$%\n ", max_size=8),
    tool=VALUES,
    key=VALUES,
)
def test_sentences_are_filled_as_templates_are(
    before: str, between: str, tool: str, key: str
) -> None:
    sentence = f"{before.replace('$', '$$')}${{tool}}{between.replace('$', '$$')}$key"
    wording = replace(ENGLISH, summarized=sentence)
    assert wording.note(tool, key, ()) == Template(sentence).substitute(tool=tool, key=key)


def test_no_value_is_parsed() -> None:
    assert ENGLISH.text("background", background="${x} {y} %s $") == "**Background:** ${x} {y} %s $"


def test_every_sentence_is_written_once() -> None:
    """Each is used by its name: a sentence in another module wouldn't be replaced."""
    from pathlib import Path

    import foldline.prompts.wording as module

    root = Path(module.__file__).parent
    texts = [
        path.read_text(encoding="utf-8")
        for path in root.rglob("*.py")
        if path != Path(module.__file__)
    ]
    for field in fields(Wording):
        start = str(field.default).partition("$")[0].strip()
        assert not [text for text in texts if f'"{start}' in text], field.name
        assert any(
            f"wording.{field.name}" in text or f'"{field.name}"' in text for text in texts
        ) or (f'"{field.name}"' in Path(module.__file__).read_text(encoding="utf-8")), field.name
