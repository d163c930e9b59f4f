"""What each client loads is what its documentation says; each case names the page."""

from __future__ import annotations

import os
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.backends import LocalFileBackend
from foldline.ide.checks import Code
from foldline.ide.errors import ToolRefused
from foldline.ide.instructions.document import InstructionFile, read_instructions
from foldline.ide.instructions.features import listed_text
from foldline.ide.instructions.front_matter import fields, globs_of, matches
from foldline.ide.token_counter import token_counter
from foldline.ide.workspace import Workspace
from foldline.plugins.instructions.clients import all_clients, chosen_clients
from foldline.plugins.instructions.stack import LoadedFile, Stack, stacks

from .conftest import check_repository

if TYPE_CHECKING:
    from types import FrameType

    from _typeshed import TraceFunction

    from foldline.backends.files.source import Source


@dataclass(frozen=True)
class Case:
    """A rule of a client; `cases.toml` says what the fields mean."""

    name: str
    client: str
    source: str
    tree: dict[str, str]
    loaded: list[str]
    left_out: list[str] = field(default_factory=list)
    file: str = "a/b/x.py"
    start: str = "."


DATA = tomllib.loads((Path(__file__).parent / "cases.toml").read_text("utf-8"))
CASES = [Case(**case) for case in DATA["case"]]


def rule(front: str) -> str:
    return f"---\n{front}\n---\nBe brief.\n"


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
    text = (root / path).read_text(encoding="utf-8")
    return [(one.place.start, one.message) for one in check_repository(root, path, text)]


def test_files_that_instruct_agents_elsewhere_need_no_client_here(tmp_path: Path) -> None:
    folders = ("lib", "skills/a", "web/templates", "tests/fixtures/x", "examples")
    written(tmp_path, {"CLAUDE.md": "r", **{f"{one}/AGENTS.md": "r" for one in folders}})
    told = [folder for folder in folders if said(tmp_path, f"{folder}/AGENTS.md")]
    assert told == ["lib"]


@pytest.mark.parametrize(("folder", "ending"), [(".claude/rules", "md"), (".cursor/rules", "mdc")])
def test_what_is_switched_off_of_rules_costs_the_rules_no_reading(
    folder: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{folder}/r{number}.{ending}" for number in range(5)]
    skill = ".agents/skills/a/SKILL.md"
    text = "---\nglobs: '*.mdc'\n---\nText.\n"
    root = written(tmp_path, {**dict.fromkeys([*names, skill], text), "a.mdc": ""})
    reads: list[str] = []
    load = LocalFileBackend.load

    def counted(backend: LocalFileBackend, path: str) -> Source:
        reads.append(path)
        return load(backend, path)

    monkeypatch.setattr(LocalFileBackend, "load", counted)
    for name in names:
        assert said(root, name) == []
        assert {*reads} <= {name}
        reads.clear()
    assert said(written(root, {"AGENTS.md": "r"}), "AGENTS.md") == []
    assert skill not in reads


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_client_loads_what_its_source_says(case: Case, tmp_path: Path) -> None:
    tree = {path: text.replace("LONG", "word " * 6_600) for path, text in case.tree.items()}
    stack = stack_of(written(tmp_path, tree), case.client, case.file, case.start)
    loaded = [f"{one.path}{'' if one.confirmed else '?'} {one.when}" for one in stack.files]
    assert loaded == case.loaded
    assert [one.path for one in stack.left_out] == case.left_out


def test_each_rule_has_a_test_with_its_source() -> None:
    sources = {name: source["address"] for name, source in DATA["source"].items()}
    tested = {(case.client, sources[case.source]) for case in CASES}
    assert {case.source for case in CASES} == {*sources}
    for client in all_clients():
        for one in client.rules:
            assert (client.name, one.source or client.source) in tested
            assert (one.read or client.read).count("-") == 2


def test_a_session_pays_the_base_and_a_file_adds_to_it(tmp_path: Path) -> None:
    tree = {"AGENTS.md": "# Rules\nBe brief.\n", "a/AGENTS.md": "# Here\nBe exact.\n"}
    root = written(tmp_path, {**tree, ".cursor/rules/a.mdc": "---\nglobs: a/**\n---\nBe kind.\n"})
    session, file = stack_of(root, "cursor"), stack_of(root, "cursor", "a/x.py")
    assert session.added == 0
    assert session.base == file.base > 0
    assert file.added == sum(one.tokens for one in file.files[1:])
    assert [one.when for one in file.files[1:]] == ["match", "nested"]
    assert [one.key for one in file.files[0].sections] == ["rules"]


def test_nothing_below_the_start_is_on_the_way_to_a_file_elsewhere(tmp_path: Path) -> None:
    root = written(tmp_path, {"a/b/CLAUDE.md": "b", "c/CLAUDE.md": "c"})
    stack = stack_of(root, "claude-code", "a/b/x.py", "c")
    assert [(one.path, one.when) for one in stack.files] == [("c/CLAUDE.md", "always")]


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


def test_a_link_to_a_folder_of_skills_or_of_one_counts_once(tmp_path: Path) -> None:
    skill = "---\nname: {0}\ndescription: It does {0}.\n---\n"
    tree = {f".agents/skills/{name}/SKILL.md": skill.format(name) for name in ("a", "b")}
    root = written(tmp_path / "r", {**tree, ".claude/skills/c/SKILL.md": skill.format("c")})
    written(tmp_path, {"out/SKILL.md": skill.format("secret")})
    folder = root / ".claude" / "skills"
    targets = {"a": "../../.agents/skills/a", "loop": "..", "out": str(tmp_path / "out")}
    for name, target in targets.items():
        (folder / name).symlink_to(target)
    (root / ".cursor").symlink_to(".claude")
    (claude,) = stack_of(root, "claude-code").files
    assert sorted(claude.lists) == [".claude/skills/a/SKILL.md", ".claude/skills/c/SKILL.md"]
    assert claude.tokens == token_counter().count("".join(map(listed_text, skills(claude, root))))
    both = [(one.path, len(one.lists)) for one in stack_of(root, "cursor").files]
    assert both == [(".cursor/skills", 2), (".agents/skills", 1)]


def skills(listing: LoadedFile, root: Path) -> list[InstructionFile]:
    return [read_instructions(root / path, root) for path in listing.lists]


def test_nothing_outside_of_the_workspace_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("secret")
    imports = "@~/x.md @../secret.md @/etc/passwd @AGENTS.md"
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
        '"src/**/*.{ts,tsx},a.py" # "both"',
        "'src/**/*.{ts,tsx}, a.py'   # both",
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
        ("*" * 4_095, "a.py", True, True),
        ("*" * 4_096, "a.py", True, False),
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
