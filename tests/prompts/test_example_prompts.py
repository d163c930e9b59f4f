"""The prompts under `examples/prompts`: what a model gets, and what a cache keeps of it."""

import os
import runpy
from pathlib import Path
from typing import Any

import pytest

from foldline.prompts import PromptTemplate, Role, SectionVisibility
from foldline.prompts.testing import assert_snapshot

EXAMPLES = Path(__file__).parents[2] / "examples" / "prompts"
NAMES = ("coding_agent", "support_bot", "answer_judge")


def example(name: str) -> tuple[PromptTemplate[Any], list[object]]:
    """The prompt of a module, and the values of its preview."""
    module = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    [values] = [value() for key, value in module.items() if key.startswith("preview_")]
    return module[name], values


@pytest.mark.parametrize("name", NAMES)
def test_an_example_renders_as_its_snapshot(name: str) -> None:
    template, values = example(name)
    rendered = template.bind(*values).expand_chapters().render()
    update = "UPDATE_PROMPTS" in os.environ
    assert_snapshot(rendered, EXAMPLES / "snapshots" / f"{name}.md", update=update)


def test_the_agent_has_its_sections_summaries_and_chapters() -> None:
    template, values = example("coding_agent")
    folded = template.bind(*values).render()
    summaries = [b for b in folded.blocks if b.visibility is SectionVisibility.SUMMARY]
    assert len(summaries) == 5
    everything = template.bind(*values).expand_chapters()
    overrides = dict.fromkeys(everything.template.plan.by_path, SectionVisibility.FULL)
    opened = everything.render(visibility_overrides=overrides)
    assert len(opened.blocks) == 39
    assert {tool.name for tool in opened.tools} == {
        *("read_file", "list_folder", "search", "edit_file", "undo", "run")
    }


@pytest.mark.parametrize("name", NAMES)
def test_what_changes_comes_behind_what_does_not(name: str) -> None:
    template, values = example(name)
    rendered = template.bind(*values).render()
    plan = rendered.cache_plan()
    assert list(plan.misplaced()) == []
    system = [span for span in plan.spans if span.part == Role.SYSTEM]
    assert max(span.prefix for span in system) < min(
        span.prefix for span in plan.spans if span.path == rendered.blocks[-1].path and span.fields
    )
