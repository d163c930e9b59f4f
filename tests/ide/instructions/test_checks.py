"""Checks of instruction files, each in the file that its page shows and in the repaired one."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from skills_ref.validator import validate

from foldline.ide import checks as pages
from foldline.ide.analysis.model import SourceSpan
from foldline.ide.checks import Code
from foldline.ide.instructions import front_matter
from foldline.ide.instructions.checks import _of_templates, diagnostics
from foldline.ide.instructions.document import instruction_file
from foldline.ide.instructions.front_matter import faults
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace
from foldline.plugins.instructions.clients import all_clients
from foldline.plugins.instructions.stack import stacks

PAGES = Path(pages.__file__).parent / "pages"
SKILL = ".claude/skills/pdf-tools/SKILL.md"


def found_in(root: Path, path: str, text: str, settings: str = "") -> list[str]:
    """The diagnostics of a text, each as its code and what it underlines."""
    (root / "pyproject.toml").write_text(f"[tool.foldline]\nexact-tokens = false\n{settings}")
    file = root / path
    folder = Workspace.at(root).folder(file)
    return [
        f"{one.code}: {text[one.place.start : one.place.end]}"
        for one in diagnostics(instruction_file(file, root, text), file, folder)
    ]


@pytest.mark.parametrize(
    ("code", "path"),
    [
        (Code.EMPTY_SECTION, "AGENTS.md"),
        (Code.REPEATED_SECTION, "AGENTS.md"),
        (Code.FRONT_MATTER, SKILL),
        (Code.UNKNOWN_FRONT_MATTER, SKILL),
        (Code.FOREIGN_TEMPLATE_SYNTAX, "AGENTS.md"),
    ],
)
def test_the_first_text_of_a_page_has_the_finding_and_the_second_is_repaired(
    code: Code, path: str, tmp_path: Path
) -> None:
    page = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    wrong, right = re.findall(r"^```markdown\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert code in {one.partition(":")[0] for one in found_in(tmp_path, path, wrong)}
    assert found_in(tmp_path, path, right) == []


LONG = "The metadata of a package lives in one file, which every tool reads before it starts. " * 9


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# A\n## B\n", ["empty-section: ## B"]),
        ("# A\n## B\nText.\n", []),
        (f"# A\n<!-- fold: where it lives -->\n{LONG}\n", []),
        (f"# A\n<!-- fold: -->\n{LONG}\n", ["missing-summary: <!-- fold: -->\n"]),
        (f"# A\n<!-- fold -->\n{LONG}\n", ["missing-summary: <!-- fold -->\n"]),
        (f"# A\n<!-- fold this -->\n{LONG}\n<!-- folded from b#a: c -->\n", []),
        ("# A\n<!-- fold: short -->\nHi.\n", ["folding-costs-more: <!-- fold: short -->\n"]),
        (
            f"# A\n{LONG}\n# B\n{LONG}\n# C\n\n{LONG}",
            ["repeated-section: # B", "repeated-section: # C"],
        ),
        ("# A\nSee above.\n# B\nSee above.\n", []),
        (f"# A\n## B\n{LONG}\n", []),
    ],
)
def test_sections_are_checked(text: str, expected: list[str], tmp_path: Path) -> None:
    assert found_in(tmp_path, "AGENTS.md", text) == expected


def test_a_file_over_the_budget_is_reported_and_severities_are_the_projects(tmp_path: Path) -> None:
    text = f"# Rules\n{LONG}"
    budget = "token-budget = 50\n"
    assert found_in(tmp_path, "AGENTS.md", text, budget) == ["token-budget: # Rules"]
    off = f'{budget}[tool.foldline.severity]\ntoken-budget = "off"\n'
    assert found_in(tmp_path, "AGENTS.md", text, off) == []
    assert found_in(tmp_path, "AGENTS.md", text, "token-budget = 0\n") == []


@pytest.mark.parametrize(
    ("front", "expected"),
    [
        ("globs: *.ts,*.tsx\nalwaysApply: true\n", []),
        ("alwaysApply: yes\n", ["front-matter: alwaysApply"]),
        ("globs: [*.ts\n", ["front-matter: globs"]),
        ("every file\n", ["front-matter: every file"]),
    ],
)
def test_a_rule_of_cursors_is_read_as_cursor_reads_it(
    front: str, expected: list[str], tmp_path: Path
) -> None:
    text = f"---\n{front}---\n# A\nText.\n"
    assert found_in(tmp_path, ".cursor/rules/a.mdc", text) == expected


def test_the_front_matter_of_other_files_is_free(tmp_path: Path) -> None:
    for path in ("AGENTS.md", ".github/instructions/a.instructions.md", ".claude/rules/a.md"):
        assert found_in(tmp_path, path, "---\nanything: goes: here\n---\n# A\nText.\n") == []


NAMES = st.sampled_from(
    [
        "pdf-tools",
        "pdf-tools ",
        "'pdf-tools'",
        "pdf-Tools",
        "pdf--tools",
        "-pdf",
        "other",
        "",
        "a b",
    ]
)
TEXTS = st.sampled_from(
    [
        "Reads forms.",
        '"Use for forms: fill."',
        "Use for: forms",
        "''",
        "",
        "x" * 1024,
        "x" * 1025,
        ">-\n  Reads\n  forms.",
        "|\n  Reads\n  forms.",
        "Reads\n  forms.",
        "'it''s'",
        "a # b",
    ]
)
FRONT_MATTERS = st.fixed_dictionaries(
    {},
    optional={
        "name": NAMES,
        "description": TEXTS,
        "compatibility": st.sampled_from(["Python", "x" * 501]),
        "license": st.just("MIT"),
        "metadata": st.just("\n  author: me"),
        "allowed-tools": st.just("Bash(git:*) Read"),
        "descripton": st.just("Reads forms."),
    },
)


@given(FRONT_MATTERS)
def test_skills_are_valid_where_the_reference_validator_says_so(
    tmp_path_factory: pytest.TempPathFactory, front: dict[str, str]
) -> None:
    lines = "".join(f"{name}: {value}\n" for name, value in front.items())
    text = f"---\n{lines}---\n# A\nText.\n"
    folder = tmp_path_factory.mktemp("skills") / "pdf-tools"
    folder.mkdir()
    path = folder / "SKILL.md"
    path.write_text(text, encoding="utf-8")
    found = list(faults(instruction_file(path, path.parent, text), path))
    assert bool(found) == bool(validate(folder)), (text, found, validate(folder))


def test_fields_of_one_client_are_one_remark(tmp_path: Path) -> None:
    front = (
        "name: pdf-tools\ndescription: Reads forms.\nmodel: opus\nhooks:\n  - a\ndescripton: x\n"
    )
    assert found_in(tmp_path, SKILL, f"---\n{front}---\n# A\nText.\n") == [
        "unknown-front-matter: model",
        "unknown-front-matter: descripton",
    ]


def test_front_matter_is_read_once_for_all_clients(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "---\npaths: b.py\nowner: us\n---\n# A\nText.\n"
    (tmp_path / ".claude/rules").mkdir(parents=True)
    (tmp_path / ".claude/rules/a.md").write_text(text, encoding="utf-8")
    reader = Mock(wraps=front_matter._value)
    monkeypatch.setattr(front_matter, "_value", reader)
    (folder,) = Workspace.at(tmp_path).folders()
    assert any(one.files for one in stacks(folder, all_clients(), "b.py"))
    assert reader.call_count == 2


@pytest.mark.parametrize("end", ["", " ", "\n"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_front_matter_may_end_with_the_file(end: str, newline: str, tmp_path: Path) -> None:
    text = f"---\nname: a\ndescription: é\n---{end}".replace("\n", newline)
    file = instruction_file(tmp_path / "a/SKILL.md", tmp_path, text)
    assert [one.name for one in front_matter.fields(file)] == ["name", "description"]
    assert file.render().text == ""
    assert found_in(tmp_path, "a/SKILL.md", text) == []


def test_a_skill_without_front_matter_says_what_it_needs(tmp_path: Path) -> None:
    assert found_in(tmp_path, SKILL, "# A\nText.\n") == ["front-matter: # A"]
    unclosed = "---\nname: pdf-tools\n\nText.\n"
    assert found_in(tmp_path, SKILL, unclosed) == ["front-matter: ---"]
    twice = "---\nname: pdf-tools\nname: pdf-tools\ndescription: Reads forms.\n---\nText.\n"
    assert found_in(tmp_path, SKILL, twice) == ["front-matter: name"]


def test_a_file_that_is_not_parsed_has_no_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, uri = Workspace.at(tmp_path), uri_of(tmp_path / "AGENTS.md")
    workspace.open_document(uri, "# Rules\n")
    assert workspace.with_snapshot(uri, lambda found: found.source) is not None
    workspace.open_document(uri, "# More rules\n")
    monkeypatch.setattr("foldline.backends.outlines.syntax.MOST_BYTES", 10)
    assert workspace.with_snapshot(uri, lambda found: found.source) is None


LEFTOVERS = [
    *("{{ name }}", "{{name}}", "{{arg:1}}", '{{ if KIND == "a" }}', "{{ endif }}", "{{#if ARG}}"),
    *("{{/if}}", "{{else}}", "{{ if $3 }}", "{% if name %}", "{%- endif %}", "<%= name %>"),
    *("${1:-.}", "${2:+--fix}", "${1:-[NAME]}"),
]
LEGAL = [
    *("$ARGUMENTS", "$1", "${CLAUDE_SKILL_DIR}", "${HOME}", "${input:name}", "{name}", "{a: 1}"),
    *("${{ github.sha }}", "{{ .Values.name }}", "{{- end }}", "{{ end }}", "{{...}}", "{{}}"),
    *("{{{ raw }}}", "${{a}}$", "!`git log`"),
]
PROSE = ["{}", "# About {}", "- *{}*, and", "| a |\n|---|\n| {} |", "> in {}\n> it", "**{}**."]
SHOWN = ["`{}`", "```\n{}\n```", "    {}", "<!-- {} -->", "the placeholder {}", "- replace {}"]


@pytest.mark.parametrize("around", PROSE)
def test_template_text_that_nothing_renders_is_reported_where_it_is(
    around: str, tmp_path: Path
) -> None:
    for text in LEFTOVERS:
        line = around.replace("{}", text)
        reported = [one for one in found_in(tmp_path, "AGENTS.md", line) if "foreign" in one]
        assert reported == [f"foreign-template-syntax: {text}"]
        assert "foreign" not in str(found_in(tmp_path, "templates/AGENTS.md", line))


@pytest.mark.parametrize("around", [*PROSE, *SHOWN])
def test_text_that_means_its_braces_is_not_reported(around: str, tmp_path: Path) -> None:
    for text in LEGAL if around in PROSE else LEFTOVERS:
        line = around.replace("{}", text)
        assert "foreign" not in str(found_in(tmp_path, "AGENTS.md", f"Words.\n\n{line}\n"))


def test_a_long_line_of_template_text_is_read_in_linear_time() -> None:
    file = instruction_file(Path("/AGENTS.md"), Path("/"), "{{ a }} {{ " * 5_000)
    assert sum(1 for _ in _of_templates(file, partial(SourceSpan, "AGENTS.md"))) == 5_000
