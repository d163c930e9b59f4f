"""Imports and fields of rules that clients don't read as meant, and the fixes that mend them."""

from __future__ import annotations

import subprocess
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foldline.ide.checks import Code, Severity
from foldline.ide.plugins import Plugin, plugins
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace
from foldline.plugins.instructions.clients import all_clients

from .test_stack import stack_of, written

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.ide.checks import Diagnostic

RULES = {
    ".claude/rules/a.md": ("claude-code", "paths"),
    ".github/instructions/a.instructions.md": ("copilot", "applyTo"),
    ".cursor/rules/a.mdc": ("cursor", "globs"),
}


def found_in(root: Path, path: str) -> list[Diagnostic]:
    """All diagnostics of a file."""
    workspace, uri = Workspace.at(root), uri_of(root / path)
    workspace.open_document(uri, (root / path).read_text(encoding="utf-8"))
    answers = workspace.with_snapshot(
        uri,
        lambda one: (
            *one.source.diagnostics(one),
            *chain.from_iterable(plugins().ask(Plugin.check_repository, one, 5.0, inf)),
        ),
    )
    return list(answers or ())


def fixed(text: str, found: list[Diagnostic], which: int = 0) -> str:
    changes = [change for one in found for change in one.fixes[which].changes]
    for change in sorted(changes, key=lambda one: one.place.start, reverse=True):
        text = text[: change.place.start] + change.text + text[change.place.end :]
    return text


def underlined(root: Path, path: str) -> list[str]:
    text = (root / path).read_text(encoding="utf-8")
    return [f"{one.code}: {text[one.place.start : one.place.end]}" for one in found_in(root, path)]


MARKS = st.sampled_from(["", ",", ":", ".", ";", "!", "?", ")", ".)", ":*"])


@settings(max_examples=15)
@given(
    st.lists(st.tuples(st.sampled_from("abc"), MARKS), max_size=4), st.sampled_from([", ", "\n"])
)
def test_what_a_client_imports_depends_on_the_first_mark_behind_it(
    tmp_path_factory: pytest.TempPathFactory, imports: list[tuple[str, str]], between: str
) -> None:
    tree = {f"docs/{name}.md": name for name in "abc"}
    text = between.join(f"see @docs/{name}.md{mark}" for name, mark in imports)
    text = text.replace(between, f" x{between}") if between == ", " else text
    root = written(tmp_path_factory.mktemp("r"), {**tree, "CLAUDE.md": text, "GEMINI.md": text})
    skipped = {"claude-code": ",:", "gemini": ".,;:!?)*"}
    for client, marks in skipped.items():
        loaded = {one.path: one.confirmed for one in stack_of(root, client).files}
        read = {f"docs/{name}.md" for name, mark in imports if mark[:1] not in [*marks]}
        sure = {name: mark for name, mark in imports[::-1] if mark[:1] not in [*marks]}
        assert {*loaded} == {"CLAUDE.md" if client == "claude-code" else "GEMINI.md", *read}
        assert all(loaded[f"docs/{name}.md"] is not bool(mark) for name, mark in sure.items())
    for name in ("CLAUDE.md", "GEMINI.md"):
        found = found_in(root, name)
        assert {one.code for one in found} <= {Code.DEAD_IMPORT}
        (root / name).write_text(fixed(text, found), encoding="utf-8")
        assert not found_in(root, name)


def test_an_import_that_leads_nowhere_is_reported_and_corrected_or_quoted(tmp_path: Path) -> None:
    text = "See @docs/style.md and @gone.md, and `@no.md`, @ann, @scope/pkg, @x.\n"
    tree = {".gitignore": "mine.md\n", "a/CLAUDE.md": f"{text}@mine.md\n", "other/style.md": "s"}
    tree |= {"b/gone.md": "b", "c/gone.md": "c"}
    root = written(tmp_path, tree)
    (root / ".git").mkdir()
    style, gone = found_in(root, "a/CLAUDE.md")
    assert style.message == "Nothing is imported by Claude Code here: there is no a/docs/style.md."
    assert (style.code, style.severity) == (Code.DEAD_IMPORT, Severity.WARNING)
    assert style.fixes[0].title == "Import ../other/style.md"
    assert [one.title for one in gone.fixes] == ["Put it between backquotes, as a name"]
    corrected, quoted = fixed(text, [style]), fixed(text, [style], 1)
    assert corrected.startswith("See @../other/style.md and")
    assert quoted.startswith("See `@docs/style.md` and")
    written(root, {"a/CLAUDE.md": corrected})
    assert [one.path for one in stack_of(root, "claude-code", "a/x").files][1:] == [
        "other/style.md"
    ]


def test_an_import_that_led_somewhere_is_reported_with_its_commit_alone(tmp_path: Path) -> None:
    root = written(tmp_path, {"CLAUDE.md": "@docs/a.md\n", "docs/a.md": "a"})
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    for commands in ("init -q .", "add -A", "commit -qm 1", "rm -q docs/a.md", "commit -qm 2"):
        subprocess.run(["git", *who, *commands.split()], cwd=root, check=True)
    assert underlined(root, "CLAUDE.md") == ["stale-reference: docs/a.md"]


