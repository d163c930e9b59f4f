"""A broken section leaves the others shown."""

from pathlib import Path

import pytest

from .viewer import View, Viewer

pytestmark = pytest.mark.real

PROMPT = """
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate
from helper import allowed

@dataclass
class Who:
    name: str = "Ada"

first = MarkdownSection[Who](title="First", key="first", template="Hello ${name}.")
second = MarkdownSection[Who](title="Second", key="second", template="Two.", enabled=allowed)
third = MarkdownSection[Who](title="Third", key="third", template="Three.")
both = PromptTemplate(ns="demo", key="both", sections=[first, second, third])
"""
HELPER = """
def allowed(who):
    return who.name != "Eve"
"""
BROKEN = HELPER.replace("who.name", "who.nmae")


def opened(view: View, root: Path) -> Viewer:
    (root / "helper.py").write_text(HELPER, encoding="utf-8")
    (root / "both.py").write_text(PROMPT, encoding="utf-8")
    return view(root, trusted=True)


async def test_a_section_that_fails_is_an_error_block_among_the_others(
    view: View, tmp_path: Path
) -> None:
    editor = opened(view, tmp_path)
    editor.open("both.py")
    helper = editor.open("helper.py", BROKEN)
    preview = await editor.command("prompt.preview", uri=editor.uri("both.py"))
    assert preview["stale"] is None
    first, second, third = preview["blocks"]
    assert (first["error"], third["error"]) == (None, None)
    assert third["text"] == "## 3. Third\n\nThree."
    error = second["error"]
    assert (error["file"], error["line"]) == (str(tmp_path / "helper.py"), 3)
    assert error["type"] == "AttributeError"
    assert "[not rendered: helper.py:3: " in second["text"]
    editor.change(helper, HELPER)
    update = await editor.update(1)
    assert [block["id"] for block in update["blocks"]] == ["second"]
    assert update["blocks"][0]["error"] is None


async def test_a_single_render_stays_strict(view: View, tmp_path: Path) -> None:
    editor = opened(view, tmp_path)
    editor.open("both.py")
    editor.open("helper.py", BROKEN)
    message, data = await editor.refusal("prompt.render", uri=editor.uri("both.py"))
    assert (data["kind"], data["line"]) == ("exception", 3)
    assert "PromptRenderError" in message
