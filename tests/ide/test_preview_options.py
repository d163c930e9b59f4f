"""What a preview's user chooses besides sections and values: chapters, and a budget."""

import json
from pathlib import Path
from typing import Any

import pytest

from .viewer import View, Viewer

pytestmark = pytest.mark.real

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


async def test_chapters_are_open_as_an_evaluation_sends_them(book: Viewer) -> None:
    state = await book.command("prompt.setParams")
    assert state["order"] == ["first", "wide", "deep"]
    assert state["chapters_shown"] == (
        "outer, inner open, as `evaluate` sends them; closed: secret (its `enabled` returned False)"
    )
    internal = {"Clearance": {"internal": True}}
    state = await book.command("prompt.setParams", params=internal)
    assert state["order"] == ["first", "wide", "deep", "hidden"]
    assert state["chapters_shown"] == "all open, as `evaluate` sends them"
    state = await book.command("prompt.closeSections", chapters=["outer"])
    assert state["chapters_shown"] == "secret open; closed: outer, inner"


async def test_a_chapter_whose_parameters_are_missing_stays_closed_and_the_rest_is_shown(
    view: View, tmp_path: Path
) -> None:
    editor = view(tmp_path, trusted=True)
    for written, instead, reason in (
        ("lambda c: c.internal", "lambda c: 1 / 0", "ZeroDivisionError"),
        # No such value can be made up.
        ("internal: bool = False", "internal: type[Chapter]", "bind an instance of Clearance"),
    ):
        editor.open(f"{written[:3]}.py", CHAPTERS.replace(written, instead))
        state = await editor.command("prompt.preview")
        assert (state["stale"], state["order"]) == (None, ["first", "wide", "deep"])
        assert reason in state["chapters"][2]["reasons"][0]


async def test_chapters_open_and_close_and_are_undone(book: Viewer) -> None:
    state = await book.command("prompt.closeSections", chapters=["outer"])
    # The chapter inside closes with it.
    assert (state["order"], opened(state)) == (["first"], [])
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
    session = {"sessionId": state["sessionId"]}
    state = await book.command("prompt.openSections", **session, chapters=["outer"])
    assert (state["order"], opened(state)) == (["first", "wide"], ["outer"])
    state = await book.command("prompt.openSections", **session, chapters=["inner"])
    assert state["order"] == ["first", "wide", "deep"]
    state = await book.command("prompt.closeSections", chapters=["inner"])
    assert (state["order"], opened(state)) == (["first", "wide"], ["outer"])
    assert opened(await book.command("prompt.undo")) == ["outer", "inner"]
    steps = (await book.command("prompt.history"))["steps"]
    assert [step["chapters"] for step in steps] == [
        None,
        ["secret"],
        ["outer", "secret"],
        ["inner", "outer", "secret"],
    ]
    # Without names it is the sections that were opened; `reset` opens the chapters again.
    assert opened(await book.command("prompt.closeSections")) == ["outer", "inner"]
    await book.command("prompt.closeSections", chapters=["outer"])
    assert opened(await book.command("prompt.reset")) == ["outer", "inner"]


async def test_a_chapter_that_may_not_open_says_why(book: Viewer) -> None:
    session = {"sessionId": (await book.command("prompt.setParams"))["sessionId"]}
    message, data = await book.refusal("prompt.openSections", **session, chapters=["secret"])
    assert (data["kind"], "its `enabled` returned False" in message) == ("tool", True)
    _, data = await book.refusal("prompt.openSections", **session, chapters=["scret"])
    assert data["near"] == ["outer", "inner", "secret"]
    message, data = await book.refusal("prompt.closeSections", chapters=["secret"])
    assert (data["kind"], data["near"]) == ("tool", ["outer", "inner"])
    await book.command("prompt.setParams", params={"Clearance": {"internal": True}})
    state = await book.command("prompt.openSections", **session, chapters=["secret"])
    assert state["order"] == ["first", "wide", "deep", "hidden"]
    # Values that forbid it close it again, and an edit that removes it is no failure.
    state = await book.command("prompt.setParams", params={})
    assert (state["order"], state["chapters"][2]["reasons"]) == (
        ["first", "wide", "deep"],
        ["its `enabled` returned False"],
    )


