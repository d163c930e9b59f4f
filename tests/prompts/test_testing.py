"""Tests of prompts: snapshots, their differences, and budgets."""

from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.prompts import MarkdownSection, PromptTemplate, RenderedPrompt, SectionVisibility
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.testing import (
    ShownSection,
    Snapshot,
    assert_sets,
    assert_snapshot,
    assert_within,
    differences,
    sizes,
    snapshot_of,
)

pytest_plugins = ["pytester"]
FULL, SUMMARY = SectionVisibility.FULL, SectionVisibility.SUMMARY


@FrozenDataclass()
class Day:
    day: str = "Monday"
    more: bool = True


TEMPLATE = PromptTemplate(
    ns="n",
    key="k",
    sections=[
        MarkdownSection[Day](
            title="Task",
            key="task",
            template="It is ${day}.",
            default_params=Day(),
            children=[MarkdownSection[None](title="Deep", key="deep", template="One.\n\nTwo.")],
        ),
        MarkdownSection[None](
            title="Docs", key="docs", template="All.", summary="Some.", visibility=SUMMARY
        ),
        MarkdownSection[Day](
            title="More", key="more", template="More.", enabled=lambda day: day.more
        ),
    ],
)


def rendered(*params: object, **opened: SectionVisibility) -> RenderedPrompt[None]:
    overrides: dict[tuple[str, ...], SectionVisibility] = {(key,): opened[key] for key in opened}
    return TEMPLATE.render(*params, visibility_overrides=overrides)


def test_a_snapshot_is_the_prompts_text_with_its_sections() -> None:
    assert str(snapshot_of(rendered(Day(more=False)))) == (
        "<!-- task: full, 3 lines -->\n## 1. Task\n\nIt is Monday.\n"
        "<!-- task.deep: full, 5 lines -->\n### 1.1. Deep\n\nOne.\n\nTwo.\n"
        "<!-- docs: summary, 6 lines -->\n## 2. Docs\n\nSome.\n\n---\n"
        "[This section is summarized. To view full content, call `read_section` with key "
        '"docs".]\n'
        "<!-- more: disabled, 0 lines -->\n"
        "<!-- tools: read_section -->\n"
    )


texts = st.text(st.sampled_from("a\n\r<!-- x: full, 1 line -->"), max_size=30)
snapshots = st.builds(
    Snapshot,
    st.dictionaries(
        st.from_regex(r"[a-z][a-z.]{0,5}", fullmatch=True),
        st.builds(ShownSection, st.sampled_from(["full", "summary", "disabled"]), texts),
        max_size=4,
    ),
    st.lists(st.from_regex(r"[a-z_]{1,5}", fullmatch=True), max_size=2).map(tuple),
)


@given(snapshots, snapshots)
def test_a_snapshot_is_read_as_it_was_written(one: Snapshot, other: Snapshot) -> None:
    assert Snapshot.parse(str(one)) == one
    assert list(differences(one, one)) == []
    same = one == other and list(one.sections) == list(other.sections)
    assert (list(differences(one, other)) == []) is same


def test_differences_are_told_section_by_section(tmp_path: Path) -> None:
    path = tmp_path / "new" / "one.md"
    assert_snapshot(rendered(), path, update=True)
    assert_snapshot(rendered(), path)
    with pytest.raises(AssertionError) as caught:
        assert_snapshot(rendered(Day("Sunday", more=False), docs=FULL), path)
    told = str(caught.value).split("\n\n")
    assert "section more is disabled, and was full" in told
    assert "section docs is full, and was summary" in told
    assert "the tools are none, and were read_section" in told
    assert "-It is Monday.\n+It is Sunday." in str(caught.value)
    assert "One." not in str(caught.value)
    assert_snapshot(rendered(Day("Sunday")), path, may_change=["task"])
    with pytest.raises(ValueError, match="no section 'tsk'; did you mean 'task'"):
        assert_snapshot(rendered(), path, may_change=["tsk"])


