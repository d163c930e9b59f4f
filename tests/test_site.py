"""The documentation builds as a site, and its commands print what it shows."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent


def _examples() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_examples", ROOT / "docs/make_examples.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = _examples()


@pytest.mark.parametrize("page", EXAMPLES.pages(), ids=lambda page: page.stem)
def test_the_commands_of_a_page_print_what_it_shows(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == EXAMPLES.written(page), (
        "run `uv run python docs/make_examples.py`"
    )


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
