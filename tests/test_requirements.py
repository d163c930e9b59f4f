"""Every numbered demand of the specifications has a test that names it."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "docs" / "make_conformance.py"


@pytest.fixture(scope="module")
def conformance() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_conformance", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_demand_has_a_test_that_names_it(conformance: ModuleType) -> None:
    tests = conformance.tests_by_demand()
    demanded = {
        f"{group}-{number}"
        for group, texts in conformance.demands().items()
        for number in texts
        if number != "title"
    }
    assert len(demanded) > 200
    missing = sorted(demanded - tests.keys())
    assert not missing, f"no test names {', '.join(missing)}"
    unknown = sorted(tests.keys() - demanded)
    assert not unknown, f"tests name {', '.join(unknown)}, which nothing demands"


def test_the_page_is_made_from_the_tests_there_are(conformance: ModuleType) -> None:
    page = conformance.PAGE.read_text(encoding="utf-8")
    assert page == conformance.page(), "run `uv run python docs/make_conformance.py`"
