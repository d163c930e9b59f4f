"""Which Python is chosen, and why."""

import sys
from pathlib import Path

from foldline.ide.render.interpreter import find_interpreter


def environment(folder: Path) -> Path:
    python = folder / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    return python


def test_the_setting_comes_first(tmp_path: Path) -> None:
    environment(tmp_path / ".venv")
    found = find_interpreter(tmp_path / "prompt.py", "/some/python", {})
    assert (found.path, found.reason) == (Path("/some/python"), "the setting `interpreter`")


def test_an_activated_environment_comes_before_the_nearest(tmp_path: Path) -> None:
    environment(tmp_path / "project" / ".venv")
    active = environment(tmp_path / "active")
    found = find_interpreter(
        tmp_path / "project" / "prompt.py", None, {"VIRTUAL_ENV": str(tmp_path / "active")}
    )
    assert found.path == active
    assert "VIRTUAL_ENV" in found.reason


def test_the_nearest_environment_upward_is_found_and_its_link_kept(tmp_path: Path) -> None:
    environment(tmp_path / ".venv")
    near = environment(tmp_path / "project" / ".venv")
    found = find_interpreter(tmp_path / "project" / "deep" / "prompt.py", None, {})
    assert found.path == near
    assert "nearest" in found.reason


def test_a_stale_variable_is_passed_over(tmp_path: Path) -> None:
    found = find_interpreter(
        tmp_path / "prompt.py", None, {"VIRTUAL_ENV": str(tmp_path / "deleted")}
    )
    assert found.path == Path(sys.executable)
    assert "own" in found.reason
