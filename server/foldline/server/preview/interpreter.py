"""Which Python a prompt module runs in."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ENVIRONMENT_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
ENVIRONMENT_FOLDERS = (".venv", "venv")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python executable and why it was chosen."""

    path: Path
    reason: str


def find_interpreter(
    file: Path, setting: str | None = None, environ: Mapping[str, str] = os.environ
) -> Interpreter:
    """The interpreter for `file`: the setting, an activated environment, the nearest one, or ours.

    Symbolic links are kept as they are: the `python` of a virtual environment is one, and finds its
    packages by the place of the link.
    """
    if setting is not None:
        return Interpreter(Path(setting).expanduser(), "the setting `interpreter`")
    for variable in ENVIRONMENT_VARIABLES:
        if prefix := environ.get(variable):
            python = _python_of(Path(prefix))
            if python.exists():
                return Interpreter(python, f"the environment variable {variable}")
    for folder in file.parents:
        for name in ENVIRONMENT_FOLDERS:
            python = _python_of(folder / name)
            if python.exists():
                return Interpreter(python, f"the nearest environment, {folder / name}")
    return Interpreter(Path(sys.executable), "the server's own interpreter")


def _python_of(environment: Path) -> Path:
    if os.name == "nt":
        # Conda keeps python.exe beside its folders, a virtual environment in Scripts.
        beside = environment / "python.exe"
        return beside if beside.exists() else environment / "Scripts" / "python.exe"
    return environment / "bin" / "python"
