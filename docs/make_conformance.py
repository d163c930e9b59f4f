"""Writes `docs/conformance.md`: each demand of the specifications, and the tests that name it.

    uv run python docs/make_conformance.py

A test names a demand by its number: `test_sf_04_…` is about SF-04. One fails while a demand has no
test, or the page is older than the tests.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "conformance.md"
DEMANDS = ROOT / "tests" / "requirements.toml"

_TEST = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)
_NUMBER = re.compile(r"(?<=_)([a-z]{2})_(\d\d)(?=_)")

HEAD = """\
<!-- Made by `docs/make_conformance.py`; don't edit it. -->
# Conformance

The demands of foldline's specifications by number, and the tests that show them.
"""


def demands() -> dict[str, dict[str, str]]:
    """The demands by group: `title`, and the texts by their numbers."""
    return tomllib.loads(DEMANDS.read_text(encoding="utf-8"))


def tests_by_demand() -> Mapping[str, list[str]]:
    """The tests that name a demand such as `SF-04`, each as `tests/file.py::name`."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for name in _TEST.findall(path.read_text(encoding="utf-8")):
            for group, number in _NUMBER.findall(name):
                where = f"{path.relative_to(ROOT).as_posix()}::{name}"
                found[f"{group}-{number}".upper()].append(where)
    return found


def page() -> str:
    """The whole page."""
    tests = tests_by_demand()
    parts = [HEAD]
    for group, texts in demands().items():
        rows = _rows(group, texts, tests)
        parts.append(
            "\n".join(
                [f"## {texts['title']}\n", "| | demand | tests |", "|---|---|---|", *rows, ""]
            )
        )
    return "\n".join(parts)


def _rows(group: str, texts: Mapping[str, str], tests: Mapping[str, list[str]]) -> Iterator[str]:
    for number, text in texts.items():
        if number != "title":
            demand = f"{group}-{number}"
            named = "<br>".join(f"`{test.removeprefix('tests/')}`" for test in tests[demand])
            yield f"| {demand} | {text.replace('|', chr(92) + '|')} | {named} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
