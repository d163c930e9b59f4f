"""`foldline doctor` says what it found, what it chooses, and why."""

import json
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from foldline.agent.cli import main

from .verbs import run

pytestmark = pytest.mark.real


@pytest.fixture
def without_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server is started to say which it is."""
    monkeypatch.setattr("foldline.backends.lsp.server_version", Mock(return_value=""))


def servers(*arguments: str) -> dict[str, dict[str, object]]:
    report = json.loads(run("doctor", "--json", *arguments)[1])
    return {server["name"]: server for server in report["servers"]}


def test_ty_is_the_first_choice_for_python(tmp_path: Path) -> None:
    found = servers("--root", str(tmp_path))
    assert found["ty"]["chosen_for"] == ["python"]
    assert str(found["ty"]["version"]).startswith("ty ")
    assert found["basedpyright"]["chosen_for"] == []


def test_the_text_names_every_server_and_how_to_get_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", "--root", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "\n* ty " in shown
    assert "vtsls" in shown
    assert "not trusted" in shown


@pytest.mark.usefixtures("without_versions")
def test_a_project_chooses_orders_and_disables(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.foldline.lsp]\nuse = ['basedpyright']\ndisable = ['clangd']\n"
    )
    found = servers("--root", str(tmp_path), "--trust")
    assert next(iter(found)) == "basedpyright"
    assert found["basedpyright"]["chosen_for"] == ["python"]
    assert found["clangd"]["reason"] == "disabled in the settings"


def test_what_may_choose_a_program_needs_trust_and_the_report_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.foldline.lsp]\nuse = ['basedpyright']\ndisable = ['clangd']\n"
        "[tool.foldline.lsp.servers.ty]\ncommand = ['./evil', '--stdio']\n"
    )
    evil = tmp_path / "evil"
    evil.write_text("#!/bin/sh\ntouch " + str(tmp_path / "executed") + "\n")
    evil.chmod(0o755)
    found = servers("--root", str(tmp_path))
    assert found["ty"]["command"] == [str(Path(sys.executable).with_name("ty")), "server"]
    assert next(iter(found)) == "ty"
    assert "confined as the workspace is not trusted" in str(found["basedpyright"]["reason"])
    assert found["clangd"]["reason"] == "disabled in the settings"
    assert main(["doctor", "--root", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "tool.foldline.lsp: use and servers may choose what is run" in shown
    assert "with --trust" in shown
    assert not (tmp_path / "executed").exists()
    trusted = servers("--root", str(tmp_path), "--trust")
    assert trusted["ty"]["command"] == [str(evil), "--stdio"]


@pytest.mark.usefixtures("without_versions")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "[tool.foldline.lsp]\nuse = ['pyrigth']",
            "lsp.use: unknown server 'pyrigth'; did you mean 'pyright'",
        ),
        ("[tool.foldline.lsp]\nuses = []", "lsp.uses: unknown option; did you mean 'use'?"),
        ("[tool.foldline.lsp]\nuse = 'ty'", "lsp.use: expected a list of texts, got 'ty'"),
        ("[tool.foldline.lsp.servers]\nmine = 1", "servers.mine: expected a table, got 1"),
        ("[tool.foldline.lsp.servers.mine]\ncommand = ['a']", "needs a command and languages"),
        (
            "[tool.foldline.lsp.servers.mine]\ncommand = ['a']\nlanguages = ['pyhton']",
            "unknown language 'pyhton'; did you mean 'python'?",
        ),
    ],
)
def test_a_setting_that_is_wrong_is_named(
    text: str, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    assert main(["doctor", "--root", str(tmp_path)]) == 1
    assert problem in capsys.readouterr().out


def fake_environment(root: Path, version: str | None) -> Path:
    """A `.venv` below `root` whose Python says that it has this version of foldline."""
    python = root / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    said = json.dumps({"python": "3.12.1", "foldline": version})
    python.write_text(f"#!/bin/sh\ntouch {root / 'started'}\necho '{said}'\n", encoding="utf-8")
    python.chmod(0o755)
    return python


@pytest.mark.usefixtures("without_versions")
@pytest.mark.parametrize(
    ("version", "words"),
    [("0.0.1", "it has foldline 0.0.1, and this is"), (None, "it has no foldline installed")],
)
def test_the_interpreter_of_previews_is_named_with_what_is_wrong_with_it(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    version: str | None,
    words: str,
) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.delenv("CONDA_PREFIX", raising=False)
    python = fake_environment(tmp_path / "project", version)
    module = tmp_path / "project" / "prompts" / "review.py"
    root = ("--root", str(tmp_path / "project"))
    assert main(["doctor", str(module), *root]) == 0
    shown = capsys.readouterr().out
    assert f"previews   {python}: the nearest environment" in shown
    assert "--trust asks it" in shown
    assert not (tmp_path / "project" / "started").exists()
    assert main(["doctor", str(module), *root, "--trust"]) == 1
    shown = capsys.readouterr().out
    assert f"Python 3.12.1, foldline {version or 'missing'}" in shown
    assert words in shown


@pytest.mark.usefixtures("without_versions")
def test_an_activated_environment_wins_and_a_broken_one_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    python = tmp_path / "elsewhere" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho no\n", encoding="utf-8")
    python.chmod(0o755)
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "elsewhere"))
    (tmp_path / "project").mkdir()
    assert main(["doctor", "--root", str(tmp_path / "project")]) == 1
    shown = capsys.readouterr().out
    assert f"{python}: the environment variable VIRTUAL_ENV; it is no Python that runs" in shown
