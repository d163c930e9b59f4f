"""What differs between two versions of a prompt: of a preview, and of git."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.repositories import git

from foldline.ide.errors import RevisionError
from foldline.ide.previews.session import MAX_BYTES, MAX_VERSIONS, History
from foldline.ide.render.diff import Side
from foldline.ide.render.render import Block, Render
from foldline.ide.render.revisions import Tree

from .viewer import View, Viewer

pytestmark = pytest.mark.real

PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility
from words.body import BODY

first = MarkdownSection[None](title="First", key="first", template="One.")
second = MarkdownSection[None](
    title="Second", key="second", template=BODY, summary="S.",
    visibility=SectionVisibility.SUMMARY)
both = PromptTemplate(ns="demo", key="both", sections=[first, second])
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits: the second changes an import and adds a section; neither is on disk."""
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "words").mkdir()
    (tmp_path / "words" / "__init__.py").write_text("", encoding="utf-8")
    (tmp_path / "words" / "body.py").write_text("BODY = 'Old.'\n", encoding="utf-8")
    (tmp_path / "both.py").write_text(PROMPT, encoding="utf-8")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    (tmp_path / "words" / "body.py").write_text("BODY = 'Middle.'\n", encoding="utf-8")
    git(tmp_path, "commit", "-qam", "two")
    (tmp_path / "words" / "body.py").write_text("BODY = 'New.'\n", encoding="utf-8")
    return tmp_path


def changes(diff: dict[str, Any]) -> list[tuple[str, str]]:
    return [(change["id"], change["change"]) for change in diff["changes"]]


async def test_two_versions_of_a_preview_are_compared(editor: Viewer) -> None:
    editor.open("reviewer_prompt.py")
    preview = await editor.command("prompt.preview")
    same = await editor.command("prompt.diff")
    assert (same["changes"], same["unified"], same["tokens"]["delta"]) == ([], "", 0)
    session = preview["sessionId"]
    opened = await editor.command(
        "prompt.openSections", sessionId=session, section_keys=["reference-docs"]
    )
    diff = await editor.command("prompt.diff")
    assert (diff["before"], diff["after"]) == ("version 1", "version 2")
    assert changes(diff) == [
        ("reference-docs", "changed"),
        ("reference-docs/security", "added"),
        ("reference-docs/async", "added"),
        ("reference-docs/style", "added"),
        ("review-task", "changed"),
    ]
    assert diff["changes"][0]["visibility"] == {"before": "SUMMARY", "after": "FULL"}
    assert ("explain_rule", "added") in [(t["name"], t["change"]) for t in diff["tools"]]
    delta = opened["tokens"]["total"] - preview["tokens"]["total"]
    assert diff["tokens"]["delta"] == delta
    told = sum(tool["tokens"] for tool in (*diff["changes"], *diff["tools"]))
    assert told == delta
    assert "+### 2.1. Security Rules" in diff["unified"].splitlines()
    assert diff["kept"] == opened["kept"]
    back = await editor.command("prompt.diff", sessionId=session, before=2, after=1)
    assert changes(back)[0] == ("reference-docs", "changed")
    assert back["tokens"]["delta"] == -delta
    assert (await editor.command("prompt.history"))["versions"] == [1, 2]
    message, data = await editor.refusal("prompt.diff", before=7)
    assert (data["kind"], "kept are 1 to 2" in message) == ("no_preview", True)


async def test_a_prompt_and_its_imports_are_compared_with_a_revision(
    view: View, repository: Path
) -> None:
    editor = view(repository, trusted=True)
    uri = editor.open("both.py")
    editor.open("words/body.py", "BODY = 'Unsaved.'\n")
    preview = await editor.command("prompt.preview", uri=uri)
    session = preview["sessionId"]
    await editor.command("prompt.openSections", sessionId=session, section_keys=["second"])
    diff = await editor.command("prompt.diff", sessionId=session, revision="HEAD~1")
    assert (diff["before"], diff["after"]) == ("HEAD~1", "now")
    assert changes(diff) == [("second", "changed")]
    lines = diff["unified"].splitlines()
    assert ("-Old." in lines, "+Unsaved." in lines) == (True, True)
    folded = await editor.command("prompt.diff", uri=uri, revision="HEAD~1..HEAD")
    assert folded["changes"] == []
    between = await editor.command("prompt.diff", sessionId=session, revision="HEAD~1..HEAD")
    assert "+Middle." in between["unified"].splitlines()
    # Looking back leaves the preview as it is.
    assert (await editor.command("prompt.history"))["versions"] == [1, 2]


