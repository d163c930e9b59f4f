"""Learns the weights of the ranking from the histories of public projects.

    uv run --group bench python -m tests.benchmarks.train_ranking [--write | --ablate]

A commit's message is a question, and the files that it changed are the answer, among the files of
a snapshot before it. A linear model orders the best 50 by hand-set weights, trained so that the
changed files come first (the loss is that of softmax over the candidates). Printed are, for
each project, the recall of hand-set weights and of those learned from the *other* projects. The
reports of `bench_localise` are no part of it: they check the result.

With `--write` the weights learned from all projects replace `learned.json`. With `--ablate` every
signal and every feature is left out in turn, and the table goes to `RANKING.md` beside this file:
of learned weights, those that were learned without it. Histories are cloned once. It takes some
minutes.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.backends.corpora import folder, run
from tests.benchmarks.ablation import SIGNALS, write_ablation

from foldline.backends.index.postings import LiveIndex
from foldline.backends.ranking import learned
from foldline.backends.ranking.learned import FEATURES, features
from foldline.backends.ranking.paths import is_minor
from foldline.backends.ranking.question import read_question
from foldline.backends.ranking.score import Scores
from foldline.backends.ranking.weights import HAND_SET, Weights
from foldline.backends.search.search import imported_by_first, wanted_terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PROJECTS = (
    "aio-libs/aiohttp",
    "celery/celery",
    "networkx/networkx",
    "pydantic/pydantic",
    "python-poetry/poetry",
    "scrapy/scrapy",
    "sqlalchemy/sqlalchemy",
    "tornadoweb/tornado",
)
SNAPSHOTS = (0.05, 0.19, 0.33, 0.47)
"""Where in a history, from its end, the files are taken."""
_COMMITS = 45
_FOLLOWING = 400
_SHORTEST = 40
_FEWEST_WORDS = 7
_MOST_CHANGED = 3
_FIRST = (1, 5, 10, 20)
_NO_QUESTION = re.compile(
    r"(?i)^(?:merge|bump|release|prepare|update (?:changelog|docs|dep)|changelog|typo|fix typo"
    r"|\[pre-commit|docs?\b|revert|version|build\(|ci\b|test)"
)
_TRAILER = re.compile(
    r"(?im)^(?:co-authored-by|signed-off-by|change-id|reported-by|backport|\(cherry).*$"
    r"|\(#\d+\)|https?://\S+"
)


class Commit(NamedTuple):
    """A commit: its name, its message, and the status and path of each file that it changed."""

    name: str
    message: str
    changes: list[list[str]]


class Example(NamedTuple):
    """The features of the candidates for one question, and which of them were changed."""

    rows: list[list[float]]
    changed: list[bool]


def history(project: str) -> Path:
    """The bare clone of a project, made once."""
    place = folder() / "histories" / f"{project.replace('/', '+')}.git"
    if not place.is_dir():
        with tempfile.TemporaryDirectory() as scratch:
            clone = str(Path(scratch) / "clone")
            run(["git", "clone", "--quiet", "--bare", f"https://github.com/{project}", clone])
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(clone, place)
    return place


def examples(project: str, variants: Sequence[Weights] = (HAND_SET,)) -> Iterator[list[Example]]:
    """The questions of a project's history, each as an example for every variant."""
    repository = history(project)
    commits = list(_commits(repository))
    for part in SNAPSHOTS:
        place = int(len(commits) * part) + _FOLLOWING // 2
        if place < len(commits):
            following = reversed(commits[max(0, place - _FOLLOWING) : place])
            yield from _of_snapshot(repository, commits[place].name, following, variants)


def _commits(repository: Path) -> Iterator[Commit]:
    command = ["git", "log", "--no-merges", "--name-status", "--format=%x01%H%x02%B%x03"]
    log = subprocess.run(command, cwd=repository, stdout=subprocess.PIPE, check=True).stdout
    for text in log.decode("utf-8", "replace").split("\x01")[1:]:
        name, _, rest = text.partition("\x02")
        message, _, files = rest.partition("\x03")
        yield Commit(
            name, message, [line.split("\t") for line in files.split("\n") if "\t" in line]
        )


