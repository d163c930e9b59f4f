"""A preview follows its document, opens and closes sections, and keeps the last good blocks."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import until

from foldline.ide.previews.session import Preview
from foldline.ide.prompts.request import View as PromptView
from foldline.ide.render.render import Render
from foldline.prompts import Fit
from foldline.prompts.errors import PromptRenderError

from .viewer import View, Viewer

pytestmark = pytest.mark.real

PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate

first = MarkdownSection[None](title="First", key="first", template="One.")
second = MarkdownSection[None](title="Second", key="second", template="Two.")
both = PromptTemplate(ns="demo", key="both", sections=[first, second])
"""


async def test_a_preview_shows_all_blocks_in_order(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    preview = await editor.command("prompt.preview")
    assert preview["order"] == [
        "guidance",
        "reference-docs",
        "workspace",
        "workspace/history",
        "review-task",
        "plan",
        "budgets",
    ]
    assert [block["id"] for block in preview["blocks"]] == preview["order"]
    assert preview["stale"] is None


LONG = """
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

STORY = "A long story of one release. "
keys = {"rules": "", "guide": "Steps.", "notes": "N.", "style": "S.", "test": "T.", "docs": "D."}

class Secret(MarkdownSection[None]):
    def render_summary(self, params):
        raise ValueError("It's secret.")

sections = [
    MarkdownSection[None](title=key, key=key, template=STORY * 1600, summary=summary or None)
    for key, summary in keys.items()
]
extras = MarkdownSection[None](title="Extras", key="extras", template=STORY * 1100, fit="drop")
story = PromptTemplate(ns="demo", key="story", sections=[*sections, extras])
"""


async def test_a_preview_says_what_fit_would_fold(view: View, tmp_path: Path) -> None:
    editor = view(tmp_path, trusted=True)
    uri = editor.open("story.py", LONG)
    preview = await editor.command("prompt.preview")
    namespace: dict[str, Any] = {}
    exec(LONG, namespace)
    fitted = namespace["story"].render(fit=Fit(tokens=32_000)).fitted
    with pytest.raises(PromptRenderError, match=r"smallest form has 11,7\d\d tokens"):
        namespace["story"].render(fit=Fit(tokens=8000))
    folded = [".".join(path) for path in fitted.folded]
    assert (folded, fitted.left_out) == (["notes", "style", "test", "docs"], ())
    smallest, at_32k, at_200k = preview["fits"]
    larger = "8k: even the smallest allowed form is larger"
    assert re.fullmatch(rf"{larger} \(~11,7\d\d tokens\)", smallest)
    assert at_32k == f"32k: folds notes, style, test, docs (~{fitted.tokens:,} tokens)"
    assert at_200k == "200k: everything fits"
    text = LONG.replace("STORY * 1600", "STORY * (100 if key == 'rules' else 1600)")
    visibility = "SectionVisibility[['FULL', 'SUMMARY'][key == 'notes']]"
    editor.change(uri, text.replace("summary or None", f"summary or None, visibility={visibility}"))
    fits = (await editor.update(1))["fits"]
    assert fits[0].startswith("8k: leaves out extras; folds guide, style, test, docs (~")
    session = preview["sessionId"]
    opened = await editor.command("prompt.openSections", sessionId=session, section_keys=["notes"])
    assert opened["fits"][0].startswith(f"{larger} (~12,")
    secret = LONG.replace("MarkdownSection[None](title=key", "Secret(title=key")
    editor.change(uri, secret, version=3)
    assert (await editor.update(3))["fits"] == ["200k: everything fits"]


async def test_a_broken_edit_keeps_the_last_good_blocks_and_says_why(
    view: View, tmp_path: Path
) -> None:
    editor = view(tmp_path, trusted=True)
    uri = editor.open("both.py", PROMPT)
    await editor.command("prompt.preview")
    editor.change(uri, PROMPT + "\nbroken = (")
    update = await editor.update(1)
    assert update["order"] == ["first", "second"]
    assert update["blocks"] == []
    assert update["stale"]["line"] == 8
    assert "isn't Python" in update["stale"]["message"]
    editor.change(uri, PROMPT, version=3)
    assert (await editor.update(2))["stale"] is None


async def test_a_prompt_that_is_broken_from_the_start_is_followed_until_it_is_mended(
    view: View, tmp_path: Path
) -> None:
    editor = view(tmp_path, trusted=True)
    hidden = PROMPT.replace("both =", "globals()['both'] =") + "\nraise ValueError('not yet')\n"
    uri = editor.open("both.py", hidden)
    preview = await editor.command("prompt.preview", uri=uri, name="both")
    assert (preview["order"], preview["blocks"], preview["name"]) == ([], [], "both")
    assert (preview["stale"]["kind"], preview["stale"]["line"]) == ("exception", 8)
    editor.change(uri, PROMPT)
    update = await editor.update(1)
    assert update["stale"] is None
    assert [block["id"] for block in update["blocks"]] == ["first", "second"]


async def test_an_edit_ends_a_render_that_does_not_end(view: View, tmp_path: Path) -> None:
    editor = view(tmp_path, trusted=True, render_deadline=600)
    uri = editor.open("both.py", PROMPT)
    await editor.command("prompt.preview")
    started = tmp_path / "started"
    editor.change(uri, f"{PROMPT}\nopen({str(started)!r}, 'w').close()\nwhile True: pass\n")
    await until(started.exists)
    editor.change(uri, PROMPT.replace("Two.", "Mended."), version=3)
    update = await editor.update(1)
    assert update["documentVersion"] == 3
    assert update["blocks"][0]["text"] == "## 2. Second\n\nMended."


async def test_an_unsaved_import_is_seen(view: View, tmp_path: Path) -> None:
    editor = view(tmp_path, trusted=True)
    (tmp_path / "texts.py").write_text("BODY = 'saved'\n", encoding="utf-8")
    imported = editor.open("texts.py", "BODY = 'unsaved'\n")
    text = PROMPT.replace('template="Two."', "template=BODY").replace(
        "\n\n", "\nfrom texts import BODY\n\n", 1
    )
    editor.open("both.py", text)
    preview = await editor.command("prompt.preview")
    assert preview["blocks"][1]["text"] == "## 2. Second\n\nunsaved"
    editor.change(imported, "BODY = 'changed'\n")
    update = await editor.update(1)
    assert update["blocks"][0]["text"] == "## 2. Second\n\nchanged"


async def test_an_import_that_changes_on_disk_is_seen(view: View, tmp_path: Path) -> None:
    editor = view(tmp_path, trusted=True)
    texts = tmp_path / "texts.py"
    texts.write_text("BODY = 'saved'\n", encoding="utf-8")
    imported = "from texts import BODY\n" + PROMPT.replace('template="Two."', "template=BODY")
    editor.open("both.py", imported)
    await editor.command("prompt.preview")
    editor.write("texts.py", "BODY = 'saved again'\n")
    update = await editor.update(1)
    assert update["blocks"][0]["text"] == "## 2. Second\n\nsaved again"


@pytest.mark.parametrize("trusted", [True, False])
async def test_a_text_from_a_file_is_shown_and_followed(
    view: View, tmp_path: Path, *, trusted: bool
) -> None:
    editor = view(tmp_path, trusted=trusted)
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "two.md").write_bytes(b"It costs $5.\r\nNot ${less}.\n")
    text = PROMPT.replace('template="Two."', 'template=verbatim(from_file("texts/two.md"))')
    editor.open("both.py", f"from foldline.prompts import from_file, verbatim\n{text}")
    preview = await editor.command("prompt.preview")
    assert preview["blocks"][1]["text"] == "## 2. Second\n\nIt costs $5.\nNot ${less}."
    editor.write("texts/two.md", "Another text.")
    update = await editor.update(1)
    assert update["blocks"][0]["text"] == "## 2. Second\n\nAnother text."


