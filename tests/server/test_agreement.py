"""What the source alone shows of a prompt is what executing it renders."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from foldline.ide.analysis.model import Visibility
from foldline.ide.analysis.project import Project
from foldline.ide.analysis.static_render import StaticRender, render
from foldline.prompts import SectionVisibility

if TYPE_CHECKING:
    from .conftest import Editor

HEAD = """
from dataclasses import dataclass, replace
from typing import Annotated
from foldline.prompts import (
    MarkdownSection, PromptTemplate, Role, SectionVisibility, Task, TaskSection, or_else,
    undotted_heading,
)

@dataclass(frozen=True)
class P:
    name: str = "foldline"
    count: int = 3

@dataclass(frozen=True)
class Review(Task):
    focus: Annotated[str | None, or_else("nothing special")] = None

OLD = MarkdownSection[P](title="Old", key="old", template="Old ${name}.")

def section(key, **others):
    return MarkdownSection[P](key=key, **others)
"""


@dataclass(frozen=True)
class Node:
    """A section to be written down."""

    title: str
    template: str
    summary: str | None
    folded: bool
    made: str
    children: tuple[Node, ...] = field(default=())

    def source(self, key: str) -> str:
        arguments = [f"title={self.title!r}", f"key={key!r}", f"template={self.template!r}"]
        if self.summary is not None:
            arguments.append(f"summary={self.summary!r}")
            if self.folded:
                arguments.append("visibility=SectionVisibility.SUMMARY")
        if self.children:
            written = "".join(
                f"{child.source(f'c{number}')},\n" for number, child in enumerate(self.children)
            )
            arguments.append(f"children=[\n{indent(written, '    ')}]")
        return f"{self.made}({', '.join(arguments)})"

    def keys(self, key: str) -> list[str]:
        """The dotted keys of the section and of those in it."""
        inner = (child.keys(f"{key}.c{number}") for number, child in enumerate(self.children))
        return [key, *(name for names in inner for name in names)]


TASK = 'TaskSection[Review](key="task", summary="To review ${focus}."%s)'


WORDS = st.sampled_from(["Read.", "é 🙂", "$$5", "${name}", "${count} of ${name}", "two\n\nlines"])
TEXTS = st.lists(WORDS, max_size=3).map(" ".join)
TITLES = st.sampled_from(["Task", "Rules", "Über 🙂", "A *b*"])
SUMMARIES = st.none() | st.sampled_from(["In short.", "Of ${name}."])
MADE = st.sampled_from(["MarkdownSection[P]", "OLD.clone", "section"])
FIELDS = (TITLES, TEXTS, SUMMARIES, st.booleans(), MADE)
LEAVES = st.builds(Node, *FIELDS)
NODES = st.recursive(
    LEAVES,
    lambda nodes: st.builds(Node, *FIELDS, st.lists(nodes, max_size=3).map(tuple)),
    max_leaves=6,
)


OPTIONAL = st.sampled_from(["", "None", "''", "'In March.'"])
TASKS = st.tuples(
    st.sampled_from(["request='Go on.'", "request=''", "request='${name} $5'"]),
    OPTIONAL.map(lambda value: value and f"background={value}"),
    OPTIONAL.map(lambda value: value and f"expansion_instructions={value}"),
    st.sampled_from(["", "focus='speed'"]),
).map(lambda arguments: ", ".join(filter(None, arguments)))
REVIEWS = TASKS.map("Review({})".format) | TASKS.map(
    "replace(Review('old', 'as before'), {})".format
)
VALUES = st.sampled_from(
    [[], ["P()"], ["P('you')"], ["P(count=7)"], ["replace(P(count=1), name='x')"]]
)
OWN = st.dictionaries(
    st.integers(0, 5), st.sampled_from(["P()", "P('own')", "replace(P('x'), count=9)"]), max_size=3
)
"""Parameters for single sections, by the number of the section."""
ROLES = st.sampled_from(
    ["", "", ", role='system'", ", role=Role.DEVELOPER", ", role='user'", ", role=None"]
)
DEFAULTS = st.sampled_from(["", ", default_params=P(name='default')", ", default_params=None"])


@given(
    st.lists(NODES, min_size=1, max_size=3),
    st.tuples(REVIEWS, st.sampled_from(["", ", visibility=SectionVisibility.SUMMARY"])) | st.none(),
    st.tuples(VALUES, OWN, OWN),
    DEFAULTS,
    st.sampled_from(["", ", heading=undotted_heading", ", disclosure='open'"]),
    st.tuples(st.lists(ROLES, min_size=4, max_size=4), st.integers(0, 2)),
)
def test_generated_prompts_are_shown_as_they_render(  # noqa: PLR0917 - One for each strategy.
    nodes: list[Node],
    task: tuple[str, str] | None,
    bound: tuple[list[str], dict[int, str], dict[int, str]],
    default: str,
    options: str,
    declared: tuple[list[str], int],
) -> None:
    values, *own = bound
    roles, system = declared
    sources = [node.source(f"s{n}") for n, node in enumerate(nodes)]
    # The default of one section is that of all sections of its type.
    sources[-1] = f"{sources[-1][:-1]}{default})"
    if task is not None:
        sources.insert(len(sources) // 2, TASK % task[1])
        values = [*values, task[0]]
    lines = [
        f"    {source[:-1]}{'' if place < system else role}),\n"
        for place, (source, role) in enumerate(zip(sources, roles, strict=False))
    ]
    shown, rest = "".join(lines[:system]), "".join(lines[system:])
    source = f"{HEAD}\nt = PromptTemplate(ns='n', key='k'{options}, sections=[\n{rest}]"
    source += f", system=[\n{shown}])\n" if shown else ")\n"
    keys = [key for number, node in enumerate(nodes) for key in node.keys(f"s{number}")]
    first, second = (
        ", ".join(f"'{keys[at % len(keys)]}': {value}" for at, value in given.items())
        for given in own
    )
    arguments = ", ".join([*values, f"section_params={{{first}}}"])
    source += f"p = t.bind({arguments})\np.bind(section_params={{{second}}})\n"
    module: dict[str, Any] = {"__name__": __name__}
    exec(source, module)
    executed = module["p"].render()
    project = Project()
    project.open("/w/prompt.py", source)
    analysis = project.analysis("/w/prompt.py")
    assert analysis is not None
    prompt = list(analysis.prompts)[-1]
    static = prompt.render
    assert static.certain
    assert static.text == executed.text
    assert [
        (block.path, block.number, block.title, block.role, str(block.visibility), block.text)
        for block in static.blocks
    ] == [
        (block.path, block.number, block.title, block.role, block.visibility.name, block.text)
        for block in executed.blocks
    ]
    assert [section.path for section in prompt.described.walk() if section.depth == 0] == [
        block.path for block in executed.blocks if block.depth == 0
    ]
    assert [
        [(str(segment.kind), segment.text) for segment in block.segments if segment.text]
        for block in static.blocks
    ] == [
        [(segment.kind.value, segment.text) for segment in block.segments if segment.text]
        for block in executed.blocks
    ]
    assert [(block.span.start, block.span.end) for block in static.blocks] == [
        (block.span.start, block.span.end) for block in executed.blocks
    ]
    for block in static.blocks:
        if block.visibility is Visibility.SUMMARY:
            opened = render(prompt.value, {block.path: Visibility.FULL})
            inside = (one for one in opened.blocks if one.path[: len(block.path)] == block.path)
            text = "".join(segment.text for one in inside for segment in one.segments)
            assert text.removesuffix("\n\n") == executed.if_opened(block.path)


@pytest.mark.real
async def test_the_example_is_shown_as_it_renders(editor: Editor) -> None:
    editor.open("reviewer_prompt.py")
    for overrides in ({}, {"reference-docs": "FULL"}):
        static = await editor.command("prompt.render", fidelity="static", overrides=overrides)
        executed = await editor.command("prompt.render", overrides=overrides)
        assert (static["fidelity"], executed["fidelity"]) == ("static", "executed")
        alike = ("id", "number", "title", "depth", "visibility", "span", "text")
        shown, rendered = (
            [{name: block[name] for name in alike} for block in answer["blocks"]]
            for answer in (static, executed)
        )
        assert shown == rendered


# What the source leaves open

OPEN_HEAD = (
    HEAD
    + """
