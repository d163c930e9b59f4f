"""`foldline tour`: a demo on the example workspace."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from foldline.agent.verbs import Verbs


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

    from foldline.agent.tour_steps import TourError, run_tour

    try:
        tour = asyncio.run(run_tour(example_workspace()))
    except TourError as error:
        print(f"foldline tour: {error}", file=sys.stderr)  # noqa: T201
        return 1
    if options.json:
        print(json.dumps(asdict(tour), indent=2))  # noqa: T201
    else:
        from foldline.agent.tour_view import show

        show(tour)
    return 0


def example_workspace() -> Path:
    """Return the example workspace, of this checkout or the installed one."""
    here = Path(__file__).resolve()
    for folder in (here.parents[3] / "examples" / "code_reviewer", here.with_name("example")):
        if (folder / "reviewer_prompt.py").exists():
            return folder
    raise FileNotFoundError("the example workspace is missing: install foldline again")
