"""A short soak: whatever is killed, frozen or spoiled, every request is answered once."""

import pytest

from .soak import run

pytestmark = [pytest.mark.real, pytest.mark.slow]

MINUTES = 0.3
SEED = 7


def test_a_random_editor_and_agent_among_faults_are_always_answered() -> None:
    report = run(MINUTES, SEED)
    assert report.requests > 100
    assert report.faults
    assert not report.wrong, "\n".join(report.lines())
