"""Code that has nothing to do with prompts gets nothing from us."""

from __future__ import annotations

import json
import sysconfig
from contextlib import chdir
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.agent.cli import main
from foldline.agent.scan import scan
from foldline.ide.analysis.project import Project
from foldline.ide.checks import diagnostics
from foldline.ide.features.hover import inlays, lenses
from foldline.ide.features.prompt_symbols import symbols
from foldline.ide.features.structure import foldings, links, semantic_tokens
from foldline.ide.token_counter import token_counter
from foldline.prompts.foreign_syntax import any_name, occurrences

from ..backends.corpora import django

if TYPE_CHECKING:
    import pytest

LIBRARY = Path(sysconfig.get_path("stdlib"))


def told(project: Project, file: Path) -> tuple[object, ...]:
    """All that is told of a file without being asked at a place in it."""
    counter = token_counter(exact=False)
    analysis = project.analysis(str(file))
    assert analysis is not None
    return (
        *diagnostics(analysis),
        *symbols(analysis),
        *lenses(analysis),
        *inlays(analysis, counter),
        *foldings(analysis),
        *links(analysis),
        *semantic_tokens(analysis),
    )


def test_django_has_no_prompts(capsys: pytest.CaptureFixture[str]) -> None:
    with chdir(django()):
        status = main(["check", "--json"])
    assert status == 0
    assert json.loads(capsys.readouterr().out)["findings"] == []
    assert scan([str(django())]).files == ()


def test_nothing_is_told_of_any_file_of_django() -> None:
    """Open in an editor, where each file is asked about whatever it imports."""
    files = sorted(django().rglob("*.py"))
    assert len(files) > 2_800
    project = Project(django())
    assert [str(file) for file in files if told(project, file)] == []


def test_nothing_is_told_of_the_standard_library() -> None:
    files = sorted(LIBRARY.glob("*.py"))
    project = Project(LIBRARY)
    assert [str(file) for file in files if told(project, file)] == []


def test_no_braces_of_documentation_are_taken_for_another_template_language() -> None:
    """In the documents of all installed packages and our own, but not in packages' own prompts."""
    installed = (
        Path(str(distribution.locate_file(file)))
        for distribution in distributions()
        for file in distribution.files or ()
        if file.name == "METADATA"
        or (file.suffix == ".md" and not {"prompts", "templates"}.intersection(file.parts))
    )
    top = Path(__file__).parents[2]
    own = (file for part in ("docs", "server") for file in (top / part).rglob("*.md"))
    files = [*installed, *top.glob("*.md"), *own]
    texts = {file: file.read_text(encoding="utf-8") for file in files if file.exists()}
    braces = {file: text for file, text in texts.items() if "{" in text}
    assert len(braces) > 100
    assert [
        f"{file}: {match[0]}"
        for file, text in braces.items()
        for match, _ in occurrences(text, (), any_name)
    ] == []
