"""What an editor asks about prompts, each case as its author would see it."""

# ruff: noqa: E501 - a fixture reads best as its author would write it.

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ide.conftest import HEAD

from foldline.ide.analysis.project import Project
from foldline.ide.cost_texts import MINUS
from foldline.ide.errors import RenameRefused
from foldline.ide.features.completion import completions
from foldline.ide.features.field_references import (
    highlights,
    references,
    rename,
    rename_key,
    target_at,
)
from foldline.ide.features.hover import hover, inlays, lenses, title
from foldline.ide.features.keys import definitions, keys_of
from foldline.ide.features.prompt_symbols import symbols
from foldline.ide.features.structure import foldings, links, selection, semantic_tokens
from foldline.ide.token_counter import token_counter

if TYPE_CHECKING:
    from tests.ide.conftest import Fixture, Fixtures

    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.features.prompt_symbols import Symbol

COUNTER = token_counter(exact=False)


def analysis_of(fixture: Fixture) -> ModuleAnalysis:
    analysis = fixture.project.analysis(fixture.file)
    assert analysis is not None
    return analysis


# Completion


def check_completion(fixtures: Fixtures, source: str, expected: list[str]) -> None:
    fixture = fixtures.project(source)
    found = completions(analysis_of(fixture), fixture.cursor)
    assert [item.label for item in found] == expected


SECTION = 'S = MarkdownSection[P](title="T", key="k", template="%s")\n'


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("a ${$0", ["name", "focus"]),
        ("a ${na$0}", ["name", "focus"]),
        ("a $$0", ["name", "focus"]),
        ("a $na$0 b", ["name", "focus"]),
        ("a $$${$0", ["name", "focus"]),
        ("a $$$$$0", []),
        ("a $$5$0", []),
        ("a {$0", []),
        ("🎉 ${name} ${$0 and 🎉", ["name", "focus"]),
    ],
)
def test_fields_are_offered_after_a_dollar(
    fixtures: Fixtures, template: str, expected: list[str]
) -> None:
    check_completion(fixtures, SECTION % template, expected)


@pytest.mark.parametrize(
    "source",
    [
        'S = MarkdownSection[P](title="T", key="k", template="""\n    first\n    second ${$0\n    """)\n',
        'S = MarkdownSection[P](title="T", key="k", template="x", summary="${$0")\n',
        'BODY = "${$0"\nS = MarkdownSection[P](title="T", key="k", template=BODY)\n',
        'S = MarkdownSection[P](title="T", key="k", template="a" "${$0")\n',
        "S = MarkdownSection[P](title='T', key='k', template=r'${$0')\n",
        'def s(text):\n    return MarkdownSection[P](title="T", key="k", template=text)\nS = s("${$0")\n',
        'S = MarkdownSection[P](title="T", key="k", template=f"{x} ${{$0")\n',
        'S = MarkdownSection[P](title="T", key="k",\n    template="${$0\n)\n',
        'S = MarkdownSection[P](title="T", key="k", template="""${$0\n\nT = 1\n',
    ],
)
def test_fields_are_offered_however_the_text_is_written(fixtures: Fixtures, source: str) -> None:
    check_completion(fixtures, source, ["name", "focus"])


def test_a_field_replaces_what_was_typed(fixtures: Fixtures) -> None:
    for typed in ("$$0", "${$0", "${$0}", "${na$0}", "$na$0", "${na$0me}", "$na$0me"):
        fixture = fixtures.project(SECTION % typed)
        chosen = completions(analysis_of(fixture), fixture.cursor)[1]
        text = fixture.text
        result = text[: chosen.place.start] + chosen.text + text[chosen.place.end :]
        assert 'template="${focus}")' in result, typed
        assert chosen.detail == 'str = "security"'


