"""Every page runs as it is typed, from the documented install, and prints what it shows."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .counts import comparable
from .reading import Page

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]


def _module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_examples", ROOT / "docs/make_examples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules["make_examples"] = module
    spec.loader.exec_module(module)
    return module


EXAMPLES = _module()
PAGES = {page.relative_to(ROOT).as_posix(): page for page in EXAMPLES.pages()}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return EXAMPLES.Installation.make(tmp_path_factory.mktemp("installation"))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_as_typed_and_prints_what_it_shows(name: str, installation: Any) -> None:
    shown = comparable(PAGES[name].read_text(encoding="utf-8"))
    written = comparable(EXAMPLES.written(PAGES[name], installation))
    assert written == shown, f"run `uv run python docs/make_examples.py {name}`"


# Texts that no Python above them prints.
SHOWN_OTHERWISE = {
    "README.md": "tests/agent/test_mcp_page.py",
    "docs/mcp.md": "tests/agent/test_mcp_page.py",
}


@pytest.mark.parametrize("name", PAGES)
def test_an_output_stands_below_what_prints_it(name: str) -> None:
    blocks = Page(name, PAGES[name].read_text(encoding="utf-8")).blocks
    above = [None, *blocks[:-1]]
    for before, block in zip(above, blocks, strict=True):
        if block.info == "text" and name not in SHOWN_OTHERWISE:
            assert before is not None
            assert before.info == "python", f"{name}:{block.line}"


def written(tmp_path: Path, text: str) -> str:
    """A page of which nothing needs foldline."""
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    result = EXAMPLES.written(page, EXAMPLES.Installation(tmp_path))
    assert isinstance(result, str)
    return result


def test_a_block_is_replaced_in_its_place_alone(tmp_path: Path) -> None:
    page = "It was b\n\n```console\n$ echo a > a.py\n```\n\nThis is `a.py`:\n\n```\n{}\n```\nor b\n"
    assert written(tmp_path, page.format("b")) == page.format("a")


@pytest.mark.parametrize("language", ["python", "console", "text"])
def test_an_empty_block_is_refused_with_its_line(tmp_path: Path, language: str) -> None:
    page = f"```console\n$ echo a > a.py\n```\n\nThis is `a.py`:\n\n```{language}\n```\n"
    with pytest.raises(EXAMPLES.PageError, match=r"page\.md:7: the block is empty"):
        written(tmp_path, page)


def test_a_command_with_a_comment_must_succeed(tmp_path: Path) -> None:
    page = "```console\n$ {} # says nothing\n```\n"
    assert written(tmp_path, page.format("echo a")) == page.format("echo a")
    with pytest.raises(EXAMPLES.PageError, match="`false` doesn't work"):
        written(tmp_path, page.format("false"))


def test_the_text_that_a_page_asks_to_change_must_be_there(tmp_path: Path) -> None:
    asked = "In `a.py`:\n\n```\nb  bb\n```\n\nIn `a.py`, write `d` instead of `{}`.\n\n"
    page = asked + "```console\n$ cat a.py\n{}\n```\n"
    assert written(tmp_path, page.format("bb", "?")) == page.format("bb", "b  d")
    for text, times in (("c", "nowhere"), ("b", "3")):
        with pytest.raises(EXAMPLES.PageError, match=rf"page\.md:7: a\.py has '{text}' {times}"):
            written(tmp_path, page.format(text, "?"))


def test_what_python_prints_is_shown(tmp_path: Path, installation: Any) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n", encoding="utf-8")
    with pytest.raises(EXAMPLES.PageError, match=r"page\.md:1 prints, and shows no `text` block"):
        EXAMPLES.written(page, installation)


def test_nothing_is_excused_that_is_not_there() -> None:
    for name, reasons in EXAMPLES.NOT_TYPED.items():
        text = PAGES[name].read_text(encoding="utf-8")
        assert [start for start in reasons if f"\n$ {start}" not in text] == []
    assert [name for name in EXAMPLES.ELSEWHERE if "```python" not in PAGES[name].read_text()] == []