def test_a_snapshot_that_is_missing_or_broken_says_so(tmp_path: Path) -> None:
    path = tmp_path / "one.md"
    with pytest.raises(AssertionError, match="there is no snapshot"):
        assert_snapshot(rendered(), path)
    path.write_text(str(snapshot_of(rendered())).replace("3 lines", "2 lines"))
    with pytest.raises(AssertionError, match="line 4 is neither the comment of a section"):
        assert_snapshot(rendered(), path)


def test_budgets_name_the_largest_sections() -> None:
    made = rendered()
    assert sizes(made)["task"] == sizes(made)["task.deep"] + len("## 1. Task\n\nIt is Monday.\n\n")
    assert sum(sizes(made, len)[key] for key in ("task", "docs", "more")) == len(made.text)
    assert_within(made, len(made.text.encode()), sections={"docs": 200})
    with pytest.raises(AssertionError) as caught:
        assert_within(made, 10, sections={"docs": 17}, count=lambda text: len(text.split()))
    assert str(caught.value).splitlines()[0] == "section docs has 18, and may have 17"
    assert "the prompt has 33, and may have 10; its largest sections are docs (18), task" in str(
        caught.value
    )
    with pytest.raises(ValueError, match="no section 'doc'; did you mean 'docs'"):
        assert_within(made, sections={"doc": 1})
    with pytest.raises(AssertionError, match=r"has [\d,]+ bytes, and may have 10; its largest"):
        assert_within(made, 10)


PROJECT = """
from foldline.prompts import MarkdownSection, PromptTemplate

def test_it(prompt_snapshot):
    section = MarkdownSection[None](title="A", key="a", template="{text}")
    prompt = PromptTemplate(ns="n", key="k", sections=[section]).render()
    prompt_snapshot(prompt)
    prompt_snapshot(prompt, "again")
"""


