"""The benchmark that measures by the protocols of others counts as they do."""

import difflib
import random
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from foldline.backends import SmartFileAccess
from foldline.backends.files.source import split_lines

from ..benchmarks.bench_context import numbers_of, packed
from ..benchmarks.bench_localise import tasks
from ..benchmarks.bench_protocols import (
    Clone,
    Repair,
    Score,
    agreement,
    changed_lines,
    functions_in,
    gold_lines,
    lines_read,
    ndcg,
    said_in,
    score,
    shown_in,
)
from ..repositories import git

# Removed and added, these look like the headers of files.
LINE = st.sampled_from(["a", "b", "", "-- a/x.py", "++ b/x.py", "@ -1 +1 @@"])
EDITS = st.dictionaries(st.integers(0, 40), st.lists(LINE, max_size=2), max_size=4)
FILES = st.tuples(st.lists(LINE, max_size=40), EDITS)


@given(
    st.dictionaries(st.sampled_from(["a.py", "lib/b c.py", "new.py"]), FILES),
    st.sampled_from([0, 3]),
)
@example({"a.py": (["-- a/x.py", *["a"] * 12], {0: [], 12: ["b"]})}, 3)
def test_gold_lines_are_the_old_sides_of_a_patch(
    files: dict[str, tuple[list[str], dict[int, list[str]]]], around: int
) -> None:
    patch: list[str] = []
    expected: dict[str, set[int]] = {}
    changed: dict[str, set[int]] = {}
    for path, (old, edits) in files.items():
        new = [line for n, kept in enumerate(old) for line in edits.get(n, [kept])]
        source = "/dev/null" if path == "new.py" else f"a/{path}"
        patch += difflib.unified_diff(old, new, source, f"b/{path}", lineterm="", n=around)
        groups = difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(around)
        hunks = [range(group[0][1] + 1, group[-1][2] + 1) for group in groups]
        if hunks and path != "new.py":
            expected[path] = {number for hunk in hunks for number in hunk}
            changed[path] = {
                number
                for tag, start, end, *_ in difflib.SequenceMatcher(None, old, new).get_opcodes()
                if tag != "equal"
                for number in (range(start + 1, end + 1) or [max(start, 1)])
            }
    assert gold_lines("\n".join(patch)) == expected
    assert changed_lines("\n".join(patch)) == changed


@given(st.sets(st.integers(1, 12), max_size=12), st.integers(1, 12))
def test_ndcg_is_the_part_of_the_best_order(places: set[int], more: int) -> None:
    relevant = len(places) + more - 1
    ranked = [1.0 if place in places else 0.0 for place in range(1, 11)]
    # Each step by which a gain comes later costs; nothing that comes tenth or later counts.
    best = ndcg(range(1, relevant + 1), relevant)
    assert best == (1.0 if relevant else 0.0)
    assert (ndcg(places, relevant) > 0) == any(ranked)
    later = {place + 1 for place in places}
    assert ndcg(later, relevant) <= ndcg(places, relevant) <= best + 1e-9
    assert ndcg([2], 1) == 1 / 1.584962500721156


def test_the_lines_of_an_excerpt_are_those_that_it_shows(tmp_path: Path) -> None:
    draw = random.Random(7)
    body = [f"    {draw.choice(('total', 'price', 'cart'))}_{n} = {n} * {n}" for n in range(200)]
    body[120] = "    discount_of_member = tax_of_region(120)"
    text = "\n".join(
        ["import os", "", "# The sum.", "def total():", *body, "", "def other():", "    ..."]
    )
    (tmp_path / "shop.py").write_text(text)
    lines = split_lines(text)
    with SmartFileAccess.for_workspace(tmp_path) as access:
        context, answer = packed(access, "discount of member is wrong\nin the tax of region", 1_500)
    details = [detail for detail in context.symbols if detail.cursor is not None]
    assert details, answer
    for detail in details:
        numbers = numbers_of(detail)
        sources = [line for line in detail.body.split("\n") if line.strip() != "…"]
        assert [lines[number - 1] for number in numbers] == sources
        assert 125 in numbers
        assert len(numbers) < detail.line_end - detail.line
    assert {lines[number - 1] for number in shown_in(context, answer)["shop.py"]} <= {
        *answer.split("\n")
    }
    assert "total" in said_in(answer)["shop.py"]


