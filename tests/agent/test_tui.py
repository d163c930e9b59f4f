"""`foldline preview --tui`: each control, driven by keys in the application itself."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from textual.widgets import Input, OptionList, Static, Tab, TabbedContent, Tree
from textual.widgets._footer import FooterKey

from foldline.agent.preview_session import FirstView
from foldline.agent.tui.app import PreviewApp
from foldline.agent.tui.screens import Ask, Choose, Read
from foldline.ide.settings import Settings
from foldline.ide.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from textual.pilot import Pilot

pytestmark = pytest.mark.real

PROMPT = '''\
from dataclasses import dataclass
from typing import Literal

from foldline.prompts import Chapter, MarkdownSection, PromptTemplate, SectionVisibility


@dataclass(frozen=True)
class Question:
    """What a customer asks."""

    text: str = "Where is my order?"
    tone: Literal["kind", "short"] = "kind"
    orders: int = 3


FOLDED = SectionVisibility.SUMMARY
policies = MarkdownSection[None](
    title="Policies", key="policies", template="Refunds are for a person.",
    summary="What may be promised.", visibility=FOLDED,
)
rules = MarkdownSection[None](
    title="Rules", key="rules", template="Be polite.", children=[policies]
)
question = MarkdownSection[Question](
    title="Question", key="question", template="${text} (${tone}, ${orders} orders)"
)
hidden = MarkdownSection[None](
    title="Now hidden", key="hidden", template="No.", enabled=lambda: False
)
prompt = PromptTemplate(ns="demo", key="triage", sections=[rules, question, hidden])


def preview_angry() -> Question:
    return Question(text="WHERE IS IT \\x1b[31m")


def preview_calm() -> Question:
    return Question(text="No hurry.")
'''
REVIEWER = Path(__file__).parents[2] / "examples" / "code_reviewer" / "reviewer_prompt.py"
PATIENCE = 60.0


@pytest.fixture
def prompt_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "work"
    folder.mkdir()
    file = folder / "triage.py"
    file.write_text(PROMPT, encoding="utf-8")
    return file


def app_of(file: Path, name: str | None = None) -> PreviewApp:
    workspace = Workspace()
    workspace.set_settings(Settings(trusted=True, render_deadline=30.0))
    workspace.set_roots([file.parent])
    return PreviewApp(workspace, FirstView(file, name))


class Desk:
    """A running application, its keys and its screen."""

    def __init__(self, app: PreviewApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until `holds` is true of the screen."""
        async with asyncio.timeout(PATIENCE):
            while not holds():
                await self.pilot.pause(0.01)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    def is_open(self, kind: type) -> bool:
        return isinstance(self.app.screen, kind)

    async def dialog(self, kind: type) -> None:
        await self.until(lambda: self.is_open(kind))
        await self.pilot.pause()

    async def typed(self, text: str) -> None:
        """Type into the open question."""
        await self.dialog(Ask)
        self.app.screen.query_one(Input).value = text
        await self.press("enter")

    async def chosen(self, number: int) -> None:
        """Choose the row of that number, from 0."""
        await self.dialog(Choose)
        self.app.screen.query_one(OptionList).highlighted = number
        await self.press("enter")

    def rows(self) -> list[str]:
        """The rows of the open list."""
        options = self.app.screen.query_one(OptionList)
        return [str(options.get_option_at_index(n).prompt) for n in range(options.option_count)]

    def labels(self) -> list[str]:
        """The rows of the tree."""
        tree = self.app.screen_stack[0].query_one("#sections", Tree)
        return [str(line.node.label) for line in tree._tree_lines]

    def at(self) -> str:
        """The row at the cursor."""
        node = self.app.screen_stack[0].query_one("#sections", Tree).cursor_node
        return str(node.label) if node else ""

    def status(self) -> str:
        return str(self.app.screen_stack[0].query_one("#status", Static).content)

    def text(self) -> str:
        """The text of all sections."""
        sections = self.app.screen_stack[0].query(".section").results(Static)
        return "".join(str(one.content) for one in sections)

    def tab(self, name: str) -> str:
        return str(self.app.screen_stack[0].query_one(f"#{name}-text", Static).content)

    def read(self) -> str:
        """The text of the open dialog."""
        return "\n".join(str(one.content) for one in self.app.screen.query(Static))

    def notes(self) -> str:
        return "\n".join(note.message for note in self.app._notifications)


@pytest.fixture
async def desk(prompt_file: Path) -> AsyncIterator[Desk]:
    async for one in opened(app_of(prompt_file)):
        yield one


async def opened(app: PreviewApp, columns: int = 120) -> AsyncIterator[Desk]:
    async with app.run_test(size=(columns, 40)) as pilot:
        one = Desk(app, pilot)
        await one.until(one.labels)
        yield one


async def test_sections_are_folded_with_their_costs(desk: Desk) -> None:
    labels = desk.labels()
    assert labels[0].startswith("1. Rules")
    assert labels[1].startswith("▸ 1.1. Policies")
    assert " if opened" in labels[1]
    assert labels[3] == "3. Now hidden  off"
    assert desk.status().startswith("demo/triage · angry · ")
    assert desk.status().count("\n") == 0


