"""What the docs say of tokens billed is what the simulators count."""

import pytest

from ...benchmarks import measure_caching

pytestmark = [pytest.mark.real, pytest.mark.slow]


def test_the_tables_of_tokens_billed_are_up_to_date() -> None:
    for path, marker, table in measure_caching.tables():
        page = path.read_text(encoding="utf-8")
        assert measure_caching.with_table(page, marker, table) == page, (
            "run `python -m tests.benchmarks.measure_caching`"
        )
