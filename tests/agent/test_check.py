"""`foldline check` and `foldline tokens`."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from foldline.agent import check_formats
from foldline.agent.check_formats import GUTTER, WIDEST, FileDiagnostic, text_lines
from foldline.backends.files import local, reader
from foldline.backends.formatting.visible import visible
from foldline.ide import checks
from foldline.ide.analysis.model import LineTable, Position, SourceSpan
from foldline.ide.checks import Code, Diagnostic, Severity

from .verbs import run

if TYPE_CHECKING:
    from foldline.backends.files.listing import Folder

GOOD = """\
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

@dataclass
class Params:
    name: str = "x"

PROMPT = PromptTemplate(ns="demo", key="good", sections=[
    MarkdownSection[Params](title="One", key="one", template="Hello ${name}, and welcome to it."),
    MarkdownSection[None](title="Two", key="two", template="A long text that is folded. " * 20,
                          summary="A text.", visibility=SectionVisibility.SUMMARY),
])
"""
BAD = (
    GOOD.replace('"good"', '"bad"')
    .replace("${name}", "🎉 ${nmae}, 5%")
    .replace('name: str = "x"', 'name: str = "x"  # used')
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("[tool.foldline]\nexact-tokens = false\n")
    (tmp_path / "good.py").write_text(GOOD, encoding="utf-8")
    (tmp_path / "unrelated.py").write_text("x = 1\n")
    return tmp_path


def test_nothing_found_is_said_and_is_success(project: Path) -> None:
    assert run("check", project) == (0, "1 file: no diagnostics\n", "")


def test_a_finding_is_written_with_its_place_and_fails(project: Path) -> None:
    (project / "bad.py").write_text(BAD, encoding="utf-8")
    status, out, _ = run("check", project)
    assert status == 1
    assert out.splitlines() == [
        "bad.py:9:71: error: `nmae` isn't a field of `Params`. Did you mean `name`? "
        "[unknown-placeholder]",
        '    9 |     MarkdownSection[Params](title="One", key="one", template="Hello 🎉 ${nmae}, '
        '5%, and welcome to it."),',
        "      |" + " " * 71 + "^^^^^^^",
        "1 error in 2 files",
    ]
    _, concise, _ = run("check", project, "--format", "concise")
    assert concise.splitlines() == [out.splitlines()[0], out.splitlines()[-1]]


@pytest.mark.parametrize("before", ["x" * 300, "\t" * 60, "\u202e\x1b[31m" * 20])
def test_a_long_or_hostile_line_shows_what_is_wrong(project: Path, before: str) -> None:
    bad = GOOD.replace("Hello ${name}", f"{before}${{nmae}}")
    (project / "bad.py").write_text(bad, encoding="utf-8")
    _, out, _ = run("check", project / "bad.py")
    _, source, marks, _ = out.splitlines()
    assert source[marks.index("^") : marks.rindex("^") + 1] == "${nmae}"
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize("width", [40, 92, 200])
@pytest.mark.parametrize("before", ["", "x" * 30, "x" * 300])
@pytest.mark.parametrize("after", ["", "y" * 200])
def test_an_excerpt_fits_the_terminal_and_marks_what_is_wrong(
    width: int, before: str, after: str
) -> None:
    source = f"{before}WRONG{after}"
    place = SourceSpan("a.py", len(before), len(before) + len("WRONG"))
    diagnostic = Diagnostic(Code.SYNTAX_ERROR, Severity.ERROR, "It's wrong.", place)
    start, end = Position(0, place.start), Position(0, place.end)
    found = [FileDiagnostic("a.py", diagnostic, start, end, source)]
    _, shown, marks, _ = (
        "".join(text for text, _ in line)
        for line in text_lines(found, ["a.py"], excerpts=True, width=width)
    )
    assert len(shown) <= width
    assert shown[marks.index("^") : marks.rindex("^") + 1] == "WRONG"
    if len(source) <= min(width - GUTTER, WIDEST):
        assert shown.endswith(source)


def test_many_findings_on_one_line_cost_what_they_show(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    line = LineTable.line

    def counted(table: LineTable, number: int) -> str:
        seen.append(len(text := line(table, number)))
        return text

    def made_visible(text: str) -> str:
        seen.append(len(text))
        return visible(text)

    monkeypatch.setattr(LineTable, "line", counted)
    monkeypatch.setattr(check_formats, "visible", made_visible)

    def characters(findings: int) -> int:
        text = GOOD.replace("Hello ${name}", "Hello ${nmae} " * findings)
        (project / "bad.py").write_text(text, encoding="utf-8")
        seen.clear()
        run("check", project / "bad.py")
        return sum(seen)

    assert characters(200) < 2.2 * characters(100)


def test_files_that_instruct_are_compared_with_the_others_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    is_same = local._is_same

    def counted(folder: Folder, *rest: Any) -> bool:
        compared.append(folder.path)
        return is_same(folder, *rest)

    monkeypatch.setattr(local, "_is_same", counted)
    for number in range(20):
        (tmp_path / f"d{number}").mkdir()
        (tmp_path / f"d{number}" / "AGENTS.md").write_text("# Rules\n\nSee `gone.py`.\n")
    assert run("check", tmp_path)[0] == 0
    assert len(compared) < 10 * 21


def test_an_error_is_json_where_that_is_the_format(project: Path) -> None:
    for words in (["--format", "json"], ["--format=json"], ["--json"]):
        status, out, err = run("check", project / "gone", *words)
        assert (status, err) == (2, "")
        assert "no such file" in json.loads(out)["error"]["message"]
    _, out, err = run("check", project / "gone", "--format", "sarif")
    assert (out, err.count("\n")) == ("", 1)


@pytest.mark.real
def test_a_module_that_is_not_python_fails(project: Path) -> None:
    (project / "bad.py").write_text(BAD.replace('title="One",', 'title="One"'), encoding="utf-8")
    status, out, _ = run("check", project)
    assert status == 1
    first, _, marks, last = out.splitlines()
    assert first.startswith("bad.py:9:35: error: This isn't Python: invalid syntax.")
    assert first.endswith("[syntax-error]")
    assert marks.endswith("^" * len('"One"'))
    assert last == "1 error in 2 files"
    (project / "pyproject.toml").write_text("[tool.foldline.severity]\nsyntax-error = 'off'\n")
    assert run("check", project)[0] == 0


@pytest.mark.real
def test_where_python_does_not_tell_the_broken_statement_is_named(project: Path) -> None:
    (project / "bad.py").write_text(f"{GOOD}\nX = {'-' * 50_000}1 +\n", encoding="utf-8")
    status, out, _ = run("check", project / "bad.py", "--format", "concise")
    assert status == 1
    assert out.startswith("bad.py:14:1: error: This isn't Python: ")


@pytest.mark.parametrize(
    "source",
    [
        b"PROMPT = 'Hello {{ name }}'\n",
        b"from foldline.prompts import PromptTemplate\n",
        b"\xff\xfe\x00\x00",
    ],
)
def test_a_named_file_without_a_prompt_is_told(project: Path, source: bytes) -> None:
    (project / "legacy.py").write_bytes(source)
    status, out, err = run("check", project / "legacy.py", project / "good.py")
    assert (status, out) == (2, "1 file: no diagnostics\n")
    assert "legacy.py: it holds no prompt, section or tool" in err
    assert run("check", project)[0] == 0


def test_sections_for_other_modules_are_prompts_enough(project: Path) -> None:
    (project / "shared.py").write_text(
        "from foldline.prompts import MarkdownSection\n"
        "def tone():\n"
        '    return MarkdownSection[None](title="Tone", key="tone", template="Be kind.")\n'
    )
    assert run("check", project / "shared.py")[0] == 0


def test_a_folder_without_prompts_names_the_next_step(tmp_path: Path) -> None:
    status, out, err = run("check", tmp_path)
    assert (status, out) == (0, "")
    assert "`foldline new PATH`" in err


def test_findings_are_written_as_json(project: Path) -> None:
    (project / "bad.py").write_text(BAD, encoding="utf-8")
    status, out, _ = run("check", project, "--json")
    document = json.loads(out)
    assert status == 1
    (finding,) = document["findings"]
    assert finding["code"] == "unknown-placeholder"
    assert finding["range"]["start"] == {"line": 9, "column": 71}
    assert finding["fixes"][0] == "Change to `name`"


def test_findings_are_written_as_sarif(project: Path) -> None:
    (project / "bad.py").write_text(BAD, encoding="utf-8")
    _, out, _ = run("check", project, "--format", "sarif")
    log = json.loads(out)
    (sarif_run,) = log["runs"]
    (result,) = sarif_run["results"]
    rule = sarif_run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert log["version"] == "2.1.0"
    assert rule["id"] == result["ruleId"] == "unknown-placeholder"
    levels = [one["defaultConfiguration"]["level"] for one in sarif_run["tool"]["driver"]["rules"]]
    assert set(levels) == {"error", "warning", "note"}
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "bad.py"
    assert place["region"]["startColumn"] == 71


def test_findings_are_written_as_annotations(project: Path) -> None:
    (project / "a,b.py").write_text(BAD, encoding="utf-8")
    _, out, _ = run("check", project, "--format", "github")
    assert out.startswith("::error file=a%2Cb.py,line=9,col=71,endLine=9,endColumn=78,title=")
    assert out.count("\n") == 1


def test_the_configuration_decides_what_fails(project: Path) -> None:
    (project / "bad.py").write_text(BAD, encoding="utf-8")
    configuration = project / "pyproject.toml"
    configuration.write_text("[tool.foldline.severity]\nunknown-placeholder = 'hint'\n")
    assert run("check", project)[0] == 0
    assert run("check", project, "--fail-on", "hint")[0] == 1
    configuration.write_text("[tool.foldline]\ntoken-budget = 5\nexact-tokens = false\n")
    _, out, _ = run("check", project / "good.py")
    assert "more than its budget of 5. [token-budget]" in out
    configuration.write_text("[tool.foldline]\ntoken-budget = 0\n")
    assert "token-budget" not in run("check", project / "good.py")[1]


def test_a_budget_is_not_proven_by_a_part_of_the_count(project: Path) -> None:
    partial = GOOD.replace("sections=[", "sections=[*more(), ")
    (project / "good.py").write_text(f"from library import more\n{partial}", encoding="utf-8")
    (project / "pyproject.toml").write_text("[tool.foldline]\ntoken-budget = 500\n")
    status, out, _ = run("check", project / "good.py")
    assert status == 0
    assert "tokens of its budget of 500 without" in out
    assert "[unproven-budget]" in out
    assert run("check", project / "good.py", "--fail-on", "information")[0] == 1


def test_a_comment_silences_a_finding(project: Path) -> None:
    silenced = BAD.rstrip("\n") + "  # foldline: ignore[unknown-placeholder]\n"
    (project / "bad.py").write_text(silenced, encoding="utf-8")
    status, out, _ = run("check", project)
    assert (status, "no diagnostics" in out) == (0, True)
    mended = silenced.replace("nmae", "name")
    assert mended != silenced
    (project / "bad.py").write_text(mended, encoding="utf-8")
    status, out, _ = run("check", project)
    assert status == 1
    assert "there is no `unknown-placeholder` here. [unused-ignore]" in out


def test_a_section_that_costs_more_folded_is_found(project: Path) -> None:
    (project / "folded.py").write_text(
        "from foldline.prompts import *\n"
        'T = PromptTemplate(ns="n", key="k", sections=[MarkdownSection[None](title="A", key="a",\n'
        '    template="Be brief and kind.", summary="Style.", '
        "visibility=SectionVisibility.SUMMARY)])\n",
        encoding="utf-8",
    )
    status, out, _ = run("check", project / "folded.py")
    assert status == 0
    assert "information: In `T`, `a` has ~27 tokens folded, with its note, and ~7 in full" in out


@pytest.mark.parametrize(
    ("configuration", "complaint"),
    [
        ("[tool.foldline]\ntokens = 'p50k'", "tool.foldline.tokens: expected one of o200k, cl100k"),
        (
            "[tool.foldline]\nbudget = 1",
            "tool.foldline.budget: unknown option; did you mean 'token-budget'?",
        ),
        (
            "[tool.foldline]\ntoken-budget = true",
            "token-budget: expected a whole number, got True",
        ),
        (
            "[tool.foldline.severity]\nnonsense = 'error'",
            "severity.nonsense: unknown name; there are ",
        ),
        (
            "[tool.foldline.severity]\nlong-summary = 'loud'",
            "long-summary: expected one of error, warning",
        ),
        ("[tool", "pyproject.toml: "),
    ],
)
def test_a_wrong_configuration_is_told_with_its_path(
    project: Path, configuration: str, complaint: str
) -> None:
    (project / "pyproject.toml").write_text(configuration)
    status, _, err = run("check", project)
    assert status == 2
    assert complaint in err


def test_the_first_of_many_wrong_configurations_are_told(project: Path) -> None:
    for number in range(30):
        folder = project / f"{number:02}"
        folder.mkdir()
        (folder / "foldline.toml").write_text("[tool")
        (folder / "AGENTS.md").touch()
    status, _, error = run("check", project)
    assert status == 2
    assert "/07/foldline.toml" in error
    assert "/28/foldline.toml" not in error
    assert error.endswith("there is more: mend these first\n")


def test_folders_of_no_project_are_checked_together(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    for folder in (first, second):
        folder.mkdir()
        text = GOOD.replace('key="good"', f'key="{folder.name}"')
        (folder / "good.py").write_text(text, encoding="utf-8")
    both = "2 files: no diagnostics\n"
    assert run("check", first, second) == (0, both, "")
    assert run("check", first / "good.py", second / "good.py") == (0, both, "")
    # Each project has settings of its own.
    (second / "pyproject.toml").touch()
    for one, other in ((first, second), (second, first)):
        status, _, err = run("check", one, other)
        assert status == 2
        assert f"{one} and {other} are of different projects: give each a call of its own" in err


@pytest.mark.parametrize("marked", ["git", "foldline.toml"])
@pytest.mark.parametrize("named", [".", "team", "team/prompts", "team/prompts/p.py"])
def test_a_file_has_one_count_and_one_budget_however_it_is_named(
    tmp_path: Path, named: str, marked: str
) -> None:
    # The budget of the folder above the root doesn't count.
    root = tmp_path / "root"
    budget = "[tool.foldline]\ntoken-budget = "
    sections = "from foldline.prompts import MarkdownSection\n"
    files = {
        "../pyproject.toml": f"{budget}1\n" if marked == "git" else None,
        "pyproject.toml": f"{budget}1000\n" if marked == "git" else None,
        "foldline.toml": None if marked == "git" else "token-budget = 1000\n",
        ".git/HEAD": "" if marked == "git" else None,
        "shared/base.py": sections
        + 'rules = MarkdownSection[None](title="R", key="r", template="{}")\n'.format(
            "Never refund. " * 9
        ),
        "team/pyproject.toml": f"{budget}20\ninstructions = ['house.md']\n",
        "team/house.md": "Be kind to those who ask. " * 9,
        "team/src/own.py": sections
        + 'own = MarkdownSection[None](title="O", key="o", template="Be brief.")\n',
        "team/prompts/pyproject.toml": "[project]\nname = 'prompts'\n",
        "team/prompts/p.py": "from foldline.prompts import PromptTemplate\n"
        "from own import own\nfrom shared.base import rules\n"
        'p = PromptTemplate(ns="n", key="k", sections=[rules, own])\n',
    }
    for path, text in files.items():
        if text is not None:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
    status, out, _ = run("tokens", "--json", root / named)
    assert status == 0
    (count,) = (one for one in json.loads(out)["prompts"].values() if one["prompt"] == "n/k")
    assert (count["tokens"], count["lower_bound"], count["unresolved"]) == (42, False, [])
    status, out, _ = run("check", "--format", "concise", root / named)
    assert status == 1
    assert "p.py:4:1: warning: `p` costs 42 tokens, 22 more than its budget of 20." in out
    assert ("house.md:1:1: warning: The file costs" in out) is (named in (".", "team"))


def test_counts_in_two_encodings_are_not_added_up(project: Path) -> None:
    (project / "deep").mkdir()
    (project / "deep/pyproject.toml").write_text("[tool.foldline]\ntokens = 'cl100k'\n")
    (project / "deep/p.py").write_text(GOOD, encoding="utf-8")
    status, _, err = run("tokens", project)
    assert status == 2
    assert "deep/p.py in cl100k and good.py in o200k are added up: name one with --encodi" in err
    assert run("tokens", "--encoding", "o200k", project)[0] == 0


def test_prompts_of_one_name_are_told_with_both_places(project: Path) -> None:
    (project / "deep").mkdir()
    (project / "deep/more.py").write_text(GOOD, encoding="utf-8")
    status, out, _ = run("check", "--format", "concise", project)
    also = "warning: `demo/good` is also the prompt of {}: give one another key. [duplicate-prompt]"
    assert out.splitlines()[0] == f"good.py:8:1: {also.format('deep/more.py:8')}"
    assert status == 1


def test_a_missing_path_is_told(project: Path) -> None:
    status, _, err = run("check", project / "nowhere")
    assert status == 2
    assert "there is no such file or directory" in err


@pytest.mark.parametrize("code", Code)
def test_every_diagnostic_has_a_page(code: Code) -> None:
    status, out, _ = run("check", "--explain", code)
    assert status == 0
    assert out.startswith(f"# {code}: ")
    assert checks.__file__ is not None


def test_an_unknown_diagnostic_names_near_ones() -> None:
    status, _, err = run("check", "--explain", "stray-dolar")
    assert status == 2
    assert "stray-dollar" in err


def test_tokens_are_listed_by_prompt_and_section(project: Path) -> None:
    status, out, _ = run("tokens", project)
    lines = out.splitlines()
    assert status == 0
    assert lines[0].split()[1:] == ["demo/good", "good.py:PROMPT"]
    assert lines[1].split()[1:] == ["Tools"]
    assert lines[2].split()[1:] == ["1.", "One"]
    assert lines[3].endswith("2. Two  summarized, ? if opened (--run shows it)")
    assert "in 1 prompt (o200k, estimated" in lines[4]
    _, executed, _ = run("tokens", "--run", project)
    assert re.search(r"\n.*2\. Two  summarized, .*\d if opened.*\n.*\(o200k, as run", executed)


COUNTED = """
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate

