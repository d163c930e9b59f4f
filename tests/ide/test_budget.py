"""A few lines that describe more than any memory holds: they stay unknown, and the rest works."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.ide.analysis import top_level
from foldline.ide.analysis.lowering.statements import Reader
from foldline.ide.analysis.project import Project
from foldline.ide.checks import Code, diagnostics
from foldline.ide.features.hover import inlays, lenses, title
from foldline.ide.features.prompt_symbols import symbols
from foldline.ide.features.structure import foldings, semantic_tokens
from foldline.ide.token_counter import token_counter

if TYPE_CHECKING:
    from foldline.ide.analysis.module_analysis import ModuleAnalysis

HEAD = "from foldline.prompts import *\n"
SOUND = (
    "sound = PromptTemplate(ns='a', key='sound', sections=["
    "MarkdownSection(key='k', title='T', template='Sound text.')])\n"
)


def chain(first: str, step: str, count: int, last: str = "") -> str:
    """`first`, then `step` so many times, each line using what the line before it made."""
    lines = (step.replace("NEW", str(n + 1)).replace("OLD", str(n)) for n in range(count))
    return first + "\n" + "\n".join(lines) + "\n" + last.replace("LAST", str(count)) + "\n"


SECTION = "s = MarkdownSection(key='a', title='A', template=xLAST)"
PROMPT = "t = PromptTemplate(ns='a', key='b', sections=[sLAST])"
FIRST = "s0 = MarkdownSection(key='a', title='A', template='x')"

TOO_MUCH = {
    "sums": chain("x0 = 'aaaaaaaaaa'", "xNEW = xOLD + xOLD", 20, SECTION),
    "joins": chain("x0 = 'ab'", "xNEW = xOLD.join([xOLD, xOLD, xOLD])", 40, SECTION),
    "joined lists": chain("x0 = ['a']", "xNEW = [*xOLD, *xOLD]", 20, "x = ''.join(xLAST)"),
    "added lists": chain("x0 = ['a']", "xNEW = xOLD + xOLD", 20, "x = ''.join(xLAST)"),
    "calls": chain("def f0(): return 'a'", "def fNEW(): return fOLD() + fOLD()", 50, "x = fLAST()"),
    "arguments": chain(
        "def f0(a): return a", "def fNEW(a): return fOLD(a + a) + fOLD(a)", 50, "x = fLAST('b')"
    ),
    "sections": chain(
        FIRST,
        "sNEW = MarkdownSection(key='a', title='A', template='x', children=[sOLD, sOLD])",
        30,
        PROMPT,
    ),
    "bases": chain("class A0: pass", "class ANEW(AOLD, AOLD, AOLD): aOLD: int = 1", 20),
    "one section often": chain("x0 = 'aaaaaaaaaa'", "xNEW = xOLD + xOLD", 14, SECTION)
    + f"t = PromptTemplate(ns='a', key='b', sections=[{'s,' * 200}])\n",
}
ENDLESS = {
    "widths": "x = f\"{'a':>1000000000}\" + '%1000000000d' % 1 + '{:>9999999999}'.format(1)\n",
    "products": "x = 'a' * 10**9\ny = ['a'] * 10**9\nz = 'a'.zfill(10**9) + 'a'.center(10**9)\n",
    "powers": f"x = 9**9**9\ny = 0x{'f' * 20_000}\n@dataclass\nclass P:\n    a: int = y\n",
    "comprehensions": "x = {a: b for a in range(10**9) for b in range(10**9)}\n",
    "sums of many": f"x = {' + '.join(['f(1)'] * 20_000)}\n",
    "brackets": f"x = {'[' * 3000}{']' * 3000}\n",
    "calls of calls": f"x = {'f(' * 400}{')' * 400}\n",
    "blocks": "".join(f"{' ' * n}if a:\n" for n in range(300)) + " " * 300 + "x = 1\n",
    "aliases": chain("x0 = 'a'", "xNEW = xOLD", 500),
    "additions": "x = 'a'\n" + "x += 'b'\n" * 1500,
    "bindings": "x = 'a'\n" + "x = x + 'b'\n" * 1500,
    "escapes": "x = '" + "\\N{" * 300 + "'\n",
    "dots": f"from {'.' * 60_000}\n",
    "fields": f"s = MarkdownSection(key='a', title='A', template=f'{'$a{x}' * 3000}')\n",
}


def analysed(tmp_path: Path, text: str) -> ModuleAnalysis:
    file = str(tmp_path / "prompts.py")
    project = Project(tmp_path)
    project.open(file, text)
    analysis = project.analysis(file)
    assert analysis is not None
    return analysis


def ask_everything(analysis: ModuleAnalysis) -> list[str]:
    """Ask what editors ask by themselves; the codes of what is wrong."""
    counter = token_counter(exact=False)
    found = [str(analysi.code) for analysi in diagnostics(analysis)]
    for lens in lenses(analysis):
        title(analysis, counter, lens.prompt, lens.section_key)
    inlays(analysis, counter)
    symbols(analysis)
    foldings(analysis)
    semantic_tokens(analysis)
    assert [prompt.name for prompt in analysis.module.prompts][-1:] == ["sound"]
    [sound] = [prompt for prompt in analysis.prompts if prompt.name.id == "sound"]
    assert "Sound text." in sound.render.text
    return found


@pytest.mark.parametrize("name", [*TOO_MUCH, *ENDLESS])
def test_what_is_too_much_stays_unknown_and_the_rest_works(tmp_path: Path, name: str) -> None:
    text = HEAD + (TOO_MUCH.get(name) or ENDLESS[name]) + SOUND
    found = ask_everything(analysed(tmp_path, text))
    assert name in ENDLESS or Code.NOT_EVALUATED in found


@pytest.mark.parametrize("name", TOO_MUCH)
def test_a_few_lines_take_a_few_megabytes(tmp_path: Path, name: str) -> None:
    ask_everything(analysed(tmp_path, HEAD + SOUND))  # What is imported for it doesn't count.
    tracemalloc.start()
    try:
        ask_everything(analysed(tmp_path, HEAD + TOO_MUCH[name] + SOUND))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 16_000_000


def test_a_file_without_such_lines_has_no_such_diagnostic(tmp_path: Path) -> None:
    sections = "".join(
        f"MarkdownSection(key='k{n}', title='T', template='Some text.'),\n" for n in range(500)
    )
    text = f"{HEAD}big = PromptTemplate(ns='a', key='big', sections=[{sections}])\n{SOUND}"
    analysis = analysed(tmp_path, text)
    assert Code.NOT_EVALUATED not in ask_everything(analysis)
    assert len(analysis.module.prompts[0].sections) == 500


def test_a_text_over_the_limit_is_not_read_and_the_file_says_so(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, HEAD + SOUND + "# more\n" * 300_000)
    assert not analysis.module.prompts
    [found] = diagnostics(analysis)
    assert found.code == Code.NOT_EVALUATED
    assert "2,000,000" in found.message


OPERATIONS = st.sampled_from(
    [
        "x{n} = x{a} + x{b}",
        "x{n} = [x{a}, *y{b}, *y{a}]",
        "y{n} = [*y{a}, *y{b}, x{a}]",
        "y{n} = y{a} + y{b}",
        "x{n} = x{a}.join(y{b})",
        "x{n} = f'{{x{a}}}' + x{b}",
        "x{n} = '%s' % x{a} + x{b}",
        "y{n} = [f(x{a}), *f(y{b})]",
        "x{n} = f(x{a} + x{b}) + f(x{a})",
        "s{n} = MarkdownSection(key='k', title=x{a}, template=x{b}, children=[s{a}, s{b}, s{a}])",
        "d{n} = dict(**d{a}, x{n}=x{b})",
        "t{n} = PromptTemplate(ns='a', key='b', sections=[s{a}, s{b}])",
    ]
)


@given(
    st.lists(st.tuples(OPERATIONS, st.integers(1, 3), st.integers(1, 3)), min_size=10, max_size=60)
)
def test_no_program_takes_more_than_its_budget(lines: list[tuple[str, int, int]]) -> None:
    text = [HEAD, "def f(a): return a + a\n"]
    for n in range(3):
        text.append(f"x{n} = 'abc'\ny{n} = ['a', 'b']\nd{n} = {{}}\n")
        text.append(f"s{n} = MarkdownSection(key='a', title='A', template='x')\n")
    for place, (line, a, b) in enumerate(lines):
        n = place + 3
        names = {kind: f"{kind}{n} = {kind}{n - 1}\n" for kind in "xysd"}
        made = line.format(n=n, a=n - a, b=n - b)
        text += [name for kind, name in names.items() if not made.startswith(kind)]
        text.append(made + "\n")
    source = "".join(text) + SOUND
    analysis = analysed(Path("/nowhere"), source)
    tracemalloc.start()
    try:
        ask_everything(analysis)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 25_000_000


def test_a_module_of_too_many_syntax_nodes_is_not_read_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    statement = Reader.statement

    def counted(reader: Reader, node: Any) -> Any:
        read.append(node.type)
        return statement(reader, node)

    monkeypatch.setattr(top_level, "PROMPT_MODULE_NODES", 500)
    monkeypatch.setattr(Reader, "statement", counted)
    project, file = Project(tmp_path), str(tmp_path / "prompt.py")

    def says(text: str) -> tuple[int, list[str]]:
        project.open(file, text)
        analysis = project.analysis(file)
        assert analysis is not None
        return len(symbols(analysis)), [found.message for found in diagnostics(analysis)]

    many = HEAD + SOUND * 20
    said = "it has 1,190 syntax nodes, the limit is 500"
    assert says(many) == (0, [f"Prompts of this file are not shown: {said}."])
    assert read == []
    assert says(HEAD + SOUND)[0] == 1
    # Piece by piece it comes to the same.
    grown = HEAD + SOUND
    for number in range(20):
        grown += SOUND.replace("sound", f"sound_{number}")
        shown, _ = says(grown)
    assert shown == 0
    assert len(read) < 25