async def test_without_a_preview_it_is_what_was_not_committed(view: View, repository: Path) -> None:
    editor = view(repository, trusted=True)
    editor.open("both.py", PROMPT.replace("One.", "Eins."))
    diff = await editor.command("prompt.diff")
    assert (diff["before"], changes(diff)) == ("HEAD", [("first", "changed")])
    _, data = await editor.refusal("prompt.diff", revision="--output=x")
    assert data["kind"] == "revision"
    message, _ = await editor.refusal("prompt.diff", revision="nowhere")
    assert "has no revision 'nowhere'" in message
    editor.trust(trusted=False)
    _, data = await editor.refusal("prompt.diff")
    assert data["kind"] == "untrusted"


def test_files_that_are_gone_from_the_disk_are_found(repository: Path) -> None:
    for file in ("body.py", "__init__.py"):
        (repository / "words" / file).unlink()
    texts = Tree.at(repository / "both.py", "HEAD~1").texts_of(repository / "both.py")
    names = sorted(str(Path(file).relative_to(repository)) for file in texts)
    assert names == ["both.py", "words/__init__.py", "words/body.py"]
    assert texts[str(repository / "words" / "body.py")] == "BODY = 'Old.'\n"
    with pytest.raises(RevisionError, match=r"other\.py is not in HEAD"):
        Tree.at(repository / "both.py", "HEAD").texts_of(repository / "other.py")


def test_the_repository_is_that_of_the_file_whatever_the_environment_names(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "-q", "-b", "main")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    file = next(repository.glob("*.py"))
    assert str(file) in Tree.at(file, "HEAD").texts_of(file)


def test_a_folder_without_a_repository_says_so(tmp_path: Path) -> None:
    with pytest.raises(RevisionError, match="not a git repository"):
        Tree.at(tmp_path / "both.py", "HEAD")


HEAD = """
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, from_file
"""
TAIL = """
p = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[None](title="A", key="a", template=T)])
"""
LEAVES = [
    "pkg/leaf.py",
    "pkg/__init__.py",
    "src/app/leaf.py",
    "names/leaf.py",
    "beside.py",
    "base/deep.py",
]
READING = {
    "pkg/relative.py": "from .leaf import T",
    "pkg/absolute.py": "from pkg.leaf import T",
    "pkg/of_package.py": "from . import T",
    "pkg/as_module.py": "import pkg.leaf as leaf\nT = leaf.T",
    "pkg/star.py": "from pkg.leaf import *",
    "pkg/in_function.py": "def make():\n    from pkg.leaf import T\n    return T\nT = make()",
    "pkg/conditional.py": "try:\n    from pkg.nothing import T\nexcept ImportError:\n"
    "    from pkg.leaf import T",
    "pkg/by_name.py": "import importlib\nT = importlib.import_module('pkg.' + 'leaf').T",
    "pkg/chain.py": "from pkg.relative import T",
    "src/app/absolute.py": "from app.leaf import T",
    "names/absolute.py": "from names.leaf import T",
    "names/deep/absolute.py": "from names.leaf import T",
    "flat.py": "from beside import T",
    "by_base.py": "from base import deep\nT = deep.T",
    "by_gone_name.py": "import importlib\nT = importlib.import_module('base.' + 'deep').T",
    "text.py": "T = from_file('doc.md')",
    "opened.py": "import pathlib\nT = pathlib.Path(__file__).with_name('raw.txt').read_text()",
    "valued.py": "@dataclass\nclass P:\n    name: str\nT = '${name}'",
    "inline.py": "T = 'the same'  # OLD",
    "typed.py": "@dataclass\nclass Out:\n    OLD: str\nT = 'the same'",
}


@pytest.fixture
def reading(tmp_path: Path) -> Path:
    """A repository with a prompt for each way to read something, all of which has changed."""
    root = tmp_path / "now"
    files = dict.fromkeys(LEAVES, "T = 'OLD text'\n")
    files |= {"src/app/__init__.py": "", "doc.md": "OLD", "raw.txt": "OLD"}
    files |= {file: f"{HEAD}{body}\n{TAIL}" for file, body in READING.items()}
    files["valued.py"] = files["valued.py"].replace("Section[None]", "Section[P]")
    files["typed.py"] = files["typed.py"].replace("Template(", "Template[Out](")
    files["valued.preview.toml"] = "[P]\nname = 'OLD'\n"
    for file, text in files.items():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text, encoding="utf-8")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "one")
    git(root, "worktree", "add", "-q", str(tmp_path / "then"))
    for file, text in files.items():
        (root / file).write_text(text.replace("OLD", "new"), encoding="utf-8")
    (root / "base" / "deep.py").unlink()
    (root / "base").rmdir()
    for file in ("by_base.py", "by_gone_name.py"):
        (root / file).write_text(f"{HEAD}T = 'other'\n{TAIL}", encoding="utf-8")
    return root


