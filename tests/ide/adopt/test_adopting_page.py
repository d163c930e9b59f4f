"""`docs/adopting.md`: each module on it is what the source above it becomes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from foldline.ide.adopt.adoption import adopt, read

from .here import prove_here

pytestmark = pytest.mark.real

PAGE = Path(__file__).parents[3] / "docs" / "adopting.md"
FENCES = re.findall(r"^```(python|jinja)\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
PAIRS = list(zip(FENCES[::2], FENCES[1::2], strict=True))


@pytest.mark.parametrize("pair", PAIRS, ids=["f-string", "template", "jinja"])
def test_a_source_becomes_the_module_below_it(
    pair: tuple[tuple[str, str], tuple[str, str]],
) -> None:
    (language, before), (_, after) = pair
    adoption = adopt(read(Path("support.py" if language == "python" else "support.j2"), before))
    proof = prove_here(adoption.plan, adoption.text)
    assert proof.is_same, proof
    assert adoption.is_whole
    # The page leaves out the docstring and the values for previews.
    shown = adoption.text.partition('."""\n')[2].partition("\n\n\ndef preview_")[0]
    assert shown.strip() == after.strip()
    assert f"def preview_{adoption.plan.variable}()" in adoption.text