def test_a_field_in_an_f_string_is_still_a_placeholder_when_it_is_run(fixtures: Fixtures) -> None:
    for typed in ("$$0", "${$0", "${$0}", "${{$0", "${{$0}}", "${{na$0}}", "${na$0}"):
        for prefix in ("f", "F", "rf", "fR"):
            source = SECTION.replace('"%s"', f'{prefix}"{{2}} {typed}"')
            fixture = fixtures.project(source)
            chosen = completions(analysis_of(fixture), fixture.cursor)[0]
            text = fixture.text
            result = text[: chosen.place.start] + chosen.text + text[chosen.place.end :]
            written = result[result.index("template=") + len("template=") :].rstrip(")\n")
            assert eval(written) == "2 ${name}", typed


KEYED = """
REF = MarkdownSection[None](title="Ref", key="ref", template="long text", summary="s", visibility=SectionVisibility.SUMMARY, children=[
    MarkdownSection[None](title="In", key="in", template="i")])
X = PromptTemplate(ns="a", key="b", sections=[REF, MarkdownSection[None](title="Task", key="task", template="t"),
    Chapter[None](key="extra", title="Extra", sections=[MarkdownSection[None](title="More", key="more", template="m")])])
"""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('X.render(visibility_overrides={("$0")})', ["ref", "task", "more"]),
        ('X.render(visibility_overrides={("ref", "$0"', ["in"]),
        ('X.render(visibility_overrides={("task",): FULL, ("r$0"', ["ref", "task", "more"]),
        ('OpenSectionsParams(section_keys=("$0",), reason="r")', ["ref", "ref.in", "task", "more"]),
        ('OpenSectionsParams(section_keys=["ref", "$0', ["ref", "ref.in", "task", "more"]),
        ('ReadSectionParams(section_key="$0', ["ref", "ref.in", "task", "more"]),
        ("evaluate(X, goal_section_key='$0')", ["ref", "ref.in", "task", "more"]),
        ('X.expand_chapters(policy, chapter_params={"$0"', ["extra"]),
        ('X.bind(section_params={"$0"})', ["ref", "ref.in", "task", "more"]),
        ('X.bind(section_params={"ref": P("a", f(", {")), "$0"', ["ref", "ref.in", "task", "more"]),
        ('X.bind(section_params={"ref": P("$0")})', []),
        ('X.bind(section_params={"ref": P("a", "$0")})', []),
        ('X.bind(section_params={"ref": "$0"})', []),
        ('X.render(visibility_overrides={("ref",): "$0"})', []),
        ('evaluate(X, goal_section_key="ref", other="$0")', []),
        ('print("$0")', []),
    ],
)
def test_keys_are_offered_where_sections_are_named(
    fixtures: Fixtures, source: str, expected: list[str]
) -> None:
    check_completion(fixtures, KEYED + source + "\n", expected)


def test_params_types_are_offered_for_a_section(fixtures: Fixtures) -> None:
    check_completion(
        fixtures, '@dataclass\nclass Other:\n    x: str\nS = MarkdownSection[$0](title="T", key="k", template="x")\n',
        ["P", "Other", "Task", "None"],
    )  # fmt: skip
    check_completion(fixtures, "class Mine(Task): pass\nS = TaskSection[$0\n", ["Mine", "Task"])
    check_completion(fixtures, "S = list[$0]\n", [])


# Hover


def test_hover_on_a_placeholder_shows_its_field(fixtures: Fixtures) -> None:
    fixture = fixtures.project(
        "@dataclass\nclass Q:\n    x: int = field(default=3, metadata={'description': 'How many.'})\n"
        'S = MarkdownSection[Q](title="T", key="k", template="🎉 ${$0x}")\n'
    )
    found = hover(analysis_of(fixture), fixture.cursor, COUNTER)
    assert found is not None
    assert fixture.text[found.place.start : found.place.end] == "${x}"
    assert found.markdown == "```python\nQ.x: int = 3\n```\n\nHow many."


