"""How long a preview takes from a keystroke to its new blocks, beyond the debounce.

    uv run python tests/benchmarks/bench_preview.py [--rounds N] [--json]

Each round changes one section and renders the prompt by the server's own renderer, which runs it in
a worker; tokens are counted as the server counts them. `cold` is the first render of a new worker,
`warm` are those after it, and `fresh` starts an interpreter for each render, which is what previews
without workers would do. Times are wall-clock milliseconds, because most of them pass in other
processes: a busy machine adds to them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from foldline.ide.render.interpreter import Interpreter
from foldline.ide.render.render import Render
from foldline.ide.render.renderer import Job, Renderer
from foldline.ide.render.token_costs import with_costs
from foldline.ide.token_counter import token_counter

SECTION = """    MarkdownSection[Params](title="Section {0}", key="s{0}", template='''
        Read ${{project}} with care, and say in section {0} what was found there.'''),
"""
MODULE = """{imports}
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate

@dataclass(frozen=True)
class Params:
    project: str = "foldline"

prompt = PromptTemplate(ns="bench", key="prompt", sections=[
{sections}])
"""
PYTHON = Interpreter(Path(sys.executable), "the benchmark's own")


@dataclass(frozen=True, slots=True)
class Row:
    """The times of one prompt in milliseconds."""

    prompt: str
    cold: float
    warm_p50: float
    warm_p95: float
    fresh_p50: float


def module(sections: int, imports: str = "") -> str:
    return MODULE.format(
        imports=imports, sections="".join(SECTION.format(number) for number in range(sections))
    )


CASES = {
    "3 sections": module(3),
    "200 sections": module(200),
    "3 sections, imports openai": module(3, "import openai"),
}


async def milliseconds(renderer: Renderer, root: Path, text: str) -> float:
    """One keystroke: from the changed text to blocks with their costs."""
    file = root / "prompt.py"
    action: dict[str, object] = {"action": "render", "name": None, "params": {}, "overrides": {}}
    start = time.perf_counter()
    answer = await renderer.run(PYTHON, Job(file, root, {str(file): text}, 60.0, action), Render)
    with_costs(answer, token_counter())
    return (time.perf_counter() - start) * 1000


async def measure(name: str, text: str, rounds: int) -> Row:
    token_counter().count("once, to load it")
    edits = [text.replace("with care", f"with care {number}", 1) for number in range(rounds)]
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        fresh = []
        for edit in edits[: max(3, rounds // 5)]:
            renderer = Renderer()
            fresh.append(await milliseconds(renderer, root, edit))
            await renderer.stop()
        renderer = Renderer()
        cold = await milliseconds(renderer, root, text)
        warm = [await milliseconds(renderer, root, edit) for edit in edits]
        await renderer.stop()
    return Row(
        prompt=name,
        cold=cold,
        warm_p50=statistics.median(warm),
        warm_p95=statistics.quantiles(warm, n=20)[-1],
        fresh_p50=statistics.median(fresh),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="renders of each prompt")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()
    rows = [asyncio.run(measure(name, text, options.rounds)) for name, text in CASES.items()]
    if options.json:
        print(json.dumps([asdict(row) for row in rows], indent=2))
        return
    print(f"{'ms':<28}{'cold':>8}{'warm p50':>10}{'warm p95':>10}{'fresh p50':>11}")
    for row in rows:
        print(
            f"{row.prompt:<28}{row.cold:>8.0f}{row.warm_p50:>10.1f}{row.warm_p95:>10.1f}"
            f"{row.fresh_p50:>11.0f}"
        )


if __name__ == "__main__":
    main()
