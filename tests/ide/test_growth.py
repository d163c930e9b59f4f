"""What a key and the lenses cost as a prompt grows: work is counted, not timed."""

from __future__ import annotations

import gc
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from foldline.backends.outlines import syntax
from foldline.ide.analysis import top_level
from foldline.ide.analysis.project import Project
from foldline.ide.checks import diagnostics
from foldline.ide.features.completion import completions
from foldline.ide.features.hover import hover, lenses, title
from foldline.ide.features.prompt_symbols import symbols
from foldline.ide.instructions.document import InstructionFile
from foldline.ide.token_counter import token_counter
from foldline.plugins.instructions.fold import is_reference

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from types import FrameType

    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.top_level import Parsed

FILE = "/w/prompt.py"
COUNTER = token_counter(exact=False)
HEAD = """\
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility
@dataclass
class P:
    name: str
    focus: str = "security"
"""
SECTION = '''MarkdownSection[P](
        title="Section {n}",
        key="section-{n}",
        template="""
        Section {n} is about ${{name}}, and about ${{focus}}.
          - It has a list.
        """,
        summary="Section {n} for ${{name}}.",
        visibility=SectionVisibility.{visibility},
    )'''
WORK = (
    "instances._section",
    "placeholders.placeholders",
    "source_map.MappedText.dedent",
    "source_map.decode",
    "expressions.ExpressionReader.call",
    "sections.check_section",
    "sections.check_text",
    "texts._used",
    "static_lists._parts_of",
)
"""What is done for one section or one text."""


def sections(count: int) -> list[str]:
    return [SECTION.format(n=n, visibility="FULL" if n % 3 else "SUMMARY") for n in range(count)]


def one_prompt(count: int) -> str:
    """A module of one prompt, whose sections are items of a list."""
    items = "".join(f"    {section},\n" for section in sections(count))
    return f'{HEAD}T = PromptTemplate(ns="n", key="t", sections=[\n{items}])\n'


def named_sections(count: int) -> str:
    """A module whose sections are statements, and a prompt that names them."""
    made = "".join(f"s{n} = {section}\n" for n, section in enumerate(sections(count)))
    names = ", ".join(f"s{n}" for n in range(count))
    return f'{HEAD}{made}T = PromptTemplate(ns="n", key="t", sections=[{names}])\n'


def nested(count: int) -> str:
    """A module of one prompt, whose sections have children."""
    made = sections(count)
    parents = [
        f"{made[at][:-6]}\n        children=[{', '.join(made[at + 1 : at + 4])}],\n    )"
        for at in range(0, count, 4)
    ]
    return f'{HEAD}T = PromptTemplate(ns="n", key="t", sections=[{", ".join(parents)}])\n'


def listed(count: int) -> str:
    """A module with a list of sections, and a prompt that names it."""
    items = "".join(f"    {section},\n" for section in sections(count))
    return f'{HEAD}s = [\n{items}]\nT = PromptTemplate(ns="n", key="t", sections=s)\n'


def many_prompts(count: int) -> str:
    """A module of prompts with one section each, which only may be in them."""
    prompts = (
        f'T{n} = PromptTemplate(ns="n", key="t-{n}", sections=[{section}, *more({section})])\n'
        for n, section in enumerate(sections(count))
    )
    return f"{HEAD}{''.join(prompts)}"


SHAPES = (one_prompt, named_sections, nested, listed, many_prompts)


def calls(work: Callable[[], object]) -> Counter[str]:
    """The calls of Python functions during some work, by the last part of the module and name."""
    found: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            module = frame.f_globals.get("__name__", "").rpartition(".")[2]
            found[f"{module}.{frame.f_code.co_qualname}"] += 1

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return found


