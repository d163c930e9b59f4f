"""After any edits of a large statement, every answer is that of a fresh start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.analysis import top_level
from foldline.ide.analysis.project import Project
from foldline.ide.checks import diagnostics
from foldline.ide.checks.costs import check_costs
from foldline.ide.checks.silencing import silenced_here
from foldline.ide.features.completion import completions
from foldline.ide.features.hover import hover, inlays, lenses, title
from foldline.ide.features.prompt_symbols import symbols
from foldline.ide.features.structure import foldings, semantic_tokens
from foldline.ide.render.static_request import costed
from foldline.ide.token_counter import token_counter

from .conftest import HEAD

if TYPE_CHECKING:
    from foldline.ide.analysis.module_analysis import ModuleAnalysis

COUNTER = token_counter(exact=False)
FILE = "/w/prompt.py"
MODULE = (
    HEAD
    + '''\
SHARED = MarkdownSection[P](title="Shared", key="shared", template="Shared by ${name}, ${nope}.")
SHARED.title = "x"  # foldline: ignore[immutable-section, stray-dollar]
def made(key, text):
    return MarkdownSection[P](title="Made", key=key, template=text)
T = PromptTemplate(ns="n", key="t", sections=[
    MarkdownSection[P](
        title="One",
        key="one",
        template="""
        First for ${name}:
          - with ${focus}, \\t and $$5
        """,
        children=[
            MarkdownSection[P](title="In", key="in", template="Deeper for ${name}" "${other}"),
            MarkdownSection[None](title="In", key="in", template="Twice.", summary="Too long"),
            # foldline: ignore[duplicate-key]
        ],
    ),
    # Here and there a comment.
    MarkdownSection[P](  # foldline: ignore[unknown-placeholder]
        title="Two", key="two", enabled=True, summary="${focus}",
        template=f"For {{name}} {1 + 1} ${{name}} 🎉",
        visibility=SectionVisibility.SUMMARY,
        children=(MarkdownSection[P](title="Far", key="far", template="Inside ${name}", tools=[
            Tool(name="open_sections", description="Not a name for it", handler=print)]),),
    ),
    made("three", "A text that is made for ${name} of ${what}"),
    SHARED, SHARED.clone(key="other", title="Another one of them"),
    *[SHARED, MarkdownSection(title="Spread", key="spread", template="for $5")],
    Chapter[None](key="extra", title="Extra", sections=[
        MarkdownSection[P](title="More", key="more", template="More", enabled=lambda p: False)]),
])
if T:
    U = Prompt(T).bind(P(name="somebody who is bound", focus="the focus of it all"))
    V = PromptTemplate(ns="n", key="v", sections=[SHARED, MarkdownSection[P](title="V", key="v",
        template="Only here: ${name}")])
U.render(P(name="another one that is bound"), visibility_overrides={("one", "inn"): None})
'''
)
TYPED = (
    *("x", " ", "\n", "\t", "$", "${", "}", "${nam}", "(", ")", "[", "]", ",", '"', "'", '"""'),
    *("# foldline: ignore[unknown-placeholder, duplicate-key]\n", "[", "ignore", "unknown-keyword"),
    *("enabled=True, ", "children=[None], ", "{name}", "T.render(x=1)\n"),
    *("\\", "#", "=", ":", ";", "é", "🎉", "1", "in", "name", "lambda: ", "not ", "f", "b", "*"),
    'MarkdownSection[P](title="New", key="new", template="New for ${name}"), ',
    ", children=[]", 'summary="s", ', "SHARED, ", "U = 1\n", "\nSHARED = None\n", "class P: pass\n",
)  # fmt: skip


def answers(analysis: ModuleAnalysis) -> dict[str, Any]:
    """All that is said of a file without a cursor."""
    prompts = list(analysis.prompts)
    return {
        "diagnostics": diagnostics(analysis, more=check_costs(analysis, None, COUNTER)),
        "silenced": [silenced_here(analysis, found) for found in diagnostics(analysis)],
        "lenses": [
            (lens, title(analysis, COUNTER, lens.prompt, lens.section_key))
            for lens in lenses(analysis)
        ],
        "symbols": symbols(analysis),
        "inlays": inlays(analysis, COUNTER),
        "foldings": foldings(analysis),
        "tokens": semantic_tokens(analysis),
        "texts": [prompt.render.text for prompt in prompts],
        "costs": [costed(prompt, COUNTER) for prompt in prompts],
        "prompts": analysis.module,
    }


def analysis_of(project: Project) -> ModuleAnalysis:
    analysis = project.analysis(FILE)
    assert analysis is not None
    return analysis


def is_sound(text: str) -> bool:
    """Whether no statement is broken: a broken one borrows what its last good text said."""
    return not top_level.parse(text, FILE).broken


@st.composite
def edits(draw: st.DrawFn) -> list[tuple[float, int, str]]:
    """Where to edit, as a part of the text; how much to delete; and what to type there."""
    place = st.floats(MODULE.index("SHARED") / len(MODULE), 1)
    deleted = st.sampled_from([0, 0, 0, 1, 2, 7, 60])
    typed = st.sampled_from(TYPED)
    return draw(st.lists(st.tuples(place, deleted, typed), min_size=1, max_size=8))


@given(edits(), st.booleans())
def test_after_any_edits_the_answers_are_those_of_a_fresh_start(
    changes: list[tuple[float, int, str]], back: bool
) -> None:
    text = MODULE
    project = Project()
    project.open(FILE, text)
    answers(analysis_of(project))
    for place, deleted, typed in changes:
        at = int(place * len(text))
        before, text = text, text[:at] + typed + text[at + deleted :]
        check(project, text, at + len(typed))
        if back:
            check(project, before, at)
            text = before


def test_a_section_that_is_copied_into_one_above_is_in_both() -> None:
    project = Project()
    project.open(FILE, MODULE)
    answers(analysis_of(project))
    start = MODULE.index('MarkdownSection[P](title="Far"')
    copied = MODULE[start : MODULE.index(",)", start)]
    into = MODULE.index('MarkdownSection[P](title="In"')
    # Two changes at once, so that the statement is read as a whole.
    text = f"{MODULE[:into]}{copied}, {MODULE[into:]}".replace('key="t"', 'key="other"')
    check(project, text, into)
    check(project, text.replace("Inside", "Beside", 1), into)
    check(project, text.replace("Inside", "Beside"), into)


def check(project: Project, text: str, offset: int) -> None:
    project.open(FILE, text)
    found = answers(analysis_of(project))
    if not is_sound(text):
        return
    fresh = Project()
    fresh.open(FILE, text)
    expected = analysis_of(fresh)
    assert found == answers(expected)
    for question in (completions, lambda analysis, at: hover(analysis, at, COUNTER)):
        assert question(analysis_of(project), offset) == question(expected, offset)
