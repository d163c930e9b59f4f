"""`docs/04-adopt.md`: the module on it is what the template above it becomes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foldline.plugins.adopt.adoption import adopt, read

from .here import prove_here

pytestmark = pytest.mark.real

PAGE = Path(__file__).parents[3] / "docs" / "04-adopt.md"


def test_a_template_becomes_the_module_below_it() -> None:
    page = PAGE.read_text("utf-8").partition("## A Jinja template")[2]
    before, after = re.findall(r"^```(?:jinja|python)\n(.*?)^```$", page, re.M | re.S)
    adoption = adopt(read(Path("support.j2"), before))
    proof = prove_here(adoption.plan, adoption.text)
    assert proof.is_same, proof
    assert adoption.is_whole
    # The page leaves out the docstring and the values for previews.
    shown = adoption.text.partition('."""\n')[2].partition("\n\n\ndef preview_")[0]
    assert shown.strip() == after.strip()
    assert f"def preview_{adoption.plan.variable}()" in adoption.text