def test_hover_on_a_section_shows_its_place_size_summary_and_cost(fixtures: Fixtures) -> None:
    fixture = fixtures.project(KEYED.replace('key="ref"', 'key="r$0ef"'))
    found = hover(analysis_of(fixture), fixture.cursor, COUNTER)
    assert found is not None
    assert "**Ref** `ref`" in found.markdown
    assert "`X` 1. `ref`: summarized, ~" in found.markdown
    assert f"if opened ({MINUS}23 text, {MINUS}105 tools) by `read_section`" in found.markdown
    assert "> s" in found.markdown


@pytest.mark.parametrize(
    "source", ["x = $01\n", "$0\n", "de$0f f(): pass\n", 'print("${na$0me}")\n']
)
def test_nothing_is_said_of_what_is_no_prompt(fixtures: Fixtures, source: str) -> None:
    fixture = fixtures.project(source)
    analysis = analysis_of(fixture)
    assert hover(analysis, fixture.cursor, COUNTER) is None
    assert definitions(analysis, fixture.cursor) == ()
    assert target_at(analysis, fixture.cursor) is None
    assert completions(analysis, fixture.cursor) == ()


# Definitions and references


def check_spans(fixtures: Fixtures, source: str, question: str) -> None:
    """The spans that a question gives are those that carets mark, in the first file."""
    fixture = fixtures.project(source)
    analysis = analysis_of(fixture)
    if question == "definition":
        places = definitions(analysis, fixture.cursor)
    elif question == "highlight":
        places = tuple(highlight.place for highlight in highlights(analysis, fixture.cursor))
    else:
        places = references(fixture.project, analysis, fixture.cursor, include_declaration=True)
    text = fixture.files["/w/prompt.py"]
    found = [(place.start, place.end, "here") for place in places if place.file == "/w/prompt.py"]
    expected = source.partition("#- ")[0].replace("$0", "", 1)
    assert fixtures.render(text, found) == expected


def test_the_definition_of_a_placeholder_is_its_field(fixtures: Fixtures) -> None:
    check_spans(
        fixtures,
        '''
@dataclass
class Q(P):
    other: str = ""
#   ^^^^^ here
S = MarkdownSection[Q](title="T", key="k", template="""
    ${name}
    ${ot$0her}
""")
''',
        "definition",
    )


def test_the_definition_of_a_key_is_its_section(fixtures: Fixtures) -> None:
    check_spans(
        fixtures,
        """
A = MarkdownSection[None](title="A", key="a", template="", children=[
    MarkdownSection[None](title="B", key="b", template="")])
#                                        ^^^ here
X = PromptTemplate(ns="n", key="k", sections=[A, MarkdownSection[None](title="B", key="b", template="")])
X.render(visibility_overrides={("a", "$0b"): SectionVisibility.FULL})
""",
        "definition",
    )


USES = """
from dataclasses import replace
@dataclass
class Q:
    who: str = "me"
#   ^^^ here
    what: str = ""
def shown(q: Q) -> bool:
    return bool(q.who)
#                 ^^^ here
S = MarkdownSection[Q](title="T", key="k", template="${wh$0o} ${what} $who" "${who}", summary="$$who ${who}",
#                                                      ^^^ here
#                                                                    ^^^ here
#                                                                            ^^^ here
#                                                                                                    ^^^ here
    enabled=lambda p: p.who != p.what)
#                       ^^^ here
value = Q(who="you", what="x")
#         ^^^ here
print(value.who, other.who, Q.who, "who")
#           ^^^ here
again = replace(value, who="them")
#                      ^^^ here
"""


def test_references_of_a_field_are_all_that_certainly_means_it(fixtures: Fixtures) -> None:
    check_spans(fixtures, USES, "references")
    check_spans(fixtures, USES, "highlight")


