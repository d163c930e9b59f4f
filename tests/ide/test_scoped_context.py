"""The context of a question: the lines that match, how sure it is, and its budget."""

from __future__ import annotations

import re
from functools import cache

from hypothesis import given
from hypothesis import strategies as st
from tests.backends.outlines import access_to

from foldline.backends.base.waiting import run
from foldline.backends.formatting.budget import size_of
from foldline.ide.operations.code_scoped_context import OPERATION, Arguments

LONG = "".join(f"    step_{n} = prepare(step_{n - 1})\n" for n in range(1, 150))
FILES = {
    "queue.py": f"def drain(queue):\n{LONG}    raise Full('the queue overflowed')\n{LONG}",
    "cache.py": "class Cache:\n    def evict(self):\n        'Drop the oldest entry.'\n",
    "tests/test_queue.py": "def test_queue_overflow():\n    'the queue overflowed, the queue'\n",
}


def packed(query: str, budget: int, files: dict[str, str] = FILES) -> str:
    arguments = Arguments(query=query, budget=budget)
    return str(OPERATION.text(run(OPERATION.run(access_to(files), arguments)), arguments))


def test_of_a_long_function_the_lines_that_match_are_shown_in_a_small_context() -> None:
    text = packed("what is raised when the queue overflows", 1_500)
    assert text.startswith(
        "queue.py:1-300 drain\n(lines 1, 147-155 of 1-300)\ndef drain(queue):\n    …\n"
    )
    assert "    raise Full('the queue overflowed')" in text


def test_a_function_inside_a_long_one_is_found() -> None:
    inner = f"def outer():\n{LONG}    def throttle_requests():\n        return 429\n{LONG}"
    text = packed("which status do throttled requests get", 1_500, {"a.py": inner})
    assert "        return 429" in text


def test_a_context_of_equally_likely_places_says_that_it_is_unsure() -> None:
    same = "".join(f"def reload_config_{n}():\n    return read()\n" for n in "abc")
    text = packed("how is the config reloaded", 2_000, {"a.py": same})
    said = (
        "(unsure: these are about equally likely: a.py:1 reload_config_a, a.py:3 reload_config_b, "
    )
    assert said in text
    assert "unsure" not in packed("what is raised when the queue overflows", 2_000)


@cache
def many_files() -> dict[str, str]:
    """Files with functions of many sizes."""
    return {
        f"pkg{n % 5}/module{n}.py": "".join(
            f"def handle_{word}_{n}(request):\n    '''Handle the {word} of é request {n}.'''\n"
            + f"    {word}_{n} = request.{word} + {n}\n" * (size * (n % 7 + 1))
            + "\n"
            for word, size in (("token", 3), ("session", 30), ("cookie", 9))
        )
        for n in range(30)
    }


@given(st.integers(500, 20_000), st.sampled_from(["token", "how are session cookies handled", "x"]))
def test_a_context_never_passes_its_budget_and_fills_it_where_something_is_left_out(
    budget: int, query: str
) -> None:
    text = packed(query, budget, many_files())
    assert size_of(text) <= budget
    if re.search(r"^\(no room for ", text, re.MULTILINE):
        assert size_of(text) >= 0.8 * budget


def test_arguments_of_a_context_are_described_to_models_in_few_bytes() -> None:
    arguments = {argument.name: argument.doc.tool for argument in OPERATION.parameters}
    told = [arguments[name] for name in ("query", "within", "budget")]
    assert all(told)
    assert sum(map(size_of, told)) <= 120
