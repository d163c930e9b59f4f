"""Near names are those that comparing all of them would find."""

from __future__ import annotations

from difflib import get_close_matches

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends.base.near_names import near_names

NAMES = st.text("abcdeA_é", min_size=1, max_size=12)


@pytest.mark.parametrize("like", [0.65, 0.85])
@given(name=NAMES, names=st.sets(NAMES, max_size=40))
def test_no_name_is_passed_over_that_is_as_like(like: float, name: str, names: set[str]) -> None:
    known = sorted({one.casefold() for one in names})
    expected = get_close_matches(name.casefold(), known, n=3, cutoff=like)
    every = (one for match in expected for one in sorted(names) if one.casefold() == match)
    assert near_names(name, names, like) == tuple(one for one in every if one != name)[:3]
