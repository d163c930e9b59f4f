"""Real code to test on: downloaded once, and kept outside the repository."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from platformdirs import user_cache_path

from ..locks import one_at_a_time

VARIABLE = "FOLDLINE_CORPORA"
# As they are before a test gets a home folder of its own.
_ENVIRONMENT = dict(os.environ)
_FOLDER = Path(os.environ.get(VARIABLE) or user_cache_path("foldline-corpora", appauthor=False))
DJANGO = "5.2"
HOME_ASSISTANT = "2025.1.0"
TYPESCRIPT = Path(__file__).parent / "typescript"


def folder() -> Path:
    """Where the corpora are kept; `FOLDLINE_CORPORA` names another place."""
    return _FOLDER


def some(files: Sequence[Path]) -> Sequence[Path]:
    """One file in four, or all if `FOLDLINE_EXHAUSTIVE` is set, as for a nightly run."""
    return files if os.environ.get("FOLDLINE_EXHAUSTIVE") else files[::4]


def extra() -> list[Path]:
    """The files below the folder that `FOLDLINE_EXTRA_CORPUS` names; none without it."""
    place = os.environ.get("FOLDLINE_EXTRA_CORPUS")
    return sorted(path for path in Path(place).rglob("*") if path.is_file()) if place else []


def django() -> Path:
    """The unpacked Django sdist."""
    return sdist("Django", DJANGO)


def sdist(name: str, version: str) -> Path:
    """The unpacked sdist of a distribution."""
    with one_at_a_time(name.lower()):
        return _sdist(name, version)


def _sdist(name: str, version: str) -> Path:
    # The folder's name is spelled as in the archive, which may have another case.
    for unpacked in folder().glob(f"*-{version}"):
        if unpacked.name.lower() == f"{name}-{version}".lower() and unpacked.is_dir():
            return unpacked
    with tempfile.TemporaryDirectory() as place:
        command = ["uv", "tool", "run", "pip", "download", "--quiet", "--no-deps"]
        run([*command, "--no-binary=:all:", f"--dest={place}", f"{name}=={version}"])
        (archive,) = Path(place).glob("*.tar.gz")
        folder().mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as files:
            files.extractall(place, filter="data")
        (unpacked,) = (entry for entry in Path(place).iterdir() if entry.is_dir())
        # Moved as a whole, so that what is there is complete.
        return Path(shutil.move(unpacked, folder() / unpacked.name))


def home_assistant() -> Path:
    """The unpacked wheel of Home Assistant: twice as many files as Django has."""
    return wheel("homeassistant", HOME_ASSISTANT, "--python-version=3.13")


def wheel(name: str, version: str, *options: str) -> Path:
    """The unpacked wheel of a distribution; `options` of pip choose one of several."""
    unpacked = folder() / "wheels" / f"{name}-{version}"
    with one_at_a_time(unpacked.name.lower()):
        if not unpacked.is_dir():
            with tempfile.TemporaryDirectory() as place:
                command = ["uv", "tool", "run", "pip", "download", "--quiet", "--no-deps"]
                command += ["--only-binary=:all:", *options, f"--dest={place}"]
                run([*command, f"{name}=={version}"])
                (archive,) = Path(place).glob("*.whl")
                with zipfile.ZipFile(archive) as files:
                    files.extractall(Path(place) / unpacked.name)
                unpacked.parent.mkdir(parents=True, exist_ok=True)
                # Moved as a whole, so that what is there is complete.
                shutil.move(Path(place) / unpacked.name, unpacked)
        return unpacked


def standard_library() -> Path:
    """CPython's `Lib/`."""
    return Path(sysconfig.get_paths()["stdlib"])


def node_modules() -> Path:
    """The folder with the TypeScript compiler and the packages that it judges with us."""
    with one_at_a_time("typescript"):
        return _node_modules()


def _node_modules() -> Path:
    place = folder() / "typescript"
    manifest = (TYPESCRIPT / "package.json").read_text(encoding="utf-8")
    marker = place / "installed.json"
    if not marker.exists() or marker.read_text(encoding="utf-8") != manifest:
        place.mkdir(parents=True, exist_ok=True)
        (place / "package.json").write_text(manifest, encoding="utf-8")
        options = [
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--no-package-lock",
            "--legacy-peer-deps",
        ]
        run(["npm", "install", "--silent", *options], cwd=place)
        marker.write_text(manifest, encoding="utf-8")
    return place


def top_level_declarations(files: list[Path]) -> dict[str, list[tuple[str, int, int]]]:
    """By path, the declarations that the TypeScript compiler sees: name, first and last line."""
    script = TYPESCRIPT / "top_level.mjs"
    done = run(["node", str(script), str(node_modules())], "\n".join(map(str, files)))
    found: dict[str, list[tuple[str, int, int]]] = {
        path: [(str(name), int(first), int(last)) for name, first, last in rows]
        for path, rows in json.loads(done).items()
    }
    return found


def run(command: list[str], text: str = "", cwd: Path | None = None) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(
        command,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        timeout=280,
        env=_ENVIRONMENT,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}\n{sys.version}"
    return done.stdout
