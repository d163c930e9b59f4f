"""`foldline tour`: a demo on the example workspace."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from foldline import agent
from foldline.agent.exit_statuses import FOUND, NOTHING
from foldline.agent.terminal import complain, json_text, show, show_styled

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from foldline.agent.tour_steps import Shown, Step
    from foldline.agent.verbs import Verbs
    from foldline.backends.formatting.parts import Code, Line


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "tour",
        help="see what foldline does, on the example workspace",
        description="Shows a prompt and a code file of the example workspace from folded to "
        "unfolded, with the bytes of each step.",
    )
    parser.add_argument("--json", action="store_true", help="print the steps for a program")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    import asyncio

    folder = example_workspace()
    try:
        steps = asyncio.run(agent.tour_steps.run_tour(folder))
    except agent.tour_steps.TourError as error:
        complain(f"foldline tour: {error}")
        return NOTHING
    if options.json:
        show(json_text({"workspace": str(folder), "steps": [asdict(step) for step, _ in steps]}))
    else:
        show_styled(_lines(steps), wrap=True)
    return FOUND


def example_workspace() -> Path:
    """Return the example workspace, of this checkout or the installed one."""
    here = Path(__file__).resolve()
    for folder in (here.parents[3] / "examples" / "code_reviewer", here.with_name("example")):
        if (folder / "reviewer_prompt.py").exists():
            return folder
    raise FileNotFoundError("the example workspace is missing: install foldline again")


def _lines(steps: Sequence[Shown]) -> Iterator[Line | Code]:
    """Yield the steps with their costs, and a table of the costs."""
    for step, lines in steps:
        arguments = ", ".join(f"{name}={value!r}" for name, value in step.arguments.items())
        size, what = step.whole
        cost = f"{step.bytes:,} bytes, {step.share} of {what} ({size:,})"
        yield [(step.title, "bold"), (f"  {step.command}({arguments})", "cyan")]
        yield from lines
        yield from ([(cost, "dim")], [])
    yield [("What each step cost", "bold")]
    for step, _ in steps:
        yield [(_row(step.title, step.bytes, step.share, step), "")]
    code = [step for step, _ in steps[2:]]
    spent = sum(step.bytes for step in code)
    share = f"{spent / code[0].whole[0]:.0%}"
    yield [(_row("From tree to symbol", spent, share, code[0]), "bold")]


def _row(title: str, spent: int, share: str, step: Step) -> str:
    size, what = step.whole
    return f"{title:<32}{spent:>7,}{share:>6} of {size:>7,}  {what}"
