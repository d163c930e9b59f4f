"""Code that the library refuses: what running it raises is found in its source, in its words."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from foldline.ide.analysis.project import Project
from foldline.ide.checks import Severity, diagnostics

HEAD = """\
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple, Optional, TypedDict
from foldline.prompts import *
from foldline.prompts.dataclasses import FrozenDataclass
@FrozenDataclass()
class Who:
    name: str
    age: int = 3
@FrozenDataclass()
class Other:
    x: str = "x"
@FrozenDataclass()
class Answer:
    title: str
    steps: tuple[str, ...] = ()
def handle(params, *, context):
    return ToolResult(message="ok")
SUMMARY, FULL = SectionVisibility.SUMMARY, SectionVisibility.FULL
GOOD = MarkdownSection[Who](title="Good", key="good", template="Hello ${name}, ${age}")
TOOL = Tool[Who, str](name="search", description="Searches.", handler=handle)
GOOD_TEMPLATE = PromptTemplate(ns="n", key="k", sections=[GOOD])
CHAPTER = Chapter[Who](title="More", key="more", sections=[GOOD.clone(key="inner")])
WITH_CHAPTER = PromptTemplate(ns="n", key="k", sections=[GOOD], chapters=[CHAPTER])
"""
PARTS = re.split(
    r"^=== (\S+) \| (.+)\n",
    Path(__file__).with_name("refusals.txt").read_text(encoding="utf-8"),
    flags=re.MULTILINE,
)[1:]
CASES = list(zip(PARTS[::3], PARTS[1::3], PARTS[2::3], strict=True))


def words(text: str) -> str:
    """A sentence without the signs around what it shows: code in an editor, values at run time."""
    return re.sub("[`'\"]", "", text).lower()


def run(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a module, which annotations are looked up in."""
    module = ModuleType("refused_prompt")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(text, "refused_prompt.py", "exec", dont_inherit=True), vars(module))


@pytest.mark.parametrize(
    ("code", "sentence", "source"), CASES, ids=[f"{n}-{case[0]}" for n, case in enumerate(CASES)]
)
def test_what_is_refused_at_run_time_is_found_in_the_source(
    monkeypatch: pytest.MonkeyPatch, code: str, sentence: str, source: str
) -> None:
    text = HEAD + source
    with pytest.raises(Exception, match=r"(?s).") as raised:
        run(text, monkeypatch)
    assert words(sentence) in words(str(raised.value))
    project = Project()
    project.open("/w/prompt.py", text)
    analysis = project.analysis("/w/prompt.py")
    assert analysis is not None
    errors = [found for found in diagnostics(analysis) if found.severity is Severity.ERROR]
    assert code in {found.code for found in errors}
    assert any(words(sentence) in words(found.message) for found in errors if found.code == code)


def test_what_all_cases_share_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    run(HEAD, monkeypatch)
    project = Project()
    project.open("/w/prompt.py", HEAD)
    analysis = project.analysis("/w/prompt.py")
    assert analysis is not None
    assert [found for found in diagnostics(analysis) if found.severity is Severity.ERROR] == []
