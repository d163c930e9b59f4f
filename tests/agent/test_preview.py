"""`foldline preview`, as a person and a program run it."""

import importlib
import json
import re
import runpy
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from foldline.prompts import OverridesStore
from foldline.prompts.adapters import render_for_evaluation
from foldline.prompts.adapters.anthropic import AnthropicAdapter
from foldline.prompts.adapters.openai import OpenAIAdapter
from foldline.prompts.adapters.openai_responses import OpenAIResponsesAdapter
from foldline.prompts.adapters.sdk import SdkAdapter

from .verbs import foldline

pytestmark = pytest.mark.real

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer" / "reviewer_prompt.py"


FOLDED_CHAPTER = """
from foldline.prompts import Chapter, MarkdownSection, PromptTemplate, SectionVisibility
p = PromptTemplate(ns="n", key="k", chapters=[Chapter[None](title="More", key="more", sections=[
    MarkdownSection[None](title="Rules", key="rules", template="All of them.", summary="Some.",
        visibility=SectionVisibility.SUMMARY)])])
"""
CHAPTERS = (
    "foldline preview: chapters: planning, performance open, as `evaluate` sends them; "
    "closed: incidents (its `enabled` returned False)\n"
)


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(EXAMPLE.parent)
    return importlib.import_module(EXAMPLE.stem)


preview = partial(foldline, "preview")


def test_a_prompt_is_shown_folded_and_opened() -> None:
    folded = preview(str(EXAMPLE))
    assert (folded.returncode, folded.stderr) == (0, CHAPTERS)
    assert "## 2. Reference Documentation" in folded.stdout
    assert "Security Rules" not in folded.stdout
    opened = preview(str(EXAMPLE), "--open-sections", "reference-docs")
    assert "### 2.1. Security Rules" in opened.stdout


def test_json_holds_blocks_and_tools() -> None:
    done = preview(f"{EXAMPLE}:examples/code-reviewer/review", "--json")
    answer = json.loads(done.stdout)
    assert "".join(block["text"] for block in answer["blocks"]) == answer["text"]
    assert answer["fidelity"] == "executed"


@pytest.mark.parametrize("suffix", [".json", ".toml"])
def test_values_come_from_a_file(tmp_path: Path, suffix: str) -> None:
    params = tmp_path / f"params{suffix}"
    text = '[CodeReviewTask]\nrequest = "Look."\n'
    if suffix == ".json":
        text = json.dumps({"CodeReviewTask": {"request": "Look."}})
    params.write_text(text, encoding="utf-8")
    done = preview(f"{EXAMPLE}:template", "--params", str(params))
    assert "Look." in done.stdout
    assert done.stderr == CHAPTERS


def test_a_value_that_was_made_up_is_named() -> None:
    done = preview(f"{EXAMPLE}:template")
    assert "CodeReviewTask.request was made up" in done.stderr


