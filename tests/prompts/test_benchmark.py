"""The benchmark measures what it says; how long things take is nobody's assertion."""

import importlib.util
import sys
from pathlib import Path

import pytest

PATH = Path(__file__).parents[1] / "benchmarks" / "bench_render.py"


@pytest.mark.slow
def test_the_benchmark_runs_and_the_three_engines_agree_on_the_text() -> None:
    spec = importlib.util.spec_from_file_location("bench_render", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bench_render"] = module
    try:
        spec.loader.exec_module(module)
        row = module.measure(7, rounds=1)
    finally:
        del sys.modules["bench_render"]
    assert row.sections == 7
    assert len(module.template_of(7).plan.by_path) == 7
    assert row.template_bytes > 0
