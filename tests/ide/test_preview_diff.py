"""What differs between two versions of a prompt: of a preview, and of git."""

import difflib
import importlib
import re
import sqlite3
import sys
import tomllib
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.repositories import git

from foldline.ide.errors import RevisionError
from foldline.ide.previews.session import MAX_BYTES, MAX_VERSIONS, History
from foldline.ide.render.diff import Side
from foldline.ide.render.render import Block, Render
from foldline.ide.render.revisions import Tree
from foldline.prompts.descriptor import text_hash
from foldline.prompts.overrides.overrides import PromptOverride, SectionOverride
from foldline.prompts.overrides.overrides_store import text_of

from .viewer import View, Viewer, viewers

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
    (tmp_path / "words" / "book.md").write_text("Old.", encoding="utf-8")
    (tmp_path / "words" / "data.txt").write_bytes(b"\xff")
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


async def test_an_error_at_a_revision_names_it(view: View, repository: Path) -> None:
    (repository / "both.py").write_text("raise ValueError('not yet')\n", encoding="utf-8")
    git(repository, "commit", "-qam", "three")
    editor = view(repository, trusted=True)
    editor.open("both.py", PROMPT)
    message, _ = await editor.refusal("prompt.diff", revision="HEAD")
    assert (message[:9], "renamed" in message) == ("at HEAD: ", False)


def test_files_that_are_gone_from_the_disk_are_found(repository: Path) -> None:
    for file in ("body.py", "__init__.py", "book.md", "data.txt"):
        (repository / "words" / file).unlink()
    texts = Tree.at(repository / "both.py", "HEAD~1").texts_of(repository / "both.py")
    names = sorted(str(Path(file).relative_to(repository)) for file in texts)
    assert names == ["both.py", "words/__init__.py", "words/body.py", "words/book.md"]
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


# Random repositories, and edits of them

FORMS = {
    "absolute": "from {dotted} import T as {name}",
    "relative": "from {relative} import T as {name}",
    "module": "import {dotted} as of_{name}\n{name} = of_{name}.T",
    "of a package": "from {package} import {last} as of_{name}\n{name} = of_{name}.T",
    "star": "from {dotted} import *\n{name} = T",
    "in a function": "def get():\n    from {dotted} import T\n    return T\n{name} = get()",
    "tried": "try:\n    from shop.nothing import T as {name}\nexcept ImportError:\n"
    "    from {dotted} import T as {name}",
    "by name": "import importlib\n{name} = importlib.import_module('shop.' + '{below}').T",
    "not at all": "{name} = {words!r}",
}
KINDS = {
    "literal": "T = {words!r}",
    "made": "T = ' '.join([{words!r}] * 2)",
    "beside a comment": "# {words}\nT = 'Always.'",
    "handbook": "from foldline.prompts import from_file\nT = from_file('{last}.md')",
    "opened": "import pathlib\nT = pathlib.Path(__file__).with_name('{last}.md').read_text()",
    "passed on": "{earlier}\nT = EARLIER + ' So it is.'",
}
PLACES = {
    "body": "title='S', template={name}",
    "title": "title={name}, template='x'",
    "summary": "title='S', template='x', summary={name}, visibility=FOLDED",
    "folded": "title='S', template={name}, summary='s', visibility=FOLDED",
    "default": "title='S', template='${{d{n}}}'",
    "answer": "title='S', template='x'",
    "tool": "title='S', template='x', tools=[Tool[None, None](\n"
    "        name='t{n}', description={name}, handler=lambda p, *, context: None)]",
}
WORDS = st.sampled_from(["Never refund.", "Always refund."])
CHOICES: dict[str, st.SearchStrategy[Any]] = {
    "form": st.sampled_from(sorted(FORMS)),
    "kind": st.sampled_from(sorted(KINDS)),
    "place": st.sampled_from(sorted(PLACES)),
    "words": WORDS,
}
OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "packages": st.sets(st.sampled_from(["", "deep/"])),
    "value": WORDS,
    "override": st.none() | WORDS,
}
DESK = """
from dataclasses import dataclass, field
from pathlib import Path
from foldline.prompts import *
FOLDED = SectionVisibility.SUMMARY
{reads}
@dataclass(frozen=True)
class P:
    value: str
    {defaults}
@dataclass(frozen=True)
class Out:
    done: bool
    {answers}
p = PromptTemplate[Out](ns="n", key="k", sections=[
    {sections}
    MarkdownSection[P](title="V", key="v", template="${{value}}"),
    MarkdownSection[None](title="O", key="o", template="As it is."),
]).bind(overrides=OverridesStore(Path(__file__).parents[{depth}]))
"""


@dataclass(frozen=True)
class Part:
    """A text of a prompt: the module that has it, what it is there, who reads it how."""

    below: str
    form: str
    kind: str
    place: str
    words: str

    def read(self, name: str, importer: str) -> str:
        dotted = f"shop.{self.below}"
        package, _, last = dotted.rpartition(".")
        relative = "." * importer.count(".") + (self.below if "." in importer else dotted)
        return FORMS[self.form].format(
            dotted=dotted, package=package, last=last, relative=relative, name=name, **vars(self)
        )


