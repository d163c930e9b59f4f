"""The request that the source shows is the one that running the prompt sends."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from foldline.ide.analysis.project import Project
from foldline.ide.render.static_request import StaticRequest, costed
from foldline.ide.token_counter import token_counter

if TYPE_CHECKING:
    from collections.abc import Mapping

HEAD = """\
from __future__ import annotations
from dataclasses import dataclass, field
from typing import Annotated, Literal
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility, Tool

@dataclass(frozen=True)
class Place:
    file: str = field(metadata={"description": "The file, from the root."})
    line: int | None = None

@dataclass(frozen=True)
class Finding:
    place: Place
    severity: Literal["low", "high"]
    others: list[Place] = field(default_factory=list)

@dataclass(frozen=True)
class Report:
    findings: tuple[Finding, ...]
    best: Finding | None = None

def handle(params, *, context): ...
"""
PROMPT = """
p = PromptTemplate[{0}](ns="n", key="p", sections=[
    MarkdownSection[None](title="A", key="a", template="Text.", tools=[
        Tool[Finding, str](name="tell", description="Tells of it.", handler=handle)]),
    MarkdownSection[None](title="B", key="b", template="All.", summary="Some.",
        visibility=SectionVisibility.SUMMARY),
])
"""


@pytest.mark.parametrize("kind", ["Place", "Finding", "Report", "list[Report]"])
def test_schemas_hold_those_of_the_dataclasses_in_their_fields(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    source = HEAD + PROMPT.format(kind)
    module = ModuleType("nested")
    monkeypatch.setitem(sys.modules, "nested", module)
    exec(source, vars(module))
    rendered = vars(module)["p"].render()
    found = _counted(source)
    assert found.exact
    assert found.render.output is not None
    assert found.render.output.schema == rendered.structured_output.schema
    assert [tool.name for tool in found.render.tools] == [tool.name for tool in rendered.tools]
    assert found.render.tools[0].schema["properties"]["place"]["required"] == ["file"]


def test_a_dataclass_that_holds_itself_is_counted_once_and_its_total_is_an_estimate() -> None:
    source = HEAD.replace("others: list[Place]", "others: list[Finding]") + PROMPT.format("Finding")
    found = _counted(source)
    assert not found.exact
    assert found.render.output is not None
    assert "severity" in json.dumps(found.render.output.schema)


OUTSIDE = """
from foldline.prompts import Chapter, MarkdownSection, Tool
TEXT = "from elsewhere " * 9
def one(key): return MarkdownSection[None](title="Far", key=key, template="far away " * 7)
far = one("far")
more = [one("m1"), one("m2")]
tool = Tool[None, str](name="far_tool", description="Far.", handler=lambda params, *, context: None)
chapter = Chapter[None](title="C", key="c", sections=[one("in-c")])
flag = False
class Own(MarkdownSection[None]):
    def __init__(self): super().__init__(title="Own", key="own", template="own " * 9)
"""
INSIDE = """
from outside import TEXT, Own, chapter, far, flag, more, one, tool
from foldline.prompts import MarkdownSection, PromptTemplate
BASE = "word " * 20
WORDS = "a few words"
def near(key, **others):
    return MarkdownSection[None](title="Near", key=key, template="near by", **others)
