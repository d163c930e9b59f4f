"""An instruction file is its sections: no character is lost, folded or not."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.agent.token_counts import _down_to
from foldline.ide.errors import ToolRefused
from foldline.ide.instructions.document import InstructionFile
from foldline.ide.instructions.features import costs
from foldline.ide.instructions.files import is_instructions
from foldline.ide.sources.markdown import MarkdownSource
from foldline.ide.sources.source import SourceDocument
from foldline.ide.token_counter import token_counter
from foldline.plugins.instructions.stack import _costs

if TYPE_CHECKING:
    from types import FrameType

    from foldline.ide.workspace import Workspace

TEXT = """\
---
description: café
---
Read this first.

# Rules
Be brief.

## Metadata
<!-- fold: where the metadata lives -->

It lives in `meta.toml`.

### Fields
Name and date.

## Metadata
Again.
"""
PARTS = st.sampled_from(
    [
        "# One\n",
        "## Two\n",
        "### Two\n",
        "Title\n=====\n",
        "<!-- fold: why é -->\n",
        "```py\n# no heading\n```\n",
        "> # quoted\n",
        "- item\n  # deep\n",
        "\n",
        "text é `code`\n",
        "#\n",
        "# \r\n",
        "\f\r",
    ]
)


def test_headings_make_sections_with_keys_and_numbers() -> None:
    found = [(one.key, one.number) for one in InstructionFile("AGENTS.md", TEXT).sections]
    assert found == [
        ("start", ""),
        ("rules", "1"),
        ("rules.metadata", "1.1"),
        ("rules.metadata.fields", "1.1.1"),
        ("rules.metadata-2", "1.2"),
    ]


@given(
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from(["foo", "foo-2", "foo-2-2", "foo-3"])))
)
def test_each_section_has_a_key_of_its_own(headings: list[tuple[int, str]]) -> None:
    text = "".join(f"{'#' * level} {title}\n" for level, title in headings)
    keys = [section.key for section in InstructionFile("AGENTS.md", text).sections]
    assert len(set(keys)) == len(keys)


def test_a_folded_section_shows_its_summary_and_hides_what_is_inside() -> None:
    file = InstructionFile("AGENTS.md", TEXT)
    text = file.render().text
    assert "Folded: where the metadata lives (read lines 9-15 of AGENTS.md)\n\n## M" in text
    assert "meta.toml" not in text
    assert "Fields" not in text
    assert "Again." in text


@given(st.lists(PARTS).map("".join))
def test_the_blocks_of_a_file_are_its_text(text: str) -> None:
    file = InstructionFile("AGENTS.md", text)
    everything = {section.key for section in file.sections}
    assert file.render(everything).text == text
    assert len(everything) == len(file.sections)


@given(st.lists(PARTS).map("".join))
def test_opening_a_section_changes_nothing_around_it(text: str) -> None:
    file = InstructionFile("AGENTS.md", text)
    folded = file.render().text
    for section in file.folded:
        opened = file.render({section.key}).text
        assert opened.startswith(folded[: folded.index(file.fold_text(section))])


def test_a_wrong_key_names_those_that_are_near() -> None:
    with pytest.raises(ToolRefused, match=r"rules\.metadata"):
        InstructionFile("AGENTS.md", TEXT).section("rules.metadat")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("AGENTS.md", True),
        ("pkg/AGENTS.md", True),
        (".github/copilot-instructions.md", True),
        (".github/instructions/py.instructions.md", True),
        (".cursor/rules/a/b.mdc", True),
        (".claude/skills/x/SKILL.md", True),
        ("README.md", False),
        ("docs/agents.md", False),
        ("pkg/copilot-instructions.md", False),
    ],
)
def test_clients_files_are_known_by_their_paths(path: str, *, expected: bool) -> None:
    assert is_instructions(path) is expected


def test_a_project_adds_and_removes_files() -> None:
    assert is_instructions("docs/agents/style.md", ["docs/agents/*.md"])
    assert not is_instructions("old/AGENTS.md", ["!old/AGENTS.md"])
    # A pattern takes time that grows with the path, not with the ways to read it.
    assert not is_instructions("a" * 60, [f"{'*a' * 12}b"])


def test_twice_the_sections_take_twice_the_work() -> None:
    def work(count: int) -> int:
        lines = 0

        def trace(frame: FrameType, event: str, _: object) -> Any:
            nonlocal lines
            lines += event == "line" and "foldline" in frame.f_code.co_filename
            return trace

        path, text = Path("/project/AGENTS.md"), "# A\n<!-- fold: b -->\n\nc\n\n" * count
        document = SourceDocument(path.as_uri(), path, path.parent, text)
        source: Any = MarkdownSource(cast("Workspace", None), document)
        snapshot = SimpleNamespace(counter=token_counter(exact=False))
        sys.settrace(trace)
        try:
            blocks = costs(source.file, snapshot.counter).render.blocks
            found = [*source.lenses(snapshot), *source.inlays(snapshot), *_down_to(blocks, 1)]
            _costs(source.file, len(text), snapshot.counter, comments=False)
        finally:
            sys.settrace(None)
        assert len(found) > count
        return lines

    assert work(400) < 2.2 * work(200)
