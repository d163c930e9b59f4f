"""What all tests share."""

import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def programs() -> None:
    """The editors and servers that tests drive, installed where that needs no password.

    Where they cannot be installed the tests that need them fail, and say what is missing.
    """
    install = Path(__file__).with_name("install-programs")
    done = subprocess.run([str(install)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        print(done.stderr)