@pytest.mark.parametrize(
    ("target", "status", "words"),
    [
        ("nowhere.py", 2, "there is no such file"),
        (f"{EXAMPLE}:nothing", 2, "it has"),
        (f"{EXAMPLE}", 2, "did you mean"),
    ],
)
def test_what_cannot_be_shown_says_why(target: str, status: int, words: str) -> None:
    extra = ("--open-sections", "reference-dogs") if target == str(EXAMPLE) else ()
    done = preview(target, *extra)
    assert done.returncode == status
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_a_section_that_fails_is_named_and_the_others_are_shown(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.py"
    prompt.write_text(
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        "p = PromptTemplate(ns='n', key='k', sections=[\n"
        "    MarkdownSection[None](title='A', key='a', template='x', enabled=lambda: 1 / 0),\n"
        "    MarkdownSection[None](title='B', key='b', template='shown')])\n",
        encoding="utf-8",
    )
    done = preview(str(prompt))
    assert done.returncode == 1
    assert "## 2. B\n\nshown" in done.stdout
    assert "foldline preview: a: prompt.py:3: PromptRenderError" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    tree = preview(str(prompt), "--tree")
    assert (tree.returncode, tree.stderr) == (1, "")
    assert "ZeroDivisionError" in tree.stdout


def test_a_parameter_set_is_chosen_by_its_name(tmp_path: Path) -> None:
    params = tmp_path / "params.toml"
    params.write_text(
        '[CodeReviewTask]\nrequest = "Look."\n[sets.deep.CodeReviewTask]\nbackground = "depth"\n',
        encoding="utf-8",
    )
    done = preview(f"{EXAMPLE}:template", "--params", str(params), "--set", "deep")
    assert "Look." in done.stdout
    assert "depth" in done.stdout
    assert "depth" not in preview(f"{EXAMPLE}:template", "--params", str(params)).stdout
    wrong = preview(f"{EXAMPLE}:template", "--set", "shallow")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "There is no parameter set 'shallow'" in wrong.stderr
    near = preview(f"{EXAMPLE}:template", "--params", str(params), "--set", "dep")
    assert near.stderr.endswith("; did you mean 'deep'?\n")
    tree = preview(f"{EXAMPLE}:template", "--params", str(params), "--set", "deep", "--tree")
    assert " · deep · " in tree.stdout
    assert "\nOther values: --set " in tree.stdout


def test_each_prompt_of_a_module_has_the_sets_of_its_own_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    head = "from dataclasses import dataclass\nfrom foldline.prompts import *\n"
    parts = [
        f"@dataclass(frozen=True)\nclass {kind}:\n    x: str\n"
        f"{name} = PromptTemplate(ns='t', key='{name}', sections=["
        f"MarkdownSection[{kind}](title='T', key='t', template='{name} ${{x}}')])\n"
        f"def preview_{kind.lower()}():\n    return {kind}('{kind}')\n"
        for name, kind in (("first", "P"), ("second", "Q"))
    ]
    (tmp_path / "m.py").write_text(head + "".join(parts), encoding="utf-8")
    alone = preview("m.py")
    assert alone.stdout.endswith("first P\n")
    assert alone.stderr == "foldline preview: second: not shown; name one as m.py:second\n"
    named = preview("m.py:second")
    assert (named.stdout.endswith("second Q\n"), named.stderr) == (True, "")
    assert preview("m.py:second", "--compare-sets").stdout.split("\n")[0].split() == ["q"]
    counted = foldline("tokens", "--run", "m.py")
    assert (counted.returncode, "in 2 prompts" in counted.stdout) == (0, True)
    # Values that no prompt takes are no other prompt's.
    (tmp_path / "m.py").write_text(head + "".join(parts).replace("return Q", "return str"))
    assert "returns 'Q'; return an instance of a dataclass" in preview("m.py:second").stderr
    (tmp_path / "m.py").write_text(head + parts[0].replace("return P('P')", "return {'x': 'y'}"))
    assert "returns {'x': 'y'}; return an instance of a dataclass" in preview("m.py").stderr
    (tmp_path / "m.py").write_text(head + parts[0].replace("first ${", "{x} ${"))
    assert "preview: m.py:6: `{x}` is another template language" in preview("m.py").stderr


def test_overrides_are_shown_by_their_tag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    section = 'MarkdownSection[P](title="Hi", key="hi", template="Hello ${name}.")'
    (tmp_path / "p.py").write_text(
        "from dataclasses import dataclass\nfrom foldline.prompts import *\n"
        "@dataclass(frozen=True)\nclass P:\n    name: str = 'Ada'\n"
        f"t = PromptTemplate(ns='n', key='k', sections=[{section}])\n",
        encoding="utf-8",
    )
    store, template = OverridesStore(tmp_path), runpy.run_path("p.py")["t"]
    for tag, text in (("de", "Hallo ${name}."), ("fr", "Salut ${nom}.")):
        file = store.seed(template, tag=tag)
        file.write_text(file.read_text("utf-8").replace("Hello ${name}.", text), "utf-8")
    assert preview("p.py", "--tag", "de-CH").stdout.endswith("Hallo Ada.\n")
    request = preview("p.py", "--tag", "de", "--as", "openai")
    assert "Hallo Ada." in request.stdout
    broken = preview("p.py", "--tag", "fr")
    assert (broken.returncode, "Hello Ada." in broken.stdout) == (1, True)
    assert "hi: the override fr: Section 'hi': the placeholder `${nom}`" in broken.stderr
    missing = preview("p.py", "--tag", "it")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert "it: the override it: there are no such overrides" in missing.stderr
    # A request isn't shown with the declared text instead.
    request = preview("p.py", "--tag", "fr", "--as", "openai")
    assert (request.returncode, request.stdout) == (2, "")
    assert "hi: the override fr: " in request.stderr
    assert "leave --tag out" in preview("p.py", "--tag", "de", "--serve").stderr


def test_a_prompt_is_compared_with_a_revision(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.py"
    text = (
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        "p = PromptTemplate(ns='n', key='k', sections=[\n"
        "    MarkdownSection[None](title='A', key='a', template='before')])\n"
    )
    prompt.write_text(text, encoding="utf-8")
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "one"],
    ):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    same = preview(str(prompt), "--diff", "HEAD").stdout
    assert same == "No change since HEAD: 7 tokens with tools\n"
    prompt.write_text(text.replace("before", "before and after"), encoding="utf-8")
    done = preview(str(prompt), "--diff", "HEAD")
    assert done.returncode == 0
    assert "-before\n+before and after\n" in done.stdout
    assert "~ a: +2 tokens\n" in done.stdout
    assert done.stdout.endswith("+2 tokens with tools (7 → 9)\n")
    for revision, complaint in (
        ("nowhere", "has no revision 'nowhere'"),
        ("", "'' is not the name of a revision"),
        ("--", "'' is not the name of a revision"),
        ("HEAD...HEAD", "two revisions are compared as REV..REV"),
    ):
        unknown = preview(str(prompt), f"--diff={revision}")
        assert (unknown.returncode, unknown.stdout) == (2, "")
        assert complaint in unknown.stderr
    prompt.write_text(text.replace("p =", "q ="), encoding="utf-8")
    renamed = preview(f"{prompt}:q", "--diff", "HEAD").stderr
    assert "at HEAD: prompt has no prompt 'q'; it has p; a renamed variable is found by" in renamed
    assert preview(f"{prompt}:n/k", "--diff", "HEAD").returncode == 0
    moved = prompt.rename(tmp_path / "moved.py")
    assert "moved.py is not in HEAD: a renamed file" in preview(str(moved), "--diff=HEAD").stderr


