"""Code that has nothing to do with prompts gets nothing from us."""

from __future__ import annotations

import sysconfig
from pathlib import Path

from foldline.server.static.checks import diagnostics
from foldline.server.static.editing.lenses import inlays, lenses
from foldline.server.static.editing.structure import foldings, links, semantic_tokens
from foldline.server.static.editing.symbols import symbols
from foldline.server.static.files import PromptFiles
from foldline.server.static.project import Project
from foldline.server.static.tokens import token_counter

LIBRARY = Path(sysconfig.get_path("stdlib"))


def test_no_file_of_the_standard_library_is_taken_for_a_prompt_module() -> None:
    files = PromptFiles(lambda: [(str(file), 0) for file in sorted(LIBRARY.glob("*.py"))])
    assert files.refresh() == ()


def test_even_when_it_is_open_it_has_no_diagnostics_lenses_or_symbols() -> None:
    project = Project(LIBRARY)
    counter = token_counter(exact=False)
    for file in sorted(LIBRARY.glob("[a-d]*.py")):
        analysis = project.analysis(str(file))
        assert analysis is not None
        told = (
            *diagnostics(analysis),
            *symbols(analysis),
            *lenses(analysis, counter),
            *inlays(analysis, counter),
            *foldings(analysis),
            *links(analysis),
            *semantic_tokens(analysis),
        )
        assert told == (), file