async def test_text_of_a_prompt_controls_no_terminal(desk: Desk) -> None:
    assert "WHERE IS IT \\u001b[31m" in desk.text()
    assert "\x1b" not in desk.text()


async def test_a_section_is_opened_closed_undone_and_reset(desk: Desk) -> None:
    await desk.press("down", "o")
    await desk.until(lambda: "Refunds" in desk.text())
    assert "1.1. Policies" in desk.at()
    assert "opened" in desk.at()
    await desk.press("c")
    await desk.until(lambda: "Refunds" not in desk.text())
    await desk.press("u")
    await desk.until(lambda: "Refunds" in desk.text())
    await desk.press("r")
    await desk.until(lambda: "Refunds" not in desk.text())


async def test_an_instruction_file_opens_its_folded_sections(prompt_file: Path) -> None:
    file = prompt_file.with_name("AGENTS.md")
    rules = "Each package has its metadata in a file of its own. " * 20
    file.write_text(f"# Rules\n\n## Data\n<!-- fold: where it lives -->\n{rules}\n")
    async for one in opened(app_of(file)):
        assert one.labels()[1].startswith("▸ 1.1. Data")
        await one.press("down", "o")
        await one.until(partial(_shows, one, "Each package", True))
        await one.press("c")
        await one.until(partial(_shows, one, "Each package", False))


def _shows(desk: Desk, text: str, expected: bool) -> bool:
    return (text in desk.text()) is expected


@pytest.mark.parametrize("key", ["o", "p"])
async def test_what_cannot_be_opened_is_told(desk: Desk, key: str) -> None:
    await desk.press("down", "down", key)
    await desk.until(lambda: desk.notes() == "Already open.")
    await desk.press("down", key)
    await desk.until(lambda: desk.notes().endswith("\nOff with these values."))


async def test_a_key_tells_what_each_key_does(desk: Desk) -> None:
    await desk.press("question_mark")
    await desk.dialog(Read)
    for said in (
        "o  Opens summarized sections",
        "y  The steps of a preview",
        "1-5  Shows the tabs",
    ):
        assert said in desk.read()


async def test_titles_leave_room_for_what_opening_costs(prompt_file: Path) -> None:
    prompt_file.write_text(PROMPT.replace("Policies", "Policies of the whole house " * 3))
    async for one in opened(app_of(prompt_file)):
        assert one.labels()[1].endswith(" if opened")
        assert len(one.labels()[1]) < 60 - len("└ ")


async def test_80_columns_hold_all_tabs_and_the_keys_that_help(prompt_file: Path) -> None:
    async for one in opened(app_of(prompt_file), columns=80):
        await one.pilot.pause()
        *_, last = one.app.query(Tab)
        assert last.region.right <= last.screen.query_one(TabbedContent).region.right <= 80
        keys = {key.key: key.region.right for key in one.app.query(FooterKey)}
        assert max(keys["q"], keys["question_mark"]) <= 80


async def test_a_section_is_peeked_at_without_being_opened(desk: Desk) -> None:
    await desk.press("down", "p")
    await desk.dialog(Read)
    assert "Refunds are for a person." in desk.read()
    await desk.press("escape")
    await desk.until(lambda: not desk.is_open(Read))
    assert "Refunds" not in desk.text()


async def test_a_parameter_set_is_chosen(desk: Desk) -> None:
    await desk.press("s")
    await desk.dialog(Choose)
    assert desk.rows() == ["angry", "calm", "none"]
    await desk.chosen(1)
    await desk.until(lambda: "No hurry." in desk.text())
    assert " · calm · " in desk.status()
    await desk.press("s")
    await desk.chosen(2)
    await desk.until(lambda: "Where is my order?" in desk.text())


async def test_values_are_typed_or_chosen(desk: Desk) -> None:
    await desk.press("v")
    await desk.dialog(Choose)
    assert "Question.tone" in desk.rows()[1]
    assert "preview_angry(), line " in desk.rows()[1]
    assert " of triage.py" in desk.rows()[1]
    await desk.chosen(2)
    await desk.typed("7")
    await desk.until(lambda: "7 orders" in desk.text())
    await desk.press("v")
    await desk.chosen(1)
    await desk.until(
        lambda: isinstance(desk.app.screen, Choose) and desk.rows() == ["kind", "short"]
    )
    await desk.chosen(1)
    await desk.until(lambda: "(short, 7 orders)" in desk.text())


async def test_a_budget_has_a_meter(desk: Desk) -> None:
    await desk.press("b")
    await desk.typed("10")
    await desk.until(lambda: "of 10 tokens" in desk.status())
    assert "█" in desk.status()
    await desk.press("b")
    await desk.typed("much")
    await desk.until(lambda: "a number of tokens" in desk.notes())


