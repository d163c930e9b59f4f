"""The pages make sense to a reader: in one piece, with links that lead on and names that exist."""

import argparse
import ast
import re
import runpy
import tomllib
from functools import cache
from pathlib import Path

import pytest

from foldline.agent.cli import Listing, add_verbs
from foldline.backends import AsyncSmartFileAccess, SmartFileAccess

from .reading import CODE, Page, problems, slugs

ROOT = Path(__file__).parents[2]
SITE = runpy.run_path(str(ROOT / "docs/conf.py"))["include_patterns"]
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for pattern in (*SITE, "README.md")
    for page in ROOT.glob(pattern.replace("**.md", "**/*.md"))
    # The reference is made when the site is built.
    if "reference" not in page.parts
    if "node_modules" not in page.parts
)
SOURCES = {".py", ".ts", ".mjs", ".js", ".lua", ".json", ".toml", ".yml", ".html", ".css", ".cfg"}
# In the prose, and neither in a source of ours nor in a block of the page.
OTHERS_NAMES = {
    # Pydantic's.
    "RootModel",
    # The names that clients give to our tools.
    *("mcp__foldline", "mcp_foldline_get_tree"),
    # Django's, in an example of what a name alone can't tell.
    *("HttpResponse", "ImproperlyConfigured"),
    # What specifications call things, in the words of their demands.
    *("template_or_prompt", "find_code_definitions", "extract_file_imports"),
    *("ANTHROPIC_API_KEY", "claude_desktop_config", "SSL_CERT_FILE"),
}
# Options of other programs. What stands alone in backticks is otherwise one of foldline's.
OTHERS_OPTIONS = {
    *("--amdgpu-arch-tool", "--compile-commands-dir", "--enable-config", "--query-driver"),
}

