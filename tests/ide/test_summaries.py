"""Summaries that don't lead to their sections are found, and careful ones never are.

The sections are those of the READMEs of installed packages.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import cache
from importlib.metadata import distribution, distributions
from itertools import chain, combinations
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.analysis.project import Project
from foldline.ide.checks import Code, diagnostics, summaries
from foldline.ide.checks.costs import check_costs
from foldline.ide.checks.summaries import Fold
from foldline.ide.instructions.document import InstructionFile
from foldline.ide.plugins import REPOSITORY_SECONDS, Plugin, plugins
from foldline.ide.token_counter import token_counter
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Sequence

CAREFUL = Path(__file__).parent / "instructions" / "careful_folds.txt"
# The check's list of common words was written without these.
VAGUE = (
    "Tips and tricks", "How it works", "Advanced topics", "Common issues and their solutions",
    "Best practices to keep in mind", "A deep dive", "Technical specifics",
    "Frequently asked questions", "Further information is provided here",
    "Extended discussion of the matter", "Things to remember", "Handy reference", "Internals",
    "Click to learn more", "Please read carefully", "Some remarks", "All the details",
    "Extra material for the curious", "Read if unsure", "Contains the necessary instructions",
    "Lots of helpful hints", "Everything you ever wanted to know", "The basics",
    "For advanced users", "Specific rules apply here", "Additional considerations",
    "What to do in special cases", "This part has been shortened", "Here are the particulars",
    "Consult this when in doubt", "Long text, folded to save space",
    "The following has to be observed",
)  # fmt: skip
SENTENCE = re.compile(r"(?<=[.:!?])\s+")
NOT_PROSE = re.compile(r"```.*?```|<[^>]*>|https?://\S+|[\[\]()`*_#|]", re.DOTALL)


@cache
def readme(package: str) -> InstructionFile:
    return InstructionFile(package, str(distribution(package).metadata.json["description"]))


@cache
def careful() -> dict[str, list[Fold]]:
    """The folds by package, as far as their sections are installed."""
    folds: dict[str, list[Fold]] = {}
    for line in CAREFUL.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        package, key, summary = line.split(" | ", 2)
        file = readme(package)
        for one in file.sections:
            if one.key == key:
                text = file.text[one.start : one.own]
                folds.setdefault(package, []).append(Fold(one.key, summary, text))
    return folds


def unclear(folds: list[Fold]) -> dict[int, str]:
    return summaries.unclear(dict(enumerate(folds)))


def planted(folds: list[Fold], one: int, other: int) -> list[Fold]:
    """The folds with two summaries swapped."""
    changed = list(folds)
    changed[one] = folds[one]._replace(summary=folds[other].summary)
    changed[other] = folds[other]._replace(summary=folds[one].summary)
    return changed


def test_no_fold_that_was_written_with_care_is_reported() -> None:
    every = [fold for folds in careful().values() for fold in folds]
    assert len(every) >= 45, "other versions of the packages have other sections"
    assert not unclear(every)
    pick = random.Random(0)
    for folds in careful().values():
        for _ in range(20):
            assert not unclear(pick.sample(folds, pick.randint(1, len(folds))))


def test_careful_ones_that_are_swapped_are_reported() -> None:
    reported = total = 0
    for folds in careful().values():
        for one, other in combinations(range(len(folds)), 2):
            wrong = unclear(planted(folds, one, other))
            reported += (one in wrong) + (other in wrong)
            total += 2
    assert reported >= 0.9 * total > 0


def sections_at_hand() -> dict[str, list[Fold]]:
    """Sections with prose, each with its first sentence as its summary, but no change logs."""
    folds: dict[str, list[Fold]] = {}
    for found in sorted(distributions(), key=lambda one: one.name.lower()):
        if sum(map(len, folds.values())) > 220:
            break
        kind = found.metadata["Description-Content-Type"] or ""
        if "markdown" not in kind or found.name in ("black", "foldline", "requests"):
            continue
        file = readme(found.name)
        for one in file.sections:
            text = file.text[one.body : one.own]
            prose = " ".join(NOT_PROSE.sub(" ", text).split())
            said = [part for part in SENTENCE.split(prose) if part.count(" ") > 3]
            if said and prose.count(" ") > 40 and not re.search(r"change|\d-\d", one.key):
                fold = Fold(one.key, said[0][:160], file.text[one.start : one.own])
                folds.setdefault(found.name, []).append(fold)
    return folds


def test_of_two_hundred_sections_the_planted_ones_are_reported_and_no_other() -> None:
    pick = random.Random(5)
    every = [(name, fold) for name, folds in sections_at_hand().items() for fold in folds]
    chosen: dict[str, list[Fold]] = {}
    for name, fold in pick.sample(sorted(every), 200):
        chosen.setdefault(name, []).append(fold)
    counts: Counter[tuple[str, bool]] = Counter()
    for folds in chosen.values():
        kinds = ["as it was"] * len(folds)
        places = pick.sample(range(len(folds)), len(folds))
        for at in places[::4]:
            folds[at] = folds[at]._replace(summary=pick.choice(VAGUE))
            kinds[at] = "vague"
        for one, other in zip(places[1::4], places[2::4], strict=False):
            folds[:] = planted(folds, one, other)
            kinds[one] = kinds[other] = "swapped"
        wrong = unclear(folds)
        counts.update((kind, at in wrong) for at, kind in enumerate(kinds))
    assert counts["as it was", False] > 20
    assert counts["as it was", True] == 0
    for kind in ("vague", "swapped"):
        assert counts[kind, True] > 40
        assert counts[kind, True] >= 0.9 * (counts[kind, True] + counts[kind, False])


WORDS = st.sampled_from("apple boats cedar drums eagle flute grape harps irons judge kites".split())  # noqa: SIM905
FOLDS = st.lists(
    st.builds(
        lambda summary, text: Fold("k", " ".join(summary), " ".join(text)),
        st.lists(WORDS, max_size=3),
        st.lists(st.one_of(WORDS, st.integers(100, 150).map(str)), max_size=30),
    ),
    max_size=6,
)


@given(FOLDS, st.randoms(use_true_random=False))
def test_the_order_of_sections_changes_nothing(folds: list[Fold], pick: random.Random) -> None:
    order = pick.sample(range(len(folds)), len(folds))
    wrong = unclear(folds)
    turned = unclear([folds[at] for at in order])
    assert {order[at] for at in turned} == set(wrong)
    for at, fold in enumerate(folds):
        has_one = {*fold.summary.split()} & {*fold.text.split(), "k"}
        if not has_one and len({*fold.text.split()} | {"k"}) >= 13:
            assert at in wrong


TEXTS = (
    ("Releases", "Set the version, write the changelog, tag the commit, upload both wheels from "
     "the branch and never from a laptop: the pipeline signs what it builds."),
    ("Database", "Migrations only add columns; a reader of an older schema goes on. Run the server "
     "locally with docker, seed it by the fixtures, and drop partitions once a month."),
)  # fmt: skip
SUMMARIES = {
    "good": ("Read before you tag or upload wheels.", "How migrations and partitions are run."),
    "vague": ("Some important details.", "How migrations and partitions are run."),
    "swapped": ("How migrations and partitions are run.", "Read before you tag or upload wheels."),
    "alike": ("Run by the pipeline and docker.", "Docker and the pipeline: run by."),
}
WRONG = {
    "good": [],
    "vague": ["The summary of `releases` shares no word of its own"],
    "swapped": [
        "The summary of `releases` fits `database` better",
        "The summary of `database` fits `releases` better",
    ],
    "alike": [
        "The summary of `releases` has the words of that of `database`",
        "The summary of `database` has the words of that of `releases`",
    ],
}


def messages(root: Path, path: str, text: str) -> list[str]:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    if path.endswith(".py"):
        analysis = Project(root).analysis(str(file))
        assert analysis is not None
        found = diagnostics(analysis, more=check_costs(analysis, None, token_counter(exact=False)))
    else:
        workspace, ask = Workspace.at(root), plugins().ask
        document = workspace.with_snapshot(uri_of(file), lambda one: one)
        assert document is not None
        late = ask(Plugin.check_repository, document, REPOSITORY_SECONDS, inf)
        found = (*document.source.diagnostics(document), *chain.from_iterable(late))
    return [one.message for one in found if one.code == Code.UNCLEAR_SUMMARY]


def module_of(summaries: Sequence[str], more: str = "") -> str:
    sections = [
        f"MarkdownSection[None](title={title!r}, key={title.lower()!r}, template={text!r}, "
        f"summary={summary!r}, visibility=SectionVisibility.SUMMARY{more}),"
        for (title, text), summary in zip(TEXTS, summaries, strict=True)
    ]
    start = "from foldline.prompts import *\n\nX = PromptTemplate(ns='n', key='k', sections=["
    return "\n".join([start, *sections, "])\n"])


@pytest.mark.parametrize("kind", SUMMARIES)
def test_typed_sections_marked_ones_and_skills_are_judged_alike(kind: str, tmp_path: Path) -> None:
    summaries = SUMMARIES[kind]
    typed = messages(tmp_path, "prompt.py", module_of(summaries))
    marked = "\n".join(
        f"# {title}\n<!-- fold: {summary} -->\n\n{text}\n"
        for (title, text), summary in zip(TEXTS, summaries, strict=True)
    )
    assert messages(tmp_path, "AGENTS.md", marked) == typed
    skills = {
        f".claude/skills/{title.lower()}/SKILL.md":
        f'---\nname: {title.lower()}\ndescription: "{summary}"\n---\n{text}\n'
        for (title, text), summary in zip(TEXTS, summaries, strict=True)
    }  # fmt: skip
    for _ in range(2):  # First, the second skill isn't there yet.
        found = [one for path, text in skills.items() for one in messages(tmp_path, path, text)]
    assert found == typed
    assert len(typed) == len(WRONG[kind])
    assert all(map(str.startswith, typed, WRONG[kind]))


def test_what_tools_do_belongs_to_their_section(tmp_path: Path) -> None:
    (bad, good), tool = SUMMARIES["vague"], ", tools=[Tool[None, str](name={!r}, description={!r})]"
    assert messages(tmp_path, "a.py", module_of((bad, good), tool.format("send_mail", "Sends it.")))
    for summary in ("Mail your questions.", "Sends what is ready."):
        module = module_of((summary, good), tool.format("send_mail", "Sends it."))
        assert not messages(tmp_path, "a.py", module)


def test_what_is_not_known_is_not_judged(tmp_path: Path) -> None:
    """Values, texts and tools that code makes, and sections of a few words."""
    bad = SUMMARIES["vague"]
    assert messages(tmp_path, "a.py", module_of(bad))
    (title, text), _ = TEXTS
    for changed in (
        module_of(bad).replace(repr(text), f"open({text!r}).read()"),
        module_of(bad).replace(repr(text), repr(f"{text} ${{value}}")),
        module_of(bad).replace(repr(text), "'Set the version and tag it.'"),
        module_of(bad).replace(repr(bad[0]), "'About ${value}.'"),
        module_of(bad, ", tools=[made()]"),
        module_of(bad, ", children=[made()]"),
        module_of(bad, ", tools=[Tool[None, str](name='a', description=made(), handler=h)]"),
        module_of(bad).replace("SectionVisibility.SUMMARY", "SectionVisibility.FULL"),
    ):
        assert changed != module_of(bad), title
        assert not messages(tmp_path, "a.py", changed)


def test_nothing_outside_of_the_project_is_read_for_a_skill_at_its_root(tmp_path: Path) -> None:
    skill = '---\nname: {0}\ndescription: "The audit tag."\n---\nThe audit tag of {0}. {1}\n'
    text = skill.format("a", TEXTS[0][1])
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "SKILL.md").write_text(skill.format("b", TEXTS[1][1]), encoding="utf-8")
    assert not messages(tmp_path / "project", "SKILL.md", text)
    assert messages(tmp_path, "project/SKILL.md", text)


def test_vague_ones_are_vague_and_not_alike() -> None:
    text = "Compare secrets with hmac, rotate keys yearly and never log passwords, bearer tokens, "
    text += "cookies or mail addresses of customers."
    folds = {0: Fold("a", "More details.", text), 1: Fold("b", "Read this section.", text[::-1])}
    assert {fault.split(" shares")[1] for fault in summaries.unclear(folds).values()} == {
        " no word of its own with the section: say what a model finds only there."
    }
    alike = {at: fold._replace(summary="Of secrets.") for at, fold in folds.items()}
    assert all("has the words of" in fault for fault in summaries.unclear(alike).values())


def test_words_of_scripts_without_spaces_are_their_characters() -> None:
    text = "发布之前设置版本号更新日志为提交打标签然后上传两个包"
    assert not unclear([Fold("release", "如何发布版本", text)])
    assert unclear([Fold("release", "东南西北", text)])
