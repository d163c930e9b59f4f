"""What a preview's user chooses besides sections and values: chapters, and a budget."""

from pathlib import Path
from typing import Any

import pytest

from .viewer import View, Viewer

CHAPTERS = """
from dataclasses import dataclass
from foldline.prompts import Chapter, MarkdownSection, PromptTemplate

@dataclass(frozen=True)
class Clearance:
    internal: bool = False

def section(key):
    return MarkdownSection[None](title=key.title(), key=key, template=f"The {key}.")

inner = Chapter[None](key="inner", title="Inner", sections=[section("deep")])
outer = Chapter[None](
    key="outer", title="Outer", description="Around.", sections=[section("wide"), inner])
secret = Chapter[Clearance](
    key="secret", title="Secret", enabled=lambda c: c.internal, sections=[section("hidden")])
book = PromptTemplate(
    ns="demo", key="book", sections=[section("first")], chapters=[outer, secret])
"""


@pytest.fixture
async def book(view: View, tmp_path: Path) -> Viewer:
    editor = view(tmp_path, trusted=True)
    editor.open("book.py", CHAPTERS)
    await editor.command("prompt.preview")
    return editor


def opened(state: dict[str, Any]) -> list[str]:
    return [chapter["key"] for chapter in state["chapters"] if chapter["open"]]


async def test_chapters_open_and_close_and_are_undone(book: Viewer) -> None:
    state = await book.command("prompt.setParams")
    assert state["order"] == ["first"]
    outer, inner, secret = state["chapters"]
    assert outer == {
        "key": "outer",
        "title": "Outer",
        "description": "Around.",
        "around": [],
        "sections": ["wide", "inner"],
        "open": False,
        "may_open": True,
        "reasons": ["all chapters are included"],
    }
    assert (inner["around"], secret["may_open"]) == (["outer"], False)
    state = await book.command("prompt.openSections", chapters=["outer"])
    assert (state["order"], opened(state)) == (["first", "wide"], ["outer"])
    state = await book.command("prompt.openSections", chapters=["inner"])
    assert state["order"] == ["first", "wide", "deep"]
    state = await book.command("prompt.closeSections", chapters=["outer"])
    # It was opened with the chapter inside, which is still asked for.
    assert opened(state) == ["outer", "inner"]
    state = await book.command("prompt.closeSections", chapters=["inner"])
    assert (state["order"], opened(state)) == (["first"], [])
    assert opened(await book.command("prompt.undo")) == ["outer", "inner"]
    steps = (await book.command("prompt.history"))["steps"]
    assert [step["chapters"] for step in steps[2:]] == [["outer"], ["inner", "outer"], ["inner"]]
    state = await book.command("prompt.closeSections")
    assert opened(state) == []


async def test_a_chapter_that_may_not_open_says_why(book: Viewer) -> None:
    message, data = await book.refusal("prompt.openSections", chapters=["secret"])
    assert (data["kind"], "its `enabled` forbids it" in message) == ("tool", True)
    _, data = await book.refusal("prompt.openSections", chapters=["scret"])
    assert data["near"] == ["outer", "inner", "secret"]
    _, data = await book.refusal("prompt.closeSections", chapters=["outer"])
    assert data["kind"] == "tool"
    await book.command("prompt.setParams", params={"Clearance": {"internal": True}})
    state = await book.command("prompt.openSections", chapters=["secret"])
    assert state["order"] == ["first", "hidden"]
    # Values that forbid it close it again, and an edit that removes it is no failure.
    state = await book.command("prompt.setParams", params={})
    assert (state["order"], state["chapters"][2]["reasons"]) == (
        ["first"],
        ["its `enabled` forbids it"],
    )


async def test_a_render_shows_the_chapters_that_are_asked_for(book: Viewer) -> None:
    render = await book.command("prompt.render", chapters=["outer", "secret"])
    assert [block["id"] for block in render["blocks"]] == ["first", "wide"]


async def test_a_budget_says_by_how_much_it_is_exceeded_and_by_what(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    preview = await editor.command("prompt.preview")
    assert preview["budget"] is None
    state = await editor.command("prompt.setParams", budget=100)
    text = preview["tokens"]["text"]
    budget = state["budget"]
    assert (budget["unit"], budget["used"], budget["over"]) == ("tokens", text, text - 100)
    costs = sorted((block["tokens"]["self"] for block in preview["blocks"]), reverse=True)
    assert [item["used"] for item in budget["largest"]] == costs[:5]
    assert budget["largest"][0]["key"] == "guidance"
    state = await editor.command("prompt.setParams", budget=100_000, budget_unit="bytes")
    size = sum(len(block["text"].encode()) for block in preview["blocks"])
    assert (state["budget"]["used"], state["budget"]["over"]) == (size, 0)
    undone = await editor.command("prompt.undo")
    assert undone["budget"] == budget
    steps = (await editor.command("prompt.history"))["steps"]
    assert [step["budget"] for step in steps] == [None, 100]
    _, data = await editor.refusal("prompt.setParams", budget=-1)
    assert data["fields"] == ["budget"]


async def test_the_projects_budget_holds_until_another_is_set(view: View, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.foldline]\ntoken-budget = 3\n", encoding="utf-8"
    )
    editor = view(tmp_path)
    editor.open("book.py", CHAPTERS)
    preview = await editor.command("prompt.preview")
    assert (preview["fidelity"], preview["budget"]["limit"]) == ("static", 3)
    assert preview["budget"]["over"] == preview["tokens"]["text"] - 3
    _, data = await editor.refusal("prompt.openSections", chapters=["outer"])
    assert data["kind"] == "untrusted"
    state = await editor.command("prompt.setParams", budget=0)
    assert state["budget"] is None
