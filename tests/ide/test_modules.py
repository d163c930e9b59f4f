"""The prompts of a file, from its text alone."""

# ruff: noqa: E501 - a fixture reads best on one line.

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fixtures import is_python

from foldline.ide.analysis import top_level as statements
from foldline.ide.analysis.evaluator import Evaluator
from foldline.ide.analysis.model import PromptModule, StaticSection
from foldline.ide.analysis.module_analysis import Document
from foldline.ide.analysis.project import Project

HEAD = """\
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility
@dataclass
class P:
    name: str
"""


def tree(module: PromptModule) -> str:
    """Prompts and sections, one per line, with what they hold."""
    lines: list[str] = []

    def shown(section: StaticSection) -> str:
        flag = "" if section.visibility == "FULL" else f" {section.visibility}"
        return f"{'  ' * (section.depth + 1)}{section.number or '?'} {section.key} {section.title}{flag}"

    for prompt in module.prompts:
        more = "" if prompt.complete else " …"
        lines.append(f"{prompt.name} {prompt.ns}/{prompt.key}{more}")
        lines.extend(shown(section) for section in prompt.walk())
    return "\n".join(lines)


def check_tree(source: str, expected: str, *, head: str = HEAD) -> PromptModule:
    module = read(Document("prompt.py", head + source))
    assert tree(module) == expected.strip("\n")
    return module


def section(key: str, more: str = "") -> str:
    return f'MarkdownSection[P](title="{key.title()}", key="{key}", template="x"{more})'


def test_a_prompt_is_told_with_its_sections() -> None:
    module = check_tree(
        f"""
X = PromptTemplate(ns="a", key="b", sections=[{section("one")}, {section("two", ", summary='s', visibility=SectionVisibility.SUMMARY")}])
""",
        """
X a/b
  1 one One
  2 two Two SUMMARY
""",
    )
    prompt = module.prompts[0]
    assert module.text[prompt.name_range.start : prompt.name_range.end] == "X"
    assert module.text[prompt.range.start :].startswith("X = PromptTemplate(")
    two = prompt.sections[1]
    assert module.text[two.range.start : two.range.end].startswith("MarkdownSection[P](title=")
    assert module.text[two.selection.start : two.selection.end] == '"two"'


@pytest.mark.parametrize(
    "source",
    [
        f"S = ({section('one')}, {section('two')})\nX = PromptTemplate(ns='a', key='b', sections=S)",
        f"S = [{section('one')}]\nS.append({section('two')})\nX = PromptTemplate(ns='a', key='b', sections=S)",
        f"S = [{section('one')}]\nS += [{section('two')}]\nX = PromptTemplate(ns='a', key='b', sections=tuple(S))",
        f"A = {section('one')}\nB = {section('two')}\nX = PromptTemplate(ns='a', key='b', sections=[A] + [B])",
        f"A = ({section('one')},)\nX = PromptTemplate(ns='a', key='b', sections=[*A, {section('two')}])",
        "def s(key, title):\n    return MarkdownSection[P](title=title, key=key, template='x')\n"
        "X = PromptTemplate(ns='a', key='b', sections=[s('one', 'One'), s(title='Two', key='two')])",
        f"def s():\n    first = {section('one')}\n    return (first, {section('two')})\n"
        "X = PromptTemplate(ns='a', key='b', sections=s())",
        f"def s(): return [{section('one')}, {section('two')}]\n"
        "def make(): return PromptTemplate(ns='a', key='b', sections=s())\nX = make()",
        f"A, B = {section('one')}, {section('two')}\nNS = 'a'\nX = PromptTemplate(ns=NS, key='b', sections=[A, B])",
        "import foldline.prompts as p\nX = p.PromptTemplate[P](ns='a', key='b', sections=["
        "p.MarkdownSection[P](title='One', key='one', template='x'),"
        "p.MarkdownSection[None](title='Two', key='two', template='x')])",
        "import foldline.prompts\nM = foldline.prompts.MarkdownSection[P]\nX = PromptTemplate(ns='a', key='b', sections=["
        "M(title='One', key='one', template='x'), M(title='Two', key='two', template='x')])",
        "from foldline import prompts\nX = prompts.PromptTemplate(ns='a', key='b', sections=["
        "prompts.MarkdownSection[P](title='O' 'ne', key='one', template='x'),"
        "prompts.MarkdownSection[P](title='T' + 'wo', key='two', template='x')])",
        "class Mine(MarkdownSection[P]):\n    def __init__(self, key, **kwargs):\n"
        "        super().__init__(key=key, title=kwargs.pop('t'), template='x', **kwargs)\n"
        "class Other(MarkdownSection[P]):\n    pass\n"
        "X = PromptTemplate(ns='a', key='b', sections=["
        f"{section('one')}, Other(title='Two', key='two', template='x')])",
        f"if True:\n    X = PromptTemplate(ns='a', key='b', sections=[{section('one')}, {section('two')}])",
        f"class Sections:\n    ONE = {section('one')}\n"
        f"X = PromptTemplate(ns='a', key='b', sections=[Sections.ONE, {section('two')}.clone()])",
        f"S = {section('one')}\nT = [S]\nS = {section('two')}\nX = PromptTemplate(ns='a', key='b', sections=[*T, S])",
    ],
)  # fmt: skip
def test_sections_are_found_however_they_are_written(source: str) -> None:
    check_tree(source, "X a/b\n  1 one One\n  2 two Two")