def test_references_reach_into_other_files(fixtures: Fixtures) -> None:
    fixture = fixtures.project("""
from shared import Shared
S = MarkdownSection[Shared](title="T", key="k", template="${top$0ic}")
#- shared.py
from dataclasses import dataclass
@dataclass
class Shared:
    topic: str
#- other.py
from foldline.prompts import MarkdownSection
from shared import Shared
U = MarkdownSection[Shared](title="T", key="k", template="${topic}")
""")
    places = references(
        fixture.project, analysis_of(fixture), fixture.cursor, include_declaration=False
    )
    assert [(place.file, fixture.files[place.file][place.start : place.end]) for place in places] == [
        ("/w/other.py", "topic"), ("/w/prompt.py", "topic"),
    ]  # fmt: skip


# Rename


RENAMED = '''
from dataclasses import replace
@dataclass(frozen=True)
class Q:
    who: str = "me"
    loud: bool = False
def visible(q: Q):
    return SectionVisibility.FULL if q.who else SectionVisibility.SUMMARY
BODY = r"""
    Raw ${who}\\n
"""
class Own(MarkdownSection[Q]):
    def __init__(self, **more):
        super().__init__(title="Own", key="own", template="Own $who", **more)
T = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[Q](title="A", key="a", template="""
        🎉 ${who}, $who, ${who}${who} and $$who
        """, summary="${who}", visibility=visible),
    MarkdownSection[Q](title="B", key="b", template=BODY + "\\t${w\\x68o} ${w" "ho}", enabled=lambda q: bool(q.who)),
    Own(),
])
PROMPT = Prompt(T).bind(replace(Q(who="you"), who="them"))
'''


def module_of(text: str) -> ModuleType:
    module = ModuleType("renamed")
    sys.modules["renamed"] = module  # Dataclasses look their module up.
    try:
        exec(compile(text, "renamed", "exec"), vars(module))
    finally:
        del sys.modules["renamed"]
    return module


def run(text: str) -> str:
    return str(module_of(text).PROMPT.render().text)


@pytest.mark.parametrize(
    "asked", ["${who}, $who", "who: str", 'who="you"', "$who, ${who}", "Own $who"]
)
def test_a_module_renders_the_same_text_after_a_rename(fixtures: Fixtures, asked: str) -> None:
    fixture = fixtures.project(RENAMED)
    analysis = analysis_of(fixture)
    offset = fixture.text.index(asked) + asked.index("who") + 1
    changes = rename(fixture.project, analysis, offset, "person_2")
    assert changes is not None
    text = fixture.text
    for change in sorted(changes, key=lambda change: change.place, reverse=True):
        text = text[: change.place.start] + change.text + text[change.place.end :]
    assert run(text) == run(fixture.text)
    assert "person_2" in text
    assert " who" not in text.replace("$$who", "")


@pytest.mark.parametrize(
    ("name", "reason"),
    [("a b", "cannot be a field"), ("class", "cannot be a field"), ("naïve", "cannot be a field"),
     ("focus", "already has a field"), ("", "cannot be a field")],
)  # fmt: skip
def test_a_rename_that_would_break_something_is_refused(
    fixtures: Fixtures, name: str, reason: str
) -> None:
    fixture = fixtures.project(SECTION % "${na$0me}")
    with pytest.raises(RenameRefused, match=reason):
        rename(fixture.project, analysis_of(fixture), fixture.cursor, name)


def test_the_librarys_own_fields_cannot_be_renamed(fixtures: Fixtures) -> None:
    fixture = fixtures.project('S = TaskSection[Task](summary="${req$0uest}")\n')
    assert target_at(analysis_of(fixture), fixture.cursor) is None


KEYS = st.lists(
    st.sampled_from(["tone", "rules", "a", "in-2", "own.part", "x", "more", "deep"]),
    min_size=6,
    max_size=6,
    unique=True,
)