async def test_versions_and_revisions_are_compared(desk: Desk, prompt_file: Path) -> None:
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "one"],
    ):
        subprocess.run(["git", *arguments], cwd=prompt_file.parent, check=True)
    await desk.press("down", "o")
    await desk.until(lambda: "Refunds" in desk.text())
    await desk.press("y")
    await desk.dialog(Choose)
    assert desk.rows()[1].startswith("version 2  open rules.policies")
    await desk.chosen(0)
    await desk.dialog(Read)
    assert "+Refunds are for a person." in desk.read()
    await desk.press("escape", "d")
    await desk.typed("HEAD")
    await desk.dialog(Read)
    assert "tokens HEAD" in desk.read() or "No change since HEAD" in desk.read()
    await desk.press("escape", "d")
    await desk.typed("")
    await desk.dialog(Read)
    assert "+Refunds are for a person." in desk.read()
    await desk.press("escape", "d")
    await desk.typed("nowhere")
    await desk.until(lambda: "nowhere" in desk.notes())


async def test_words_are_searched_for(desk: Desk) -> None:
    await desk.press("slash")
    await desk.typed("promised")
    await desk.until(lambda: "Policies" in desk.at())
    await desk.press("slash")
    await desk.typed("orders")
    await desk.until(lambda: "Question" in desk.at())
    await desk.press("slash")
    await desk.typed("nowhere at all")
    await desk.until(lambda: "Nothing has" in desk.notes())


async def test_a_section_folds_in_the_tree(desk: Desk) -> None:
    assert len(desk.labels()) == 4
    await desk.press("home", "space")
    await desk.until(lambda: len(desk.labels()) == 3)
    await desk.press("space")
    await desk.until(lambda: len(desk.labels()) == 4)


async def test_changed_files_are_shown_and_broken_ones_leave_the_last_text(
    desk: Desk, prompt_file: Path
) -> None:
    stop = asyncio.Event()

    async def keep_writing(text: str) -> None:
        # Files are watched only from some moment on.
        while not stop.is_set():
            prompt_file.write_text(text, encoding="utf-8")
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), 0.3)

    writing = asyncio.create_task(keep_writing(PROMPT.replace("Be polite.", "Be brief.")))
    await desk.until(lambda: "Be brief." in desk.text())
    stop.set()
    await writing
    prompt_file.write_text(f"{PROMPT}broken = (\n", encoding="utf-8")
    await desk.until(lambda: "last version that rendered" in desk.status())
    assert "isn't Python" in desk.status()
    assert "Be brief." in desk.text()


@pytest.fixture
async def reviewer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setenv("FOLDLINE_CACHE_DIR", str(tmp_path / "cache"))
    async for one in opened(app_of(REVIEWER, "reviewer")):
        yield one


async def test_chapters_and_the_views_of_everything_else(
    reviewer: Desk,
) -> None:
    desk = reviewer
    await desk.press("h")
    await desk.dialog(Choose)
    # As an evaluation sends them.
    assert desk.rows()[0].startswith("● planning")
    await desk.chosen(0)
    await desk.until(lambda: "Plan First" not in desk.text())
    await desk.press("h")
    await desk.dialog(Choose)
    assert desk.rows()[0].startswith("○ planning")
    await desk.chosen(0)
    await desk.until(lambda: "Plan First" in desk.text())
    await desk.press("h")
    await desk.chosen(2)
    await desk.until(lambda: "'incidents' stays closed" in desk.notes())
    views = {
        "tools": '"properties"',
        "output": '"type": "object"',
        "messages": "tokens",
        "cache": "Too short to cache",
    }
    tabs = desk.app.query_one(TabbedContent)
    for key, (name, words) in enumerate(views.items(), 2):
        await desk.press(str(key))
        assert tabs.active == name
        assert words in desk.tab(name)
    costs = desk.tab("cache")
    assert "\nOutput schema to 1 Review Guidance  " in costs
    assert "\n  Changes with each request, by review-task (request). Re-read if changed: " in costs
    assert "{" not in costs


async def test_a_prompt_that_is_not_there_ends_the_application(prompt_file: Path) -> None:
    app = app_of(prompt_file, "nothing")
    async with app.run_test() as pilot:
        async with asyncio.timeout(PATIENCE):
            while app.failure is None:
                await pilot.pause()
    assert "nothing" in str(app.failure)


def test_it_runs_in_a_terminal_and_needs_one(prompt_file: Path) -> None:
    command = [sys.executable, "-m", "foldline", "preview", str(prompt_file), "--tui"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--tui needs a terminal" in refused.stderr
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        written = b""
        while b"Policies" not in written:
            written += os.read(ours, 1 << 16)
        os.write(ours, b"q")
        try:
            while chunk := os.read(ours, 1 << 16):
                written += chunk
        except OSError:
            pass  # How Linux tells that the other end is closed.
        assert process.wait(60) == 0
    os.close(ours)
    assert b"Traceback" not in written


def test_a_missing_textual_names_the_extra(prompt_file: Path) -> None:
    code = (
        "import sys; sys.modules['textual'] = None\n"
        "from foldline.agent.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "preview", str(prompt_file), "--tui"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "install foldline[tui]" in done.stderr
