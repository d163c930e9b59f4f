"""The security page names tests that exist, and the limits that hold."""

import re
from pathlib import Path

from foldline.backends.files.limits import LIMITS

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "security.md").read_text(encoding="utf-8")


def test_every_test_that_the_page_names_exists() -> None:
    attacks = PAGE.partition("## Attacks and defences")[2].partition("\n## ")[0]
    named = set(re.findall(r"`([\w/]+\.(?:py|mjs))`", attacks))
    assert len(named) > 20
    assert {name for name in named if not (TESTS / name).exists()} == set()


def test_the_page_tells_every_limit() -> None:
    told = PAGE.partition("## What is too large")[2]
    rows = [f"| {one.of} | {one.most:,} {one.unit} | {one.above} |" for one in LIMITS]
    assert [row for row in rows if row not in told] == []
