"""Rows of a test that takes seconds: one runs each time, and the others with `--slow`."""

import pytest
from _pytest.mark import ParameterSet


def slow(*values: object) -> list[ParameterSet]:
    """Mark each value of a test's one argument."""
    return [pytest.param(value, marks=pytest.mark.slow) for value in values]