def test_the_sets_that_are_not_looked_at_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = tmp_path / "prompt.py"
    prompt.write_text(
        "from dataclasses import dataclass\n"
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        "@dataclass(frozen=True)\nclass C:\n    name: str = ''\n"
        "p = PromptTemplate(ns='n', key='k', sections=[\n"
        "    MarkdownSection[C](title='A', key='a', template='Hi ${name}.')])\n"
        "def preview_a(): return C('a')\ndef preview_b(): return C('b')\n",
        encoding="utf-8",
    )
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-qm", "one"],
    ):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)
    assert preview(str(prompt), "--diff=HEAD").stdout.splitlines()[1:] == [
        "With the set `a`; not compared: b."
    ]
    answer = json.loads(preview(str(prompt), "--diff=HEAD", "--set=b", "--json").stdout)
    assert answer["caveat"] == "With the set `b`; not compared: a."
    monkeypatch.chdir(tmp_path)
    assert "(with the set `a`; not: b)" in foldline("tokens", "--run").stdout
    counted = json.loads(foldline("tokens", "--run", "--json").stdout)["prompts"]["prompt.py:p"]
    assert (counted["parameter_set"], counted["other_sets"]) == ("a", ["b"])


def test_watching_shows_it_again_when_it_or_what_it_imports_changes(tmp_path: Path) -> None:
    module, texts = tmp_path / "prompt.py", tmp_path / "texts.py"
    texts.write_text('BODY = "One."\n', encoding="utf-8")
    source = (
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        "from texts import BODY\n"
        'only = MarkdownSection[None](title="Only", key="only", template=BODY)\n'
        'prompt = PromptTemplate(ns="demo", key="demo", sections=[only])\n'
    )
    module.write_text(source, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "-m", "foldline.agent", "preview", "prompt.py", "--watch"],
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            heading = ["## 1. Only\n", "\n"]
            assert [process.stdout.readline() for _ in range(3)] == [*heading, "One.\n"]
            # Touched again until it is noticed: the files are watched only after the first text.
            touching = threading.Event()
            touch = threading.Thread(
                target=lambda: keep_writing(texts, 'BODY = "Two."\n', touching), daemon=True
            )
            touch.start()
            assert [process.stdout.readline() for _ in range(4)] == ["\n", *heading, "Two.\n"]
            touching.set()
            touch.join()
            module.write_text(f"{source}broken = (\n", encoding="utf-8")
            while "isn't Python" not in (line := process.stderr.readline()):
                assert line
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
            assert "Traceback" not in process.stderr.read()
        finally:
            process.kill()