def _of_snapshot(
    repository: Path, name: str, commits: Iterator[Commit], variants: Sequence[Weights]
) -> Iterator[list[Example]]:
    paths: list[str] = []
    texts: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as place:
        command = ["git", "archive", "--format=tar", name]
        archive = subprocess.run(command, cwd=repository, stdout=subprocess.PIPE, check=True).stdout
        subprocess.run(["tar", "x", "-C", place], input=archive, check=True)
        for file in sorted(Path(place).rglob("*")):
            if file.is_file() and not file.is_symlink():
                path = file.relative_to(place).as_posix()
                paths.append(path)
                if path.endswith(".py"):
                    texts[path] = file.read_bytes()
    index = LiveIndex(texts)
    count = 0
    for commit in commits:
        asked = _question(commit)
        if asked is not None and (gold := asked[1] & texts.keys()):
            wanted = asked[0], gold
            found = [_example(index, texts, paths, wanted, weights) for weights in variants]
            known = [example for example in found if example is not None]
            if len(known) == len(variants):
                yield known
                count += 1
        if count == _COMMITS:
            return


def _question(commit: Commit) -> tuple[str, set[str]] | None:
    """The message as a question, and the files that were changed; None if it's no question."""
    if _NO_QUESTION.search(commit.message):
        return None
    message = _TRAILER.sub("", commit.message).strip()
    changed = {
        change[1]
        for change in commit.changes
        if change[0] == "M" and change[1].endswith(".py") and not is_minor(change[1])
    }
    if len(message) < _SHORTEST or len(message.split()) < _FEWEST_WORDS:
        return None
    return (message, changed) if 1 <= len(changed) <= _MOST_CHANGED else None


def _example(
    index: LiveIndex,
    texts: dict[str, bytes],
    paths: Sequence[str],
    asked: tuple[str, set[str]],
    weights: Weights,
) -> Example | None:
    text, gold = asked
    question = read_question(text, weights.title)
    if question is None:
        return None
    corpus, postings, _ = index.look_up(wanted_terms(question))
    scores = Scores(question, corpus, postings, paths, weights)
    order = scores.order()
    head = order[: learned.CANDIDATES]
    imported = imported_by_first(scores, order, texts.get)
    return Example(
        features(scores, head, imported), [scores.paths[number] in gold for number in head]
    )


def fit(
    groups: Sequence[Example], decay: float = 0.1, steps: int = 300, without: str = ""
) -> dict[str, float]:
    """The weights that put changed files first; `decay` holds them near the hand-set score.

    The feature `without` gets none.
    """
    import numpy as np

    known = [group for group in groups if any(group.changed) and not all(group.changed)]
    shape = len(known), learned.CANDIDATES
    values = np.zeros((*shape, len(FEATURES)))
    wanted, mask = np.zeros(shape), np.zeros(shape)
    for number, (rows, changed) in enumerate(known):
        values[number, : len(rows)] = rows
        wanted[number, : len(rows)] = np.array(changed) / sum(changed)
        mask[number, : len(rows)] = 1
    if without:
        values[..., FEATURES.index(without)] = 0
    mean, scale = values[mask > 0].mean(0), values[mask > 0].std(0) + 1e-6
    values = (values - mean) / scale * mask[..., None]
    start = np.zeros(len(FEATURES))
    start[0] = 1.0
    weights = start.copy()
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps + 1):  # Adam
        worth = np.where(mask > 0, values @ weights, -1e9)
        chance = np.exp(worth - worth.max(1, keepdims=True))
        chance /= chance.sum(1, keepdims=True)
        slope = np.einsum("gc,gcf->f", (chance - wanted) * mask / len(known), values)
        slope += decay * (weights - start)
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        weights = weights - 0.03 * (first / (1 - 0.9**step)) / (
            np.sqrt(second / (1 - 0.999**step)) + 1e-8
        )
    return {
        name: 0.0 if name == without else round(float(weight), 4)
        for name, weight in zip(FEATURES, weights / scale, strict=True)
    }


