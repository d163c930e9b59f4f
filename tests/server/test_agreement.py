"""What the source alone shows of a prompt is what executing it renders."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.ide.analysis.project import Project

if TYPE_CHECKING:
    from .conftest import Editor

HEAD = """
from dataclasses import dataclass, replace
from foldline.prompts import (
    MarkdownSection, PromptTemplate, SectionVisibility, Task, TaskSection, undotted_heading,
)

@dataclass(frozen=True)
class P:
    name: str = "foldline"
    count: int = 3

@dataclass(frozen=True)
class Review(Task):
    focus: str | None = None
"""


@dataclass(frozen=True)
class Node:
    """A section to be written down."""

    title: str
    template: str
    summary: str | None
    folded: bool
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
        return f"MarkdownSection[P]({', '.join(arguments)})"


TASK = 'TaskSection[Review](key="task", summary="To review ${focus}."%s)'


WORDS = st.sampled_from(["Read.", "é 🙂", "$$5", "${name}", "${count} of ${name}", "two\n\nlines"])
TEXTS = st.lists(WORDS, max_size=3).map(" ".join)
TITLES = st.sampled_from(["Task", "Rules", "Über 🙂", "A *b*"])
SUMMARIES = st.none() | st.sampled_from(["In short.", "Of ${name}."])
LEAVES = st.builds(Node, TITLES, TEXTS, SUMMARIES, st.booleans())
NODES = st.recursive(
    LEAVES,
    lambda nodes: st.builds(
        Node, TITLES, TEXTS, SUMMARIES, st.booleans(), st.lists(nodes, max_size=3).map(tuple)
    ),
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
DEFAULTS = st.sampled_from(["", ", default_params=P(name='default')", ", default_params=None"])


@given(
    st.lists(NODES, min_size=1, max_size=3),
    st.tuples(REVIEWS, st.sampled_from(["", ", visibility=SectionVisibility.SUMMARY"])) | st.none(),
    VALUES,
    DEFAULTS,
    st.sampled_from(["", ", heading=undotted_heading", ", disclosure='open'"]),
)
@settings(max_examples=120, deadline=None)
def test_generated_prompts_are_shown_as_they_render(
    nodes: list[Node], task: tuple[str, str] | None, values: list[str], default: str, options: str
) -> None:
    sources = [node.source(f"s{n}") for n, node in enumerate(nodes)]
    # The default of one section is that of all sections of its type.
    sources[-1] = f"{sources[-1][:-1]}{default})"
    if task is not None:
        sources.insert(len(sources) // 2, TASK % task[1])
        values = [*values, task[0]]
    sections = "".join(f"    {source},\n" for source in sources)
    source = f"{HEAD}\nt = PromptTemplate(ns='n', key='k'{options}, sections=[\n{sections}])\n"
    source += f"p = t.bind({', '.join(values)})\n"
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
        (block.path, block.number, block.title, block.depth, str(block.visibility), block.text)
        for block in static.blocks
    ] == [
        (block.path, block.number, block.title, block.depth, block.visibility.name, block.text)
        for block in executed.blocks
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
