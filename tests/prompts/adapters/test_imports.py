"""What evaluation needs to be imported: the standard library, until a provider is asked."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.real

PROGRAM = """
import sys
before = set(sys.modules)
import foldline.prompts.runtime, foldline.prompts.adapters
import foldline.prompts.adapters.openai, foldline.prompts.adapters.anthropic
import foldline.prompts.adapters.openai_responses, foldline.plugins.stores.otel
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(loaded - sys.stdlib_module_names - {"foldline"}))
"""


def test_nothing_outside_the_standard_library_is_imported_before_a_provider_is_asked() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
