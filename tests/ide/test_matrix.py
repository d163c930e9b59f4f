"""All parameter sets of a prompt by its sections: what a preview of each set shows."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.ide import CompareSets, PromptRef, Workspace, perform
from foldline.ide import Settings as Options
from foldline.ide.render import matrix
from foldline.ide.render.matrix import matrix_lines
from foldline.ide.render.renderer import Renderer

from .viewer import View, Viewer, viewers

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.real

PROMPT = """
import time
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility, Tool, ToolResult

@dataclass(frozen=True)
class Look:
    word: str
    off: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()

    def __post_init__(self):
        if not self.word:
            raise ValueError("say a word")
        time.sleep(float(self.word) if self.word.isdigit() else 0)

@dataclass(frozen=True)
class Nothing:
    pass

def section(key, text, *children):
    return MarkdownSection[Look](
        title=f"The {key}", key=key, template=text, children=children,
        enabled=lambda params: key not in params.off, summary="In short.",
        visibility=lambda params: SectionVisibility.SUMMARY if key in params.folded
        else SectionVisibility.FULL)

prompt = PromptTemplate(ns="demo", key="sets", sections=[SECTIONS])
"""
KEYS = ("one", "one.inner", "two", "two.inner", "three")
TREE = """
    section("one", "Always.", section("inner", "Say ${word}.")),
    section("two", "Twice ${word}.", section("inner", "Deep down.")),
    section("three", "${word}!"),
"""


def source(*sets: str, sections: str = TREE) -> str:
    """A module with a prompt of those sections; each set is the arguments of its `Look`."""
    functions = (
        f"def preview_{name}():\n    return Look({arguments})\n"
        for name, _, arguments in (one.partition(": ") for one in sets)
    )
    return "\n".join((PROMPT.replace("[SECTIONS]", f"[{sections}]"), *functions))


@pytest.fixture
def editor(view: View, tmp_path: Path) -> Viewer:
    return view(tmp_path, trusted=True)


async def table(editor: Viewer, *sets: str, **arguments: object) -> Any:
    uri = editor.open("sets.py", source(*sets))
    return await editor.command("prompt.compareSets", uri=uri, **arguments)


def column(found: dict[str, Any], name: str) -> list[tuple[str, str, int]]:
    """What a set shows: the id of each section, how it's shown, and its tokens."""
    (of_set,) = (one for one in found["sets"] if one["name"] == name)
    return [
        (row["id"], cell["shown"], cell["tokens"])
        for row, cell in zip(found["rows"], of_set["cells"], strict=True)
        if row["id"] and cell["shown"] != "absent"
    ]


def seen(state: dict[str, Any]) -> list[tuple[str, str, int]]:
    """What a preview shows, in the same words."""
    return [
        (
            block["id"],
            block["visibility"].lower() if block["enabled"] else "disabled",
            block["tokens"]["self"],
        )
        for block in state["blocks"]
    ]


LOOK = st.tuples(
    st.sampled_from(("hello", "bye")),
    st.sets(st.sampled_from(("one", "inner", "two", "three"))),
    st.sets(st.sampled_from(("one", "inner", "two", "three"))),
)