import os
from foldline.prompts import Chapter, Tool, dotted_heading

class Loud(MarkdownSection[P]):
    def render_summary(self, params):
        return "Loud and clear."

class Late(MarkdownSection[P]):
    def visibility_for(self, params, *, session=None):
        return SectionVisibility.FULL

def handle(params, *, context):
    raise NotImplementedError

def plain_heading(heading):
    return f"## {heading.title}"
"""
)

UNKNOWN = "os.environ.get('FOLDLINE_NOT_SET', {})"
"""The same value for a program, and nothing for a reader of its source."""


def often(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """These values, some of which only running the code tells."""
    return st.builds(str.format, st.sampled_from(["{}"] * 24 + [UNKNOWN]), values)


KINDS = st.sampled_from(
    ["MarkdownSection[P]"] * 14
    + ["TaskSection[Review]"] * 2
    + ["Chapter[P]"] * 2
    + ["Loud", "Late"]
)
VISIBILITIES = st.sampled_from(
    ["SectionVisibility.FULL"] * 4
    + ["SectionVisibility.SUMMARY"] * 6
    + ["lambda: SectionVisibility.SUMMARY"]
)
TOOLS = st.sampled_from(["[]", "()", "[{}]", UNKNOWN.format("[]"), UNKNOWN.format("[{}]")])
ROWS = st.sampled_from(
    ["[{}]", "({},)"] * 10 + [UNKNOWN.format("[{}]"), f"[*{UNKNOWN.format('[{}]')}]"]
)
TENTH = st.sampled_from([False] * 9 + [True])


@st.composite
def open_sections(
    draw: st.DrawFn, key: str, path: tuple[str, ...], depth: int = 0
) -> tuple[str, list[tuple[str, ...]]]:
    """A section as an expression, and the paths of all that have a summary."""
    kind = draw(KINDS)
    chapter = kind == "Chapter[P]"
    inner = path if chapter else (*path, key)
    arguments = {"key": repr(key), "title": draw(often(TITLES.map(repr)))}
    paths: list[tuple[str, ...]] = []
    if not chapter:
        if kind != "TaskSection[Review]":
            arguments["template"] = draw(often(TEXTS.map(repr)))
        if draw(st.booleans()):
            arguments["summary"] = draw(often(st.sampled_from(["'In short.'", "'Shortly $$5'"])))
            arguments["visibility"] = draw(VISIBILITIES)
            paths.append(inner)
        if draw(st.booleans()):
            tool = f"Tool[P, None](name={key!r}, description='Do it.', handler=handle)"
            arguments["tools"] = draw(TOOLS).format(tool)
        if draw(TENTH):
            arguments["enabled"] = draw(st.sampled_from(["None", "lambda: True", "lambda: False"]))
    row, below = draw(open_rows(f"{key}-", inner, depth + 1))
    if row:
        arguments["sections" if chapter else "children"] = row
    given = ", ".join(f"{name}={value}" for name, value in arguments.items())
    return draw(often(st.just(f"{kind}({given})"))), [*paths, *below]


@st.composite
def open_rows(
    draw: st.DrawFn, prefix: str, path: tuple[str, ...], depth: int
) -> tuple[str, list[tuple[str, ...]]]:
    """Sections as an argument, and the paths of those that have a summary."""
    count = draw(st.integers(0 if depth else 1, 2)) if depth < 3 else 0
    drawn = [draw(open_sections(f"{prefix}{number}", path, depth)) for number in range(count)]
    if not drawn:
        return "", []
    row = draw(ROWS).format(", ".join(source for source, _ in drawn))
    return row, [path for _, paths in drawn for path in paths]


@st.composite
def open_prompts(draw: st.DrawFn) -> tuple[str, dict[tuple[str, ...], str]]:
    """A module with a prompt `p`, and overrides of its visibility."""
    row, paths = draw(open_rows("s", (), 0))
    options = {
        "heading": often(st.sampled_from(["dotted_heading", "undotted_heading", "plain_heading"])),
        "disclosure": often(st.sampled_from(["'auto'", "'open'"])),
    }
    chosen = "".join(
        f", {name}={draw(values)}" for name, values in options.items() if draw(st.booleans())
    )
    source = f"{OPEN_HEAD}\nt = PromptTemplate(ns='n', key='k'{chosen}, sections={row})\n"
    values = []
    if draw(st.booleans()) and any(kind in row for kind in ("[P]", "Loud", "Late")):
        values.append(draw(often(st.just("P('you')"))))
    if "Review" in row:
        values.append(draw(often(st.just("Review('Go.', 'In March.')"))))
    source += f"p = t.bind({', '.join(values)})\n"
    overridden = draw(st.lists(st.sampled_from(paths), max_size=2)) if paths else []
    return source, {path: draw(st.sampled_from(["FULL", "SUMMARY"])) for path in overridden}


UNCERTAIN = {
    "the tool that opens a summary": (
        "MarkdownSection[P](key='a', title='A', template='', summary='S', "
        f"visibility=SectionVisibility.SUMMARY, tools={UNKNOWN.format('[]')})"
    ),
    "the tools below a summary": (
        "MarkdownSection[P](key='a', title='A', template='', summary='S', "
        "visibility=SectionVisibility.SUMMARY, children=[MarkdownSection[P]("
        f"key='b', title='B', template='', tools={UNKNOWN.format('[]')})])"
    ),
    "the sections below a summary": (
        "MarkdownSection[P](key='a', title='A', template='', summary='S', "
        f"visibility=SectionVisibility.SUMMARY, children={UNKNOWN.format('[]')})"
    ),
    "the class's own summary": (
        "Loud(key='a', title='A', template='', summary='S', visibility=SectionVisibility.SUMMARY)"
    ),
    "the class's own visibility": (
        "Late(key='a', title='A', template='', summary='S', visibility=SectionVisibility.SUMMARY)"
    ),
    "a summary that code computes": (
        "MarkdownSection[P](key='a', title='A', template='', "
        f"summary={UNKNOWN.format(repr('S'))}, visibility=SectionVisibility.SUMMARY)"
    ),
}


@pytest.mark.parametrize("section", UNCERTAIN.values(), ids=UNCERTAIN)
def test_a_render_is_not_certain_of_what_only_code_tells(section: str) -> None:
    assert not static_render(f"t = PromptTemplate(ns='n', key='k', sections=[{section}])").certain


@pytest.mark.parametrize("option", ["heading", "disclosure"])
def test_a_render_is_not_certain_of_options_that_only_code_tells(option: str) -> None:
    value = UNKNOWN.format({"heading": "dotted_heading", "disclosure": "'auto'"}[option])
    source = f"t = PromptTemplate(ns='n', key='k', {option}={value}, sections=[])"
    assert not static_render(source).certain


BOUND = (
    "t = PromptTemplate(ns='n', key='k', sections=["
    "MarkdownSection[P](key='a', title='A', template='${name}')])\n"
)


@pytest.mark.parametrize(
    "bound",
    [
        "t.bind(overrides=store)",
        "t.bind(overrides=store, tag='de').bind(P())",
        "t.bind().bind(tag='de')",
        "t.bind(wording=Wording(background='${background}'))",
        "t.bind(**options)",
        "PromptTemplate(ns='n', key='k', wording=GERMAN, sections=t.sections)",
    ],
)
def test_a_render_is_not_certain_of_other_texts(bound: str) -> None:
    assert not static_render(f"{BOUND}p = {bound}").certain


def test_a_render_is_not_certain_of_a_prompt_that_gets_overrides_later() -> None:
    assert not static_render(f"{BOUND}p = t.bind()\np.bind(overrides=store)").certain
    assert static_render(f"{BOUND}p = t.bind()\np.bind(overrides=None, tag=None)").certain


@pytest.mark.parametrize(
    ("bound", "text"),
    [
        ("section_params={'a': P('x')}", "x"),
        ("section_params={'a': P('x'), **more}", None),
        ("section_params={key: P('x')}", None),
        ("section_params=given", None),
        ("section_params={'a': made()}", None),
        ("section_params=dict(a=P('x'))", None),
    ],
)
def test_values_by_key_are_known_where_the_source_has_them(bound: str, text: str | None) -> None:
    static = static_render(f"{BOUND}p = t.bind({bound})")
    assert (static.certain, static.exact) == (True, text is not None)
    assert static.text.endswith("${name}" if text is None else text)


def test_a_render_is_certain_of_a_summary_whose_tools_are_known() -> None:
    static = static_render(
        "t = PromptTemplate(ns='n', key='k', sections=[MarkdownSection[None](key='a', title='A', "
        "template='', summary='S', visibility=SectionVisibility.SUMMARY, tools=[Tool[P, None]("
        "name='t', description='Do it.', handler=handle)], "
        "children=[MarkdownSection[None](key='b', title='B', template='')])])"
    )
    assert static.certain
    assert static.text == (
        "## 1. A\n\nS\n\n---\n[This section is summarized. Call `open_sections` with key "
        '"a" to view full content including subsections: b.]'
    )


def test_the_headings_of_a_star_import_are_known() -> None:
    static = static_render(
        "t = PromptTemplate(ns='n', key='k', heading=undotted_heading, "
        "sections=[MarkdownSection[None](key='a', title='A', template='Text.')])",
        head="from foldline.prompts import *\n",
    )
    assert (static.certain, static.text) == (True, "## 1 A\n\nText.")


def test_a_title_of_two_lines_is_shown_on_one() -> None:
    """It is being typed: the library refuses it."""
    static = static_render(
        "t = PromptTemplate(ns='n', key='k', sections=["
        "MarkdownSection[None](key='a', title='A\\nB', template='Text.')])"
    )
    assert static.text == "## 1. A B\n\nText."


def static_render(source: str, *, head: str = OPEN_HEAD) -> StaticRender:
    """What the source alone shows of its last prompt."""
    project = Project()
    project.open("/w/prompt.py", f"{head}\n{source}\n")
    analysis = project.analysis("/w/prompt.py")
    assert analysis is not None
    return list(analysis.prompts)[-1].render


@given(open_prompts())
def test_a_certain_render_is_what_running_shows(
    drawn: tuple[str, dict[tuple[str, ...], str]],
) -> None:
    """Nothing that a render is certain of depends on what only running the code tells."""
    source, overrides = drawn
    module: dict[str, Any] = {"__name__": __name__}
    exec(source, module)
    # As an evaluation opens chapters by default, which the source alone shows, too.
    executed = (
        module["p"]
        .expand_chapters()
        .render(
            visibility_overrides={path: SectionVisibility[name] for path, name in overrides.items()}
        )
    )
    project = Project()
    project.open("/w/prompt.py", source)
    analysis = project.analysis("/w/prompt.py")
    assert analysis is not None
    prompts = {prompt.name.id: prompt for prompt in analysis.prompts}
    if "p" not in prompts:
        return
    static = render(
        prompts["p"].value, {path: Visibility(name) for path, name in overrides.items()}
    )
    event(f"certain: {static.certain}")
    if not static.certain:
        return
    event(f"opened by: {', '.join(sorted({block.opened_by or '' for block in static.blocks}))}")
    assert [
        (block.path, block.number, block.title, block.depth, block.visibility, block.opened_by)
        for block in static.blocks
    ] == [
        (block.path, block.number, block.title, block.depth, block.visibility.name, block.opened_by)
        for block in executed.blocks
    ]
    # A value that is not known may be any text, and nothing else may differ.
    for shown, block in zip(static.blocks, executed.blocks, strict=True):
        pattern = "".join(
            re.escape(segment.text) if segment.known else ".*" for segment in shown.segments
        )
        assert re.fullmatch(pattern, block.text, re.DOTALL), (shown.text, block.text)