def recall(groups: Sequence[Example], weights: dict[str, float] | None) -> list[float]:
    """The percentage of questions with a changed file among the first 1, 5, 10 and 20."""
    places = []
    for rows, changed in groups:
        order = list(range(len(rows)))
        if weights is not None:
            worth = [
                sum(weights[name] * value for name, value in zip(FEATURES, row, strict=True))
                for row in rows
            ]
            order.sort(key=lambda number: -worth[number])
        found = (place for place, number in enumerate(order, 1) if changed[number])
        places.append(next(found, learned.CANDIDATES + 1))
    return [100 * sum(place <= first for place in places) / len(places) for first in _FIRST]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="replace the weights of the ranking")
    parser.add_argument("--ablate", action="store_true", help="without one signal after the other")
    options = parser.parse_args()
    if options.ablate:
        ablate()
        return
    known: dict[str, list[Example]] = {}
    for project in PROJECTS:
        known[project] = [example for (example,) in examples(project)]
        print(f"{project}: {len(known[project])} questions", flush=True)
    rows: list[Any] = []
    for project, groups in known.items():
        others = [one for name, some in known.items() if name != project for one in some]
        by_hand, by_learning = recall(groups, None), recall(groups, fit(others))
        rows.append((by_hand, by_learning))
        print(f"{project:24} {_figures(by_hand)}, learned from the others {_figures(by_learning)}")
    for name, place in (("hand-set", 0), ("learned", 1)):
        mean = [sum(row[place][k] for row in rows) / len(rows) for k in range(len(_FIRST))]
        print(f"mean, {name:18} {_figures(mean)}")
    if options.write:
        weights = fit([one for some in known.values() for one in some])
        text = json.dumps({"projects": PROJECTS, "weights": weights}, indent=2)
        learned.FILE.write_text(f"{text}\n", encoding="utf-8")
        print(learned.FILE)


def ablate() -> None:
    """Write the table of what each signal and each feature is worth."""
    variants = {name: replace(HAND_SET, **change) for name, change in SIGNALS.items()}
    known: dict[str, list[list[Example]]] = {}
    for project in PROJECTS:
        known[project] = list(examples(project, [*variants.values()]))
        print(f"{project}: {len(known[project])} questions", flush=True)
    rows: list[tuple[str, list[float] | None, list[float]]] = []
    for number, name in enumerate(variants):
        own = {project: [some[number] for some in all_] for project, all_ in known.items()}
        rows.append((name, validated(own, learn=False), validated(own)))
        print(*rows[-1], flush=True)
    first = {project: [some[0] for some in all_] for project, all_ in known.items()}
    for feature in FEATURES:
        rows.append((f"without the feature `{feature}`", None, validated(first, feature)))
        print(*rows[-1], flush=True)
    count = sum(map(len, first.values()))
    write_ablation(
        "Commits of other projects",
        f"{count} messages of commits in {len(PROJECTS)} projects, the mean over the projects; "
        "learned weights are those of the seven others, learned without the signal.",
        rows,
    )


def validated(
    known: dict[str, list[Example]], without: str = "", *, learn: bool = True
) -> list[float]:
    """The mean recall over the projects, each by weights learned from the others."""
    rows = []
    for project, groups in known.items():
        others = [one for name, some in known.items() if name != project for one in some]
        rows.append(recall(groups, fit(others, without=without) if learn else None))
    return [sum(row[k] for row in rows) / len(rows) for k in range(len(_FIRST))]


def _figures(values: Sequence[float]) -> str:
    return "/".join(f"{value:.1f}" for value in values)


if __name__ == "__main__":
    main()