def test_imports_are_looked_at_where_a_client_loads_the_file(tmp_path: Path) -> None:
    tree = {"AGENTS.md": "See @gone.md", "GEMINI.md": "@AGENTS.md, @gone.md"}
    root = written(tmp_path, tree)
    assert underlined(root, "AGENTS.md") == ["dead-import: @gone.md"]
    assert underlined(root, "GEMINI.md") == ["dead-import: @AGENTS.md", "dead-import: @gone.md"]
    text = "---\nname: a\n---\n@../a.txt, b @gone.md @../no.md @../../../out.md"
    written(root, {".claude/rules/a.md": text, ".claude/a.txt": "a"})
    expected = [f"dead-import: {name}" for name in ("@../a.txt", "@gone.md", "@../no.md")]
    assert underlined(root, ".claude/rules/a.md") == expected
    written(root, {"CLAUDE.md": "Nothing."})
    assert [one.partition(":")[0] for one in underlined(root, "AGENTS.md")] == [
        "switched-off-instructions"
    ]


@pytest.mark.parametrize(
    ("path", "front", "expected"),
    [
        (".claude/rules/a.md", "globs: '*.ts'", "globs warning"),
        (".claude/rules/a.md", "globs: '*.ts'\npaths: '*.ts'", "globs information"),
        (".claude/rules/a.md", "description: d\nname: n", ""),
        (".claude/rules/a.md", "owner: us\nteam: x", "owner information"),
        (".claude/rules/a.md", "paths: [a, b", "paths error"),
        (".claude/rules/a.md", 'paths: [\n  "a",\n]', ""),
        (".github/instructions/a.instructions.md", "apllyTo: '**'", "apllyTo warning"),
        (".github/instructions/a.instructions.md", "paths: '**'", "paths warning"),
        (
            ".cursor/rules/a.mdc",
            "glob: '*.ts'\nalwaysapply: true",
            "glob warning, alwaysapply warning",
        ),
        (".cursor/rules/a.mdc", "globs: [id]/*.ts,[a-c].ts\nalwaysApply: no", "alwaysApply error"),
        (".cursor/rules/in/a.mdc", "tags: x", "tags information"),
        (".cursor/rules/a.mdc", "globs: none/*.ts, *.none", "globs warning"),
        (".cursor/rules/a.mdc", "globs: none/*.ts\nalwaysApply: true", ""),
        (".claude/rules/a.md", "paths: [none.ts, 'i/*']", ""),
        ("templates/.github/instructions/a.instructions.md", "applyTo: none.ts", ""),
        (".github/instructions/a.instructions.md", "applyTo: '**/*.go'", "applyTo warning"),
    ],
)
def test_a_field_that_a_rules_client_does_not_read_or_that_no_file_matches(
    path: str, front: str, expected: str, tmp_path: Path
) -> None:
    text = f"---\n{front}\n---\nText.\n"
    found = found_in(written(tmp_path, {path: text, "i/x.ts": "", "a": ""}), path)
    said = [f"{text[one.place.start : one.place.end]} {one.severity}" for one in found]
    assert ", ".join(said) == expected


def test_front_matter_of_rules_is_closed(tmp_path: Path) -> None:
    for path in RULES:
        written(tmp_path, {path: "---\nname: x\nText.\n"})
        assert underlined(tmp_path, path) == ["front-matter: ---"]


@settings(max_examples=15)
@given(st.sampled_from(list(RULES)), st.data())
def test_the_fix_of_a_misspelt_key_makes_the_rule_one_for_its_files(
    tmp_path_factory: pytest.TempPathFactory, path: str, data: st.DataObject
) -> None:
    client, key = RULES[path]
    at = data.draw(st.integers(0, len(key) - 2), label="swapped at")
    wrong = data.draw(
        st.sampled_from([key.upper(), key[:at] + key[at + 1] + key[at] + key[at + 2 :]])
    )
    text = f"---\n{wrong}: '**/*.ts'\n---\nBe brief.\n"
    root = written(tmp_path_factory.mktemp("r"), {path: text, "x.ts": ""})
    found = found_in(root, path)
    if wrong == key:
        assert not found
    else:
        ((one),) = found
        assert one.severity == Severity.WARNING
        assert "each session" in one.message or "names it" in one.message
    written(root, {path: fixed(text, found)})
    assert [one.when for one in stack_of(root, client, "x/y.ts").files] == ["match"]
    assert [one.unmatched for one in stack_of(root, client, "x/y.go").left_out] == [True]


def test_every_rule_with_globs_has_fields_that_are_known() -> None:
    for client in all_clients():
        for rule in client.rules:
            assert not rule.fields or rule.patterns in rule.fields
