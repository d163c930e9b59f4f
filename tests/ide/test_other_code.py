"""Code that has nothing to do with prompts gets nothing from us."""

from __future__ import annotations

import json
import sysconfig
from contextlib import chdir
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
