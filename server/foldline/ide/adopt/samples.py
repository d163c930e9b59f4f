"""Sample values for a prompt's variables, with which every part is both shown and hidden."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from random import Random

COUNT = 24
"""The number of sets of values."""

TEXTS = (
    "text",
    "two words",
    "$amount ${name} $$ {brace} {{ name }} {% if x %} {# no #}",
    "",
    "naïve café 漢字 🙂",
    "# Heading",
    'it\'s "quoted" \\n %s',
    "<tag>&amp;</tag>",
    " blanks around ",
    "None",
)
LINES = ("first line\nsecond line", "one\n\n  three\n")


def text_value(place: int, kind: str, random: Random, *, lines: bool) -> Any:
    """Return a value of a type, for the set of values at a place."""
    if kind == "bool":
        return place == 0 or (place > 1 and random.random() < 0.5)
    if kind == "int":
        return 3 if place == 0 else 0 if place == 1 else random.randint(-2, 40)
    if kind == "float":
        return 2.5 if place == 0 else 0.0 if place == 1 else random.randint(-20, 400) / 8
    pool = (*TEXTS, *LINES) if lines else TEXTS
    return pool[0] if place == 0 else "" if place == 1 else random.choice(pool)