def keep_writing(file: Path, text: str, until: threading.Event) -> None:
    """Write `text` to `file` every now and then."""
    while not until.wait(0.3):
        file.write_text(text, encoding="utf-8")


def test_chapters_are_open_as_an_evaluation_sends_them(example: ModuleType) -> None:
    """What the preview shows is what `evaluate` sends by default, and it says so."""
    sent = render_for_evaluation(example.reviewer).text
    shown = preview(f"{EXAMPLE}:reviewer")
    assert (shown.stdout, shown.stderr) == (f"{sent}\n", CHAPTERS)
    tree = preview(f"{EXAMPLE}:reviewer", "--tree").stdout
    assert "\nChapters: planning, performance open, as `evaluate` sends them; closed: inc" in tree
    assert "\nWith Fit · 8k, 32k, 200k: everything fits\n" in tree
    closed = preview(f"{EXAMPLE}:reviewer", "--chapter", "none")
    assert closed.stdout == f"{example.reviewer.render().text}\n"
    assert "chapters: none open; closed: planning, performance, incidents (" in closed.stderr


def test_chapters_are_opened_where_they_may() -> None:
    opened = preview(f"{EXAMPLE}:reviewer", "--chapter", "planning", "--chapter", "incidents")
    assert "Plan First" in opened.stdout
    assert "400 ms" not in opened.stdout
    assert opened.returncode == 1
    assert "planning open; closed: performance, incidents (its `enabled` returned" in opened.stderr
    assert "there is no chapter 'plan'" in preview(str(EXAMPLE), "--chapter", "plan").stderr