@pytest.mark.real
def test_the_fixture_keeps_snapshots_beside_the_tests(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where it is set, pytest's own summary tells everything a second time.
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeconftest('pytest_plugins = ["foldline.prompts.pytest_plugin"]')

    def run(text: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(test_prompts=PROJECT.format(text=text))
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *options)

    first = run("Hello.")
    first.assert_outcomes(failed=1)
    first.stdout.fnmatch_lines(
        [
            "there is no snapshot *test_it.md yet",
            "To write the snapshot, run `pytest --update-prompts`.",
        ]
    )
    run("Hello.", "--update-prompts").assert_outcomes(passed=1)
    folder = pytester.path / "snapshots" / "test_prompts"
    assert sorted(path.name for path in folder.iterdir()) == ["test_it.again.md", "test_it.md"]
    run("Hello.").assert_outcomes(passed=1)
    changed = run("Bye.")
    changed.assert_outcomes(failed=1)
    changed.stdout.fnmatch_lines(["-Hello.", "+Bye.", "*pytest --update-prompts*"])
    assert changed.stdout.lines.count("+Bye.") == 1, "it says what differs once"


SETS = """
from dataclasses import dataclass
from foldline.prompts import Chapter, MarkdownSection, PromptTemplate

@dataclass(frozen=True)
class Who:
    name: str

@dataclass(frozen=True)
class Other:
    name: str

names = MarkdownSection[Who](title="Name", key="name", template="You help ${name}.")
more = MarkdownSection[Who](title="More", key="more", template="More. " * 40,
    enabled=lambda who: who.name != "Ada", children=[
        MarkdownSection[None](title="Deep", key="deep", template="Deep.")])
late = Chapter[None](title="Late", key="late", sections=[
    MarkdownSection[None](title="Page", key="page", template="Last.")])
helper = PromptTemplate(ns="n", key="k", sections=[names, more], chapters=[late])
pair = PromptTemplate(ns="n", key="pair", sections=[names,
    MarkdownSection[Who](title="To", key="to", template="Write to ${name}.")])

def preview_ada():
    return Who("Ada"), Other("not this prompt's")

def preview_helper_bob():
    return Who("Bob")

def preview_pair_two():
    return [Who("Ada"), {"to": Who("Bob")}]
"""


def module_of(text: str) -> ModuleType:
    module = ModuleType("helper")
    exec(text, vars(module))  # As an import would.
    return module


def test_every_set_is_rendered_as_an_evaluation_sends_it() -> None:
    module = module_of(SETS)
    found = assert_sets(module, "helper", 400, enabled={"more": ["bob"], "name": ["ada", "bob"]})
    assert list(found) == ["ada", "bob"]
    assert "You help Bob." in found["bob"].text
    assert "Last." in found["ada"].text
    assert "Write to Bob." in assert_sets(module, "pair")["two"].text


def test_what_does_not_hold_is_said_for_each_set_and_section() -> None:
    fails = "\ndef preview_carl():\n    raise KeyError('who')\n"
    with pytest.raises(AssertionError) as caught:
        assert_sets(
            module_of(SETS + fails),
            "helper",
            200,
            sections={"more.deep": 3},
            enabled={"more": ["ada"], "name": ["bob"]},
        )
    ada, other, bob, deep, whole, carl = str(caught.value).splitlines()
    assert ada == "set ada: section more isn't shown"
    assert other == "set ada: section name is shown"
    assert bob == "set bob: section more is shown"
    assert deep.startswith("set bob: section more.deep has ")
    assert whole.startswith("set bob: the prompt has ")
    assert "may have 200; its largest sections are more (" in whole
    assert carl == "set carl: not rendered: KeyError: 'who'"


@pytest.mark.parametrize(
    ("returned", "shown"),
    [
        ("None", "NoneType"),
        ("'Ada'", "str"),
        ("Other('Ada')", "Other"),
        ("{'nmae': Who('Ada')}", "Who for the section 'nmae'"),
        ("late", "Chapter"),
    ],
)
def test_a_set_that_gives_a_prompt_nothing_is_no_default(returned: str, shown: str) -> None:
    module = module_of(f"{SETS}\ndef preview_carl():\n    return {returned}\n")
    with pytest.raises(AssertionError, match=f"preview_carl.. returns .*{shown}") as caught:
        assert_sets(module, "helper")
    assert "and the prompt takes Who; for another prompt" in str(caught.value)


def test_sets_may_be_in_modules_of_their_own() -> None:
    module = module_of(SETS)
    fixtures = ModuleType("fixtures")
    fixtures.__dict__["Who"] = module.__dict__["Who"]
    exec("def preview_eve():\n    return Who('Eve')\n", vars(fixtures))
    assert list(assert_sets(module, "helper", fixtures=[fixtures])) == ["ada", "bob", "eve"]


def test_a_failure_is_told_without_source_of_the_library(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    test = """
    def test_names(): assert_sets(sys.modules[__name__], "helper", sections={"unlike": 1})
    def test_sizes(): assert_sets(sys.modules[__name__], "helper", 1)
    def test_whole(): assert_within(pair.render(Who("Ada")), sections={"unlike": 1})
    """
    given = "import sys\nfrom foldline.prompts.testing import assert_sets, assert_within\n"
    pytester.makepyfile(given + SETS + dedent(test))
    done = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    done.assert_outcomes(failed=3)
    done.stdout.fnmatch_lines(["E *no section 'unlike'; there is name, more, more.deep, page"])
    assert "testing.py" not in done.stdout.str()


def test_a_name_that_is_none_is_refused_and_so_is_a_prompt_without_sets() -> None:
    module = module_of(SETS)
    with pytest.raises(ValueError, match=r"there is no section 'mor'; did you mean 'more'"):
        assert_sets(module, "helper", enabled={"mor": ["ada"]})
    with pytest.raises(ValueError, match=r"there is no parameter set 'adda'; did you mean 'ada'"):
        assert_sets(module, "helper", enabled={"more": ["adda"]})
    with pytest.raises(AssertionError, match="helper has no parameter set"):
        assert_sets(module_of(SETS.replace("def preview", "def example")), "helper")
