"""Prompts over the wire: listed, rendered from unsaved text, summarized, opened, read."""

from pathlib import Path

import pytest
from lsprotocol import types

from .conftest import Connect, Editor

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


async def test_prompts_are_listed_with_their_section_trees(editor: Editor) -> None:
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


async def test_prompts_of_the_whole_workspace_are_listed_without_a_uri(editor: Editor) -> None:
    listed = await editor.command("prompt.list")
    assert {prompt["uri"] for prompt in listed} == {editor.uri("reviewer_prompt.py")}


async def test_render_shows_summaries_and_their_tools(editor: Editor) -> None:
    editor.open("reviewer_prompt.py")
    render = await editor.command("prompt.render")
    assert render["name"] == "reviewer"
    assert render["fidelity"] == "executed"
    assert "## 2. Reference Documentation" in render["text"]
    assert "Security Rules" not in render["text"]
    assert [tool["name"] for tool in render["tools"]] == ["open_sections", "read_section"]
    assert "".join(block["text"] for block in render["blocks"]) == render["text"]


async def test_render_uses_the_unsaved_text(editor: Editor) -> None:
    uri = editor.open("reviewer_prompt.py")
    text = (editor.root / "reviewer_prompt.py").read_text(encoding="utf-8")
    row = text.splitlines().index('    title="Review Guidance",')
    start = types.Position(row, len('    title="'))
    end = types.Position(row, len('    title="Review Guidance'))
    editor.change(uri, "Zażółć 🦊", types.Range(start, end))
    render = await editor.command("prompt.render")
    assert render["text"].startswith("## 1. Zażółć 🦊\n")
    assert render["version"] == 2


async def test_render_takes_overrides_and_params(editor: Editor) -> None:
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


async def test_a_required_value_that_nobody_gave_is_made_up_and_named(editor: Editor) -> None:
    editor.open("reviewer_prompt.py")
    render = await editor.command("prompt.render", name="template")
    assert "\u2039request\u203a" in render["text"]
    assert render["generated"] == ["CodeReviewTask.request"]


async def test_blocks_know_their_place_in_the_source(editor: Editor) -> None:
    uri = editor.open("reviewer_prompt.py")
    render = await editor.command("prompt.render")
    text = (editor.root / "reviewer_prompt.py").read_text(encoding="utf-8").splitlines()
    (guidance, *_) = render["blocks"]
    assert guidance["location"]["uri"] == uri
    assert '"guidance"' in text[guidance["location"]["range"]["start"]["line"]]


async def test_summary_tells_the_sizes(editor: Editor) -> None:
    editor.open("reviewer_prompt.py")
    summary = await editor.command("prompt.summary", section_key="reference-docs")
    assert summary["text"].startswith("## 2. Reference Documentation")
    assert summary["size"] == len(summary["text"].encode())
    read = await editor.command("prompt.readSection", section_key="reference-docs")
    assert summary["size_if_opened"] == len(read["text"].encode())
    assert "### 2.1. Security Rules" in read["text"]


async def test_open_sections_answers_what_the_model_gets(editor: Editor) -> None:
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


async def test_open_sections_with_a_wrong_key_lists_the_near_ones(editor: Editor) -> None:
    editor.open("reviewer_prompt.py")
    message, data = await editor.refusal(
        "prompt.openSections", section_keys=["reference-dogs"], reason="Need the rules"
    )
    assert data["kind"] == "tool"
    assert data["near"][0] == "reference-docs"
    assert "reference-docs" in message


async def test_open_sections_refuses_what_is_open_already(editor: Editor) -> None:
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
    connect: Connect, tmp_path: Path
) -> None:
    editor = await connect(tmp_path, trusted=True)
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


async def test_an_override_that_names_nothing_lists_the_near_keys(editor: Editor) -> None:
    editor.open("reviewer_prompt.py")
    _, data = await editor.refusal("prompt.render", overrides={"reference-dogs": "FULL"})
    assert data["kind"] == "prompt"
    assert "reference-docs" in data["near"]


async def test_an_unknown_prompt_lists_those_there_are(editor: Editor) -> None:
    editor.open("reviewer_prompt.py")
    message, data = await editor.refusal("prompt.render", name="reviewr")
    assert data["kind"] == "no_prompt"
    assert "reviewer" in data["near"]
    assert "template" in message


async def test_a_prompt_can_be_named_by_its_key(editor: Editor) -> None:
    editor.open("reviewer_prompt.py")
    render = await editor.command("prompt.render", name="examples/code-reviewer/review")
    assert render["text"].startswith("## 1. Review Guidance")


@pytest.mark.parametrize("command", ["prompt.render", "prompt.openSections"])
async def test_nothing_is_executed_before_the_workspace_is_trusted(
    connect: Connect, tmp_path: Path, command: str
) -> None:
    editor = await connect(tmp_path)
    proof = tmp_path / "executed"
    editor.open("hello.py", f"open({str(proof)!r}, 'w').close()\n{PROMPT}")
    message, data = await editor.refusal(command)
    assert data["kind"] == "untrusted"
    assert "trusted" in message
    assert [prompt["name"] for prompt in await editor.command("prompt.list")] == ["hello"]
    assert not proof.exists()
    editor.client.protocol.notify("foldline/didChangeTrust", {"trusted": True})
    await editor.command(command if command != "prompt.openSections" else "prompt.render")
    assert proof.exists()


async def test_document_symbols_are_the_section_tree(editor: Editor) -> None:
    uri = editor.open("reviewer_prompt.py")
    symbols = await editor.client.text_document_document_symbol_async(
        types.DocumentSymbolParams(types.TextDocumentIdentifier(uri))
    )
    assert symbols is not None
    tree = [symbol for symbol in symbols if isinstance(symbol, types.DocumentSymbol)]
    # What stands in a variable has its own place, and the template shows that it is there.
    assert [symbol.name for symbol in tree] == [
        "Review Guidance",
        "Security Rules",
        "Asynchronous Code",
        "Style",
        "Reference Documentation",
        "Workspace",
        "Planning",
        "Performance",
        "Past incidents",
        "template",
        "reviewer",
    ]
    below = {symbol.name: [child.name for child in symbol.children or ()] for symbol in tree}
    assert below["Reference Documentation"] == ["Security Rules", "Asynchronous Code", "Style"]
    assert below["Workspace"] == ["History"]
    assert below["template"] == [
        "1. Review Guidance",
        "2. Reference Documentation",
        "3. Workspace",
        "4. Review Task",
        "Planning",
        "Performance",
        "Past incidents",
    ]


async def test_each_prompt_has_a_lens_that_previews_it(editor: Editor) -> None:
    uri = editor.open("reviewer_prompt.py")
    lenses = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(uri))
    )
    assert lenses is not None
    commands = [lens.command for lens in lenses if lens.command is not None]
    previews = [command for command in commands if command.command == "foldline.preview"]
    assert [argument for command in previews for argument in command.arguments or ()] == [
        {"uri": uri, "name": "template"},
        {"uri": uri, "name": "reviewer"},
    ]


async def test_the_lens_of_a_shared_section_opens_it_in_the_bound_prompt(editor: Editor) -> None:
    uri = editor.open("reviewer_prompt.py")
    lenses = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(uri))
    )
    commands = [lens.command for lens in lenses or () if lens.command is not None]
    opens = [command for command in commands if command.command == "foldline.openSection"]
    arguments = [argument for command in opens for argument in command.arguments or ()]
    assert "workspace.history" in str(arguments)
    assert all(isinstance(each, dict) and each["name"] == "reviewer" for each in arguments)
