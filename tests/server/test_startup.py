"""An editor waits for the answer to `initialize`: what it does not need is loaded after it."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

from foldline.ide import analysis

pytestmark = pytest.mark.real

# Each costs milliseconds, or memory that many workspaces never need.
LATER = (
    "foldline.backends.file_access",
    "foldline.backends.lsp",
    "foldline.backends.models",
    "foldline.backends.outlines.locations",
    "foldline.server.diagnostic_items",
    "foldline.ide.folder",
    "foldline.ide.analysis",
    "foldline.prompts",
    "jedi",
    "mcp",
    "platformdirs",
    "rs_bpe",
    "sqlite3",
    "starlette",
    "tomllib",
    "tree_sitter",
)

CREATE = "from foldline.server.app import create_server; create_server()"
WARM_UP = "from foldline.server.warm_up import warm_up; warm_up()"


def loaded(program: str) -> set[str]:
    """The modules that a program has loaded when it ends."""
    result = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(result.stdout.split())


@pytest.fixture(scope="module")
def created() -> set[str]:
    return loaded(CREATE)


@pytest.mark.parametrize("module", LATER)
def test_a_server_starts_without(module: str, created: set[str]) -> None:
    assert "foldline.server.app" in created
    assert module not in created


def test_the_analysis_loads_none_of_its_modules_by_itself() -> None:
    """Two threads that load it, from outside and from inside, would get it half loaded."""
    package = analysis.__name__
    assert not {name for name in loaded(f"import {package}") if name.startswith(f"{package}.")}


def test_the_first_question_finds_its_modules_loaded() -> None:
    warm = loaded(f"{CREATE}; {WARM_UP}")
    modules = pkgutil.walk_packages(analysis.__path__, f"{analysis.__name__}.")
    assert {module.name for module in modules} <= warm
    assert {
        "foldline.backends.ast_backend",
        "foldline.backends.references.definitions",
        "foldline.backends.file_access",
        "foldline.backends.references.two_tier_references",
        "foldline.server.diagnostic_items",
    } <= warm
    assert "rs_bpe" not in warm


def test_a_tokenizer_is_loaded_for_the_first_text_that_is_counted() -> None:
    program = "from foldline.ide.token_counter import token_counter; token_counter()"
    assert "rs_bpe" not in loaded(program)
    assert "rs_bpe" in loaded(f"{program}.count('text')")