@settings(settings.get_profile("costly"))
@given(st.lists(LOOK, min_size=1, max_size=3))
def test_each_cell_is_what_the_preview_of_its_set_shows(
    looks: Sequence[tuple[str, set[str], set[str]]],
) -> None:
    sets = [
        f"s{place}: {word!r}, {tuple(sorted(off))}, {tuple(sorted(folded))}"
        for place, (word, off, folded) in enumerate(looks)
    ]

    async def run(root: Path) -> None:
        async with viewers() as view:
            editor = view(root, trusted=True)
            state = await editor.command("prompt.preview", uri=editor.open("s.py", source(*sets)))
            session = {"sessionId": state["sessionId"]}
            found = await editor.command("prompt.compareSets", **session)
            assert [one["name"] for one in found["sets"]] == [f"s{n}" for n in range(len(sets))]
            texts: dict[tuple[str, int], set[tuple[str, str, bool]]] = {}
            for place, of_set in enumerate(found["sets"]):
                name = of_set["name"]
                state = await editor.command("prompt.setParams", **session, parameter_set=name)
                shown = {block["id"]: block for block in state["blocks"]}
                assert column(found, name) == seen(state)
                assert of_set["tokens"] == state["tokens"]
                *parts, total = (cell["tokens"] for cell in of_set["cells"])
                assert sum(parts) == total == state["tokens"]["total"]
                for row, cell in zip(found["rows"], of_set["cells"], strict=True):
                    if row["id"] is None:
                        continue
                    block = shown.get(row["id"])
                    look = (
                        (block["text"].strip(), block["visibility"], block["enabled"])
                        if block
                        else ("", "", False)
                    )
                    texts.setdefault((row["id"], cell["variant"]), set()).add(look)
                    assert place or cell["variant"] == 0
            # Cells of a row have the same number exactly if the section looks alike.
            assert all(len(looks) == 1 for looks in texts.values())
            for row in found["rows"]:
                of_row = [looks for (id_, _), looks in texts.items() if id_ == row["id"]]
                assert len(of_row) == len({next(iter(looks)) for looks in of_row})

    with TemporaryDirectory() as folder:
        asyncio.run(run(Path(folder)))


async def test_a_set_that_fails_has_its_error_and_the_others_are_shown(editor: Viewer) -> None:
    found = await table(editor, "bad: ''", "good: 'yes'")
    bad, good = found["sets"]
    assert bad == {
        "name": "bad",
        "cells": [],
        "tokens": None,
        "error": "sets.py:14: ValueError: say a word (in preview_bad())",
    }
    assert good["error"] is None
    assert [cell["variant"] for cell in good["cells"]] == [0] * 6


async def test_a_set_that_never_ends_costs_its_own_deadline(view: View, tmp_path: Path) -> None:
    editor = view(tmp_path, trusted=True, render_deadline=1.0)
    found = await table(editor, "slow: '600'", "good: 'yes'")
    slow, good = found["sets"]
    assert slow["error"] == "sets.py:15: still running after 1 s"
    assert good["tokens"]["total"] > 0


async def test_all_sets_together_have_a_deadline(
    editor: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matrix, "SECONDS", 1.0)
    found = await table(editor, "slow: '600'", "never: 'yes'")
    why = "Not rendered: all sets together may take 1 s"
    assert [one["error"] for one in found["sets"]] == [why, why]


async def test_cancelling_ends_the_set_that_is_rendered_and_starts_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    os.mkfifo(started)
    slow = f"def preview_slow():\n    open({str(started)!r}, 'w').write('x')\n    time.sleep(600)\n"
    (tmp_path / "sets.py").write_text(source("good: 'yes'") + slow + "preview_z = preview_slow\n")
    asked: list[object] = []
    run = Renderer.run

    async def count(self: Renderer, *arguments: Any) -> Any:
        asked.append(arguments[1].action["parameter_set"])
        return await run(self, *arguments)

    monkeypatch.setattr(Renderer, "run", count)
    workspace = Workspace.at(tmp_path, settings=Options(trusted=True, render_deadline=300.0))
    task = asyncio.create_task(
        perform(workspace, PromptRef(file=tmp_path / "sets.py"), CompareSets())
    )
    await asyncio.to_thread(started.read_text)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asked == ["none", "good", "slow"]
    await workspace.stop(5.0)