@pytest.mark.parametrize(
    ("provider", "adapter"),
    [
        ("anthropic", AnthropicAdapter),
        ("openai", OpenAIAdapter),
        ("openai-responses", OpenAIResponsesAdapter),
    ],
)
def test_the_request_of_an_evaluation_is_shown(
    provider: str,
    adapter: type[SdkAdapter[Any]],
    example: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    done = preview(f"{EXAMPLE}:reviewer", "--as", provider, "--model", "m")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == adapter("m").request(example.reviewer)
    looped = preview(f"{EXAMPLE}:reviewer", "--as", provider, "--model", "m", "--loop")
    assert json.loads(looped.stdout) == adapter("m").request(example.reviewer, loop=True)
    assert looped.stdout != done.stdout
    assert "--loop goes with --as" in preview(str(EXAMPLE), "--loop").stderr
    chosen = preview(
        f"{EXAMPLE}:template",
        "--as",
        provider,
        "--chapter",
        "none",
        "--open-sections",
        "reference-docs",
    )
    assert "CodeReviewTask.request was made up: give --params" in chosen.stderr
    assert "the model is a placeholder: name one with --model" in chosen.stderr
    assert "Security Rules" in chosen.stdout
    assert "Plan First" not in chosen.stdout


def test_a_request_that_needs_the_sdk_names_the_extra(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.py"
    prompt.write_text(
        "import sys\n"
        "from dataclasses import dataclass\n"
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        "sys.modules['anthropic'] = sys.modules['openai'] = None\n"
        "@dataclass(frozen=True)\n"
        "class Answer:\n"
        "    text: str\n"
        "p = PromptTemplate[Answer](ns='n', key='k', sections=[\n"
        "    MarkdownSection[None](title='A', key='a', template='x')])\n",
        encoding="utf-8",
    )
    for provider in ("openai", "openai-responses"):
        assert preview(str(prompt), "--as", provider).returncode == 0
    done = preview(str(prompt), "--as", "anthropic")
    assert done.returncode == 2
    assert "AnthropicAdapter needs the package 'anthropic'" in done.stderr
    assert "install foldline[anthropic]" in done.stderr


def test_a_terminal_sees_where_a_message_ends_and_a_pipe_the_text_alone(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.py"
    prompt.write_text(
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        "a, b = (MarkdownSection[None](title=t, key=t.lower(), template='x') for t in 'AB')\n"
        "p = PromptTemplate(ns='n', key='k', system=[a], sections=[b])\n"
        "one = PromptTemplate(ns='n', key='one', sections=[a, b])\n",
        encoding="utf-8",
    )
    text = "## 1. A\n\nx\n\n## 2. B\n\nx\n"
    assert preview(f"{prompt}:p").stdout == preview(f"{prompt}:p", "--text").stdout == text
    marked = "── system ──\n## 1. A\n\nx\n\n── user ──\n## 2. B\n\nx\n"
    assert on_a_terminal(f"{prompt}:p", "--text") == marked
    assert on_a_terminal(f"{prompt}:one", "--text") == text


def on_a_terminal(*arguments: str, columns: int = 80) -> str:
    """The output of a preview, as on a terminal without colours."""
    done = preview(*arguments, environment={"FORCE_COLOR": "1", "COLUMNS": str(columns)})
    return re.sub("\x1b\\[[0-9;]*m", "", done.stdout)


def test_a_summarized_section_of_an_open_chapter_is_opened(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.py"
    prompt.write_text(FOLDED_CHAPTER, encoding="utf-8")
    for chapters in ((), ("--chapter", "more")):
        opened = preview(str(prompt), *chapters, "--open-sections", "rules")
        assert (opened.returncode, opened.stdout) == (0, "## 1. Rules\n\nAll of them.\n")
    closed = preview(str(prompt), "--chapter", "none", "--open-sections", "rules")
    assert "no section is summarized" in closed.stderr


def test_json_says_what_a_cache_can_keep() -> None:
    example = EXAMPLE.parents[1] / "prompts" / "support_bot.py"
    answer = json.loads(preview(str(example), "--json").stdout)
    assert [block.get("role", "user") for block in answer["blocks"]] == 2 * ["system"] + 4 * [
        "user"
    ]
    [passages] = [block for block in answer["blocks"] if block["key"] == "passages"]
    assert {segment.get("stability") for segment in passages["segments"]} == {None, "request"}
    marks = answer["cache"]["breakpoints"]
    assert [(mark["part"], mark["stability"]) for mark in marks] == [
        ("user", "deployment"),
        ("user", "session"),
    ]
    assert answer["cache"]["sentence"].startswith("Too short to cache (")


SETS = """
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate

@dataclass(frozen=True)
class Who:
    name: str

p = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[Who](title="Name", key="name", template="You help ${name}."),
    MarkdownSection[Who](title="Rules", key="rules", template="Be kind.",
        enabled=lambda params: params.name != "Bob"),
])

def preview_ada():
    return Who("Ada")

def preview_bob():
    return Who("Bob")
"""


def test_all_sets_are_shown_side_by_side(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.py"
    prompt.write_text(SETS, encoding="utf-8")
    done = preview(str(prompt), "--compare-sets")
    assert (done.returncode, done.stderr) == (0, "")
    heading, name, rules, total, _ = done.stdout.splitlines()
    assert heading.split() == ["ada", "bob"]
    assert re.fullmatch(r"Name +\d+ +\d+\*", name)
    assert re.fullmatch(r"Rules +\d+ +off\*", rules)
    assert re.fullmatch(r"Total +\d+ +\d+\*", total)
    found = json.loads(preview(str(prompt), "--compare-sets", "--json").stdout)
    assert [one["name"] for one in found["sets"]] == ["ada", "bob"]
    totals = [str(one["tokens"]["total"]) for one in found["sets"]]
    assert totals == re.findall(r"\d+", total)
    refused = preview(str(prompt), "--compare-sets", "--set", "bob")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--compare-sets shows every parameter set: leave --set out" in refused.stderr


def test_the_budget_of_the_project_is_kept_in_every_form(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.py"
    prompt.write_text(SETS, encoding="utf-8")
    options = "[tool.foldline]\ntoken-budget = 5\n"
    (tmp_path / "pyproject.toml").write_text(options, encoding="utf-8")
    assert re.search(r" of 5 tokens \(\d+ over\)\n", preview(str(prompt), "--tree").stdout)
    assert json.loads(preview(str(prompt), "--json").stdout)["token_budget"] == 5
    assert preview(str(prompt), "--compare-sets").stdout.count(" over budget") == 2


def test_opening_costs_the_same_on_the_command_line_as_in_an_editor() -> None:
    guide = (EXAMPLE.parents[2] / "docs" / "neovim.md").read_text(encoding="utf-8")
    found = re.search(r" 59 tokens, (\+\d+ if opened)", guide)
    assert found is not None
    assert found[1] in preview(f"{EXAMPLE}:reviewer", "--tree").stdout


def test_a_set_that_fails_is_named_below_the_table(tmp_path: Path) -> None:
    prompt = tmp_path / "prompt.py"
    prompt.write_text(f"{SETS}\ndef preview_carl():\n    return Who(1 / 0)\n", encoding="utf-8")
    done = preview(str(prompt), "--compare-sets")
    assert done.returncode == 1
    assert "carl: prompt.py:22: ZeroDivisionError: division by zero" in done.stdout
    assert "Total" in done.stdout
    one = preview(str(prompt), "--set", "carl")
    assert "prompt.py:22: ZeroDivisionError: division by zero (in preview_carl())" in one.stderr


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_of_sets_fits_the_terminal(tmp_path: Path, columns: int) -> None:
    prompt = tmp_path / "prompt.py"
    more = (f"def preview_customer_number_{n}():\n    return Who('{n}')\n" for n in range(12))
    prompt.write_text(SETS + "\n".join(more), encoding="utf-8")
    lines = on_a_terminal(str(prompt), "--compare-sets", columns=columns).splitlines()
    assert columns - 20 < max(map(len, lines)) <= columns
    assert sum(line.startswith("Total") for line in lines) > 1


def test_a_page_is_saved_with_each_sets_own_values(tmp_path: Path) -> None:
    prompt, values, out = tmp_path / "prompt.py", tmp_path / "values.json", tmp_path / "out.html"
    prompt.write_text(SETS, encoding="utf-8")
    sets = {"eve": {"Who": {"name": "Eve"}}, "sam": {"Who": {"name": "Sam"}}}
    values.write_text(json.dumps({"sets": sets}), encoding="utf-8")
    arguments = (str(prompt), "--params", str(values), "--html", str(out), "--set", "sam")
    for _ in ("new", "again"):
        done = preview(*arguments)
        assert (done.returncode, done.stdout, done.stderr) == (0, f"{out}\n", "")
    written = re.search(r'id="saved">(.*)</script>', out.read_text(encoding="utf-8"))
    assert written is not None
    saved = json.loads(written[1])
    assert (saved["shown"], list(saved["states"])) == ("sam", ["ada", "bob", "eve", "sam"])
    texts = [saved["blocks"][state["blocks"][0]]["text"] for state in saved["states"].values()]
    assert [text.split()[-1] for text in texts] == ["Ada.", "Bob.", "Eve.", "Sam."]


def test_a_saved_page_names_no_folder(tmp_path: Path) -> None:
    prompt, out = tmp_path / "prompt.py", tmp_path / "out.html"
    lost = "\n\ndef preview_lost():\n    return Who(open(__file__ + '.data').read())\n"
    prompt.write_text(SETS + lost, encoding="utf-8")
    assert preview(str(prompt), "--html", str(out)).returncode == 1
    page = out.read_text(encoding="utf-8")
    assert "No such file or directory: 'prompt.py.data'" in page
    assert str(tmp_path) not in page


def test_values_of_a_file_are_added_to_each_set(tmp_path: Path) -> None:
    prompt, values = tmp_path / "prompt.py", tmp_path / "values.json"
    prompt.write_text(SETS, encoding="utf-8")
    sets = {"eve": {"Who": {"name": "Eve and all of the others"}}}
    values.write_text(json.dumps({"Who": {"name": "Ann"}, "sets": sets}), encoding="utf-8")
    done = preview(str(prompt), "--params", str(values), "--compare-sets", "--json")
    totals = {one["name"]: one["tokens"]["total"] for one in json.loads(done.stdout)["sets"]}
    assert totals["eve"] > min(totals.values())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "adda"), "there is no parameter set 'adda'; there is ada, bob"),
        (("--html", "nowhere/out.html"), "nowhere/out.html: No such file or directory"),
        (("--html", "{}/prompt.py"), "prompt.py exists, and isn't a saved preview"),
        (("--html", "{}/link.html"), "link.html exists, and isn't a saved preview"),
    ],
)
def test_a_page_that_cannot_be_saved_says_why(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    prompt = tmp_path / "prompt.py"
    prompt.write_text(SETS, encoding="utf-8")
    (tmp_path / "link.html").symlink_to(tmp_path / "missing.html")
    given = (argument.format(tmp_path) for argument in arguments)
    done = preview(str(prompt), "--html", str(tmp_path / "out.html"), *given)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert prompt.read_text(encoding="utf-8") == SETS
    assert not (tmp_path / "missing.html").exists()