def test_a_subclass_hands_its_arguments_on() -> None:
    check_tree(
        """
class Mine(MarkdownSection[P]):
    def __init__(self, name, *, title="Mine", **kwargs):
        super().__init__(key=name, title=title, template="x", **kwargs)
X = PromptTemplate(ns="a", key="b", sections=[
    Mine("k"), Mine(name="l", title="Other", visibility=SectionVisibility.SUMMARY)])
""",
        """
X a/b
  1 k Mine
  2 l Other SUMMARY
""",
    )


def test_what_only_running_tells_is_said_to_be_unknown() -> None:
    check_tree(
        f"""
X = PromptTemplate(ns="a", key="b", sections=[{section("one")}, *load()])
Y = PromptTemplate(ns=f"{{name}}", key="b", sections=load())
Z = PromptTemplate(ns="a", key="c", sections=[load(), {section("one", ", visibility=choose")}])
""",
        """
X a/b …
  ? one One
Y {name}/b …
Z a/c …
  2 one One unknown
""",
    )


def test_children_and_chapters_are_sections_too() -> None:
    check_tree(
        f"""
from foldline.prompts import Chapter, Prompt, TaskSection, Task
X = PromptTemplate(ns="a", key="b", sections=[
    {section("one", f", children=({section('in')},)")},
    TaskSection[Task](),
    Chapter[None](key="ch", title="Ch", sections=({section("deep")},)),
    {section("last")},
])
Y = Prompt(X).bind(P("a"))
""",
        """
X a/b
  1 one One
    1.1 in In
  2 task Task
  ? ch Ch
  3 deep Deep
  4 last Last
Y a/b
  1 one One
    1.1 in In
  2 task Task
  ? ch Ch
  3 deep Deep
  4 last Last
""",
    )


def test_behind_a_chapter_that_code_may_keep_closed_no_number_is_known() -> None:
    check_tree(
        f"""
from foldline.prompts import Chapter
X = PromptTemplate(ns="a", key="b", sections=[
    {section("one")},
    Chapter[P](key="ch", title="Ch", enabled=lambda p: p.name, sections=[{section("deep")}]),
    {section("last")},
])
""",
        """
X a/b
  1 one One
  ? ch Ch
  ? deep Deep
  ? last Last
""",
    )


def test_other_peoples_classes_of_the_same_names_are_none_of_ours() -> None:
    check_tree(
        "X = PromptTemplate(ns='a', key='b', sections=[MarkdownSection(title='t', key='k')])\n",
        "",
        head="from elsewhere import MarkdownSection, PromptTemplate\n",
    )


EXAMPLE = HEAD + f"""
INTRO = {section("intro")}

FIRST = PromptTemplate[P](
    ns="demo",
    key="first",
    sections=[
        INTRO,
        MarkdownSection[P](
            title="Wörk 🎉",
            key="work",
            template=\"\"\"
            Do ${{name}}.
            Note: this (and that) = x
            import nothing
            \"\"\",
        ),
    ],
)


def last():
    return {section("last")}


SECOND = PromptTemplate(ns="demo", key="second", sections=[last(), INTRO])
"""  # fmt: skip


@given(st.integers(0, len(EXAMPLE)))
def test_any_prefix_is_read(length: int) -> None:
    read(Document("prompt.py", EXAMPLE[:length]))


@given(st.integers(0, len(EXAMPLE) - 1))
def test_a_lost_character_costs_no_section_outside_its_statement(at: int) -> None:
    document = Document("prompt.py", EXAMPLE)
    before = tree(read(document)).split("\n")
    document.update(EXAMPLE[:at] + EXAMPLE[at + 1 :])
    after = tree(read(document)).split("\n")
    cold = tree(read(Document("prompt.py", EXAMPLE[:at] + EXAMPLE[at + 1 :]))).split("\n")
    damaged = damaged_statement(at)
    for lines in (after, cold):
        if not any(item in damaged for item in ("SECOND", "def last", "INTRO", "class P")):
            assert "SECOND demo/second" in lines
            assert lines[-2:] == before[-2:]
        if damaged.startswith(("SECOND", "def last")):
            assert lines[:3] == before[:3]


def damaged_statement(at: int) -> str:
    start = 0
    for part in EXAMPLE.split("\n\n"):
        if start <= at <= start + len(part) + 1:
            return part.lstrip("\n")
        start += len(part) + 2
    return ""


def read(document: Document) -> PromptModule:
    return document.prompts(Evaluator(Project()))


def test_an_unfinished_line_leaves_the_prompt_where_it_was() -> None:
    document = Document("prompt.py", EXAMPLE)
    before = read(document)
    text = EXAMPLE.replace('key="work",', 'key="work", template="', 1)
    document.update(text)
    after = read(document)
    assert tree(after) == tree(before)
    assert after.broken
    assert after.prompts[0].stale
    work = after.prompts[0].sections[1]
    assert text[work.range.start : work.range.end].startswith("MarkdownSection[P](")
    assert text[work.range.start : work.range.end].endswith(")")
    second = after.prompts[1]
    assert text[second.name_range.start : second.name_range.end] == "SECOND"
    document.update(EXAMPLE)
    assert read(document) == before


@given(st.data())
def test_reading_on_after_edits_is_reading_afresh(data: st.DataObject) -> None:
    document = Document("prompt.py", EXAMPLE)
    text = EXAMPLE
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 30)))
        new = data.draw(
            st.sampled_from(["", "\n", "x", '"', '"""', "(", ")", "# c\n", "A = 1\n", "  "])
        )
        text = text[:start] + new + text[end:]
        document.update(text)
        read(document)
        if is_python(text) and not statements._parse(text).has_error:
            fresh = read(Document("prompt.py", text))
            assert not fresh.broken
            assert read(document) == fresh
