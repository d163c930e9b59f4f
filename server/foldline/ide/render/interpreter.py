"""Chooses the Python that a prompt module runs in."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from foldline.records import record

ENVIRONMENT_VARIABLES = ("VIRTUAL_ENV", "CONDA_PREFIX")
ENVIRONMENT_FOLDERS = (".venv", "venv")
IDENTITY = Path(__file__).parent / "worker" / "_foldline_identity.py"
IDENTITY_SECONDS = 10.0


@record
class Interpreter:
    """A Python executable and why it was chosen.

    `found_in` is the folder around the prompt's module whose environment it is: code of whoever
    wrote that folder, like the module itself.
    """

    path: Path
    reason: str
    found_in: Path | None = None


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
            if os.path.exists(python):
                return Interpreter(python, f"the environment variable {variable}")
    for folder in file.parents:
        for name in ENVIRONMENT_FOLDERS:
            python = _python_of(folder / name)
            if os.path.exists(python):
                return Interpreter(python, f"the nearest environment, {folder / name}", folder)
    return Interpreter(Path(sys.executable), "the server's own interpreter")


def mismatch(installed: str | None, ours: str) -> str | None:
    """Why an interpreter's foldline doesn't fit the server's; None if it does."""
    if installed is None:
        return f"it has no foldline installed: install foldline {ours} there"
    if installed != ours:
        return f"it has foldline {installed}, and this is {ours}: install the same version there"
    return None


def ask_identity(
    interpreter: Path, *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> dict[str, str | None]:
    """Ask an interpreter for its versions: of `python` and of its `foldline`.

    Raises:
        OSError: It does not start, or is no Python; the message says which.
    """
    try:
        done = subprocess.run(
            [str(interpreter), str(IDENTITY)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=IDENTITY_SECONDS,
            check=False,
            cwd=cwd,
            env=env,
        )
        answer = json.loads(done.stdout)
        return {"python": str(answer["python"]), "foldline": answer["foldline"]}
    except subprocess.TimeoutExpired as error:
        raise OSError(f"it gives no answer within {IDENTITY_SECONDS:g} s") from error
    except (ValueError, TypeError, KeyError) as error:
        raise OSError("it is no Python that runs") from error


def _python_of(environment: Path) -> Path:
    if os.name == "nt":
        # Conda keeps python.exe beside its folders, a virtual environment in Scripts.
        beside = environment / "python.exe"
        return beside if os.path.exists(beside) else environment / "Scripts" / "python.exe"
    return environment / "bin" / "python"