def files_of(
    desk: str, parts: Sequence[Part], packages: set[str], value: str, override: str | None
) -> dict[str, str]:
    """The files of a repository whose prompt, in the module `desk`, has these texts."""
    path = desk.replace(".", "/")
    files = {f"shop/{one}__init__.py": "" for one in packages}
    files[f"{path}.preview.toml"] = f"[P]\nvalue = '{value}'\n"
    if override is not None:
        text = SectionOverride(("o",), override, text_hash("As it is."))
        stored = text_of(PromptOverride("n", "k", sections=(text,)))
        files[".foldline/prompts/overrides/n/k/latest.json"] = stored
    for n, part in enumerate(parts):
        if part.form != "not at all":
            earlier = parts[n - 1].read("EARLIER", f"shop.{part.below}") if n else "EARLIER = ''"
            file, last = f"shop/{part.below.replace('.', '/')}", part.below.rpartition(".")[2]
            source = KINDS[part.kind].format(last=last, earlier=earlier, words=part.words)
            files |= {f"{file}.py": source, f"{file}.md": part.words}
    names = {n: f"T{n}" for n in range(len(parts))}
    # Only in a package is it a module of one.
    importer = desk if "" in packages else "desk"
    files[f"{path}.py"] = DESK.format(
        reads="\n".join(part.read(names[n], importer) for n, part in enumerate(parts)),
        defaults="\n    ".join(f"d{n}: str = {names[n]}" for n in names),
        answers="\n    ".join(
            f"a{n}: str = field(metadata={{'description': {names[n]}}})"
            for n, part in enumerate(parts)
            if part.place == "answer"
        ),
        sections="\n    ".join(
            f"MarkdownSection[P](key='s{n}', {PLACES[part.place].format(n=n, name=names[n])}),"
            for n, part in enumerate(parts)
        ),
        depth=desk.count("."),
    )
    return files


@st.composite
def edited_repositories(draw: st.DrawFn) -> tuple[str, list[dict[str, str]]]:
    """The module of a prompt, and the files before and after edits, of which many are none."""
    desk = draw(st.sampled_from(["shop.desk", "desk"]))
    folders = draw(st.lists(st.sampled_from(["", "deep."]), min_size=1, max_size=4))
    drawn = st.fixed_dictionaries(CHOICES)
    before = [Part(f"{folder}m{n}", **draw(drawn)) for n, folder in enumerate(folders)]
    others = draw(st.fixed_dictionaries(OTHERS))
    after, now = list(before), dict(others)
    for name in draw(st.lists(st.sampled_from([*CHOICES, *OTHERS]), min_size=1, max_size=8)):
        if name in OTHERS:
            now[name] = draw(OTHERS[name])
        else:
            at = draw(st.integers(0, len(before) - 1))
            after[at] = replace(after[at], **{name: draw(CHOICES[name])})
    return desk, [files_of(desk, before, **others), files_of(desk, after, **now)]


def executed(folder: Path, desk: str) -> tuple[str, object, object]:
    """The text, tools and schema of a prompt as plain Python makes them."""
    values = tomllib.loads((folder / f"{desk.replace('.', '/')}.preview.toml").read_text())
    with (
        patch.object(sys, "path", [str(folder), *sys.path]),
        patch.object(sys, "dont_write_bytecode", True),
    ):
        for name in [name for name in sys.modules if re.match(r"(shop|desk)\b", name)]:
            del sys.modules[name]
        importlib.invalidate_caches()
        module = importlib.import_module(desk)
    rendered = module.p.render(module.P(**values["P"]))
    tools = [(tool.name, tool.description) for tool in rendered.tools]
    return rendered.text, tools, rendered.structured_output.schema


def lines_of(diff: Iterable[str]) -> list[str]:
    return [line for line in diff if not line.startswith(("---", "+++", "@@"))]


@settings(settings.get_profile("costly"))
@given(repository=edited_repositories(), committed=st.booleans())
async def test_a_comparison_is_that_of_two_worktrees_in_which_python_runs_the_prompt(
    tmp_path_factory: pytest.TempPathFactory,
    repository: tuple[str, list[dict[str, str]]],
    committed: bool,
) -> None:
    desk, versions = repository
    now, then = (tmp_path_factory.mktemp("random") / name for name in ("now", "then"))
    now.mkdir()
    git(now, "init", "-q", "-b", "main")
    for number, files in enumerate(versions):
        for file in versions[0].keys() - files.keys():
            (now / file).unlink()
            with suppress(OSError):
                (now / file).parent.rmdir()
        for file, text in files.items():
            (now / file).parent.mkdir(parents=True, exist_ok=True)
            (now / file).write_text(text, encoding="utf-8")
        if committed or not number:
            git(now, "add", "-A")
            git(now, "commit", "-qm", "a version", "--allow-empty")
    git(now, "worktree", "add", "-q", str(then), "HEAD~1" if committed else "HEAD")
    was, is_now = (executed(one, desk) for one in (then, now))
    async with viewers() as view:
        editor = view(now, trusted=True)
        uri = editor.open(f"{desk.replace('.', '/')}.py")
        revision = "HEAD~1..HEAD" if committed else "HEAD"
        found = await editor.command("prompt.diff", uri=uri, revision=revision)
    is_empty = not (found["changes"] or found["tools"] or found["output"])
    as_now = re.search(r"as now: (.*?)\.( |$)", found["caveat"])
    if as_now is None:
        assert is_empty == (was == is_now)
        diff = difflib.unified_diff(was[0].splitlines(), is_now[0].splitlines())
        assert lines_of(found["unified"].splitlines()) == lines_of(diff)
    else:
        before, after = versions
        assert all(before.get(file) != after.get(file) for file in as_now[1].split(", "))


HEAD = """
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, from_file
"""
TAIL = """
p = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[None](title="A", key="a", template=T)])
"""
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
        ("T = 'options'", "Not as in HEAD, but as now: foldline.toml."),
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
    (tmp_path / "foldline.toml").write_text("[preview]\n" if "foldline" in caveat else "[lsp]\n")
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