async def test_forty_sets_of_sixty_sections_take_one_evaluation_each(
    editor: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []
    run = Renderer.run

    async def count(self: Renderer, *arguments: Any) -> Any:
        asked.append(arguments[1].action["action"])
        return await run(self, *arguments)

    monkeypatch.setattr(Renderer, "run", count)
    sections = "".join(f'section("k{n}", "Text {n} for ${{word}}."),' for n in range(60))
    sets = (f"s{n}: 'word{n % 7}', ('k{n}',)" for n in range(40))
    uri = editor.open("sets.py", source(*sets, sections=sections))
    found = await editor.command("prompt.compareSets", uri=uri)
    assert asked == ["sets", *["render"] * 40]
    assert [len(one["cells"]) for one in found["sets"]] == [61] * 40
    assert [one["cells"][n]["shown"] for n, one in enumerate(found["sets"])] == ["disabled"] * 40


async def test_without_sets_there_is_one_column(editor: Viewer) -> None:
    found = await editor.command("prompt.compareSets", uri=editor.open("sets.py", source()))
    assert [one["name"] for one in found["sets"]] == ["none"]


async def test_what_is_open_in_a_preview_is_open_and_what_was_typed_is_not_taken(
    editor: Viewer,
) -> None:
    uri = editor.open("sets.py", source("a: 'a', (), ('two',)", "b: 'b', (), ('two',)"))
    state = await editor.command("prompt.preview", uri=uri)
    session = {"sessionId": state["sessionId"]}
    await editor.command("prompt.setParams", **session, params={"Look": {"word": "typed"}})
    await editor.command("prompt.openSections", **session, section_keys=["two"])
    found = await editor.command("prompt.compareSets", **session)
    shown = [{id_: how for id_, how, _ in column(found, name)} for name in "ab"]
    assert [one["two"] for one in shown] == ["full", "full"]
    rows = {row["id"]: place for place, row in enumerate(found["rows"])}
    assert [one["cells"][rows["three"]]["variant"] for one in found["sets"]] == [0, 1]


async def test_two_sets_are_compared_like_two_versions(editor: Viewer) -> None:
    uri = editor.open("sets.py", source("a: 'yes'", "b: 'no', ('three',)"))
    found = await editor.command("prompt.diff", uri=uri, before_set="a", after_set="b")
    assert (found["before"], found["after"]) == ("a", "b")
    assert [change["id"] for change in found["changes"]][:2] == ["one/inner", "two"]
    assert "-Say yes.\n+Say no." in found["changes"][0]["unified"]
    message, data = await editor.refusal("prompt.diff", uri=uri, before_set="a", after_set="c")
    assert "There is no parameter set 'c'" in message
    assert data["near"] == ["a", "b", "none"]


async def test_a_section_that_one_set_lacks_may_be_called_like_a_sum(editor: Viewer) -> None:
    items = """
from foldline.prompts import Chapter
late = Chapter[Look](title="Late", key="late", enabled=lambda look: not look.off, sections=[
    MarkdownSection[None](title="Total", key="total", template="Here.")])
"""
    text = source("a: 'a'", "b: 'b', ('three',)").replace("prompt = ", f"{items}prompt = ")
    text = text.replace('key="sets", ', 'key="sets", chapters=[late], ')
    found = await editor.command("prompt.compareSets", uri=editor.open("sets.py", text))
    place = [row["id"] for row in found["rows"]].index("total")
    a, b = (one["cells"][place] for one in found["sets"])
    assert (a["shown"], b["shown"], b["tokens"]) == ("full", "absent", 0)


async def test_a_workspace_that_is_not_trusted_runs_no_set(view: View, tmp_path: Path) -> None:
    editor = view(tmp_path, trusted=False)
    uri = editor.open("sets.py", source("a: 'yes'"))
    _, data = await editor.refusal("prompt.compareSets", uri=uri)
    assert data["kind"] == "untrusted"


async def test_sections_that_only_some_sets_have_stand_where_these_show_them(
    editor: Viewer,
) -> None:
    found = await table(editor, "a: 'a', (), ('one', 'two')", "b: 'b', (), ('two',)", "c: 'c'")
    assert [row["key"] for row in found["rows"]] == [*KEYS, "tools", "total"]
    shown = [cell["shown"] for cell in found["sets"][0]["cells"]]
    assert shown == ["summary", "absent", "summary", "absent", *["full"] * 3]


@pytest.mark.parametrize("width", [40, 80, 120])
async def test_the_table_fits_the_terminal(editor: Viewer, width: int) -> None:
    sets = [f"a_rather_long_name_of_a_set_{n}: 'w{n}'" for n in range(9)]
    uri = editor.open("sets.py", source(*sets).replace("The {key}", "見出し {key} " + "long " * 9))
    workspace, ref = editor.core, PromptRef(uri=uri)
    lines = list(matrix_lines(await perform(workspace, ref, CompareSets()), width))
    texts = ["".join(text for text, _ in line) for line in lines]
    assert max(map(matrix._width, texts[:-1])) <= width
    assert sum(text.startswith("Total") for text in texts) > 1
