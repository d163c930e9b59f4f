"""What an editor gets, feature by feature, in all ways that clients count and authors write.

`answers.txt` has the cases: a title that names the feature, the source with `$0` for the cursor,
and below `---` what is answered.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.fixtures import cases

from .answers import ANSWERS
from .editor_fixture import PLAIN_WAYS, WAYS, set_up

if TYPE_CHECKING:
    from foldline.ide.workspace import Workspace

CASES = cases(Path(__file__).with_name("answers.txt"))


@pytest.mark.parametrize("title", CASES)
def test_an_editor_gets_what_is_expected(workspace: Workspace, title: str) -> None:
    source, _, expected = CASES[title].partition("---\n")
    feature, _, about = title.partition(":")
    for way in PLAIN_WAYS if "unfinished" in about else WAYS:
        assert ANSWERS[feature](set_up(workspace, source, way)) == expected, str(way)


def test_every_feature_has_cases() -> None:
    for feature in ANSWERS:
        assert sum(1 for title in CASES if title.startswith(f"{feature}:")) >= 6, feature
