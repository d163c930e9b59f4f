"""What the fuzzers share: their seeds, and how long they run.

Each runs a fixed set of seeds, so that a run says the same as the last one. With the environment
variable FOLDLINE_FUZZ_SECONDS each goes on with new seeds for that long; a failure names its seed.
"""

import itertools
import os
import time
from collections.abc import Iterator

SECONDS = float(os.environ.get("FOLDLINE_FUZZ_SECONDS", "0"))
# A test that runs for longer than the limit of the others says so itself.
TIME_LIMIT = 300 + 2 * SECONDS


def seeds(fixed: int) -> Iterator[int]:
    """The seeds of one run: the fixed ones, and more while there is time."""
    end = time.monotonic() + SECONDS
    for seed in itertools.count():
        if seed >= fixed and time.monotonic() >= end:
            return
        yield seed
