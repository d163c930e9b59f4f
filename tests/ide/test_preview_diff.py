"""What differs between two versions of a prompt: of a preview, and of git."""

from pathlib import Path
from typing import Any

import pytest
from tests.repositories import git

from foldline.ide.errors import RevisionError
from foldline.ide.previews.session import MAX_BYTES, MAX_VERSIONS, History
from foldline.ide.render.diff import Side
from foldline.ide.render.render import Block, Render
from foldline.ide.render.revisions import texts_at

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
    texts = texts_at(repository / "both.py", "HEAD~1")
    names = sorted(str(Path(file).relative_to(repository)) for file in texts)
    assert names == ["both.py", "words/__init__.py", "words/body.py"]
    assert texts[str(repository / "words" / "body.py")] == "BODY = 'Old.'\n"
    with pytest.raises(RevisionError, match=r"other\.py is not in HEAD"):
        texts_at(repository / "other.py", "HEAD")


def test_the_repository_is_that_of_the_file_whatever_the_environment_names(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "-q", "-b", "main")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    file = next(repository.glob("*.py"))
    assert str(file) in texts_at(file, "HEAD")


def test_a_folder_without_a_repository_says_so(tmp_path: Path) -> None:
    with pytest.raises(RevisionError, match="not a git repository"):
        texts_at(tmp_path / "both.py", "HEAD")


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
