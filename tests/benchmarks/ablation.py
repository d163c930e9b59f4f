"""The page that says what each signal of the search is worth: `tests/benchmarks/RANKING.md`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.run import sections_of

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path(__file__).parents[2] / "tests" / "benchmarks" / "RANKING.md"
SIGNALS: dict[str, dict[str, Any]] = {
    "all signals": {},
    "without the path": {"path": 0},
    "without the names that are defined": {"defined": 0},
    "without the words": {"body": 0},
    "the first line like the others": {"title": 0},
    "tests and documents like the others": {"discount": 1},
    "without symbols as anchors": {"symbol": 0},
    "without paths as anchors": {"place": 0},
    "without any anchors": {"symbol": 0, "place": 0},
    "without imports": {"imports": 0},
}
"""The signals, each as the change of hand-set weights that leaves it out."""

HEAD = """\
<!-- Written by `python -m tests.benchmarks.bench_localise --ablate` (reports) and
`python -m tests.benchmarks.train_ranking --ablate` (commits); don't edit it. -->
# The signals of the search

`foldline search` ranks files by several signals: words, the names that a file defines, its path,
symbols and paths that a text names. The tables say what each is worth: in percent, how often a file
that had to be changed is among the first 1/5/10/20, with all signals and without one of them.
"""


def write_ablation(
    title: str, about: str, rows: Sequence[tuple[str, Sequence[float] | None, Sequence[float]]]
) -> None:
    """Replace one table of the page; each row has a signal, and recall by hand and by learning."""
    sections = dict(sections_of(PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""))
    lines = [
        f"## {title}",
        "",
        f"{time.strftime('%Y-%m-%d')}. {about}",
        "",
        "| signals | hand-set weights | learned weights |",
        "|---|---|---|",
        *(f"| {name} | {_figures(hand)} | {_figures(learned)} |" for name, hand, learned in rows),
        "",
    ]
    sections[title] = "\n".join(lines)
    texts = [sections[name] for name in sorted(sections, reverse=True)]
    PAGE.write_text("\n".join([HEAD, *texts]), encoding="utf-8")


def _figures(values: Sequence[float] | None) -> str:
    return "/".join(f"{value:.1f}" for value in values) if values is not None else ""
