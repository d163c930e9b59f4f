"""`foldline tour`: a demo on the example workspaces."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from foldline import agent
from foldline.agent.exit_statuses import FOUND, NOTHING
from foldline.agent.terminal import complain, json_text, show, show_styled
from foldline.backends.formatting.parts import Code, Line

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from foldline.agent.tour_steps import Shown, Step
    from foldline.agent.verbs import Verbs


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "tour",
        help="see what foldline does, on two examples",
        description="Shows a prompt and its code from folded to unfolded, with the bytes of each "
        "step, and then the instruction files and the code of a Go repository.",
    )
    parser.add_argument("--json", action="store_true", help="print the steps for a program")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    import asyncio

    folder, go_service = example_workspace("code_reviewer"), example_workspace("go_service")
    try:
        steps = asyncio.run(agent.tour_steps.run_tour(folder))
        go_steps = agent.tour_steps.run_verbs(go_service)
    except agent.tour_steps.TourError as error:
        complain(f"foldline tour: {error}")
        return NOTHING
    if options.json:
        data = [asdict(step) for step, _ in (*steps, *go_steps)]
        show(json_text({"workspace": str(folder), "repository": str(go_service), "steps": data}))
    else:
        show_styled(_lines(steps, go_steps, str(go_service)), wrap=True)
    return FOUND


def example_workspace(name: str) -> Path:
    """Return an example workspace, of this checkout or the installed one."""
    here = Path(__file__).resolve()
    for folder in (here.parents[3] / "examples" / name, here.parent / "examples" / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the example {name} is missing: install foldline again")


def _lines(steps: Sequence[Shown], go_steps: Sequence[Shown], go: str) -> Iterator[Line | Code]:
    """Yield the steps with their costs, a table, and what to copy: as code, which isn't wrapped."""
    for step, lines in (*steps, *go_steps):
        values = ", ".join(f"{name}={value!r}" for name, value in step.arguments.items())
        call = f"$ {step.command}" if " " in step.command else f"{step.command}({values})"
        size, what = step.whole or (0, "")
        share = f", {step.bytes / size:.0%} of {what} ({size:,})" if size else ""
        yield from ([(step.title, "bold")], [(call, "cyan")], *lines)
        yield from ([(f"{step.bytes:,} bytes{share}", "dim")], [])
    yield [("What each step cost", "bold")]
    for part in (steps, go_steps):
        yield from ([(_row(step), "")] for step, _ in part if step.whole)
        spent = sum(step.bytes for step, _ in part[-3:])
        yield [(_row(replace(part[-3][0], title="From tree to symbol", bytes=spent)), "bold")]
    copy = Code("copy.sh", f"cp -r {quote(go)} links\ncd links\ngit init --quiet")
    yield from ([], [("To try it (in your repository, begin with `foldline stack`)", "bold")], copy)


def _row(step: Step) -> str:
    size, what = step.whole or (step.bytes, "")
    return f"{step.title:<32}{step.bytes:>7,}{step.bytes / size:>6.0%} of {size:>7,}  {what}"
