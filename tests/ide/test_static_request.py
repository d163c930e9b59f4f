"""The request that the source shows is the one that running the prompt sends."""

from __future__ import annotations

import json
import sys
from types import ModuleType

import pytest

from foldline.ide.analysis.project import Project
from foldline.ide.render.static_request import StaticRequest, costed
from foldline.ide.token_counter import token_counter

HEAD = """\
from __future__ import annotations
from dataclasses import dataclass, field
from typing import Annotated, Literal
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility, Tool

@dataclass(frozen=True)
class Place:
    file: str = field(metadata={"description": "The file, from the root."})
    line: int | None = None

@dataclass(frozen=True)
class Finding:
    place: Place
    severity: Literal["low", "high"]
    others: list[Place] = field(default_factory=list)

@dataclass(frozen=True)
class Report:
    findings: tuple[Finding, ...]
    best: Finding | None = None

def handle(params, *, context): ...
"""
PROMPT = """
p = PromptTemplate[{0}](ns="n", key="p", sections=[
    MarkdownSection[None](title="A", key="a", template="Text.", tools=[
        Tool[Finding, str](name="tell", description="Tells of it.", handler=handle)]),
    MarkdownSection[None](title="B", key="b", template="All.", summary="Some.",
        visibility=SectionVisibility.SUMMARY),
])
"""


@pytest.mark.parametrize("kind", ["Place", "Finding", "Report", "list[Report]"])
def test_schemas_hold_those_of_the_dataclasses_in_their_fields(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    source = HEAD + PROMPT.format(kind)
    module = ModuleType("nested")
    monkeypatch.setitem(sys.modules, "nested", module)
    exec(source, vars(module))
    rendered = vars(module)["p"].render()
    found = _counted(source)
    assert found.exact
    assert found.render.output is not None
    assert found.render.output.schema == rendered.structured_output.schema
    assert [tool.name for tool in found.render.tools] == [tool.name for tool in rendered.tools]
    assert found.render.tools[0].schema["properties"]["place"]["required"] == ["file"]


def test_a_dataclass_that_holds_itself_is_counted_once_and_its_total_is_an_estimate() -> None:
    source = HEAD.replace("others: list[Place]", "others: list[Finding]") + PROMPT.format("Finding")
    found = _counted(source)
    assert not found.exact
    assert found.render.output is not None
    assert "severity" in json.dumps(found.render.output.schema)


def _counted(source: str) -> StaticRequest:
    project = Project()
    project.open("/w/nested.py", source)
    analysis = project.analysis("/w/nested.py")
    assert analysis is not None
    (prompt,) = analysis.prompts
    return costed(prompt, token_counter(exact=False))
