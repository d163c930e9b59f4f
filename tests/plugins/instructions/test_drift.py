"""Copies of instructions for several clients: what one of them lacks, or has in other words."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.ide.checks import Code
from foldline.ide.instructions.document import read_instructions
from foldline.ide.workspace import Workspace
from foldline.plugins.instructions.drift import drift
from foldline.plugins.instructions.stack import Files, loaded

from .conftest import check_repository
from .test_stack import written

RULES, TESTS = "## Rules\n\nBe brief.\n\n", "## Tests\n\nRun `make test`.\n\n"
VAULT = "## Vault\n\nNotes are in `vault/`.\n"
CODEX = f"# Shop\n\n{RULES}{TESTS}"
CLAUDE = f"{CODEX}{VAULT}"


def told(root: Path, path: str) -> list[str]:
    (folder,) = Workspace.at(root).folders()
    file = read_instructions(root / path, root)
    return [
        message
        for _, message, *_ in drift(
            loaded(folder, Files(folder.access.file_backend), path), file, path
        )
    ]


def test_a_section_that_another_client_misses_is_told_with_the_other_file(tmp_path: Path) -> None:
    written(tmp_path, {"AGENTS.md": CODEX, "CLAUDE.md": CLAUDE})
    (found,) = check_repository(tmp_path, "CLAUDE.md", CLAUDE)
    assert found.code == Code.SECTION_DRIFT
    assert found.message == (
        "`Vault` is missing in AGENTS.md, which Codex, opencode 2 read instead of this."
    )
    assert CLAUDE[found.place.start : found.place.end] == "## Vault"
    (related,) = found.related
    assert (related.place.file, related.place.start) == (str(tmp_path / "AGENTS.md"), 0)
    assert not told(tmp_path, "AGENTS.md")


def test_other_words_are_told_once_where_they_stand(tmp_path: Path) -> None:
    written(tmp_path, {"AGENTS.md": CODEX, "CLAUDE.md": CODEX.replace("make test", "just test")})
    (message,) = told(tmp_path, "CLAUDE.md")
    assert message.startswith("`Tests` has other words in AGENTS.md, which Codex, opencode 2 ")
    assert not told(tmp_path, "AGENTS.md")


OTHER = CODEX.replace("make test", "just test")
QUIET = {
    "an import": {"AGENTS.md": CODEX, "CLAUDE.md": f"@AGENTS.md\n\n{CLAUDE}"},
    "a file that is named": {"AGENTS.md": CODEX, "CLAUDE.md": f"{CLAUDE}See AGENTS.md.\n"},
    "one that names this": {"AGENTS.md": f"{OTHER}See CLAUDE.md.\n", "CLAUDE.md": CODEX},
    "no text that is the same": {
        "AGENTS.md": CODEX,
        "CLAUDE.md": OTHER.replace("Be brief.", "Be kind."),
    },
    "few common titles": {
        "AGENTS.md": f"{RULES}## A\n\na\n\n## B\n\nb\n\n## C\n\nc\n",
        "CLAUDE.md": f"{RULES}## D\n\nd\n\n## E\n\ne\n\n## F\n\nf\n",
    },
    "one client for both": {"AGENTS.md": CODEX, "CLAUDE.md": CLAUDE, "GEMINI.md": ""},
    "another folder": {"a/AGENTS.md": CODEX, "CLAUDE.md": CLAUDE},
    "a section of what is imported": {
        "GEMINI.md": CODEX + "@docs/more.md",
        "CLAUDE.md": CLAUDE,
        "docs/more.md": VAULT.replace("Notes", "All notes"),
    },
    "another name for all": {
        "AGENTS.md": CODEX.replace("Shop", "Store\n\nIt sells."),
        "CLAUDE.md": CODEX.replace("Shop", "Shop\n\nIt buys."),
    },
    "another title": {"AGENTS.md": CODEX + VAULT.replace("Vault", "Notes"), "CLAUDE.md": CLAUDE},
    "a title in another": {
        "AGENTS.md": CODEX + "## Vault and inbox\n\nBoth.\n",
        "CLAUDE.md": CLAUDE,
    },
    "a section for one client": {
        "AGENTS.md": CODEX,
        "CLAUDE.md": f"{CODEX}## Notes for Claude Code\n\nUse plans.\n",
    },
    "only the client's name": {
        "AGENTS.md": CODEX.replace("Be brief", "Codex is brief"),
        "CLAUDE.md": CODEX.replace("Be brief", "Claude Code is brief"),
    },
}


@pytest.mark.parametrize("tree", QUIET.values(), ids=QUIET)
def test_what_is_meant_or_no_copy_is_not_told(tree: dict[str, str], tmp_path: Path) -> None:
    written(tmp_path, tree)
    if tree.get("GEMINI.md") == "":
        (tmp_path / "foldline.toml").write_text('clients = ["copilot"]\n')
    assert not told(tmp_path, "CLAUDE.md")


TITLES = [f"Title {letter}" for letter in "abcdefgh"]
SECTIONS = st.dictionaries(st.sampled_from(TITLES), st.integers(0, 2), min_size=1)


def text_of(sections: dict[str, int]) -> str:
    return "".join(f"## {title}\n\nText {text} of {title}.\n\n" for title, text in sections.items())


@settings(max_examples=25, deadline=None)
@given(SECTIONS, SECTIONS)
def test_drift_is_what_comparing_all_sections_gives(
    codex: dict[str, int], claude: dict[str, int]
) -> None:
    with TemporaryDirectory() as name:
        written(Path(name), {"AGENTS.md": text_of(codex), "CLAUDE.md": text_of(claude)})
        common = [title for title in claude if title in codex]
        same = [title for title in common if claude[title] == codex[title]]
        copies = same and len(common) >= max(2, min(len(codex), len(claude)) / 2)
        other = [f"`{title}` has" for title in common if title not in same]
        for path, mine, theirs in (("AGENTS.md", codex, claude), ("CLAUDE.md", claude, codex)):
            messages = told(Path(name), path)
            words = [one for one in messages if "other words" in one]
            assert [one.partition(" other")[0] for one in words] == (
                other if copies and path == "CLAUDE.md" else []
            )
            missing = [f"`{title}` is" for title in mine if title not in theirs] if copies else []
            listed = [one for one in messages if one not in words]
            assert [one.partition(" missing")[0] for one in listed] == missing
