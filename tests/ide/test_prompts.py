"""Prompts by command: listed, rendered, summarized, opened, read."""

from pathlib import Path

import pytest

from .viewer import View, Viewer

pytestmark = pytest.mark.real

PROMPT = """
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate

@dataclass(frozen=True)
class Who:
    name: str = "nobody"

hello = PromptTemplate(
    ns="demo", key="hello",
    sections=[MarkdownSection[Who](title="Hello", key="hello", template="Hello ${name}.")],
)
"""


async def test_prompts_are_listed_with_their_section_trees(editor: Viewer) -> None:
    listed = await editor.command("prompt.list", uri=editor.uri("reviewer_prompt.py"))
    assert [(prompt["name"], prompt["ns"], prompt["key"]) for prompt in listed] == [
        ("template", "examples/code-reviewer", "review"),
        ("reviewer", "examples/code-reviewer", "review"),
    ]
    folded = listed[0]["sections"][1]
    assert (folded["key"], folded["number"], folded["visibility"]) == (
        "reference-docs",
        "2",
        "SUMMARY",
    )
    assert [child["key"] for child in folded["children"]] == [
        "reference-docs.security",
        "reference-docs.async",
        "reference-docs.style",
    ]


async def test_prompts_of_the_whole_workspace_are_listed_without_a_uri(editor: Viewer) -> None:
    listed = await editor.command("prompt.list")
    assert {prompt["uri"] for prompt in listed} == {editor.uri("reviewer_prompt.py")}


async def test_render_shows_summaries_and_their_tools(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    render = await editor.command("prompt.render")
    assert render["name"] == "reviewer"
    assert render["fidelity"] == "executed"
    assert "## 2. Reference Documentation" in render["text"]
    assert "Security Rules" not in render["text"]
    tools = [tool["name"] for tool in render["tools"]]
    assert tools == ["make_plan", "open_sections", "read_section"]
    assert "".join(block["text"] for block in render["blocks"]) == render["text"]


async def test_render_takes_overrides_and_params(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    render = await editor.command(
        "prompt.render",
        name="template",
        overrides={"workspace.history": "FULL"},
        params={"CodeReviewTask": {"request": "Look at tokens.", "files": ["auth/tokens.py"]}},
    )
    assert "*October*" in render["text"]
    assert "Look at tokens." in render["text"]
    assert render["generated"] == []


async def test_a_required_value_that_nobody_gave_is_made_up_and_named(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    render = await editor.command("prompt.render", name="template")
    assert "\u2039request\u203a" in render["text"]
    assert render["generated"] == ["CodeReviewTask.request"]


async def test_blocks_know_their_place_in_the_source(editor: Viewer) -> None:
    uri = editor.open("reviewer_prompt.py")
    render = await editor.command("prompt.render")
    text = (editor.root / "reviewer_prompt.py").read_text(encoding="utf-8").splitlines()
    (guidance, *_) = render["blocks"]
    assert guidance["location"]["uri"] == uri
    assert '"guidance"' in text[guidance["location"]["range"]["start"]["line"]]


async def test_summary_tells_the_sizes(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    summary = await editor.command("prompt.summary", section_key="reference-docs")
    assert summary["text"].startswith("## 2. Reference Documentation")
    assert summary["size"] == len(summary["text"].encode())
    read = await editor.command("prompt.readSection", section_key="reference-docs")
    assert summary["size_if_opened"] == len(read["text"].encode())
    assert "### 2.1. Security Rules" in read["text"]
    # Below a folded section, too.
    inner = await editor.command("prompt.summary", section_key="reference-docs.security")
    assert (inner["size"], inner["size_if_opened"] > 0) == (len(inner["text"].encode()), True)
    assert inner["text"].startswith("### 2.1. Security Rules")


async def test_open_sections_answers_what_the_model_gets(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    opened = await editor.command(
        "prompt.openSections", section_keys=["reference-docs"], reason="Need the rules"
    )
    assert opened["requested_overrides"] == {"reference-docs": "FULL"}
    assert opened["section_keys"] == ["reference-docs"]
    assert opened["reason"] == "Need the rules"
    assert opened["expansion_instructions"].startswith("Sections expanded: `reference-docs`.")
    text = opened["render"]["text"]
    assert "### 2.1. Security Rules" in text
    assert "**Expansion Context:** Sections expanded: `reference-docs`." in text
    assert "explain_rule" in [tool["name"] for tool in opened["render"]["tools"]]


async def test_open_sections_with_a_wrong_key_lists_the_near_ones(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    message, data = await editor.refusal(
        "prompt.openSections", section_keys=["reference-dogs"], reason="Need the rules"
    )
    assert data["kind"] == "tool"
    assert data["near"][0] == "reference-docs"
    assert "reference-docs" in message


async def test_open_sections_refuses_what_is_open_already(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    message, data = await editor.refusal(
        "prompt.openSections", section_keys=["guidance"], reason="Need the guidance"
    )
    assert data["kind"] == "tool"
    assert "already shown in full" in message
    message, _ = await editor.refusal(
        "prompt.openSections",
        section_keys=["reference-docs"],
        reason="Again",
        overrides={"reference-docs": "FULL"},
    )
    assert "already shown in full" in message


async def test_a_section_that_the_model_may_only_read_can_be_opened_by_a_person(
    view: View, tmp_path: Path
) -> None:
    editor = view(tmp_path, trusted=True)
    summarized = PROMPT.replace(
        'template="Hello ${name}."',
        'template="Hello ${name}.", summary="Greets.", visibility=SectionVisibility.SUMMARY',
    ).replace("PromptTemplate\n", "PromptTemplate, SectionVisibility\n", 1)
    editor.open("hello.py", summarized)
    render = await editor.command("prompt.render")
    assert [tool["name"] for tool in render["tools"]] == ["read_section"]
    opened = await editor.command("prompt.openSections")
    assert opened["requested_overrides"] == {"hello": "FULL"}
    assert opened["render"]["text"] == "## 1. Hello\n\nHello nobody."


async def test_an_override_that_names_nothing_lists_the_near_keys(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    _, data = await editor.refusal("prompt.render", overrides={"reference-dogs": "FULL"})
    assert data["kind"] == "prompt"
    assert "reference-docs" in data["near"]


async def test_an_unknown_prompt_lists_those_there_are(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    message, data = await editor.refusal("prompt.render", name="reviewr")
    assert data["kind"] == "no_prompt"
    assert "reviewer" in data["near"]
    assert "template" in message


async def test_a_prompt_can_be_named_by_its_key(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    render = await editor.command("prompt.render", name="examples/code-reviewer/review")
    assert render["text"].startswith("## 1. Review Guidance")