class Editing:
    """A module that is typed into, in the middle of the text of one of its sections."""

    def __init__(self, text: str) -> None:
        self.project = Project()
        self.at = text.index(" is about", len(text) // 2)
        self.text = text
        self.type("")
        self.ask()
        # What the first edit makes anew stays afterwards.
        self.type("x")
        self.ask()

    @property
    def analysis(self) -> ModuleAnalysis:
        analysis = self.project.analysis(FILE)
        assert analysis is not None
        return analysis

    def type(self, key: str) -> None:
        self.text = self.text[: self.at] + key + self.text[self.at :]
        self.at += len(key)
        self.project.open(FILE, self.text)

    def ask(self) -> None:
        diagnostics(self.analysis)
        symbols(self.analysis)
        completions(self.analysis, self.at)
        hover(self.analysis, self.at, COUNTER)
        self.lenses()

    def lenses(self) -> None:
        for lens in lenses(self.analysis):
            title(self.analysis, COUNTER, lens.prompt, lens.section_key)

    def key(self) -> None:
        """Type a key, and ask everything."""
        self.type("y")
        self.ask()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_key_evaluates_as_much_in_a_prompt_of_twice_the_sections(
    shape: Callable[[int], str],
) -> None:
    small, large = (calls(Editing(shape(count)).key) for count in (40, 80))
    assert {name: large[name] for name in WORK} == {name: small[name] for name in WORK}
    # They are the names of functions that are called.
    assert all(small[name] for name in WORK)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_key_parses_as_much_in_a_prompt_of_twice_the_sections(
    shape: Callable[[int], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[int] = []
    parse = syntax.parse

    def counted(language: str, data: bytes) -> Any:
        parsed.append(len(data))
        return parse(language, data)

    monkeypatch.setattr(syntax, "parse", counted)

    def of_a_key(count: int) -> int:
        editing = Editing(shape(count))
        parsed.clear()
        editing.key()
        return sum(parsed)

    assert 0 < of_a_key(40) <= of_a_key(80) < of_a_key(40) + 50


@pytest.mark.parametrize("shape", SHAPES)
def test_all_that_a_key_and_the_lenses_cost_is_linear(shape: Callable[[int], str]) -> None:
    def of_a_key(count: int) -> int:
        return calls(Editing(shape(count)).key).total()

    def of_lenses(count: int) -> int:
        editing = Editing(shape(count))
        editing.type("y")
        return calls(editing.lenses).total()

    def first(count: int) -> int:
        return calls(lambda: Editing(shape(count))).total()

    for work in (of_a_key, of_lenses, first):
        assert work(160) < 2.2 * work(80)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_lenses_of_a_text_that_stays_cost_their_places(shape: Callable[[int], str]) -> None:
    editing = Editing(shape(40))
    again = calls(editing.lenses)
    assert not any(again[name] for name in WORK)
    assert not again["layout.assemble"]


@pytest.mark.parametrize("shape", SHAPES)
def test_what_a_key_replaces_is_given_back_without_the_collector(
    shape: Callable[[int], str],
) -> None:
    # With a diagnostic in each section.
    editing = Editing(shape(20).replace("${focus}", "${fokus}"))

    def kept() -> Counter[str]:
        made = ("Anchor", "Call", "SectionValue", "TemplateValue", "MappedText", "StaticBlock")
        found = Counter(type(item).__name__ for item in gc.get_objects())
        return Counter({name: found[name] for name in made})

    gc.collect()
    gc.disable()
    try:
        before = kept()
        for _ in range(5):
            editing.key()
        assert kept() == before
    finally:
        gc.enable()


def test_a_type_in_quotes_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = Counter[str]()
    parse = top_level.parse

    def counted(text: str, file: str, previous: Parsed | None = None) -> Parsed:
        texts[text] += 1
        return parse(text, file, previous)

    monkeypatch.setattr(top_level, "parse", counted)
    project = Project()
    project.open(
        FILE,
        "from dataclasses import dataclass\nfrom foldline.prompts import EachSection\n"
        "from other import Item\n@dataclass\nclass P:\n    items: 'list[Item]'\n"
        "EachSection[P, Item](title='T', key='k', items='items', template='${name}')\n",
    )
    for name in ("a", "b", "c"):
        item = f"@dataclass\nclass Item:\n    name: str\n    {name}: str\n"
        project.open("/w/other.py", f"from dataclasses import dataclass\n{item}")
        analysis = project.analysis(FILE)
        assert analysis is not None
        assert diagnostics(analysis) == ()
    assert texts["list[Item]"] == 1


def test_all_fields_are_looked_for_at_once(tmp_path: Path) -> None:
    fields = "".join(f"    field_{n}: str\n" for n in range(300))
    text = HEAD.replace("    name: str\n", fields).replace('= "security"', "= field_1")
    prompt, other = tmp_path / "prompt.py", tmp_path / "other.py"
    prompt.write_text(f'{text}S = MarkdownSection[P](title="T", key="t", template="${{focus}}")\n')
    other.write_text("from prompt import P\nprint(P.field_2, P.field_35x, P.field_400)\n")
    project, walks = Project(tmp_path), Counter[str]()

    def search() -> tuple[str, ...]:
        walks["search"] += 1
        return str(prompt), str(other)

    project.search = search
    analysis = project.analysis(str(prompt))
    assert analysis is not None
    unused: list[object] = []
    done = calls(lambda: unused.extend(diagnostics(analysis)))
    assert len(unused) == 298
    assert (walks["search"], done["texts._mentioned"], done["project._mentioned"]) == (1, 1, 1)


def test_imports_are_checked_in_linear_work() -> None:
    def done(count: int) -> int:
        project = Project()
        project.open(
            FILE, HEAD + "".join(f"import m{n}\nfrom p{n} import q{n}\n" for n in range(count))
        )
        analysis = project.analysis(FILE)
        assert analysis is not None
        return calls(lambda: diagnostics(analysis)).total()

    small, large = done(200), done(400)
    assert large < 2.2 * small


def test_headings_are_folded_in_linear_work() -> None:
    def done(count: int) -> int:
        text = "".join(f"## Part {n}\n- `a{n}.py` holds a part.\n" for n in range(count))

        def suggest() -> None:
            file = InstructionFile("AGENTS.md", text)
            assert not any(is_reference(file, section) for section in file.sections)

        return calls(suggest).total()

    small, large = done(200), done(400)
    assert large < 2.2 * small
