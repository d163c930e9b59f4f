"""What files have that isn't plain: refused by name, or adopted with what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from foldline.ide.adopt.adoption import adopt, read
from foldline.ide.adopt.model import AdoptError

from .here import prove_here

ENVIRONMENT = "from jinja2 import Environment\ne = Environment({options})\n"
HELP = "P = 'Help {{{{ name }}}} with <<task>>.'\nT = e.from_string(P)\n"


@pytest.mark.parametrize(
    "given",
    [
        ENVIRONMENT.format(options='variable_start_string="<<", variable_end_string=">>"'),
        ENVIRONMENT.format(options='**{"block_start_string": START}'),
        ENVIRONMENT.format(options="") + "e.line_statement_prefix = '#'\n",
    ],
)
def test_an_environment_with_delimiters_of_its_own_is_refused_by_name(given: str) -> None:
    with pytest.raises(AdoptError, match=r"delimiters of its own \(line [23]: `\w+_(string|pre)"):
        read(Path("p.py"), given + HELP.format(), name="P")


def test_an_environment_that_names_the_usual_delimiters_is_read() -> None:
    options = "variable_start_string='{{', block_end_string=\"%}\", line_statement_prefix=None"
    original = read(Path("p.py"), ENVIRONMENT.format(options=options) + HELP.format(), name="P")
    assert [field.name for field in adopt(original).plan.fields] == ["name"]


@pytest.mark.parametrize(
    ("options", "is_told"),
    [
        ("autoescape=True", True),
        ("autoescape=select_autoescape()", True),
        ("autoescape=select_autoescape(default_for_string=False)", False),
        ("autoescape=select_autoescape(['html'], default_for_string=False)", False),
        ("autoescape=False", False),
        ("", False),
    ],
)
def test_that_jinja_would_escape_html_is_said(options: str, *, is_told: bool) -> None:
    source = ENVIRONMENT.format(options=options) + HELP.format()
    adoption = adopt(read(Path("p.py"), source, name="P"))
    proof = prove_here(adoption.plan, adoption.text)
    assert proof.is_same
    assert any("autoescape" in one for one in proof.but) == is_told
    assert any("escapes HTML" in note for note in adoption.plan.original.notes) == is_told
