"""The security page names tests that exist, and the limits that hold."""

import re
from pathlib import Path

from foldline.backends.files import limits

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_test_that_the_page_names_exists() -> None:
    attacks = PAGE.partition("## Attacks and defences")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([\w/]+\.(?:py|mjs))`", attacks))
    assert len(named) > 20
    assert {name for name in named if not (TESTS / name).exists()} == set()


def test_the_page_tells_every_limit() -> None:
    told = PAGE.partition("## What is too large")[2]
    rows = re.findall(r"^\| .+? \| ([\d,]+) .+? \| .+ \|$", told, re.MULTILINE)
    named = [value for name, value in vars(limits).items() if name.isupper()]
    assert sorted(int(row.replace(",", "")) for row in rows) == sorted(named)
