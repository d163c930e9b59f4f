"""Every numbered requirement of the prompt specifications has a test that names it."""

import re
from pathlib import Path

# Where the numbers of each group run in the list of requirements.
NUMBERS = {
    "pc": range(1, 17),
    "sm": range(1, 13),
    "rn": range(1, 12),
    "pb": range(1, 8),
    "so": range(1, 10),
    "vd": [
        *range(1, 8),
        *range(10, 24),
        *range(30, 35),
        *range(40, 45),
        *range(50, 57),
    ],
    "ov": range(1, 8),
    "cl": range(1, 8),
    "er": range(1, 8),
    "ch": range(1, 24),
    "tk": range(1, 13),
    "do": range(1, 6),
}


def test_every_requirement_has_a_test_that_names_it() -> None:
    named: set[str] = set()
    for path in Path(__file__).parents[1].rglob("test_*.py"):
        for name in re.findall(r"def (test_\w+)", path.read_text(encoding="utf-8")):
            named.update(f"{g}_{n}" for g, n in re.findall(r"(?<=_)([a-z]{2})_(\d\d)(?=_)", name))
    demanded = {f"{g}_{n:02}" for g, numbers in NUMBERS.items() for n in numbers}
    missing = sorted(demanded - named)
    assert not missing, f"no test names {', '.join(missing).upper().replace('_', '-')}"
