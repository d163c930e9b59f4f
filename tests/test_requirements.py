"""Every numbered demand of the specifications has tests."""

import re
import tomllib
from pathlib import Path

TESTS = Path(__file__).parent
DEMANDS = tomllib.loads((TESTS / "requirements.toml").read_text(encoding="utf-8"))
_TEST = re.compile(r"^\s*(?:async )?def (test_\w+)", re.MULTILINE)


def test_every_demand_has_tests_that_exist() -> None:
    demands = {
        f"{group}-{number}": demand
        for group, numbered in DEMANDS.items()
        for number, demand in numbered.items()
        if number != "title"
    }
    assert len(demands) > 200
    existing = {
        f"{path.relative_to(TESTS).as_posix()}::{name}"
        for path in TESTS.rglob("test_*.py")
        for name in _TEST.findall(path.read_text(encoding="utf-8"))
    }
    for number, demand in demands.items():
        assert demand["tests"], f"no test shows {number}"
        gone = sorted({*demand["tests"]} - existing)
        assert not gone, f"{number} names {', '.join(gone)}, which tests/requirements.toml lost"
