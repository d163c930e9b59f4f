"""The documentation builds as a site."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.real, pytest.mark.slow]

ROOT = Path(__file__).parent.parent


def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """Also every link between pages leads somewhere, and every page is in the table of contents."""
    options = ("-c", "docs", "-W", "--keep-going", "-n", "-q", "-d", str(tmp_path / "cache"))
    done = subprocess.run(
        (sys.executable, "-m", "sphinx", *options, ".", str(tmp_path / "site")),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    index = (tmp_path / "site" / "docs" / "index.html").read_text(encoding="utf-8")
    assert "Where to begin" in index