A, B = near("a"), near("b")
PAIR = [near("p1"), near("p2")]
"""
TEXTS = [
    "'plain'", "BASE", "WORDS", "TEXT", "f'{WORDS} tail'", "f'{BASE} tail'", "f'{TEXT} tail'",
    "'%s tail' % WORDS", "'%s tail' % TEXT", "'{} tail'.format(TEXT)", "'x ' + TEXT",
    "' '.join([WORDS, TEXT])", "' '.join(w for w in (WORDS, WORDS))", "WORDS * 3", "TEXT[:20]",
    "WORDS.replace('a', 'aaaa')", "(WORDS if flag else BASE)", "str(12)", "WORDS.upper()",
]  # fmt: skip
LISTS = [
    "[A]", "[far, A]", "[one('x'), A]", "[*more, A]", "[A] + more", "more + [A]", "more",
    "[Own(), A]", "[far.clone(title='x'), A]", "PAIR", "[*PAIR, A]", "[x for x in PAIR]",
    "[A, *(x for x in more)]", "list(PAIR)", "([A] if flag else [A, B])",
    "[*([A] if flag else [])]",
    "[near('c', children=[far])]", "[near('c', children=more)]", "[near('c', tools=[tool])]",
    "[near(k) for k in 'uvw']", "[near('c', enabled=lambda: False)]", "tuple(more)", "PAIR[:1]",
    "[*([far] if not flag else []), *([B] if flag else [])]",
]  # fmt: skip
OTHERS = ["", ", chapters=[chapter]", ", system=[one('s')]", ", **{'chapters': [chapter]}"]


CASES = [(text, "[A]", "") for text in TEXTS] + [
    ("'plain'", sections, other) for sections in LISTS for other in OTHERS
]


@pytest.mark.parametrize(("text", "sections", "other"), CASES)
def test_a_static_count_is_no_more_than_the_executed_one_or_says_that_it_is_open(
    text: str, sections: str, other: str
) -> None:
    own = f'MarkdownSection[None](title="T", key="t", template={text})'
    _hold(f"{INSIDE}p = PromptTemplate(ns='n', key='k', sections=[{own}, *{sections}]{other})\n")


def _hold(source: str) -> StaticRequest:
    """Compare what a prompt costs by its source with what it costs."""
    outside, module = ModuleType("outside"), ModuleType("nested")
    exec(OUTSIDE, vars(outside))
    with patch.dict(sys.modules, {"outside": outside, "nested": module}):
        exec(source, vars(module))
        prompt = vars(module)["p"]
        rendered = prompt.expand_chapters().render()
    counter = token_counter(exact=False)
    executed = sum(counter.count(block.text) for block in rendered.blocks)
    found = _counted(source)
    tokens = found.render.tokens
    assert tokens is not None
    shown = [tool.name for tool in found.render.tools]
    if found.exact:
        assert (tokens.text, shown) == (executed, [tool.name for tool in rendered.tools])
    if tokens.lower_bound:
        assert tokens.text <= executed
    if found.render.certain:
        assert tokens.text == executed
    if tokens.text < executed or len(shown) < len(rendered.tools):
        assert tokens.unresolved
    return found


CHANGES = [
    "more = held\nmore.append(B)",
    "more = held\nmore += [B]",
    "more = held\nlast = more\nlast.append(B)",
    "def add(to): to.append(B)\nadd(held)",
    "list.append(held, B)",
    "held.pop()",
    "held.clear()",
    "held.remove(A)",
    "held[:] = []",
    "for _ in [1]: held.pop()",
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_list_that_code_changes_in_other_ways_is_open(change: str) -> None:
    source = f"{INSIDE}held = [A]\n{change}\np = PromptTemplate(ns='n', key='k', sections=held)\n"
    assert not _hold(source).exact


def test_a_text_of_a_class_that_gets_another_one_is_open() -> None:
    section = "MarkdownSection[None](title='T', key='t', template=Texts.rule)"
    source = f"{INSIDE}class Texts:\n    rule = 'short'\n{{}}\n"
    source += f"p = PromptTemplate(ns='n', key='k', sections=[{section}])\n"
    assert _hold(source.format("")).exact
    assert not _hold(source.format("Texts.rule = 'a longer one'")).exact


def test_a_name_that_is_given_to_a_function_is_still_imported() -> None:
    source = "from foldline.prompts import *\nprint(MarkdownSection, PromptTemplate)\n"
    source += "part = MarkdownSection[None](title='T', key='t', template='word')\n"
    assert _counted(f"{source}p = PromptTemplate(ns='n', key='k', sections=[part])\n").exact


ADDS = "def add(items): items.append(C)\n"
UNSEEN = [
    "def f():\n    global WORDS\n    WORDS = 'x'\nf()",
    "class C:\n    global WORDS\n    WORDS = 'x'",
    "[WORDS := 'x' for _ in 'a']", "exec('WORDS = str(1)')", "vars()['WORDS'] = 'x'",
    "globals()['WORDS'] = 'x'", "setattr(sys.modules[__name__], 'WORDS', 'x')",
    "sys.modules[__name__].WORDS = 'x'",
    "class K:\n    T = 'x y'\nK.T = 'x'\nWORDS = K.T",
    "setattr(outside, 'TEXT', 'x')\nWORDS = outside.TEXT",
    "outside.TEXT = 'x'\nWORDS = outside.TEXT",
    "class K:\n    T = 'x y'\ndef f(): K.T = 'x'\nf()\nWORDS = K.T",
    "OTHER = GIVEN\nOTHER.append(C)", f"{ADDS}add(GIVEN)", f"{ADDS}if flag: add(items=GIVEN)",
    f"{ADDS}def deep(of): add(of)\nn = deep(GIVEN)", "def f(): GIVEN.append(C)\nf()",
    "GIVEN.reverse(); GIVEN.pop(0)", "del GIVEN[0]", "import random\nrandom.shuffle(GIVEN)",
]  # fmt: skip
SEEN = [
    "print(GIVEN, len(GIVEN))", "OTHER = GIVEN",
    "def show(items): return items or show(items)\nshow(GIVEN)",
    "import logging\nlogging.info(GIVEN)", "def f(WORDS):\n    if (n := WORDS): return n",
    "GIVEN.append(C)", "def f():\n    GIVEN = []\n    GIVEN.append(C)", "del B",
    "from outside import *", "LAST = 'x'\nfrom inside import *\nWORDS = LAST",
    "from inside import *\nLAST = 'x'\nWORDS = LAST",
    "_HIDDEN = 'x'\nfrom outside import *\nWORDS = _HIDDEN",
    "from outside import *\nfrom inside import *\nWORDS = LAST",
    "from inside import *\nfrom outside import *\nWORDS = LAST",
    "TEXT = 'x'\nif True:\n    from outside import *\nWORDS = 'y'",
]  # fmt: skip


@pytest.mark.parametrize("code", [*UNSEEN, *SEEN])
def test_a_count_says_that_code_may_change_a_name_where_the_source_does_not_show_it(
    code: str,
) -> None:
    setting = "import sys, outside\nGIVEN, C = [A, B], near('c')\n"
    source = (
        f"{INSIDE}{setting}{code}\np = PromptTemplate(ns='n', key='k', sections=[MarkdownSection["
        "None](title='T', key='t', template=WORDS), *GIVEN])\n"
    )
    others = {
        "outside": OUTSIDE + "_HIDDEN = LAST = 'not this'\n",
        "inside": "LAST = 'the last one'\n",
    }
    modules = {name: ModuleType(name) for name in (*others, "nested")}
    with patch.dict(sys.modules, modules):
        for name, text in others.items():
            exec(text, vars(modules[name]))
        exec(source, vars(modules["nested"]))
        executed = sum(len(block.text) for block in vars(modules["nested"])["p"].render().blocks)
    found = _counted(source, others)
    shown = sum(len(block.text) for block in found.render.blocks)
    assert found.exact is (code in SEEN)
    if found.exact:
        assert shown == executed


def _counted(source: str, others: Mapping[str, str] | None = None) -> StaticRequest:
    project = Project()
    for name, text in {**(others or {}), "nested": source}.items():
        project.open(f"/w/{name}.py", text)
    analysis = project.analysis("/w/nested.py")
    assert analysis is not None
    (prompt,) = analysis.prompts
    return costed(prompt, token_counter(exact=False))
