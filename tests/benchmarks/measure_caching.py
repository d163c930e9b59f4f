"""Write the tables of tokens billed into the docs and the code reviewer's README.

    uv run python -m tests.benchmarks.measure_caching

Nothing is measured by a clock: the requests go to the simulators of the providers' caches in
`tests/prompts/adapters/wire`, or to the example's own server. A test fails while a table is older
than what this script gives.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from foldline.prompts import MarkdownSection, PromptTemplate, Task, TaskSection
from foldline.prompts.cache.prices import CACHE_PRICES, CachePrices
from foldline.prompts.runtime import TokenUsage, evaluate_with_disclosure

from ..prompts.adapters.openings import SUMMARY, tool
from ..prompts.adapters.providers import Json, serving
from ..prompts.adapters.wire.prefix import text_of
from ..prompts.adapters.wire.simulators import (
    AnthropicSimulator,
    OpenAIResponsesSimulator,
    OpenAISimulator,
    Simulator,
)
from ..prompts.adapters.wires import Said

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from foldline.prompts import Prompt

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "prompt-caching.md"
EXAMPLE = ROOT / "examples" / "code_reviewer"
README = EXAMPLE / "README.md"

Way = Literal["append", "render"]
WAYS: dict[Way, str] = {"append": "appended", "render": "rendered anew"}

MANUALS = ("billing", "shipping", "returns")
SYSTEM_TOKENS, MANUAL_TOKENS, RESULT_TOKENS = 3_000, 1_000, 400


@dataclass(frozen=True)
class Endpoint:
    """A provider's simulator, and what it charges for writing."""

    name: str
    simulator: type[Simulator]
    model: str
    prices: CachePrices = CACHE_PRICES


ENDPOINTS = (
    Endpoint("Anthropic, Sonnet 5.5", AnthropicSimulator, "claude-sonnet-5-5"),
    Endpoint("OpenAI Responses, GPT-5.6", OpenAIResponsesSimulator, "gpt-5.6"),
    Endpoint("OpenAI chat completions, GPT-5", OpenAISimulator, "gpt-5", CachePrices(write=1)),
)

MESSAGES = ("billing", None, None, "shipping", None, None, "returns", None, None)
"""What the model does in each message: the manual that it opens, or None for a tool; it answers in
the tenth."""


def main() -> None:
    for path, marker, table in tables():
        path.write_text(with_table(path.read_text(encoding="utf-8"), marker, table), "utf-8")
        print(table)


def tables() -> Iterator[tuple[Path, str, str]]:
    """Yield the pages, their markers and what belongs between them."""
    yield PAGE, "runs", runs_table()
    yield README, "usage", usage_table()


def with_table(page: str, marker: str, table: str) -> str:
    """Return a page with the table between its markers."""
    parts = re.split(f"(<!-- /?{marker} -->\n)", page)
    if len(parts) != 5:
        raise ValueError(f"there are no markers <!-- {marker} --> and <!-- /{marker} -->")
    before, begin, _, end, behind = parts
    return f"{before}{begin}\n{table}\n{end}{behind}"


# Scripted runs


def runs_table() -> str:
    rows = []
    for endpoint in ENDPOINTS:
        for way, said in WAYS.items():
            usage = billed(endpoint, way)
            cells = (usage.fresh, usage.written, usage.cached, usage.billed(endpoint.prices))
            rows.append((endpoint.name, said, *(f"{cell:,.0f}" for cell in cells)))
    head = ("provider", "sections are", "fresh", "written", "read", "billed as")
    return markdown(head, rows, numbers=4)


def billed(endpoint: Endpoint, way: Way) -> TokenUsage:
    """The input of all requests of the run."""

    def script(request: Json) -> Said:
        number = len(provider.requests) - 1
        if number == len(MESSAGES):
            return Said("Your parcel comes tomorrow.")
        manual = MESSAGES[number]
        if manual is None:
            return Said(calls=(("look_up", {"word": f"{number} {text_of(RESULT_TOKENS)}"}),))
        return Said(calls=(("open_sections", {"section_keys": [manual], "reason": "why"}),))

    with serving(endpoint.simulator(script)) as provider:
        adapter = provider.adapter(model=endpoint.model, max_turns=20)
        evaluate_with_disclosure(adapter, prompt(), opening=way, max_expansions=5)
    assert provider.refusals == []
    assert len(provider.metered) == len(MESSAGES) + 1 == 10
    return total_of(provider)


def total_of(provider: Simulator) -> TokenUsage:
    """The input of all requests that a simulator answered."""
    total = TokenUsage()
    for metered in provider.metered:
        written = sum(metered.written.values())
        total += TokenUsage(metered.total, 0, metered.read, written)
    return total


def prompt() -> Prompt[None]:
    """A system part, three manuals that are summarized, a tool in each, and the task."""
    manuals = [
        MarkdownSection[None](
            title=key.title(),
            key=key,
            template=text_of(MANUAL_TOKENS, key),
            summary=f"All about {key}.",
            visibility=SUMMARY,
            tools=[tool(f"check_{key}")],
        )
        for key in MANUALS
    ]
    rules = MarkdownSection[None](
        title="Rules", key="rules", template=text_of(SYSTEM_TOKENS), tools=[tool("look_up")]
    )
    template = PromptTemplate(
        ns="docs", key="desk", system=[rules, *manuals], sections=[TaskSection[Task]()]
    )
    return template.bind(Task("Where is my parcel?"))


# The code reviewer

_LINE = re.compile(
    r"^· (?P<what>message \d+|all \d+ messages): (?P<input>[\d,]+) tokens, (?P<share>\d+%) read "
    r"from the cache, (?P<written>[\d,]+) written, (?P<fresh>[\d,]+) neither; billed as "
    r"(?P<billed>[\d,]+)$",
    re.MULTILINE,
)


def usage_table() -> str:
    """What the code reviewer's messages cost on both providers' wire formats."""
    both = [reviewed(provider) for provider in ("anthropic", "openai-responses")]
    rows = [
        (one["what"], *(line[name] for line in (one, other) for name in _COLUMNS))
        for one, other in zip(*both, strict=True)
    ]
    columns = [f"{name}: {what}" for name in ("Anthropic", "OpenAI") for what in _COLUMNS.values()]
    return markdown(("", *columns), rows, numbers=2 * len(_COLUMNS))


_COLUMNS = {"input": "tokens", "share": "read", "written": "written", "billed": "billed as"}


def reviewed(provider: str) -> list[re.Match[str]]:
    done = subprocess.run(
        [sys.executable, "-m", "code_reviewer", "--provider", provider, "--loopback"],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return list(_LINE.finditer(done.stderr))


def markdown(head: Sequence[str], rows: Sequence[Sequence[str]], *, numbers: int) -> str:
    """A table whose last columns are numbers."""
    rule = ["---"] * (len(head) - numbers) + ["---:"] * numbers
    lines = [head, rule, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    main()
