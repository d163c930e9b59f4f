"""The types that the library promises, as mypy, ty and basedpyright see them."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.real

ROOT = Path(__file__).parents[2]
CASES = Path(__file__).with_name("typing_cases.py")
PROGRAMS = Path(__file__).with_name("programs")

WRONG = """\
from dataclasses import dataclass
from foldline.prompts import EachSection, MarkdownSection, PromptTemplate, SectionVisibility, Tool
from foldline.prompts import Example, ExamplesSection, ToolContext, ToolResult


@dataclass
class Name:
    name: str


@dataclass
class Other:
    number: int = 3


def handler(params: Name, *, context: ToolContext) -> ToolResult[str]:
    return ToolResult(value=params.name)


def visibility(params: Other) -> SectionVisibility:
    return SectionVisibility.FULL


MarkdownSection[Name](title="T", key="t", template="x", enabled=lambda p: p.nmae == "x")  # wrong
MarkdownSection[Name](title="T", key="t", template="x", default_params=Other())  # wrong
MarkdownSection[Name](title="T", key="t", template="x", visibility=visibility)  # wrong
Tool[Other, str](name="t", description="x", handler=handler)  # wrong
EachSection[None, Name](title="T", key="t", items=[Other()], template="x")  # wrong
ExamplesSection[None, str, Name](items=[Example("a", 3)])  # wrong
PromptTemplate(ns="n", key="k", sections=[3])  # wrong
PromptTemplate(ns="n", sections=[])  # wrong
"""

CHECKERS = {
    "mypy": ["mypy", "--strict", "--no-error-summary", "--cache-dir={cache}"],
    "ty": ["ty", "check", "--output-format=concise", "--extra-search-path=prompts"],
    "basedpyright": ["basedpyright", "--level=error", "--project", "{cache}"],
}


def check(checker: str, path: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    paths = [str(ROOT / "prompts"), str(ROOT / "plugins")]
    (cache / "pyrightconfig.json").write_text(
        json.dumps({"extraPaths": paths, "typeCheckingMode": "strict"})
    )
    name, *arguments = [argument.format(cache=cache) for argument in CHECKERS[checker]]
    return subprocess.run(
        [str(Path(sys.executable).parent / name), *arguments, str(path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


@pytest.mark.parametrize("checker", CHECKERS)
def test_every_checker_understands_the_api(checker: str, tmp_path: Path) -> None:
    result = check(checker, CASES, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_programs_of_users_are_strictly_typed(checker: str, tmp_path: Path) -> None:
    result = check(checker, PROGRAMS, tmp_path)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("program", sorted(PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_programs_of_users_run(program: Path) -> None:
    runpy.run_path(str(program), run_name="__main__")


@pytest.mark.parametrize("checker", CHECKERS)
def test_every_checker_sees_what_is_wrong(checker: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text(WRONG)
    result = check(checker, path, tmp_path)
    lines = WRONG.splitlines()
    wrong = {number for number, line in enumerate(lines, start=1) if line.endswith("# wrong")}
    reported = {
        number
        for number in range(1, len(lines) + 1)
        if f"wrong.py:{number}:" in result.stdout.replace("\\", "/")
    }
    assert reported == wrong, result.stdout + result.stderr


def test_the_cases_hold_at_run_time() -> None:
    namespace: dict[str, object] = {"__name__": "typing_cases"}
    code = compile(CASES.read_text(encoding="utf-8"), str(CASES), "exec")
    module = type(sys)("typing_cases")
    sys.modules["typing_cases"] = module
    try:
        namespace = module.__dict__
        exec(code, namespace)
    finally:
        del sys.modules["typing_cases"]
    assert namespace["answer"] is not None