@dataclass
class P:
    name: str

def section(key, **others):
    return MarkdownSection[P](title=key.title(), key=key, **others)

def made(**others):
    return PromptTemplate(ns="n", key="k", sections=[section("one", **others)])

LONG = made(template="word " * 20_000)
JOINED = made(template=" ".join(["one"] * 500))
UNBOUND = made(template="Hello ${name}.")
EXACT = made(template="Hello, you.")
TEMPLATE = made(template="Hello ${name}.")
prompt = TEMPLATE.bind(P("Ada"))
popped = {"template": "No."}
popped["template"] = "Yes."
CHANGED = made(**popped)
"""


def test_a_count_is_certain_only_if_running_the_prompt_gives_the_same(project: Path) -> None:
    (project / "good.py").write_text(COUNTED)
    prompts = json.loads(run("tokens", project, "--json")[1])["prompts"]
    certain = {name.partition(":")[2]: count["certain"] for name, count in prompts.items()}
    assert certain == {
        "LONG": False,
        "JOINED": False,
        "UNBOUND": False,
        "EXACT": True,
        # Its template is counted with it.
        "prompt": True,
        "CHANGED": False,
    }


def test_a_prompt_that_no_variable_holds_is_not_counted_and_named(project: Path) -> None:
    (project / "good.py").write_text(
        COUNTED[: COUNTED.index("LONG")]
        + "def elsewhere(key):\n"
        + "    return PromptTemplate(ns='n', key='made', sections=[])\n"
        + "kept = PromptTemplate(ns='n', key='kept', sections=[])\n"
        + "PROMPTS = {'a': PromptTemplate(ns='n', key='a', sections=[]), 'b': kept}\n"
    )
    _, out, _ = run("tokens", project)
    assert (
        "not counted: 3 that no variable of a module holds, such as n/k of good.py (--json" in out
    )
    document = json.loads(run("tokens", project, "--json")[1])
    assert document["without_variable"] == [f"n/{key} of good.py" for key in ("k", "made", "a")]
    (project / "good.py").write_text(COUNTED)
    assert json.loads(run("tokens", project, "--json")[1])["without_variable"] == []


def test_overrides_of_a_prompt_that_is_not_there_are_named(project: Path) -> None:
    folder = project / ".foldline" / "prompts" / "overrides" / "n" / "gone"
    folder.mkdir(parents=True)
    (folder / "de.json").write_text("{}")
    status, out, _ = run("check", project, "--format", "concise")
    place = ".foldline/prompts/overrides/n/gone/de.json:1:1: error: "
    assert (status, f"{place}No prompt here is `n/gone`, so nothing reads" in out) == (1, True)
    # It may be the one whose key only running the code would tell.
    (project / "other.py").write_text(GOOD.replace('"demo"', "str(1)"))
    assert "n/gone" not in run("check", project)[1]


@pytest.mark.real
def test_a_count_without_what_code_computes_is_a_lower_bound_and_run_counts_it(
    project: Path,
) -> None:
    (project / "good.py").write_text(COUNTED)
    _, out, _ = run("tokens", project)
    long = """     ≥3  n/k  good.py:LONG  (without the text of `"word " * 20_000` in `one`; --run"""
    assert long in out
    assert "\n      ≥28  in 6 prompts" in out
    assert "  n/k  good.py:UNBOUND  (estimated from source; --run gives the exact count)\n" in out
    _, out, _ = run("tokens", project, "--json")
    static = json.loads(out)["prompts"]
    bounds = {name for name, one in static.items() if one["lower_bound"]}
    # What `**popped` holds may also fold the section.
    assert bounds == {f"good.py:{name}" for name in ("LONG", "JOINED")}
    assert static["good.py:CHANGED"]["unresolved"]
    _, ran, _ = run("tokens", project, "--run", "--json")
    executed = json.loads(ran)["prompts"]
    assert not any(one["lower_bound"] for one in executed.values())
    assert [name for name, one in executed.items() if not one["certain"]] == ["good.py:UNBOUND"]
    assert executed["good.py:EXACT"] == static["good.py:EXACT"]
    assert executed["good.py:EXACT"]["certain"]
    assert executed["good.py:LONG"]["tokens"] > 100 * static["good.py:LONG"]["tokens"]
    assert executed["good.py:JOINED"]["sections"]["one"]["tokens"] > 400


@pytest.mark.real
def test_a_baseline_of_run_prompts_sees_the_growth_of_a_computed_text(project: Path) -> None:
    (project / "good.py").write_text(COUNTED)
    baseline = project / "tokens.json"
    baseline.write_text(run("tokens", project, "--run", "--json")[1])
    grows = (project / "good.py").write_text(COUNTED.replace("20_000", "30_000"))
    assert grows
    status, out, _ = run("tokens", project, "--run", "--baseline", baseline)
    assert (status, "good.py:LONG grew from " in out) == (1, True)
    # What was counted from the source can't be compared with it.
    status, _, err = run("tokens", project, "--baseline", baseline)
    assert (status, "write it again" in err) == (2, True)


@pytest.mark.real
def test_chapters_are_counted_as_an_evaluation_sends_them(project: Path) -> None:
    chapters = """
chapters=[
    Chapter[None](title="More", key="more", sections=[
        MarkdownSection[None](title="Rules", key="rules", template="All of them.")]),
    Chapter[Params](title="Maybe", key="maybe", enabled=lambda p: p.name == "y", sections=[
        MarkdownSection[None](title="Others", key="others", template="And these.")]),
])
"""
    source = GOOD.replace("import MarkdownSection", "import Chapter, MarkdownSection")
    (project / "good.py").write_text(source.rstrip().removesuffix("])") + "], " + chapters.strip())
    for arguments in ((), ("--run",)):
        _, out, _ = run("tokens", project, "--json", *arguments)
        (counted,) = json.loads(out)["prompts"].values()
        assert list(counted["sections"]) == ["one", "two", "rules"]
        assert counted["sections"]["rules"]["number"] == "3"
        # Only running it tells that the other chapter stays closed.
        assert counted["lower_bound"] is (arguments == ())
        assert counted["undecided_chapters"] == ([] if arguments else ["maybe"])
    _, out, _ = run("tokens", project)
    assert "  (without the chapter `maybe`, which code may open; --run counts that)\n" in out


def test_growth_beyond_the_baseline_fails(project: Path) -> None:
    _, out, _ = run("tokens", project, "--json")
    baseline = project / "tokens.json"
    baseline.write_text(out)
    assert run("tokens", project, "--baseline", baseline)[0] == 0
    (project / "good.py").write_text(GOOD.replace("welcome", "welcome " * 10), encoding="utf-8")
    status, out, _ = run("tokens", project, "--baseline", baseline, "--max-growth", "5%")
    assert status == 1
    assert "good.py:PROMPT grew from " in out
    assert run("tokens", project, "--baseline", baseline, "--max-growth", "500%")[0] == 0


@pytest.mark.parametrize("path", ["good.py", "moved.py", "deep/er/good.py"])
@pytest.mark.parametrize("name", ["PROMPT", "RENAMED"])
@pytest.mark.parametrize("folder", [".", "deep"])
def test_growth_is_found_wherever_the_prompt_has_gone(
    project: Path, path: str, name: str, folder: str
) -> None:
    if folder == "deep" and not path.startswith("deep"):
        path = f"deep/{path}"
    baseline = project / "tokens.json"
    baseline.write_text(run("tokens", project, "--json")[1])
    (project / "good.py").unlink()
    (project / path).parent.mkdir(parents=True, exist_ok=True)
    text = GOOD.replace("welcome", "welcome " * 10).replace("PROMPT =", f"{name} =")
    (project / path).write_text(text, encoding="utf-8")
    status, out, _ = run("tokens", project / folder, "--baseline", baseline)
    assert status == 1
    assert f"{path}:{name} grew from " in out


def test_a_comparison_names_what_only_one_side_has(
    project: Path,
) -> None:
    other = GOOD.replace('"good"', '"other"')
    (project / "other.py").write_text(other)
    baseline = project / "tokens.json"
    baseline.write_text(run("tokens", project, "--json")[1])
    (project / "other.py").write_text(other.replace('"other"', '"third"').replace("PROMPT", "P"))
    status, out, _ = run("tokens", project, "--baseline", baseline)
    assert status == 0
    assert "In the baseline, and not among these: other.py:PROMPT\n" in out
    assert "New, not in the baseline: other.py:P\n" in out
    (project / "good.py").unlink()
    status, _, err = run("tokens", project, "--baseline", baseline)
    assert (status, "nothing to compare: none of the baseline's 2 prompts" in err) == (2, True)


def test_a_prompt_of_which_less_is_counted_now_does_not_pass(
    project: Path,
) -> None:
    baseline = project / "tokens.json"
    baseline.write_text(run("tokens", project, "--json")[1])
    partial = GOOD.replace('template="Hello', 'template=open("x").read() + "Hello')
    (project / "good.py").write_text(partial)
    status, out, _ = run("tokens", project, "--baseline", baseline, "--max-growth=900")
    told = """good.py:PROMPT may have grown: the text of `open("x").read()}Hello` in `one`"""
    assert (status, told in out, "compared without" in out) == (1, True, False)


_LATE = "MarkdownSection[Params](key='late', {}, enabled=lambda p: p.name)"
_PLAIN = _LATE.format("title='Late', template='A.'")
_UNRESOLVED = {
    "a handbook that is gone": (
        _LATE.format("title='Late', template=from_file('book.md')"),
        "the unread `from_file('book.md')` in `late`",
    ),
    "code in an optional section": (
        _LATE.format("title='Late', template=open('big').read()"),
        "the text that code makes in `late`",
    ),
    "a conditional import": (
        _LATE.format("title='Late', template=LATER"),
        "the text that code makes in `late`",
    ),
    "a section that an import may replace": ("EITHER", "what else `EITHER` may be"),
    "a title": (_LATE.format("title=LATER, template='A.'"), "the title of `late`"),
}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("pass", ""),
        ("def render(self): return None", "what overrides, or other code, make of the prompt"),
        ("def __init__(self, **all): super().__init__(**all)", "what overrides, or other code"),
    ],
)
def test_a_prompt_of_a_subclass_is_counted_and_checked(project: Path, body: str, told: str) -> None:
    before = json.loads(run("tokens", project, "--json")[1])["prompts"]["good.py:PROMPT"]
    ours = f"class Ours(PromptTemplate):\n    {body}\n\nPROMPT = Ours("
    (project / "good.py").write_text(GOOD.replace("PROMPT = PromptTemplate(", ours))
    after = json.loads(run("tokens", project, "--json")[1])["prompts"]["good.py:PROMPT"]
    assert after["tokens"] == before["tokens"]
    assert [one.startswith(told) for one in after["unresolved"]] == ([True] if told else [])
    assert not after["lower_bound"]
    (project / "good.py").write_text(
        GOOD.replace("PROMPT = PromptTemplate(", ours.replace("PROMPT = ", "ALL = [")).rstrip()
        + "]\n"
    )
    assert json.loads(run("tokens", project, "--json")[1])["without_variable"] == [
        "demo/good of good.py"
    ]
    (project / "good.py").write_text(GOOD.replace("PROMPT = PromptTemplate(", ours))
    text = (project / "good.py").read_text().replace("Hello ${name}", "Hello ${nobody}")
    (project / "good.py").write_text(text)
    status, out, _ = run("check", project)
    assert (status, "nobody" in out) == (1, True)


@pytest.mark.parametrize("what", _UNRESOLVED)
def test_what_cannot_be_counted_now_fails_by_name_and_the_same_as_before_is_told(
    project: Path, what: str
) -> None:
    section, part = _UNRESOLVED[what]
    head, prompt = GOOD.replace("import Markdown", "import from_file, Markdown").split("PROMPT =")
    head += (
        f"try:\n    from elsewhere import LATER\nexcept ImportError:\n    LATER = 'A.'\n"
        f"EITHER = {_PLAIN}\nif LATER:\n    from elsewhere import EITHER\n"
    )
    good, baseline = project / "good.py", project / "tokens.json"

    def write(shown: str) -> None:
        good.write_text(f"{head}PROMPT ={prompt.replace('sections=[', f'sections=[{shown}, ')}")

    write(_PLAIN)
    baseline.write_text(run("tokens", project, "--json")[1])
    write(section)
    status, out, _ = run("tokens", project, "--baseline", baseline, "--max-growth=900")
    assert (status, f"good.py:PROMPT may have grown: {part} isn't counted" in out) == (1, True)
    baseline.write_text(run("tokens", project, "--json")[1])
    status, out, _ = run("tokens", project, "--baseline", baseline)
    assert (status, f"good.py:PROMPT: compared without {part}; --run" in out) == (0, True)
    document = json.loads(run("tokens", project, "--json", "--baseline", baseline)[1])
    assert document["without"] == [{"prompt": "good.py:PROMPT", "parts": [part]}]
    # What it grew from says that it lacked a part.
    write(_PLAIN.replace("A.", "Words. " * 40))
    status, out, _ = run("tokens", project, "--baseline", baseline)
    assert (status, f"; before, without {part}\n" in out) == (1, True)


@pytest.mark.parametrize(
    ("baseline", "growth", "complaint"),
    [
        ("{}", "5%", "is not a baseline: write one with `foldline tokens --json > tokens.json`"),
        ("{", "5%", "is not a baseline: write one with `foldline tokens --json > tokens.json`"),
        ('{"encoding": "cl100k", "exact": false, "prompts": {}}', "5%", "write it again"),
        ("{}", "much", "takes a percentage"),
        ("{}", "-3%", "0% or more"),
    ],
)
def test_a_comparison_that_cannot_be_made_is_told(
    project: Path, baseline: str, growth: str, complaint: str
) -> None:
    # Nothing that is there is named as the file to write.
    file = project / "other.json"
    file.write_text(baseline)
    status, _, err = run("tokens", project, "--baseline", file, f"--max-growth={growth}")
    assert status == 2
    assert complaint in err


@pytest.mark.parametrize("count", [3, 9])
def test_each_instruction_file_is_read_twice_however_many_there_are(
    count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once as the document, and once as what clients load, or as a skill beside others."""
    rule = '---\npaths: "**/*.md"\n---\nRule {}: imports @b.md and itself.\n'
    skill = '---\nname: s{0}\ndescription: "Releases {0}"\n---\nSkill {0} is about releases.\n'
    for number in range(count):
        for path, text in {
            f".claude/rules/r{number}.md": rule.format(number),
            f".claude/skills/s{number}/SKILL.md": skill.format(number),
            f"p{number}/AGENTS.md": f"# Part {number}\n\nBe brief.\n",
        }.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text, encoding="utf-8")
    reads, read = Counter[Path](), reader.read_resolved

    def read_noted(path: str, limit: int, *, name: str) -> bytes:
        reads[tmp_path / name] += name.endswith(".md")
        return read(path, limit, name=name)

    for module in (reader, local):
        monkeypatch.setattr(module, "read_resolved", read_noted)
    assert run("check", tmp_path)[0] != 2
    assert set(+reads) == {*tmp_path.rglob("*.md")}
    assert max(reads.values()) <= 2, reads
