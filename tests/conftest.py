"""What all tests share."""

import functools
import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from .locks import one_at_a_time

# How long an example takes is nothing that a test holds. "costly" is for examples that start
# something or take many steps.
_MANY = bool(os.environ.get("FOLDLINE_EXHAUSTIVE"))
for _name, _examples, _steps in (("foldline", 50, 50), ("costly", 10, 12)):
    settings.register_profile(
        _name,
        max_examples=_examples * 10 if _MANY else _examples,
        stateful_step_count=_steps,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
settings.load_profile("foldline")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As a shell starts what runs in the background; what the tests start would ignore it, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that start other programs: one of them takes minutes.

    A process that gets such a file last would leave the other one idle.
    """
    slow = {item.path for item in items if item.get_closest_marker("real")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def program() -> Callable[..., str]:
    """Finds the first of some programs that aren't Python or npm packages: `program("clangd")`.

    Installs them where one is missing and that needs no password. A test that can't have its
    program fails, and says why.
    """

    def find(*names: str) -> str:
        if path := _on_path(names):
            return path
        problem = _install()
        if path := _on_path(names):
            return path
        pytest.fail(f"this test needs {' or '.join(names)}; tests/install-programs said: {problem}")

    return find


def _on_path(names: tuple[str, ...]) -> str | None:
    # Debian keeps the programs of each version of PostgreSQL off the path.
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    places = os.pathsep.join([*map(str, versions), os.environ["PATH"]])
    return next((path for name in names if (path := shutil.which(name, path=places))), None)


@functools.cache
def _install() -> str:
    """What went wrong when the programs were installed; tried once in a run."""
    install = Path(__file__).with_name("install-programs")
    try:
        with one_at_a_time("install-programs"):
            result = subprocess.run(
                [str(install)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
    except OSError as error:
        return str(error)
    return result.stderr.strip() or "nothing"