@pytest.mark.parametrize("fidelity", ["executed", "static"])
async def test_a_render_shows_the_chapters_that_are_asked_for(book: Viewer, fidelity: str) -> None:
    for chapters, shown in (
        ({}, ["first", "wide", "deep"]),
        ({"chapters": ["outer", "secret"]}, ["first", "wide"]),
        # One opens with those around it.
        ({"chapters": ["inner"]}, ["first", "wide", "deep"]),
        ({"chapters": []}, ["first"]),
    ):
        render = await book.command("prompt.render", fidelity=fidelity, **chapters)
        assert [block["id"] for block in render["blocks"]] == shown
        numbers = [block["number"] for block in render["blocks"]]
        assert numbers == [str(place) for place in range(1, len(shown) + 1)]


async def test_a_chapter_that_is_not_there_is_refused_with_those_that_are(book: Viewer) -> None:
    message, data = await book.refusal("prompt.render", chapters=["otter"])
    assert "there is no chapter 'otter'; there is outer, inner, secret" in message
    assert (data["kind"], data["near"]) == ("prompt", ["outer", "inner", "secret"])


async def test_a_section_of_an_open_chapter_is_opened_read_and_summarized_without_a_preview(
    view: View, tmp_path: Path
) -> None:
    editor = view(tmp_path, trusted=True)
    folded = 'template=f"The {key}.", summary="Short.", visibility=SectionVisibility.SUMMARY)'
    text = CHAPTERS.replace('template=f"The {key}.")', folded)
    uri = editor.open(
        "book.py", text.replace("PromptTemplate\n", "PromptTemplate, SectionVisibility\n")
    )
    named = {"uri": uri, "name": "book"}
    for chapters in ({"chapters": ["outer"]}, {}):
        opened = await editor.command(
            "prompt.openSections", **named, **chapters, section_keys=["wide"], reason="Why."
        )
        assert opened["requested_overrides"] == {"wide": "FULL"}
        assert "The wide." in opened["render"]["text"]
        read = await editor.command("prompt.readSection", **named, **chapters, section_key="wide")
        assert read["text"] == "## 2. Wide\n\nThe wide."
        summary = await editor.command("prompt.summary", **named, **chapters, section_key="wide")
        assert summary["text"].startswith("## 2. Wide\n\nShort.")
    for command in ("openSections", "readSection", "summary"):
        key = {"section_keys": ["wide"]} if command == "openSections" else {"section_key": "wide"}
        message, _ = await editor.refusal(f"prompt.{command}", **named, **key, chapters=[])
        assert "no section 'wide'" in message


async def test_a_budget_says_by_how_much_it_is_exceeded_and_by_what(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    preview = await editor.command("prompt.preview")
    assert preview["budget"] is None
    state = await editor.command("prompt.setParams", budget=100)
    tokens = preview["tokens"]
    total = tokens["text"] + tokens["tools"] + tokens["output"]
    budget = state["budget"]
    assert (budget["unit"], budget["used"], budget["over"]) == ("tokens", total, total - 100)
    assert budget["words"] == f"{total:,} of 100 tokens ({total - 100:,} over)"
    costs = [block["tokens"]["self"] for block in preview["blocks"]]
    costs += [tokens["tools"], tokens["output"]]
    assert [item["used"] for item in budget["largest"]] == sorted(costs, reverse=True)[:5]
    dearest = [item["key"] for item in budget["largest"][:3]]
    assert dearest == ["tools", "output schema", "guidance"]
    state = await editor.command("prompt.setParams", budget=100_000, budget_unit="bytes")
    size = sum(len(block["text"].encode()) for block in preview["blocks"])
    size += len(json.dumps(preview["output"]["schema"]))
    for tool in preview["tools"]:
        kept = {name: tool[name] for name in ("name", "description", "schema")}
        size += len(json.dumps(kept, ensure_ascii=False).encode())
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
    assert preview["order"] == ["first", "wide", "deep"]
    _, data = await editor.refusal(
        "prompt.openSections", sessionId=preview["sessionId"], chapters=["outer"]
    )
    assert data["kind"] == "untrusted"
    state = await editor.command("prompt.setParams", budget=0)
    assert state["budget"] is None