def with_keys(keys: list[str]) -> str:
    """A module with keys in all places that name one."""
    top, inner, made, other, chapter, prompt = keys
    return f"""
@dataclass(frozen=True)
class Q:
    who: str = "me"
INNER = MarkdownSection[Q](title="In", key="{inner}", template="Inner $who", summary="Short")
def make(key): return MarkdownSection[Q](title="Made", key=key, template="Made $who")
T = PromptTemplate(ns="n", key="{prompt}", sections=[
    MarkdownSection[Q](title="Top", key='{top}', template="Of $who", summary="Some", children=[INNER]),
    make("{made}"), INNER.clone(key="{other}"),
], chapters=[Chapter[Q](title="C", key="{chapter}", sections=[
    MarkdownSection[None](title="S", key="s", template="In a chapter.")])])
SUMMARY = SectionVisibility.SUMMARY
PROMPT = T.expand_chapters("all_included", params=[Q()]).bind(
    Q(), section_params={{"{top}.{inner}": Q("far"), '{other}': Q("other")}})
RENDERED = [
    PROMPT.render(visibility_overrides={{("{top}", "{inner}"): SUMMARY}}),
    PROMPT.render(visibility_overrides={{("{top}",): SUMMARY}}),
    PROMPT.render(visibility_overrides={{("{other}",): SUMMARY}}),
]
"""


@given(KEYS, st.integers(0, 40))
def test_a_module_with_a_renamed_key_renders_the_same(keys: list[str], place: int) -> None:
    text = HEAD + with_keys(keys)
    project = Project()
    project.open("/w/prompt.py", text)
    analysis = project.analysis("/w/prompt.py")
    assert analysis is not None
    found = sorted((key for key in keys_of(analysis) if key.declared), key=lambda key: key.place)
    target = found[place % len(found)]
    renamed = rename_key(project, analysis, target.place.start, "new-key")
    assert renamed is not None
    changes, left = renamed
    after = text
    for change in sorted(changes, key=lambda change: change.place, reverse=True):
        after = after[: change.place.start] + change.text + after[change.place.end :]
    before, now = ([one.text for one in module_of(one).RENDERED] for one in (text, after))
    # A summary says the key that opens its section.
    assert [one.replace(target.text, "new-key") for one in before] == [
        one.replace(target.text, "new-key") for one in now
    ]
    assert not left
    assert after.count("new-key") == len([key for key in found if key.declared == target.declared])


def test_stored_overrides_of_a_renamed_key_are_named(tmp_path: Path) -> None:
    file, folder = tmp_path / "prompt.py", Path(".foldline/prompts/overrides/n/old")
    file.write_text(HEAD + with_keys(["a", "b", "c", "d", "e", "old"]))
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "latest.json").touch()
    project = Project(tmp_path)
    analysis = project.analysis(str(file))
    assert analysis is not None
    for key in ("'a'", '"old"'):
        offset = analysis.text.index(key) + 1
        assert rename_key(project, analysis, offset, "new") == (ANY, (str(folder),))
    with pytest.raises(RenameRefused, match="isn't a key: give 1 to 64 characters"):
        rename_key(project, analysis, offset, "New key")


# Structure


def outline(found: tuple[Symbol, ...], indent: str = "") -> str:
    return "".join(
        f"{indent}{item.kind} {item.name} [{item.detail}]\n{outline(item.children, indent + '  ')}"
        for item in found
    )


def test_symbols_are_prompts_with_their_sections_and_loose_sections(fixtures: Fixtures) -> None:
    fixture = fixtures.project(
        KEYED
        + 'Y = Prompt(X)\nLOOSE = MarkdownSection[None](title="Loose", key="loose", template="")\n'
    )
    assert (
        outline(symbols(analysis_of(fixture)))
        == """\
summary Ref [ref]
  section In [ref.in]
prompt X [a/b]
  summary 1. Ref [ref]
  section 2. Task [task]
  chapter Extra [extra]
    section 3. More [more]
prompt Y [a/b]
section Loose [loose]
"""
    )


def titles(fixture: Fixture) -> list[str]:
    """The titles of a file's lenses."""
    analysis = analysis_of(fixture)
    found = lenses(analysis)
    return [title(analysis, COUNTER, lens.prompt, lens.section_key).text for lens in found]


