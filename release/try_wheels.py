"""Tries the wheel with each extra in empty environments: `uv run poe wheels`.

Each combination of a Python, an extra and a choice of dependencies gets an environment of its own:
the oldest versions that pyproject.toml allows of what it names, or the newest of everything. An
environment has nothing of this checkout's, and none of its pinned versions.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import zipfile
from email.parser import Parser
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.requirements import Requirement

if TYPE_CHECKING:
    from email.message import Message

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
RESOLUTIONS = ("lowest-direct", "highest")
TRY_EXTRAS = Path(__file__).with_name("try_extras.py")


def main() -> int:
    """Try what the command line asks for, and print a line for each combination."""
    parser = argparse.ArgumentParser(description="Try the wheel in empty environments.")
    parser.add_argument("wheel", nargs="?", type=Path, help="built from this checkout if missing")
    parser.add_argument("--python", action="append", help="a version, or the path of a Python")
    parser.add_argument("--extra", action="append", help="'' is none; default: none, and each")
    parser.add_argument("--resolution", action="append", choices=RESOLUTIONS)
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        wheel = (options.wheel or build(Path(scratch, "dist"))).resolve()
        extras = options.extra or ["", *extras_of(wheel)]
        resolutions = options.resolution or RESOLUTIONS
        for python in options.python or PYTHONS:
            if not exists(python):
                print(f"{python}: uv finds none on this machine")
                # Who names a Python wants it tried.
                failures += options.python is not None
                continue
            for extra, resolution in product(extras, resolutions):
                where = Path(scratch, f"{python.replace(os.sep, '_')}-{extra}-{resolution}")
                named = [extra] if extra else []
                what = f"{python} {f'foldline[{extra}]' if extra else 'foldline'} {resolution}"
                try:
                    try_extras(install(wheel, where, named, resolution, python), named)
                except subprocess.CalledProcessError as error:
                    failures += 1
                    print(f"FAILED {what}\n{error.stdout}{error.stderr}", flush=True)
                else:
                    print(f"passed {what}", flush=True)
    return int(failures > 0)


def build(out: Path) -> Path:
    """Return the wheel of this checkout, built from its sdist as an index's users would."""
    run(sys.executable, "-m", "build", "--installer", "uv", "--outdir", str(out), str(ROOT))
    (wheel,) = out.glob("*.whl")
    return wheel


def extras_of(wheel: Path) -> list[str]:
    """Return the extras that a wheel has."""
    return _metadata(wheel).get_all("Provides-Extra") or []


def requirements(wheel: Path, extras: list[str]) -> list[str]:
    """Return what a wheel needs for its extras, as if it was asked for by name.

    uv installs the oldest versions only of what it's asked for: else they are what its newest
    dependencies happen to allow.
    """
    needed = {}
    for text in _metadata(wheel).get_all("Requires-Dist") or []:
        requirement = Requirement(text)
        for extra in extras or [""]:
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                requirement.marker = None
                needed[requirement.name] = str(requirement)
    return sorted(needed.values())


def install(
    wheel: Path, where: Path, extras: list[str], resolution: str, python: str = sys.executable
) -> Path:
    """Return the Python of a new environment with a wheel and its extras."""
    run("uv", "venv", "--quiet", "--python", python, str(where))
    program = where / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    uv = ("uv", "pip", "install", "--quiet", "--python", str(program), "--resolution", resolution)
    oldest = requirements(wheel, extras) if resolution == "lowest-direct" else ()
    run(*uv, f"{wheel}[{','.join(extras)}]" if extras else str(wheel), *oldest)
    run("uv", "pip", "check", "--quiet", "--python", str(program))
    return program


def try_extras(python: Path, extras: list[str]) -> None:
    """Try extras in an environment that has them."""
    # Isolated: neither this folder nor a variable such as PYTHONPATH lends it a module.
    run(str(python), "-I", str(TRY_EXTRAS), *extras)


def exists(python: str) -> bool:
    """Return whether uv finds a Python, without downloading one."""
    command = ("uv", "python", "find", "--no-python-downloads", python)
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def run(*command: str) -> str:
    """Return what a command prints.

    Raises:
        subprocess.CalledProcessError: It failed.
    """
    # Elsewhere, since uv obeys the pyproject.toml of the folder it starts in.
    done = subprocess.run(
        command, cwd=tempfile.gettempdir(), capture_output=True, text=True, check=True
    )
    return done.stdout


def _metadata(wheel: Path) -> Message:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode())


if __name__ == "__main__":
    sys.exit(main())
