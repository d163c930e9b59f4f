"""Whatever is typed, every question has an answer, and what is not touched stays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.analysis.project import Project
from foldline.ide.checks import diagnostics
from foldline.ide.features.completion import completions
from foldline.ide.features.field_references import highlights, references
from foldline.ide.features.hover import hover, inlays, lenses
from foldline.ide.features.keys import definitions
from foldline.ide.features.prompt_symbols import symbols
from foldline.ide.features.structure import foldings, links, selection, semantic_tokens
from foldline.ide.token_counter import token_counter

from .conftest import HEAD
from .test_editing import KEYED, RENAMED, USES

if TYPE_CHECKING:
    from foldline.ide.analysis.model import StaticPrompt
    from foldline.ide.analysis.module_analysis import ModuleAnalysis

COUNTER = token_counter(exact=False)


def ask_everything(project: Project, analysis: ModuleAnalysis, offset: int) -> None:
    diagnostics(analysis)
    completions(analysis, offset)
    hover(analysis, offset, COUNTER)
    definitions(analysis, offset)
    references(project, analysis, offset, include_declaration=True)
    highlights(analysis, offset)
    selection(analysis, offset)
    length = len(analysis.text)
    for symbol in symbols(analysis):
        for item in symbol.walk():
            assert 0 <= item.range.start <= item.selection.start
            assert item.selection.end <= item.range.end <= length
    for lens in lenses(analysis):
        assert 0 <= lens.place.start <= lens.place.end <= length
    inlays(analysis, COUNTER)
    for span in foldings(analysis):
        assert span.end <= length
    links(analysis)
    semantic_tokens(analysis)


@given(st.data())
def test_no_question_fails_on_any_damaged_text(data: st.DataObject) -> None:
    whole = KEYED + USES.replace("$0", "") + RENAMED
    at = data.draw(st.integers(0, len(whole) - 1))
    text = data.draw(st.sampled_from([whole[:at], whole[:at] + whole[at + 1 :]]))
    offset = min(len(text), at)
    project = Project()
    project.open("/w/prompt.py", whole if data.draw(st.booleans()) else text)
    project.open("/w/prompt.py", text)
    analysis = project.analysis("/w/prompt.py")
    assert analysis is not None
    ask_everything(project, analysis, offset)


EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer" / "reviewer_prompt.py"
TEXT = EXAMPLE.read_text(encoding="utf-8")
FIRST = TEXT.index("@FrozenDataclass()")


def told(text: str, *earlier: str) -> dict[str, tuple[int, int, list[str]]]:
    """The prompts and sections of the file, each by its source, with its place and its sections."""
    project = Project()
    for item in (*earlier, text):
        project.open("/w/prompt.py", item)
        analysis = project.analysis("/w/prompt.py")
        assert analysis is not None
        ask_everything(project, analysis, len(item) // 2)
    assert analysis is not None
    return {
        text[analysi.range.start : analysi.range.end]: (
            analysi.range.start,
            analysi.range.end,
            [child.name for child in analysi.walk() if not child.reference],
        )
        for analysi in symbols(analysis)
    }


WHOLE = told(TEXT)


@given(st.integers(0, len(TEXT)), st.booleans())
def test_any_prefix_of_the_example_has_all_that_ends_before_it(at: int, warm: bool) -> None:
    found = told(TEXT[:at], *[TEXT] * warm)
    for source, (_, end, sections) in WHOLE.items():
        if end < at:
            assert found[source][2] == sections


@given(st.integers(FIRST, len(TEXT) - 1), st.booleans())
def test_a_lost_character_costs_nothing_of_the_example_beyond_its_statement(
    at: int, warm: bool
) -> None:
    found = told(TEXT[:at] + TEXT[at + 1 :], *[TEXT] * warm)
    renamed = TEXT.index("\ntemplate = ") <= at <= TEXT.index("[Review](")
    for source, (start, end, sections) in WHOLE.items():
        # Of a template that has another name now, nothing is bound.
        if not (start - 40 <= at <= end + 1 or (renamed and source.startswith("reviewer"))):
            assert found[source][2] == sections, f"{TEXT[at - 20 : at]}|{TEXT[at]}"


PARTS = [
    "@dataclass\nclass Q(P):\n    more: str = ''\n",
    "@dataclass\nclass Q:\n    other: int = 1\n    more: str = ''\n",
    "BODY = '${name} ${more}'\n",
    "BODY = '${other} $'\n",
    "S = MarkdownSection[Q](title='T', key='k', template=BODY)\n",
    "S = MarkdownSection[Q](title='', key='K', template=BODY, enabled=lambda q: q.more)\n",
    "X = PromptTemplate(ns='a', key='b', sections=[S, S])\n",
    "X = PromptTemplate(ns='a', key='b', sections=[S])\n",
    "X.bind(Q(), Q())\n",
    "Q = 1\n",
    "",
]


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(PARTS)), min_size=1, max_size=8))
def test_what_is_told_after_edits_is_what_a_fresh_start_tells(
    edits: list[tuple[int, str]],
) -> None:
    parts = [PARTS[0], PARTS[2], PARTS[4], PARTS[7], PARTS[8], ""]
    project = Project()
    for place, part in [(5, ""), *edits]:
        parts[place] = part
        text = HEAD + "\n".join(parts)
        project.open("/w/prompt.py", text)
        fresh = Project()
        fresh.open("/w/prompt.py", text)
        answers = []
        for item in (project, fresh):
            analysis = item.analysis("/w/prompt.py")
            assert analysis is not None
            told_of = (diagnostics(analysis), symbols(analysis), lenses(analysis))
            answers.append((*told_of, semantic_tokens(analysis), foldings(analysis)))
        assert answers[0] == answers[1]


@pytest.mark.parametrize("end", ["\r", "\r\n"])
def test_lines_may_end_as_they_did_on_a_mac(end: str) -> None:
    text = HEAD + 'p = PromptTemplate(ns="n", key="k", sections=[\n    MarkdownSection[P](\n'
    text += '        title="T", key="t", template="""\n    a ${name}\n    """)])\n'
    project = Project()
    project.open("/w/p.py", text.replace("\n", end))
    module = project.analysis("/w/p.py")
    assert module is not None
    assert not module.module.broken
    assert [section.title for section in module.module.prompts[0].sections] == ["T"]


def test_a_statement_that_is_replaced_whole_leaves_nothing() -> None:
    project = Project()
    project.open("/w/p.py", HEAD + 'p = PromptTemplate(ns="n", key="k", sections=[])\n')
    assert [prompt.name for prompt in prompts(project)] == ["p"]
    project.open("/w/p.py", HEAD + "if (:\n")
    assert prompts(project) == []


def test_a_section_that_is_deleted_is_gone_while_its_prompt_is_broken() -> None:
    sections = [
        f'MarkdownSection[P](title="{key}", key="{key}", template="{key}"),' for key in "abc"
    ]
    text = HEAD + f'p = PromptTemplate(ns="n", key="k", sections=[{"".join(sections)}])\n'
    project = Project()
    project.open("/w/p.py", text)
    assert [section.title for section in prompts(project)[0].sections] == ["a", "b", "c"]
    project.open("/w/p.py", text.replace(f"{sections[1]}{sections[2]}])", ""))
    assert [section.title for section in prompts(project)[0].sections] == ["a"]


def prompts(project: Project) -> list[StaticPrompt]:
    analysis = project.analysis("/w/p.py")
    assert analysis is not None
    return list(analysis.module.prompts)
