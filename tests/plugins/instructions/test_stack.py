"""What each client loads is what its documentation says; each case names the page."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import LocalFileBackend
from foldline.ide.checks import Code
from foldline.ide.errors import ToolRefused
from foldline.ide.instructions.document import InstructionFile
from foldline.ide.instructions.front_matter import fields, globs_of, matches
from foldline.ide.token_counter import token_counter
from foldline.ide.workspace import Workspace
from foldline.plugins.instructions.clients import all_clients, chosen_clients
from foldline.plugins.instructions.stack import Stack, stacks, switched_off

from .conftest import check_repository

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType

    from _typeshed import TraceFunction

    from foldline.backends.files.source import Source

CODEX = "https://github.com/openai/codex/blob/main/codex-rs/core/src/agents_md.rs"
MEMORY = "https://code.claude.com/docs/en/memory"
VSCODE = "https://code.visualstudio.com/docs/agent-customization/custom-instructions"
CURSOR = "https://cursor.com/docs/rules"
OLD_CURSOR = "https://docs.cursor.com/en/context/rules"
CURSOR_HELP = "https://cursor.com/help/customization/rules"
GEMINI = "https://github.com/google-gemini/gemini-cli/blob/5411f113cafae26161b4969b0237b8e1e024e2c2/docs/cli/gemini-md.md"
OPENCODE1 = "https://opencode.ai/v1/docs/rules"
OPENCODE2 = "https://opencode.ai/docs/instructions"
ZED = "https://zed.dev/docs/ai/instructions"
CLIENTS = {
    CODEX: "codex",
    MEMORY: "claude-code",
    VSCODE: "copilot",
    **dict.fromkeys((CURSOR, OLD_CURSOR, CURSOR_HELP), "cursor"),
    GEMINI: "gemini",
    OPENCODE1: "opencode",
    OPENCODE2: "opencode2",
    ZED: "zed",
}


@dataclass(frozen=True)
class Case:
    """A rule: a repository, what a client loads of it with when, what it leaves out, the source."""

    name: str
    source: str
    tree: dict[str, str]
    loaded: list[tuple[str, str]]
    left_out: list[str] = field(default_factory=list)
    file: str | None = "a/b/x.py"
    start: str = "."

    @property
    def client(self) -> str:
        return CLIENTS[self.source.partition("#")[0]]


def rule(front: str) -> str:
    return f"---\n{front}\n---\nBe brief.\n"


CASES = [
    Case(
        "codex reads one file of each folder from the root to its start",
        CODEX,
        {"AGENTS.md": "r", "a/AGENTS.md": "a", "a/b/AGENTS.md": "b"},
        [("AGENTS.md", "always"), ("a/AGENTS.md", "always")],
        ["a/b/AGENTS.md"],
        start="a",
    ),
    Case(
        "codex reads an override instead of the file beside it",
        CODEX,
        {"AGENTS.md": "r", "AGENTS.override.md": "o"},
        [("AGENTS.override.md", "always")],
        ["AGENTS.md"],
    ),
    Case(
        "codex reads fallback names where neither is there",
        CODEX,
        {
            ".codex/config.toml": 'project_doc_fallback_filenames = ["TEAM.md"]',
            "TEAM.md": "t",
            "a/AGENTS.md": "a",
            "a/TEAM.md": "t",
        },
        [("TEAM.md", "always"), ("a/AGENTS.md", "always")],
        ["a/TEAM.md"],
        start="a",
    ),
    Case(
        "codex has no room behind its limit",
        CODEX,
        {"AGENTS.md": "# One\n" + "word " * 6_600, "a/AGENTS.md": "a"},
        [("AGENTS.md", "always")],
        ["a/AGENTS.md"],
        start="a",
    ),
    Case(
        "claude-code reads its files from the root down, the local one last, the rest on demand",
        f"{MEMORY}#how-claude-md-files-load",
        {"CLAUDE.local.md": "l", "CLAUDE.md": "r", ".claude/CLAUDE.md": "c", "a/CLAUDE.md": "a"},
        [
            ("CLAUDE.md", "always"),
            (".claude/CLAUDE.md", "always"),
            ("CLAUDE.local.md", "always"),
            ("a/CLAUDE.md", "nested"),
        ],
    ),
    Case(
        "claude-code reads AGENTS.md where no CLAUDE.md stands above",
        f"{MEMORY}#when-claude-code-reads-agents-md",
        {"AGENTS.md": "r", "a/AGENTS.md": "a", "a/b/AGENTS.md": "b", "a/b/CLAUDE.md": "c"},
        [("AGENTS.md", "always"), ("a/AGENTS.md", "nested"), ("a/b/CLAUDE.md", "nested")],
        ["a/b/AGENTS.md"],
    ),
    Case(
        "a CLAUDE.md at the root switches off each AGENTS.md below",
        f"{MEMORY}#when-claude-code-reads-agents-md",
        {"CLAUDE.md": "r", "AGENTS.md": "r", "a/AGENTS.md": "a"},
        [("CLAUDE.md", "always")],
        ["AGENTS.md", "a/AGENTS.md"],
    ),
    Case(
        "a personal file switches AGENTS.md off, too",
        f"{MEMORY}#when-claude-code-reads-agents-md",
        {"CLAUDE.local.md": "l", "AGENTS.md": "r"},
        [("CLAUDE.local.md", "always")],
        ["AGENTS.md"],
    ),
    Case(
        "rules don't switch AGENTS.md off",
        f"{MEMORY}#when-claude-code-reads-agents-md",
        {".claude/rules/a.md": "x", "AGENTS.md": "r"},
        [("AGENTS.md", "always"), (".claude/rules/a.md", "always")],
    ),
    Case(
        "an imported AGENTS.md is read, once",
        f"{MEMORY}#import-additional-files",
        {"CLAUDE.md": "@AGENTS.md\n", "AGENTS.md": "See @docs/a.md.", "docs/a.md": "a"},
        [("CLAUDE.md", "always"), ("AGENTS.md", "always"), ("docs/a.md", "always")],
    ),
    Case(
        "imports in code import nothing, nor do names of people and packages",
        f"{MEMORY}#import-additional-files",
        {"CLAUDE.md": "`see @a.md` @ann x@a.md\n```\n@a.md\n```\n    @a.md\n", "a.md": "a"},
        [("CLAUDE.md", "always")],
    ),
    Case(
        "imports go four deep, and a loop ends",
        f"{MEMORY}#import-additional-files",
        {"CLAUDE.md": "@1.md", **{f"{n}.md": f"@{n + 1}.md @CLAUDE.md" for n in range(1, 6)}},
        [("CLAUDE.md", "always"), *[(f"{n}.md", "always") for n in range(1, 5)]],
        ["5.md"],
    ),
    Case(
        "rules with paths hold for the files that match",
        f"{MEMORY}#path-specific-rules",
        {
            ".claude/rules/all.md": "x",
            ".claude/rules/deep/py.md": rule('paths:\n  - "a/**/*.{py,pyi}"'),
            ".claude/rules/ts.md": rule("paths: ['*.ts', '*.py']"),
            "a/.claude/rules/b.md": rule("paths: b/*.py"),
        },
        [
            (".claude/rules/all.md", "always"),
            (".claude/rules/deep/py.md", "match"),
            ("a/.claude/rules/b.md", "match"),
        ],
        [".claude/rules/ts.md"],
    ),
    Case(
        "copilot reads its file, AGENTS.md and CLAUDE.md of the root",
        VSCODE,
        {
            ".github/copilot-instructions.md": "i",
            "AGENTS.md": "r",
            "a/AGENTS.md": "a",
            "CLAUDE.md": "c",
            "a/CLAUDE.md": "c",
        },
        [
            (".github/copilot-instructions.md", "always"),
            ("AGENTS.md", "always"),
            ("CLAUDE.md", "always"),
        ],
        ["a/AGENTS.md"],
    ),
    Case(
        "copilot applies instructions to the files that match, from any folder on",
        VSCODE,
        {
            f".github/instructions/{name}.instructions.md": rule(front)
            for name, front in {
                "all": "applyTo: '**'",
                "hand": "name: x",
                "model": "description: About tests",
                "py": 'applyTo: "b/*.py, *.ts"',
                "ts": "applyTo: '**/*.ts,**/*.tsx'",
            }.items()
        },
        [
            (".github/instructions/all.instructions.md", "always"),
            (".github/instructions/model.instructions.md", "choice"),
            (".github/instructions/py.instructions.md", "match"),
        ],
        [
            ".github/instructions/hand.instructions.md",
            ".github/instructions/ts.instructions.md",
        ],
    ),
    Case(
        "copilot applies claude's rules to all files unless they say which",
        VSCODE,
        {".claude/rules/a.md": "x", ".claude/rules/b.md": rule("paths: ['*.ts']")},
        [(".claude/rules/a.md", "always")],
        [".claude/rules/b.md"],
    ),
    Case(
        "cursor's four kinds of rules",
        CURSOR,
        {
            ".cursor/rules/always.mdc": rule("alwaysApply: true\nglobs: '*.ts'"),
            ".cursor/rules/hand.mdc": rule("alwaysApply: false\nglobs:\ndescription:"),
            ".cursor/rules/in/py.mdc": rule("globs: a/**/*.ts, a/**/*.py\nalwaysApply: false"),
            ".cursor/rules/model.mdc": rule("description: About tests\nalwaysApply: false"),
            ".cursor/rules/none.md": rule("alwaysApply: true"),
            ".cursor/rules/top.mdc": rule("globs: '*.py'"),
        },
        [
            (".cursor/rules/always.mdc", "always"),
            (".cursor/rules/model.mdc", "choice"),
            (".cursor/rules/in/py.mdc", "match"),
        ],
        [".cursor/rules/hand.mdc", ".cursor/rules/top.mdc"],
    ),
    Case(
        "cursor reads AGENTS.md of each folder above the file",
        CURSOR,
        {"AGENTS.md": "r", "a/AGENTS.md": "a", "c/AGENTS.md": "c"},
        [("AGENTS.md", "always"), ("a/AGENTS.md", "nested")],
    ),
    Case(
        "cursor's rules of inner folders and its old file",
        OLD_CURSOR,
        {"a/.cursor/rules/x.mdc": rule("alwaysApply: true"), ".cursorrules": "old"},
        [(".cursorrules", "always"), ("a/.cursor/rules/x.mdc", "nested")],
    ),
    Case(
        "cursor reads CLAUDE.md of the root",
        CURSOR_HELP,
        {"CLAUDE.md": "r"},
        [("CLAUDE.md", "always")],
    ),
    Case(
        "gemini reads GEMINI.md of the root, those below on demand, and what they import",
        GEMINI,
        {"GEMINI.md": "@./x.md", "x.md": "x", "a/GEMINI.md": "a", "AGENTS.md": "no"},
        [("GEMINI.md", "always"), ("x.md", "always"), ("a/GEMINI.md", "nested")],
    ),
    Case(
        "gemini reads the names that its settings name",
        GEMINI,
        {
            ".gemini/settings.json": '{"context": {"fileName": ["AGENTS.md", "GEMINI.md"]}}',
            "GEMINI.md": "g",
            "AGENTS.md": "r",
        },
        [("AGENTS.md", "always"), ("GEMINI.md", "always")],
    ),
    Case(
        "gemini's settings may have comments",
        GEMINI,
        {
            ".gemini/settings.json": '{"context": {"fileName": "AGENTS.md" /* not //GEMINI */}} //',
            "AGENTS.md": "r",
        },
        [("AGENTS.md", "always")],
    ),
    Case(
        "opencode 1 reads CLAUDE.md only without an AGENTS.md, nearest folder first",
        OPENCODE1,
        {"CLAUDE.md": "c", "a/AGENTS.md": "a", "a/b/CLAUDE.md": "b"},
        [("a/AGENTS.md", "always"), ("a/b/CLAUDE.md", "nested")],
        ["CLAUDE.md"],
        start="a",
    ),
    Case(
        "opencode 1 reads CLAUDE.md without an AGENTS.md",
        OPENCODE1,
        {"CLAUDE.md": "c", "CONTEXT.md": "x"},
        [("CLAUDE.md", "always")],
        ["CONTEXT.md"],
    ),
    Case(
        "opencode 1 reads the instructions of its configuration",
        OPENCODE1,
        {
            "opencode.json": '{"instructions": ["docs/*.md", "https://a.example/b.md", "~/x"]}',
            "docs/a.md": "a",
            "docs/deep/b.md": "b",
        },
        [("docs/a.md", "always")],
        ["https://a.example/b.md", "~/x"],
    ),
    Case(
        "opencode 1 reads both configurations, with comments and trailing commas",
        OPENCODE1,
        {
            "opencode.jsonc": '// ours\n{"instructions": ["b.md", "a.md",],}',
            "opencode.json": '{"instructions": ["a.md" /* and */, "c.md",]}',
            "a.md": "a",
            "b.md": "b",
            "c.md": "c",
        },
        [("b.md", "always"), ("a.md", "always"), ("c.md", "always")],
    ),
    Case(
        "opencode 2 reads AGENTS.md alone, nearest folder first",
        OPENCODE2,
        {"CLAUDE.md": "c", "AGENTS.md": "r", "a/AGENTS.md": "a", "a/b/AGENTS.md": "b"},
        [("a/AGENTS.md", "always"), ("AGENTS.md", "always"), ("a/b/AGENTS.md", "nested")],
        start="a",
    ),
    Case(
        "zed reads the first of its names in the root, and nothing below",
        ZED,
        {"GEMINI.md": "g", "AGENTS.md": "r", ".clinerules": "c", "a/AGENTS.md": "a"},
        [(".clinerules", "always")],
        ["AGENTS.md", "GEMINI.md"],
    ),
]


def written(root: Path, tree: dict[str, str]) -> Path:
    for path, text in tree.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


def stack_of(root: Path, client: str, file: str | None = None, start: str = ".") -> Stack:
    (folder,) = Workspace.at(root).folders()
    (found,) = stacks(folder, chosen_clients([client]), file, start)
    return found


def said(root: Path, path: str) -> list[tuple[int, str]]:
    (folder,) = Workspace.at(root).folders()
    return list(switched_off(folder, path))


@pytest.mark.parametrize(("folder", "ending"), [(".claude/rules", "md"), (".cursor/rules", "mdc")])
def test_what_is_switched_off_of_rules_costs_the_rules_no_reading(
    folder: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{folder}/r{number}.{ending}" for number in range(5)]
    root = written(tmp_path, dict.fromkeys(names, "---\nglobs: '*.x'\n---\nText.\n"))
    reads: list[str] = []
    load = LocalFileBackend.load

    def counted(backend: LocalFileBackend, path: str) -> Source:
        reads.append(path)
        return load(backend, path)

    monkeypatch.setattr(LocalFileBackend, "load", counted)
    assert [said(root, name) for name in names] == [[]] * 5
    assert not reads


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_client_loads_what_its_source_says(case: Case, tmp_path: Path) -> None:
    stack = stack_of(written(tmp_path, case.tree), case.client, case.file, case.start)
    assert [(one.path, one.when) for one in stack.files] == case.loaded
    assert [one.path for one in stack.left_out] == case.left_out
    (client,) = chosen_clients([case.client])
    sources = {(rule.source or client.source).partition("#")[0] for rule in client.rules}
    assert case.source.partition("#")[0] in sources


def test_each_rule_has_a_test_with_its_source() -> None:
    tested = {(case.client, case.source) for case in CASES}
    for client in all_clients():
        for one in client.rules:
            assert (client.name, one.source or client.source) in tested
            assert (one.read or client.read).count("-") == 2


def test_a_session_pays_the_base_and_a_file_adds_to_it(tmp_path: Path) -> None:
    tree = {"AGENTS.md": "# Rules\nBe brief.\n", "a/AGENTS.md": "# Here\nBe exact.\n"}
    root = written(tmp_path, tree)
    session, file = stack_of(root, "cursor"), stack_of(root, "cursor", "a/x.py")
    assert session.added == 0
    assert session.base == file.base > 0
    assert file.added == file.files[1].tokens
    assert [one.key for one in file.files[0].sections] == ["rules"]


def test_what_a_source_does_not_say_clearly_is_marked(tmp_path: Path) -> None:
    tree = {
        ".codex/config.toml": 'project_doc_fallback_filenames = ["TEAM.md"]',
        "TEAM.md": "t",
        ".cursorrules": "c",
        "a/AGENTS.md": "a",
    }
    root = written(tmp_path, tree)
    found = {
        (client, one.path): one.confirmed
        for client in ("codex", "cursor")
        for one in stack_of(root, client, "a/x.py", "a").files
    }
    assert found == {
        ("codex", "TEAM.md"): False,
        ("codex", "a/AGENTS.md"): True,
        ("cursor", ".cursorrules"): False,
        ("cursor", "a/AGENTS.md"): True,
    }


def test_comments_cost_nothing_where_the_client_removes_them(tmp_path: Path) -> None:
    written(tmp_path, {"CLAUDE.md": "# Rules\n<!-- for\npeople -->\n\nBe brief.\n"})
    claude, cursor = (stack_of(tmp_path, name).files[0] for name in ("claude-code", "cursor"))
    assert claude.tokens < cursor.tokens
    assert claude.sections[0].tokens < cursor.sections[0].tokens


def test_front_matter_that_clients_read_as_data_costs_nothing(tmp_path: Path) -> None:
    path = ".cursor/rules/a.mdc"
    (file,) = stack_of(written(tmp_path, {path: rule("alwaysApply: true")}), "cursor").files
    (section,) = file.sections
    assert file.tokens == section.tokens == token_counter().count("Be brief.\n")


def test_the_limit_cuts_a_section_at_a_whole_character(tmp_path: Path) -> None:
    first, second = "# One\n" + "é" * 10_000, "\n# Two\n" + "é" * 10_000
    written(tmp_path, {"AGENTS.md": first + second + "\n# Three\nlost\n"})
    (file,) = stack_of(tmp_path, "codex").files
    assert file.cut is not None
    section, place = file.cut
    assert section == "Two"
    assert len((first + second)[:place].encode()) in (32_767, 32_768)
    assert [one.tokens > 0 for one in file.sections] == [True, True, False]
    ((offset, message),) = said(tmp_path, "AGENTS.md")
    assert offset == place
    assert message == "Codex reads no further than this, in 'Two': its limit"


def test_a_link_is_the_file_that_it_leads_to(tmp_path: Path) -> None:
    written(tmp_path, {"AGENTS.md": "r"})
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    stack = stack_of(tmp_path, "claude-code")
    assert [one.path for one in stack.files] == ["CLAUDE.md"]
    assert not stack.left_out
    assert not said(tmp_path, "AGENTS.md")


def test_nothing_outside_of_the_workspace_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    imports = "@~/x.md @../secret.md @/etc/passwd"
    tree = {"CLAUDE.md": imports, "opencode.json": '{"instructions": ["../secret.md"]}'}
    root = written(tmp_path / "r", tree)
    (root / "AGENTS.md").symlink_to(tmp_path / "secret.md")
    for client in ("claude-code", "opencode", "codex"):
        stack = stack_of(root, client)
        assert {one.path for one in stack.files} <= {"CLAUDE.md"}
        assert stack.left_out
    left = [one.path for one in stack_of(root, "claude-code").left_out]
    assert left == ["~/x.md", "../secret.md", "/etc/passwd", "AGENTS.md"]


def test_settings_outside_of_the_workspace_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"context": {"fileName": "AGENTS.md"}}')
    root = written(tmp_path / "r", {".gemini/none": "", "AGENTS.md": "r"})
    (root / ".gemini" / "settings.json").symlink_to(tmp_path / "settings.json")
    stack = stack_of(root, "gemini")
    assert not stack.files
    assert [one.path for one in stack.left_out] == [".gemini/settings.json"]


def test_a_glob_of_everything_is_bounded(tmp_path: Path) -> None:
    files = {f"docs/{number}.md": "d" for number in range(250)}
    written(tmp_path, {"opencode.json": '{"instructions": ["**/*"]}', ".git/a": "a", **files})
    stack = stack_of(tmp_path, "opencode")
    assert len(stack.files) == 200
    assert ".git/a" not in [one.path for one in stack.files]
    assert [one.path for one in stack.left_out] == ["**/*"]


def test_an_import_is_no_glob(tmp_path: Path) -> None:
    written(tmp_path, {"CLAUDE.md": "@docs/* @docs/[id].md", "docs/[id].md": "d", "docs/i.md": "i"})
    assert [one.path for one in stack_of(tmp_path, "claude-code").files] == [
        "CLAUDE.md",
        "docs/[id].md",
    ]


def test_a_client_without_imports_tells_nothing_of_them(tmp_path: Path) -> None:
    written(tmp_path, {"CLAUDE.md": "@AGENTS.md @~/x.md", "AGENTS.md": "@../y.md"})
    assert [one.path for one in stack_of(tmp_path, "opencode").left_out] == ["CLAUDE.md"]


def test_hostile_files_are_left_out_and_nothing_waits(tmp_path: Path) -> None:
    settings = {".gemini/settings.json": "[" * 100_000, "opencode.json": '{"a": /* b'}
    written(tmp_path, {**settings, "AGENTS.md": "\0binary"})
    os.mkfifo(tmp_path / "CLAUDE.md")
    with (tmp_path / "GEMINI.md").open("wb") as huge:
        huge.truncate(1 << 30)
    (tmp_path / ".cursorrules").mkdir()
    for client in all_clients():
        stack = stack_of(tmp_path, client.name, "a/b.py")
        assert not stack.files
    assert [one.path for one in stack_of(tmp_path, "cursor").left_out] == ["AGENTS.md", "CLAUDE.md"]
    gemini = [one.path for one in stack_of(tmp_path, "gemini").left_out]
    assert gemini == [".gemini/settings.json", "GEMINI.md"]
    for name in ("gemini", "opencode"):
        (why,) = [one.why for one in stack_of(tmp_path, name).left_out if "known" in one.why]
        assert str(tmp_path) not in why


def test_a_file_that_switches_another_off_is_told_in_that_one(tmp_path: Path) -> None:
    written(tmp_path, {"CLAUDE.md": "c", "AGENTS.md": "r", "a/AGENTS.md": "a"})
    ((_, above),) = said(tmp_path, "AGENTS.md")
    ((_, below),) = said(tmp_path, "a/AGENTS.md")
    assert not said(tmp_path, "CLAUDE.md")
    written(tmp_path, {"opencode.json": "{}"})
    ((_, other),) = said(tmp_path, "CLAUDE.md")
    assert above.startswith("Claude Code doesn't read this file, as there is CLAUDE.md: write")
    assert below == above
    assert other == "opencode 1 doesn't read this file, as there is AGENTS.md"


def test_only_the_projects_clients_are_told_of(tmp_path: Path) -> None:
    written(tmp_path, {"CLAUDE.md": "c", "AGENTS.md": "r", "foldline.toml": "clients = ['zed']"})
    assert not said(tmp_path, "AGENTS.md")
    ((_, message),) = said(tmp_path, "CLAUDE.md")
    assert message == "Zed doesn't read this file, as there is AGENTS.md"


def test_the_check_reports_it_at_the_first_line(tmp_path: Path) -> None:
    text = "# Rules\nBe brief.\n"
    written(tmp_path, {"CLAUDE.md": "c", "a/AGENTS.md": text})
    (found,) = check_repository(tmp_path, "a/AGENTS.md", text)
    assert found.code == Code.SWITCHED_OFF_INSTRUCTIONS
    assert found.message.startswith("Claude Code doesn't read this file")
    assert (found.place.start, found.place.end) == (0, len("# Rules"))


def test_an_override_is_told_unless_git_ignores_it(tmp_path: Path) -> None:
    written(tmp_path, {"AGENTS.override.md": "o", "AGENTS.md": "r"})
    ((_, message),) = said(tmp_path, "AGENTS.md")
    assert message == "Codex doesn't read this file, as there is AGENTS.override.md"
    (tmp_path / ".git").mkdir()
    written(tmp_path, {".gitignore": "*.override.md\n"})
    assert not said(tmp_path, "AGENTS.md")


def test_an_import_switches_nothing_off(tmp_path: Path) -> None:
    written(tmp_path, {"CLAUDE.md": "@AGENTS.md\n\nUse plans.\n", "AGENTS.md": "r"})
    assert not said(tmp_path, "AGENTS.md")
    assert not said(tmp_path, "CLAUDE.md")


def test_an_unknown_client_is_refused_with_near_names() -> None:
    with pytest.raises(ToolRefused, match="there is no client 'codx'"):
        chosen_clients(["codx"])


@pytest.mark.parametrize(
    "written",
    [
        "[\"src/**/*.{ts,tsx}\", 'a.py']",
        "src/**/*.ts, src/**/*.tsx,a.py",
        "\n  - 'src/**/*.{ts,tsx}' # both\n  - a.py",
        '\n- src/**/*.{ts,tsx}\n\n- "a.py"',
        "# which\n  - src/**/*.{ts,tsx}\n  # and\n  - a.py",
    ],
)
def test_globs_are_written_in_many_ways(written: str) -> None:
    file = InstructionFile("a.md", f"---\npaths: {written}\nname: x\n---\nText.\n")
    assert list(globs_of(fields(file)[0].items)) == ["src/**/*.ts", "src/**/*.tsx", "a.py"]


@pytest.mark.parametrize(
    ("glob", "path", "anchored", "found"),
    [
        ("**/*.py", "a.py", True, True),
        ("src/**/*.py", "src/a.py", True, True),
        ("src/*", "src/a/b.py", True, False),
        ("src/**", "src/a/b.py", True, True),
        ("*.py", "src/a.py", True, False),
        ("*.py", "src/a.py", False, True),
        ("/*.py", "src/a.py", False, False),
        ("src", "src/a.py", True, False),
        ("**", "src/a.py", True, True),
        ("a[", "a[", True, True),
        ("[ab]/c[", "b/c[", True, True),
        ("a]/[b", "a]/[b", True, True),
        ("*" * 4_096, "a.py", True, True),
        ("*" * 4_097, "a.py", True, False),
    ],
)
def test_globs_match_as_clients_say(glob: str, path: str, anchored: bool, found: bool) -> None:
    assert matches(glob, path, anchored=anchored) is found


@pytest.mark.parametrize("head", ["", "]", "[]"])
def test_twice_the_brackets_that_nothing_closes_are_twice_the_work(head: str) -> None:
    def work(count: int) -> int:
        lines = 0

        def trace(_: FrameType, event: str, __: object) -> TraceFunction:
            nonlocal lines
            lines += event == "line"
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            matches(head + "[a" * count, "x")
        finally:
            sys.settrace(before)
        return lines

    assert 0 < work(1_000) < 2.2 * work(500)


@given(st.text("ab*/?[{,}", max_size=40), st.text("ab/", max_size=40))
def test_any_text_is_a_glob(glob: str, path: str) -> None:
    for one in globs_of([glob]):
        matches(one, path)