def test_lenses_tell_what_a_prompt_and_its_folded_sections_cost(fixtures: Fixtures) -> None:
    fixture = fixtures.project(KEYED)
    found = lenses(analysis_of(fixture))
    assert [(item.prompt, item.section_key) for item in found] == [("X", "ref"), ("X", None)]
    of_section, of_prompt = titles(fixture)
    assert of_prompt.startswith("Preview · ~")
    assert of_prompt.endswith(" tokens · 1 summarized")
    assert of_section.startswith("Open · ~")
    assert of_section.endswith(f" if opened ({MINUS}23 text, {MINUS}105 tools)")


def test_the_lens_of_what_is_gone_has_no_counts(fixtures: Fixtures) -> None:
    analysis = analysis_of(fixtures.project(KEYED))
    assert title(analysis, COUNTER, "Gone", None).text == "Preview"
    assert title(analysis, COUNTER, "Gone", "ref").text == "Open"
    assert title(analysis, COUNTER, "X", "gone").text == "Open"


def test_lenses_stay_while_a_line_is_unfinished(fixtures: Fixtures) -> None:
    fixture = fixtures.project(KEYED)
    before = titles(fixture)
    for broken in (
        KEYED.replace('key="task"', 'key="task'),
        KEYED.replace('key="b", sections=[', 'key="b", sections='),
        KEYED + "\ndef f(:\n    pass\n",
        KEYED.replace('template="t"),', 'template="t", sum'),
        '"""\n' + KEYED,
    ):
        head = fixture.text[: fixture.text.index(KEYED)]
        fixture.project.open(fixture.file, head + broken)
        assert titles(fixture) == before, broken
        fixture.project.open(fixture.file, head + KEYED)


def test_inlay_hints_number_the_sections(fixtures: Fixtures) -> None:
    fixture = fixtures.project(KEYED)
    found = inlays(analysis_of(fixture), COUNTER)
    assert [item.label.partition(" · ")[0] for item in found] == ["1.", "2.", "3."]
    assert fixture.text[: found[0].offset].endswith('title="Ref"')


def test_texts_sections_and_prompts_fold(fixtures: Fixtures) -> None:
    fixture = fixtures.project(
        'S = MarkdownSection[P](\n    title="T", key="k",\n    template="""\n    x\n    """,\n)\n'
    )
    found = [fixture.text[span.start : span.end] for span in foldings(analysis_of(fixture))]
    assert [item.split("\n")[0] for item in found] == ["MarkdownSection[P](", '"""']


def test_a_selection_grows_from_the_name_to_the_statement(fixtures: Fixtures) -> None:
    fixture = fixtures.project(
        'S = MarkdownSection[P](title="T", key="k", template="""\n    Hi ${na$0me} you\n""")\n'
    )
    found = [
        fixture.text[span.start : span.end]
        for span in selection(analysis_of(fixture), fixture.cursor)
    ]
    assert found[:3] == ["name", "${name}", "Hi ${name} you"]
    assert found[3].startswith('"""')
    assert found[4].startswith("MarkdownSection")
    assert found[5].startswith("S = ")


def test_placeholders_escapes_and_keys_are_coloured(fixtures: Fixtures) -> None:
    fixture = fixtures.project(
        'S = MarkdownSection[P](title="T", key="k", template="$$ ${name} ${nope} 🎉 $focus")\n'
    )
    found = semantic_tokens(analysis_of(fixture))
    assert [(fixture.text[item.span.start : item.span.end], str(item.kind)) for item in found] == [
        ('"k"', "key"), ("$$", "escape"), ("${name}", "placeholder"), ("${nope}", "unknown"), ("$focus", "placeholder"),
    ]  # fmt: skip


def test_addresses_in_templates_are_links(fixtures: Fixtures) -> None:
    fixture = fixtures.project(SECTION % "see https://example.org/a?b=1, or (http://x.y/z).")
    assert [link.target for link in links(analysis_of(fixture))] == [
        "https://example.org/a?b=1",
        "http://x.y/z",
    ]
