"""What all tests share."""

import functools
import gc
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

from .locks import one_at_a_time

# How long an example takes is nothing that a test holds. "costly" is for examples that start
# something or take many steps. What CI runs for a commit is the same each time, as in Hypothesis's
# own profile; developers' runs and the nightly one look for what is new.
_MANY = bool(os.environ.get("FOLDLINE_EXHAUSTIVE"))
for _name, _examples, _steps in (("foldline", 50, 50), ("costly", 10, 12)):
    settings.register_profile(
        _name,
        max_examples=_examples * 10 if _MANY else _examples,
        stateful_step_count=_steps,
        deadline=None,
        derandomize=bool(os.environ.get("CI")) and not _MANY,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
settings.load_profile("foldline")

# As on a user's machine. Where a container forbids it, each process that a test starts compiles all
# that it imports, which is a third of what such a test costs.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# What is collected stays: looking there for garbage takes a fifth of the collection, and 0.4 s of
# each full search later.
gc.disable()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # As a shell starts what runs in the background; what the tests start would ignore it, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run the rows marked slow, too")


# How many rows were left out.
_LEFT = pytest.StashKey[int]()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked slow, unless `--slow` or a `-m` selects; begin with what is real.

    A worker that gets a file of minutes last would leave the other one idle.
    """
    if not (config.option.slow or config.option.markexpr):
        left = [item for item in items if item.get_closest_marker("slow")]
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=left)
        config.stash[_LEFT] = len(left)
        if hasattr(config, "workeroutput"):
            config.workeroutput["left"] = len(left)
    real = {item.path for item in items if item.get_closest_marker("real")}
    items.sort(key=lambda item: item.path not in real)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """What a worker of xdist left out; each worker collects all rows."""
    node.config.stash[_LEFT] = getattr(node, "workeroutput", {}).get("left", 0)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if left := config.stash.get(_LEFT, 0):
        terminalreporter.write_line(
            f"{left} slow rows are left to .ci/run; `uv run pytest --slow` runs them, too.",
            yellow=True,
        )


def _of_all_workers(factory: pytest.TempPathFactory, name: str) -> Path:
    base = factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has the wheel with `server` alone, once in a run."""
    import try_wheels

    out = _of_all_workers(tmp_path_factory, "installed")
    with one_at_a_time("installed"):
        if not (out / "bin" / "foldline").exists():
            try_wheels.install(wheel, out, ["server"], "highest")
    return out / "bin"


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as a user gets it, built from the sdist, once in a run."""
    import try_wheels

    out = _of_all_workers(tmp_path_factory, "wheel")
    with one_at_a_time("wheel"):
        # Not where an earlier run had its own: uv goes on giving what it once unpacked from there.
        return next(out.glob("*/*.whl"), None) or try_wheels.build(out / uuid4().hex)


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
