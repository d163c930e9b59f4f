"""The request that the source shows is the one that running the prompt sends."""

from __future__ import annotations

import json
import sys
from types import ModuleType
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest
from hypothesis import event, given, reject
from hypothesis import strategies as st

from foldline.ide.analysis.project import Project
from foldline.ide.render.static_request import StaticRequest, costed
from foldline.ide.token_counter import token_counter
from foldline.prompts.errors import PromptError

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
PLAIN = "from elsewhere, too"
def one(key): return MarkdownSection[None](title="Far", key=key, template="far away from here")
far = one("far")
more = [one("m1"), one("m2")]
tool = Tool[None, str](name="far_tool", description="Far.", handler=lambda params, *, context: None)
chapter = Chapter[None](title="C", key="c", sections=[one("in-c")])
flag = False
class Own(MarkdownSection[None]):
    def __init__(self): super().__init__(title="Own", key="own", template="their own")
"""
HERE = """
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
    "PLAIN", "PLAIN + ' as well'", "' '.join([PLAIN, WORDS])",
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
NAMES = ("TEXT", "PLAIN", "Own", "chapter", "far", "flag", "more", "one", "tool")
EACH = "\n".join(f"{name} = {{0}}.{name}" for name in NAMES)
IMPORTS = [
    f"from outside import {', '.join(NAMES)}",
    "from outside import *",
    f"import outside\n{EACH.format('outside')}",
    f"import outside as o\n{EACH.format('o')}",
    f"import importlib\no = importlib.import_module('outside')\n{EACH.format('o')}",
    f"try:\n    import nowhere\nexcept ImportError:\n    from outside import {', '.join(NAMES)}",
    f"if True:\n    from outside import {', '.join(NAMES)}",
    f"def get():\n    import outside as o\n    return o\no = get()\n{EACH.format('o')}",
]  # fmt: skip
BUILDS = [
    "{0}.append({1})", "{0} += [{1}]", "{0} = [*{0}, {1}]", "{0} = {0} + [{1}]",
    "{0} = [{1}] + {0}",
    "{0}.extend([{1}])", "{0}.insert(0, {1})", "{0}[:0] = [{1}]", "if flag: {0}.append({1})",
    "if not flag: {0} = [*{0}, {1}]", "for _ in 'a': {0}.append({1})", "{0} = [x for x in {0}]",
    "def add(to): to.append({1})\nadd({0})", "def add(to): return [*to, {1}]\n{0} = add({0})",
    "{0} = list(reversed({0}))", "del {0}[:1]", "{0} = {0}[:2]",
    "add = lambda to: to.append({1})\nadd({0})", "print({0})",
    "class K:\n    def __init__(self, to): to.append({1})\nK({0})", "{0} = [*{0}][::-1]",
    "class K:\n    def add(self, to): to.append({1})\nK().add({0})", "{0} = sorted({0}, key=id)",
    "{0}.pop()", "{0}.clear()", "{0}.remove(A)", "{0}[:] = []", "for _ in [1]: {0}.pop()",
    "list.append({0}, {1})", "other = {0}\nother.append({1})", "other = {0}\nother += [{1}]",
    "{0} = [near('n{2}', children={0})]", "{0} = [one('o{2}').clone(children={0})]",
    "{0} = [near('e{2}', enabled=lambda: False), *{0}]", "{0} = ({0} if flag else [{1}])",
]  # fmt: skip
INSIDE = IMPORTS[0] + HERE
JOINS = [
    "{} + ' ' + {}", "'%s %s' % ({}, {})", "'{{}} {{}}'.format({}, {})", "' '.join([{}, {}])",
    "({} if flag else {})", "({} or {})", "({}, {})[1]", "{{1: {}, 2: {}}}[1]", "max({}, {})",
    "({}).replace('a', {})",
]  # fmt: skip
EXPRESSIONS = st.recursive(
    st.sampled_from(TEXTS),
    lambda texts: st.builds(str.format, st.sampled_from(JOINS), texts, texts).map("({})".format),
    max_leaves=4,
)


@st.composite
def modules(draw: st.DrawFn) -> str:
    """A module whose prompt has texts, lists and imports of any form."""
    lines = [
        draw(st.sampled_from(IMPORTS)),
        HERE,
        f"HELD = {draw(st.sampled_from(['[A]'] * 12 + LISTS))}",
    ]
    for n, build in enumerate(draw(st.lists(st.sampled_from(BUILDS), max_size=3))):
        lines.append(f"TEXT{n} = {draw(st.just('WORDS') | EXPRESSIONS)}")
        text = draw(
            st.just("'plain'")
            | EXPRESSIONS
            | st.sampled_from([f"TEXT{n}", f"f'{{TEXT{n}}} and on'"])
        )
        section = f"MarkdownSection[None](title='T', key='t{n}', template={text})"
        lines.append(build.format("HELD", section, n))
    sections = draw(st.sampled_from(["HELD", "[*HELD]", "tuple(HELD)"]))
    lines.append(
        f"p = PromptTemplate(ns='n', key='k', sections={sections}{draw(st.sampled_from(OTHERS))})\n"
    )
    return "\n".join(lines)


@given(modules(), st.booleans())
def test_a_static_count_is_no_more_than_the_executed_one_or_says_that_it_is_open(
    source: str, is_readable: bool
) -> None:
    found = _hold(source, {"outside": OUTSIDE} if is_readable else {})
    event("exact" if found.exact else "open")


def _hold(source: str, others: Mapping[str, str] | None = None) -> StaticRequest:
    """Compare what a prompt costs by its source with what it costs."""
    outside, module = ModuleType("outside"), ModuleType("nested")
    exec(OUTSIDE, vars(outside))
    with patch.dict(sys.modules, {"outside": outside, "nested": module}):
        try:
            exec(source, vars(module))
        except (PromptError, AttributeError, LookupError, TypeError, ValueError):
            reject()
        prompt = vars(module)["p"]
        rendered = prompt.expand_chapters().render()
    counter = token_counter(exact=False)
    executed = sum(counter.count(block.text) for block in rendered.blocks)
    found = _counted(source, others)
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
    "add = lambda items: items.append(C)\nadd(GIVEN)", "ADD = max(1, 2)\nif flag: ADD(GIVEN)",
    "class K:\n    def __init__(self, items): items.append(C)\nK(GIVEN)",
]  # fmt: skip
SEEN = [
    "print(GIVEN, len(GIVEN))", "class K(tuple): pass\nK(GIVEN)", "OTHER = GIVEN",
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