_LINK = re.compile(r"\]\((?!\w+:)([^)\s#]*)(?:#([^)\s]+))?\)")
_NAME = re.compile(r"[A-Za-z_][\w.]*(?:\(.*\))?")
_LOOKS_MADE = re.compile(r"_|[a-z][A-Z]")
_TYPED = re.compile(r"^\$ ((?:.*\\\n)*.*)$", re.MULTILINE)
_FOLDLINE = re.compile(r"\s*(?:uvx |uv run )?foldline ([a-z][\w-]*)(.*)", re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
_EXTRA = re.compile(r"\bextras? ((?:`[\w-]+`(?:, and |, | and | or )?)+)")


def page(name: str) -> Page:
    return Page(name, (ROOT / name).read_text(encoding="utf-8"))


@cache
def sources() -> str:
    """What ships, and the names of all files."""
    tops = ("prompts", "backends", "server", "plugins", "editors", "release", "examples")
    files = [file for top in tops for file in (ROOT / top).rglob("*")]
    files += [
        ROOT / "pyproject.toml",
        ROOT / "action.yml",
        ROOT / "tests" / "security" / "risks.py",
        *(ROOT / "docs").glob("*.py"),
        *(ROOT / "docs" / "deploy").iterdir(),
    ]
    texts = [
        file.read_text(encoding="utf-8")
        for file in files
        if file.suffix in SOURCES and "node_modules" not in file.parts
    ]
    return "\n".join([*texts, *(file.name for file in (ROOT / "tests").rglob("*"))])


@cache
def words() -> set[str]:
    return set(re.findall(r"\w+", sources()))


@cache
def options() -> dict[str, set[str]]:
    parser = argparse.ArgumentParser(prog="foldline")
    verbs = parser.add_subparsers()
    add_verbs(Listing(verbs))
    found = {name: set(verb._option_string_actions) for name, verb in verbs.choices.items()}
    return {**found, "help": set()}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_reads_well(name: str) -> None:
    found = problems(name, (ROOT / name).read_text(encoding="utf-8"))
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    for block in page(name).blocks:
        if block.info is not None:
            continue
        for path, anchor in _LINK.findall(CODE.sub("", block.text)):
            target = (ROOT / name).parent / path if path else ROOT / name
            assert target.exists(), f"{name}:{block.line} links to {path}"
            if path.endswith(".md") and name != "README.md":
                there = target.resolve().relative_to(ROOT).as_posix()
                assert there in PAGES, f"{name}:{block.line}: docs/conf.py has no {there}"
            if anchor:
                text = target.read_text(encoding="utf-8")
                assert anchor in slugs(Page(path, text)), f"{name}:{block.line}: #{anchor}"


@pytest.mark.parametrize("name", PAGES)
def test_the_names_of_a_page_exist(name: str) -> None:
    read = page(name)
    known = words() | OTHERS_NAMES
    # What the page's programs define, and the files that it has its reader write.
    own = [*(block.text for block in read.fenced), *re.findall(r"`([\w./]+)`:\n\n```", read.text)]
    known |= {word for text in own for word in re.findall(r"\w+", text)}
    for line, code in read.codes:
        if _NAME.fullmatch(code) and (_LOOKS_MADE.search(code) or code.startswith("foldline.")):
            missing = set(re.findall(r"\w+", code.partition("(")[0])) - known
            assert not missing, f"{name}:{line}: nothing is called {missing} of `{code}`"


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_of_a_page_exist(name: str) -> None:
    read = page(name)
    typed = [
        (block.line, command)
        for block in read.fenced
        for command in (_TYPED.findall(block.text) if block.info == "console" else ())
    ]
    for line, code in (*read.codes, *typed):
        # Quoted words are values.
        for command in re.split(r"&&|\||;", re.sub(r"\"[^\"]*\"|'[^']*'", "X", code)):
            if found := _FOLDLINE.match(command):
                verb, rest = found[1], found[2].partition(" #")[0]
                assert verb in options(), f"{name}:{line}: there is no `foldline {verb}`"
                unknown = set(_OPTION.findall(rest)) - options()[verb]
                assert not unknown, f"{name}:{line}: `foldline {verb}` has no {unknown}"
            elif command.startswith("--") and (option := _OPTION.match(command)):
                known = {*OTHERS_OPTIONS, *set().union(*options().values())}
                assert option[0] in known or option[0] in sources(), f"{name}:{line}: {code}"


@pytest.mark.parametrize("name", PAGES)
def test_the_extras_of_a_page_exist(name: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / name).read_text(encoding="utf-8")
    named = [
        extra
        for names in re.findall(r"foldline\[([a-z\d,]+)\]", text)
        for extra in names.split(",")
    ]
    named += [extra for names in _EXTRA.findall(text) for extra in re.findall(r"[\w-]+", names)]
    assert set(named) - {"and", "or"} <= set(project["optional-dependencies"])


def test_symptoms_are_told_in_the_words_of_the_product() -> None:
    # Two strings that stand one behind the other are one.
    said = re.sub(r"[\"']\s*\n\s*f?[\"']", "", sources())
    rows = re.findall(r"^\| (.+?) \| .+ \| .* \|$", page("docs/symptoms.md").text, re.MULTILINE)
    seen = [
        part.strip()
        for row in rows
        for _, words in CODE.findall(row)
        for part in words.split("…")
        if " " in words
    ]
    shells = {"foldline: command not found"}
    assert len(seen) > 20
    assert [words for words in seen if words not in said and words not in shells] == []


@pytest.mark.parametrize("kind", [SmartFileAccess, AsyncSmartFileAccess])
def test_every_method_that_reads_code_is_in_the_reference(kind: type) -> None:
    made = runpy.run_path(str(ROOT / "docs/make_reference.py"))
    module = kind.__module__.rpartition(".")[2]
    tree = ast.parse((made["BACKENDS"] / f"{module}.py").read_text(encoding="utf-8"))
    text = made["page"](made["BACKENDS"], module, tree)
    shown = re.findall(
        rf"^### {kind.__name__}\.(\w+)\n\n(?:```python\n(?:await )?\1\(|`\1)", text, re.M
    )
    assert sorted(shown) == [name for name in dir(kind) if not name.startswith("_")]


def test_the_documentation_stays_one_that_can_be_read() -> None:
    words = sum(len(file.read_text("utf-8").split()) for file in (ROOT / "docs").glob("*.md"))
    assert words <= 45_000


def found(text: str, name: str = "page.md") -> str:
    (problem,) = problems(name, text)
    return problem.removeprefix(f"{name}:")


LONG = "A sentence of more than sixty characters, which nobody would write twice on a page."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("Text.\n", "1: the page doesn't begin with its title"),
        (f"# A\n\n{'x' * 24_000}\n", "1: 24,006 bytes are too much to read: split it"),
        ("# A\n\n```text\na\n", "3: the fence isn't closed"),
        ("# A\n\n```text\n```\n", "3: the block is empty"),
        ("# A\n\n```py\na\n```\n", "3: no block has the language 'py'"),
        ("# A\n\nThis is ```text\n", "3: a backtick or a fence is inside of the text"),
        ("# A\n\nfrom a import b\n", "3: code stands outside of a block: from a import b"),
        ('# A\n\nThis is\n"""A module."""\n', '4: code stands outside of a block: """A module."""'),
        ("# A\n\n# B\n", "3: a second title: B"),
        ("# A\n\n### B\n", "3: a heading skips a level: B"),
        ("# A\n\n## B\n\n## B\n", "5: the heading is there already: B"),
        (f"# A\n\n{LONG}\n\n{LONG}\n", f"5: this is at line 3 already: {LONG[:60]}…"),
        (
            f"# A\n\n```\n{LONG}\n```\n\n```\n{LONG}\n```\n",
            f"7: this is at line 3 already: {LONG[:60]}…",
        ),
        (
            "# A\n\nMade by `make.py`; don't edit it.\n",
            "3: this is for who writes the page, not for who reads it: don't edit",
        ),
    ],
)
def test_what_stops_a_reader_is_found(text: str, problem: str) -> None:
    assert found(text) == problem


def test_what_only_writers_see_is_no_problem() -> None:
    text = "<!-- Made by `make.py`; don't edit it. -->\n# A\n\n````text\n```\n````\n\n`` ` ``\n"
    assert problems("page.md", f"{text}\n## B\n\n### C\n\n## D\n\n### C\n") == []


def test_a_module_pasted_between_two_letters_is_found() -> None:
    """As a generator once did that replaced nothing by what a file has."""
    module = '"""A module."""\n\nfrom dataclasses import dataclass\n\n\nclass A:\n    """One."""\n'
    lines = "\n".join(problems("page.md", f"# A\n\nThis is {module}{module.join('`a.py`.')}\n"))
    assert "code stands outside of a block: from dataclasses import dataclass" in lines
    assert "this is at line" in lines or "a backtick or a fence is inside" in lines
