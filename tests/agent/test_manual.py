"""The manual page is made of the parsers, and is one that `man` shows."""

import argparse
import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from foldline.agent import cli
from foldline.agent.exit_statuses import STATUSES

from .verbs import VERB_MODULES

DOCS = Path(__file__).parents[2] / "docs"
MACROS = {".ad", ".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".I", ".nf", ".fi", '.\\"'}
ESCAPES = {"(>=", "e", "-", "&", "(aq", "(ga", "(dq", "fB", "fI", "fR"}


@pytest.fixture(scope="module")
def making() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_man", DOCS / "make_man.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_manual_is_as_fresh_as_the_parsers(making: ModuleType) -> None:
    page = making.PAGE.read_text(encoding="utf-8")
    assert page == making.page(), "run `python docs/make_man.py`"


def test_the_manual_has_every_verb_and_status(making: ModuleType) -> None:
    page = making.page()
    for verb in VERB_MODULES:
        assert f"\n.SS {making.roff(verb)}\n" in page
    for status in STATUSES:
        assert f"\\fB{status}\\fR\n" in page


def test_every_argument_says_what_it_means() -> None:
    parser = argparse.ArgumentParser(prog="foldline")
    verbs = parser.add_subparsers()
    cli.add_verbs(cli.Listing(verbs))
    for name, verb in verbs.choices.items():
        silent = [action.dest for action in verb._actions if not action.help]
        assert not silent, f"`foldline {name}` says nothing about {silent}"


@pytest.mark.real
def test_the_manual_is_roff(making: ModuleType) -> None:
    page = making.page()
    for line in page.splitlines():
        if line.startswith((".", "'")):
            assert line.split(" ", 1)[0] in MACROS
    escapes = re.findall(r"\\(\([a-z>=]{2}|f[A-Z]|.)", "\n".join(page.splitlines()[1:]))
    assert set(escapes) <= ESCAPES
    assert page.isascii()
    if groff := shutil.which("groff"):
        done = subprocess.run(
            [groff, "-man", "-ww", "-z", "-Tascii"],
            input=page,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert done.stderr == ""
