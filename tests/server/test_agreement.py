"""What the source alone shows of a prompt is what executing it renders."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import indent
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.server.static.project import Project

if TYPE_CHECKING:
    from foldline.prompts import PromptTemplate

    from .conftest import Editor

HEAD = """
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

@dataclass(frozen=True)
class P:
    name: str = "foldline"
    count: int = 3
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


@given(st.lists(NODES, min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_generated_prompts_are_shown_as_they_render(nodes: list[Node]) -> None:
    sections = "".join(f"    {node.source(f's{n}')},\n" for n, node in enumerate(nodes))
    source = f"{HEAD}\np = PromptTemplate(ns='n', key='k', sections=[\n{sections}])\n"
    module: dict[str, Any] = {"__name__": __name__}
    exec(source, module)
    template: PromptTemplate[Any] = module["p"]
    executed = template.render()
    project = Project()
    project.open("/w/prompt.py", source)
    analysis = project.analysis("/w/prompt.py")
    assert analysis is not None
    (prompt,) = analysis.prompts
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
        assert shown[:-1] == rendered[:-1]
        # Of a task the source shows the request, and not what is derived from its other fields.
        request, task = shown[-1], rendered[-1]
        assert task["text"].startswith(request["text"] + "\n\n**Background:**")
        assert (request["id"], request["span"][0]) == (task["id"], task["span"][0])
