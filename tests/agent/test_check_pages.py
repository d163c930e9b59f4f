"""The page of each diagnostic: its first block has the finding, and the repaired one hasn't."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from foldline.agent.cli import main
from foldline.ide import checks
from foldline.ide.checks import Code

pytestmark = pytest.mark.real

PAGES = Path(checks.__file__).parent / "pages"
# Their findings need more than a module: a setting, or a text of many megabytes.
ELSEWHERE = {
    Code.TOKEN_BUDGET: "tests/agent/test_check.py",
    Code.UNPROVEN_BUDGET: "tests/agent/test_check.py",
    Code.SWITCHED_OFF_INSTRUCTIONS: "tests/plugins/instructions/test_stack.py",
    Code.DEAD_IMPORT: "tests/plugins/instructions/test_rules.py",
    Code.SECTION_DRIFT: "tests/plugins/instructions/test_drift.py",
    Code.NOT_EVALUATED: "tests/ide/test_budget.py",
    Code.EMPTY_SECTION: "tests/ide/instructions/test_checks.py",
    Code.STALE_REFERENCE: "tests/plugins/instructions/test_stale.py",
    Code.REPEATED_SECTION: "tests/ide/instructions/test_checks.py",
    Code.FRONT_MATTER: "tests/ide/instructions/test_checks.py",
    Code.UNKNOWN_FRONT_MATTER: "tests/ide/instructions/test_checks.py",
}

HEAD = """\
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from foldline.prompts import *
from foldline.prompts.adapters.openai import OpenAIAdapter
from foldline.prompts.dataclasses import FrozenDataclass

@dataclass(frozen=True)
class Tone:
    tone: str

@dataclass(frozen=True)
class Weather:
    weather: str

@dataclass(frozen=True)
class Review:
    name: str

@dataclass(frozen=True)
class Passage:
    text: str

@dataclass(frozen=True)
class SearchParams:
    query: str

def search(params: SearchParams, *, context: ToolContext) -> ToolResult[str]: ...

rules = MarkdownSection[None](title="Rules", key="rules", template="<long>")
details = MarkdownSection[None](title="Details", key="details", template="Everything.")
tone = MarkdownSection[Tone](title="Tone", key="greeting", template="Be ${tone}.")
""".replace("<long>", "Read every line before you judge it. " * 150)

RENDERED = """\
template = PromptTemplate(ns="demo", key="demo", sections=[{}])
prompt = Prompt(template)
<block>
"""
TONE = RENDERED.format(
    'MarkdownSection[None](title="Letter", key="letter", template="It:", children=[tone])'
)
REFERENCE = RENDERED.format(
    'MarkdownSection[None](title="Reference", key="reference", template="It.")'
)
SECTION = 'MarkdownSection[{}](title="Demo", key="demo", template={})\n'
# The rest of the module that a page's blocks are of; without one, they are all of it.
AROUND = {
    Code.BOUND_NOT_INSTANCE: RENDERED.format(
        'MarkdownSection[Review](title="Review", key="review", template="${name}")'
    ),
    Code.BOUND_TWICE: TONE,
    Code.CACHE_ORDER: "<block>" + RENDERED.format("*sections").replace("<block>", ""),
    Code.CHAPTER_WITHOUT_TEXT: (
        'chapter = Chapter[None](key="details", title="Details", sections=[details])\n'
        'template = PromptTemplate(ns="demo", key="demo", sections=[rules], chapters=[chapter])\n'
        "<block>"
    ),
    Code.DUPLICATE_KEY: '<block>PromptTemplate(ns="demo", key="demo", sections=sections)\n',
    Code.FOLDING_COSTS_MORE: "section = <block>\n" + RENDERED.format("section"),
    Code.GOAL_SECTION: (
        RENDERED.format('TaskSection[Task](key="task")').replace(
            "<block>", 'adapter = OpenAIAdapter(model="gpt-4o")\nadapter.<block>'
        )
    ),
    Code.INVALID_FORM: (
        "@dataclass\nclass Demo:\n    <block>\n" + SECTION.format("Demo", '"${rules}"')
    ),
    Code.INVALID_KEY: '<block>MarkdownSection[None](title="Demo", key=key, template="It.")\n',
    Code.INVALID_OVERRIDE: REFERENCE,
    Code.INVALID_TITLE: '<block>MarkdownSection[None](title=title, key="demo", template="It.")\n',
    Code.MISSING_PARAMS: TONE,
    Code.REPR_PLACEHOLDER: "<block>" + SECTION.format("Review", '"${rules} ${branch}"'),
    Code.UNTRUSTED_TEXT: (
        "@dataclass\nclass Demo:\n    <block>\n" + SECTION.format("Demo", '"${mail}"')
    ),
    Code.STRAY_DOLLAR: "<block>" + SECTION.format("None", "template"),
    Code.TOOL_HANDLER: (
        '<block>\nTool[SearchParams, str](name="search", description="Searches.", handler=search)\n'
    ),
    Code.TOOL_NAME: (
        "tool = <block>" + RENDERED.format("rules.clone(tools=[tool])").replace("<block>", "")
    ),
    Code.UNCLEAR_SUMMARY: "section = <block>\n" + RENDERED.format("section"),
    Code.UNKNOWN_PARAMS: TONE,
    Code.UNKNOWN_SECTION: REFERENCE,
    Code.UNREACHABLE_SECTION: "<block>" + SECTION.format("Tone", '"${tone}", enabled=enabled'),
    Code.UNUSED_FIELD: "<block>" + SECTION.format("Tone", '"${tone}"'),
}
# Their second block goes on where the first one ends.
CONTINUED = {Code.CACHE_ORDER}


def findings(folder: Path, capsys: pytest.CaptureFixture[str], text: str) -> list[str]:
    file = folder / "module.py"
    file.write_text(text, encoding="utf-8")
    main(["check", "--json", str(file)])
    return [one["code"] for one in json.loads(capsys.readouterr().out)["findings"]]


@pytest.mark.parametrize("code", sorted(set(Code) - ELSEWHERE.keys()))
def test_the_first_block_of_a_page_has_the_finding_and_the_next_has_not(
    code: Code, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    wrong, right, *_ = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    around = HEAD + AROUND.get(code, "<block>")
    assert code in findings(tmp_path, capsys, around.replace("<block>", wrong))
    if code in CONTINUED:
        right = wrong + right
    assert code not in findings(tmp_path, capsys, around.replace("<block>", right))