async def test_a_comparison_is_empty_exactly_if_both_revisions_make_the_same(
    view: View, reading: Path
) -> None:
    """The oracle is the same prompt, executed in a worktree of each."""
    editor, before = view(reading, trusted=True), view(reading.parent / "then", trusted=True)
    for file in READING:
        made = [await one.command("prompt.render", uri=one.open(file)) for one in (before, editor)]
        kept = [[prompt[key] for key in ("text", "tools", "output")] for prompt in made]
        found = await editor.command("prompt.diff", uri=editor.open(file), revision="HEAD")
        is_empty = not (found["unified"] or found["tools"] or found["output"])
        if file == "opened.py":
            assert found["caveat"] == "Not as in HEAD, but as now: raw.txt."
        else:
            assert (file, is_empty) == (file, kept[0] == kept[1])
            assert (file, found["caveat"]) == (file, "")


PATHS = "import pathlib, sqlite3, subprocess\nHERE = pathlib.Path(__file__).parent\n"


@pytest.mark.parametrize(
    ("body", "caveat"),
    [
        (
            "T = str(sorted(one.name for one in HERE.glob('texts/*.md')))",
            "Not as in HEAD, but as now: the names in texts/.",
        ),
        (
            "T = str(sqlite3.connect(HERE / 'raw.db').execute('SELECT a FROM t').fetchall())",
            "Not as in HEAD, but as now: raw.db.",
        ),
        (
            "T = subprocess.run(['echo', 'a'], capture_output=True, text=True).stdout",
            "Not as in HEAD, but as now: what a process that it started read.",
        ),
        ("T = from_file('link.md')", ""),
        (
            "T = 'same'",
            "Changed, and not sent until it is opened: folded.",
        ),
    ],
)
async def test_what_is_not_as_at_the_revision_or_not_sent_is_named(
    view: View, tmp_path: Path, body: str, caveat: str
) -> None:
    (tmp_path / "texts").mkdir()
    for name in ("one", "two"):
        (tmp_path / "texts" / f"{name}.md").write_text(name)
    (tmp_path / "link.md").symlink_to("texts/one.md")
    folded = TAIL.replace(
        "template=T)",
        "template=T), MarkdownSection[None](title='F', key='folded', template=F, summary='s',\n"
        "    visibility=SectionVisibility.SUMMARY)",
    )
    start = f"{HEAD}from foldline.prompts import SectionVisibility\n{PATHS}F = 'as it was'\n"
    prompt = tmp_path / "p.py"
    prompt.write_text(f"{start}{body}\n{folded}")
    make_rows(tmp_path / "raw.db", 1)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    (tmp_path / "texts" / "two.md").unlink()
    (tmp_path / "link.md").unlink()
    (tmp_path / "link.md").write_text("one")
    make_rows(tmp_path / "raw.db", 2)
    if "folded" in caveat:
        prompt.write_text(prompt.read_text().replace("as it was", "as it is"))
    editor = view(tmp_path, trusted=True)
    found = await editor.command("prompt.diff", uri=editor.open("p.py"), revision="HEAD")
    assert (found["unified"], found["caveat"]) == ("", caveat)


def make_rows(file: Path, number: int) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE IF NOT EXISTS t (a)")
        connection.execute("INSERT INTO t VALUES (?)", (number,))


def block(text: str) -> Block:
    return Block("a", ("a",), "a", "1", "A", 0, "FULL", True, text, ())


def shown(one: Block) -> Render:
    return Render(name="a", text="", blocks=(one,))


def test_old_versions_go_when_there_are_many_or_much() -> None:
    versions = History()
    for number in range(1, MAX_VERSIONS + 11):
        versions.add(number, Side(str(number)))
    assert (versions.numbers[0], versions.numbers[-1]) == (11, MAX_VERSIONS + 10)
    for number in range(100, 110):
        versions.add(number, Side(str(number), shown(block("x" * (MAX_BYTES // 4)))))
    assert versions.numbers == (106, 107, 108, 109)
    shared = block("x" * MAX_BYTES)
    for number in range(200, 210):
        versions.add(number, Side(str(number), shown(shared)))
    assert versions.numbers == tuple(range(200, 210))