def test_what_a_context_says_of_a_file_is_in_its_outline_or_a_signature() -> None:
    text = "near them:\nb.py:3-9 def near(x)  # near\n\na.py (python, 10 lines)\ntotal 4\n\nc.py"
    assert said_in(text) == {
        "b.py": "b.py:3-9 def near(x)  # near",
        "a.py": "a.py (python, 10 lines)\ntotal 4",
    }


def test_a_score_takes_one_line_of_a_function_and_all_of_the_gold() -> None:
    source = "@cache\ndef near():\n    pass\n\nclass A:\n    async def far(self):\n        pass\n"
    found = functions_in(source)
    assert sorted(found) == [("far", range(6, 8)), ("near", range(1, 4))]
    functions = [("a.py", name, lines) for name, lines in found]
    repair = Repair(tasks()[0], "", {"a.py": {3, 6}}, {"a.py": {3}})
    yes = Score(file=True, function=True, line=True, changed=True, lines=1, precision=1)
    whole = score(repair, functions, {"a.py": {1, 2, 3, 6}}, {})
    assert whole == replace(yes, precision=0.5)
    part = score(repair, functions, {"a.py": {1, 7}, "b.py": {3}}, {})
    assert part == replace(yes, line=False, changed=False, lines=0, precision=0)
    named = score(repair, functions, {"a.py": {3}}, {"a.py": "6-7 async def far(self)"})
    assert named == replace(yes, line=False, lines=0.5)
    missed = score(repair, functions, {"b.py": {3}}, {"b.py": "near far"})
    assert missed == replace(part, file=False, function=False)


def test_a_checkout_has_the_files_of_its_commit_and_leaves_the_clone(tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    commits = []
    for files in ({"a.py": "1", "old/b.py": "2"}, {"a.py": "3", "c.py": "4"}):
        for file in clone.glob("[!.]*"):
            shutil.rmtree(file) if file.is_dir() else file.unlink()
        for name, text in files.items():
            (clone / name).parent.mkdir(exist_ok=True)
            (clone / name).write_text(text)
        commits.append(committed(clone))
    (clone / "a.py").write_text("mine")
    git(clone, "add", "a.py")
    place = tmp_path / "place"
    for commit, expected in zip(
        (*commits, commits[0]),
        ({"a.py", "old/b.py"}, {"a.py", "c.py"}, {"a.py", "old/b.py"}),
        strict=True,
    ):
        Clone(clone).check_out(commit, place)
        files_there = (file for file in place.rglob("*") if file.is_file())
        assert {file.relative_to(place).as_posix() for file in files_there} == expected
    assert Clone(clone).text(commits[1], "c.py") == "4"
    assert Clone(clone).text(commits[0], "c.py") is None
    assert git(clone, "status", "--porcelain") == "M  a.py\n"


def test_what_an_agent_read_is_what_it_was_sent(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib/a.py").write_text("one\ntwo\nthree\n")
    (tmp_path / "b.py").write_text("one\ntwo\n")
    committed(tmp_path)
    steps: list[dict[str, Any]] = [
        {"path": "a.py", "bytes": 90, "start": 2, "lines": 9},
        {"path": "b.py", "bytes": 90},
        {"path": "b.py", "bytes": 90, "start": 7, "lines": 2},
        {"path": "lib/a.py", "bytes": 5},
        {"path": "c.py", "bytes": 90},
        {"bytes": 90, "other": True},
    ]
    read = lines_read(Clone(tmp_path), "HEAD", steps)
    assert read == {"lib/a.py": {2, 3}, "b.py": {1, 2}}
    assert agreement(read, {"b.py": {2}, "lib/a.py": {1, 3}, "c.py": {1, 2}}) == (0.4, 0.5)
    assert agreement(read, {}) == (0, 0)


def committed(clone: Path) -> str:
    """The new commit of all files of a folder."""
    git(clone, "init", "--quiet")
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "-m", "x")
    return git(clone, "rev-parse", "HEAD").strip()