async def test_sections_open_and_close(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    preview = await editor.command("prompt.preview")
    session = preview["sessionId"]
    opened = await editor.command(
        "prompt.openSections", sessionId=session, section_keys=["reference-docs"]
    )
    block = next(block for block in opened["blocks"] if block["id"] == "reference-docs")
    assert (block["visibility"], block["opened"]) == ("FULL", True)
    assert "reference-docs/security" in opened["order"]
    update = await editor.update(1)
    assert update["order"] == opened["order"]
    closed = await editor.command(
        "prompt.closeSections", sessionId=session, section_keys=["reference-docs"]
    )
    assert closed["order"] == preview["order"]
    _, data = await editor.refusal(
        "prompt.closeSections", sessionId=session, section_keys=["reference-docs"]
    )
    assert data["kind"] == "tool"


async def test_steps_are_undone_one_by_one_and_reset_at_once(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    first = await editor.command("prompt.preview")
    await editor.command("prompt.setParams", params={"Project": {"project": "billing"}})
    opened = await editor.command(
        "prompt.openSections", sessionId=first["sessionId"], section_keys=["reference-docs"]
    )
    assert "You review billing" in opened["blocks"][0]["text"]
    assert "reference-docs/security" in opened["order"]
    steps = (await editor.command("prompt.history"))["steps"]
    assert [step["action"] for step in steps] == ["start", "params", "open"]
    assert [step["version"] for step in steps] == [1, 2, 3]
    assert steps[2]["section_keys"] == ["reference-docs"]
    assert steps[2]["reason"] is None, "none was given"
    undone = await editor.command("prompt.undo")
    assert undone["order"] == first["order"]
    assert "You review billing" in undone["blocks"][0]["text"]
    reset = await editor.command("prompt.reset")
    assert (reset["blocks"], reset["params"]) == (first["blocks"], {})
    again = await editor.command("prompt.undo")
    assert again["blocks"] == undone["blocks"]
    assert (await editor.command("prompt.undo"))["blocks"] == first["blocks"]
    assert (await editor.command("prompt.undo"))["version"] == 7
    assert [update["version"] for update in editor.updates] == [2, 3, 4, 5, 6, 7]


async def test_opening_a_section_shows_what_it_costs_and_what_a_cache_keeps(
    editor: Viewer,
) -> None:
    editor.open("reviewer_prompt.py")
    preview = await editor.command("prompt.preview")
    folded = {block["id"]: block["tokens"] for block in preview["blocks"]}
    assert preview["kept"] is None
    assert preview["tokens"]["text"] == sum(tokens["self"] for tokens in folded.values())
    assert preview["tokens"]["tools"] == sum(tool["tokens"] for tool in preview["tools"])
    assert folded["guidance"]["if_opened"] is None
    (schema,) = (tool["schema"] for tool in preview["tools"] if tool["name"] == "open_sections")
    assert schema["required"] == ["section_keys", "reason"]
    opened = await editor.command(
        "prompt.openSections", sessionId=preview["sessionId"], section_keys=["reference-docs"]
    )
    now = {block["id"]: block["tokens"] for block in opened["blocks"]}
    said = folded["reference-docs"]["if_opened"]
    for part in ("text", "tools", "total"):
        assert opened["tokens"][part] - preview["tokens"][part] == said[part]
    below = [tokens["self"] for id_, tokens in now.items() if id_.startswith("reference-docs")]
    assert now["reference-docs"]["subtree"] == sum(below)
    assert opened["kept"]["characters"] > len(opened["blocks"][0]["text"])
    assert opened["kept"]["tools"] is False
    assert opened["kept"]["words"].startswith("Too short to cache (")


async def test_values_that_do_not_fit_change_nothing(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    await editor.command("prompt.preview")
    _, data = await editor.refusal("prompt.setParams", params={"Project": {"projct": "x"}})
    assert (data["kind"], data["near"]) == ("prompt", ["project", "language"])
    history = await editor.command("prompt.history")
    assert [step["action"] for step in history["steps"]] == ["start"]
    assert editor.updates == []


async def test_an_edit_after_opening_keeps_the_instructions_that_came_with_it(
    editor: Viewer,
) -> None:
    uri = editor.open("reviewer_prompt.py")
    preview = await editor.command("prompt.preview")
    opened = await editor.command(
        "prompt.openSections", sessionId=preview["sessionId"], section_keys=["reference-docs"]
    )
    task = preview["order"].index("review-task")
    assert opened["blocks"][task] != preview["blocks"][task]
    text = (editor.root / "reviewer_prompt.py").read_text(encoding="utf-8")
    editor.change(uri, text.replace("You review ", "You now review "))
    update = await editor.update(2)
    assert [block["id"] for block in update["blocks"]] == ["guidance"]


DEFAULT_TASK = """
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility, Task, TaskSection

more = MarkdownSection[None](
    title="More", key="more", template="Text.", summary="s", visibility=SectionVisibility.SUMMARY
)
task = TaskSection[Task](title="Task", key="task", default_params=Task("Do it."))
PROMPT = PromptTemplate(ns="n", key="k", sections=[more, task])
"""


async def test_a_task_that_nothing_binds_is_told_what_was_opened(
    view: View, tmp_path: Path
) -> None:
    editor = view(tmp_path, trusted=True)
    editor.open("default.py", DEFAULT_TASK)
    preview = await editor.command("prompt.preview")
    said = preview["blocks"][0]["tokens"]["if_opened"]["text"]
    opened = await editor.command(
        "prompt.openSections", sessionId=preview["sessionId"], section_keys=["more"]
    )
    assert "Sections expanded: `more`." in opened["blocks"][1]["text"]
    assert opened["tokens"]["text"] - preview["tokens"]["text"] == said


SLOW = """
import pathlib, time
here = pathlib.Path(__file__).parent
here.joinpath("started").touch()
while not here.joinpath("go").exists():
    time.sleep(0.01)
"""


async def test_an_answer_to_an_older_text_does_not_replace_that_to_a_newer_one(
    view: View, tmp_path: Path
) -> None:
    editor = view(tmp_path, trusted=True)
    folded = PROMPT.replace(
        'template="One.")', 'template="One.", summary="1", visibility=SectionVisibility.SUMMARY)'
    ).replace("PromptTemplate\n", "PromptTemplate, SectionVisibility\n", 1)
    uri = editor.open("both.py", folded)
    session = (await editor.command("prompt.preview"))["sessionId"]
    editor.change(uri, folded + SLOW)
    opening = asyncio.create_task(
        editor.command("prompt.openSections", sessionId=session, section_keys=["first"])
    )
    await until((tmp_path / "started").exists)
    editor.change(uri, folded.replace("Two.", "Newest."), version=3)
    assert (await editor.update(1))["documentVersion"] == 3
    (tmp_path / "go").touch()
    opened = await opening
    assert opened["documentVersion"] == 3
    assert [block["text"] for block in opened["blocks"]] == [
        "## 1. First\n\nOne.\n\n",
        "## 2. Second\n\nNewest.",
    ]


def test_a_ticket_is_current_while_no_younger_text_is_shown_and_its_options_hold() -> None:
    preview = Preview("preview-1", "file:///p.py", "p")
    older, younger = preview.ticket(), preview.ticket()
    assert older.is_current(preview)
    preview.show(Render(name="p", text="", blocks=()), younger)
    assert older.is_outdated(preview)
    assert younger.is_current(preview)
    preview.steps.append(PromptView(action="reset"))
    assert not younger.is_current(preview)
    assert preview.ticket().is_current(preview)


async def test_clients_get_the_same_fields_of_every_preview(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    state = await editor.command("prompt.preview")
    assert sorted(state) == sorted(
        [
            "sessionId",
            "uri",
            "name",
            "version",
            "documentVersion",
            "fidelity",
            "order",
            "blocks",
            "tools",
            "tokens",
            "output",
            "descriptor",
            "fits",
            "kept",
            "cache",
            "params",
            "parameter_set",
            "parameter_sets",
            "parameters",
            "chapters",
            "chapters_shown",
            "budget",
            "generated",
            "effects",
            "interpreter",
            "steps",
            "milliseconds",
            "stale",
        ]
    )
    block = "id path key number title depth visibility enabled text segments error location tokens"
    assert sorted(state["blocks"][0]) == sorted([*block.split(), "opened"])
    assert sorted(state["blocks"][0]["tokens"]) == ["if_opened", "self", "subtree"]
    assert sorted(state["blocks"][0]["segments"][0]) == ["field", "kind", "text"]
    render = await editor.command("prompt.render")
    assert sorted(render["blocks"][0]) == sorted([*block.split(), "span"])
    static = await editor.command("prompt.render", fidelity="static")
    assert sorted(static["blocks"][0]["segments"][0]) == ["field", "kind", "known", "text"]
    # Only running the prompt tells if one of its chapters may open.
    assert (render.get("certain"), static["certain"]) == (None, False)


async def test_a_preview_is_read_and_rendered_once_and_stays_as_it_is(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    session = (await editor.command("prompt.preview"))["sessionId"]
    values = {"Project": {"language": "Cobol"}}
    shown = await editor.command("prompt.setParams", sessionId=session, params=values)
    assert (shown["steps"], shown["milliseconds"] > 0) == (2, True)
    read = await editor.command(
        "prompt.readSection", sessionId=session, section_key="reference-docs"
    )
    assert len(read["text"]) > 100
    other = {"Project": {"language": "Ada 83"}}
    once = await editor.command("prompt.render", sessionId=session, params=other)
    assert ("Ada 83" in once["text"], "Cobol" in once["text"]) == (True, False)
    history = await editor.command("prompt.history", sessionId=session)
    assert [step["action"] for step in history["steps"]] == ["start", "params"]
