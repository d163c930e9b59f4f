"""What a project and a client may set about prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from foldline.backends.base.reading import read_table
from foldline.backends.lsp.configuration import ServerTable
from foldline.ide.checks import Severity
from foldline.ide.config import Nearest, PromptOptions, read_options, read_project_options
from foldline.ide.render.options import PreviewTable, PromptTable
from foldline.ide.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path


def test_a_project_without_a_table_has_the_defaults(tmp_path: Path) -> None:
    nothing = Nearest(tmp_path, PromptOptions())
    assert read_project_options(tmp_path / "a.py", tmp_path) == nothing
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert read_project_options(tmp_path / "a.py", tmp_path) == nothing


@pytest.mark.parametrize("name", ["token-budget", "tokenBudget", "token_budget"])
def test_an_option_may_be_written_as_its_file_has_it(name: str) -> None:
    options, problems = read_options({name: 9})
    assert options.token_budget == 9
    assert problems == ()


def test_what_is_wrong_is_told_with_its_path_and_left_out() -> None:
    options, problems = read_options(
        {"codeLens": "yes", "tokens": "cl100k", "severity": {"stray-dollar": "loud"}, "colour": 1}
    )
    assert options == PromptOptions(tokens="cl100k")
    assert [problem.partition(": ")[0] for problem in problems] == [
        "foldline.codeLens",
        "foldline.severity.stray-dollar",
        "foldline.colour",
    ]


def test_a_wrong_value_takes_no_neighbour_with_it_and_names_have_any_spelling() -> None:
    values = {
        "network": None,
        "prompts": {"demo/a": {"use": 3, "params": ["a.toml"]}, "demo/b": {"use": "x"}, "c": 4},
    }
    table, problems = read_table(values, PreviewTable(), "preview")
    assert table == PreviewTable(
        prompts={"demo/a": PromptTable(params=("a.toml",)), "demo/b": PromptTable(use="x")}
    )
    assert problems == (
        "preview.prompts.demo/a.use: expected a text, got 3",
        "preview.prompts.c: expected a table, got 4",
    )
    server, problems = read_table({"root-markers": ["a"], "rootMarker": []}, ServerTable())
    assert server == ServerTable(root_markers=("a",))
    assert problems == ("rootMarker: unknown option; did you mean 'root-markers'?",)


def test_settings_of_the_client_that_others_read_are_no_faults() -> None:
    assert read_options({"trusted": True, "interpreter": None}) == (PromptOptions(), ())


def test_the_client_wins_over_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.foldline]\ntoken-budget = 5\n[tool.foldline.severity]\nlong-summary = 'error'\n"
    )
    workspace = Workspace.at(tmp_path)
    assert workspace.set_client_options({"tokenBudget": 7}) == ()
    (folder,) = workspace.folders()
    assert folder.options().token_budget == 7
    assert folder.options().severity == {"long-summary": Severity.ERROR}
    workspace.set_client_options(None)
    assert folder.options().token_budget == 5


def test_a_document_has_the_options_of_its_nearest_project(tmp_path: Path) -> None:
    (tmp_path / "team/deep").mkdir(parents=True)
    project = tmp_path / "team/pyproject.toml"
    (tmp_path / "pyproject.toml").write_text("[tool.foldline]\ntoken-budget = 5\n")
    project.write_text("[tool.foldline]\ntokens = 'cl100k'\n")
    document = tmp_path / "team/deep/p.py"
    document.write_text("import foldline.prompts\n")
    workspace = Workspace.at(tmp_path)

    def options() -> PromptOptions | None:
        return workspace.with_snapshot(document.as_uri(), lambda snapshot: snapshot.options)

    assert options() == PromptOptions(tokens="cl100k")
    # Clients needn't report that it has changed.
    project.write_text("[tool.foldline]\ntoken-budget = 7\n")
    assert options() == PromptOptions(token_budget=7)
    project.unlink()
    assert options() == PromptOptions(token_budget=5)


def test_a_document_that_is_no_file_is_read_by_itself() -> None:
    workspace = Workspace()
    text = (
        "import os\nfrom foldline.prompts import MarkdownSection\n"
        'S = MarkdownSection[None](title="", key="k", template="")\n'
    )
    workspace.open_document("untitled:Untitled-1", text)
    found = workspace.with_snapshot(
        "untitled:Untitled-1", lambda snapshot: len(list(snapshot.analysis.sections))
    )
    assert found == 1
