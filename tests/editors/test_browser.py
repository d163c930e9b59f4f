"""`foldline preview --serve` and `--html` in a real Chromium.

Screenshots go to `tests/editors/screenshots`.
"""

import os
import sys
from pathlib import Path

import pytest

from ..rows import slow
from .node import find, install, run

ROOT = Path(__file__).parent.parent.parent
EXTENSION = ROOT / "editors" / "vscode"
PAGE = ROOT / "server" / "foldline" / "server" / "page" / "files"
TESTS = Path(__file__).parent / "vscode"

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]


@pytest.mark.parametrize("part", ["saved", *slow("browser")])
def test_the_page_works_in_a_browser(part: str, chromium: str) -> None:
    install(TESTS, after=(find("node"), "prepare.mjs"))
    environment = {**os.environ, "CHROMIUM": chromium, "PYTHON": sys.executable}
    run(find("node"), "--test-reporter=spec", f"{part}.test.mjs", cwd=TESTS, env=environment)


def test_the_page_that_is_served_is_made_of_its_sources(tmp_path: Path) -> None:
    install(EXTENSION)
    run(find("node"), "build-page.mjs", str(tmp_path), cwd=EXTENSION)
    for name in ("page.js", "page.css"):
        made = (tmp_path / name).read_text(encoding="utf-8")
        assert made == (PAGE / name).read_text(encoding="utf-8"), "run `npm run page`"
