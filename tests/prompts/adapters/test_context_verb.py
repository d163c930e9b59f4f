"""`foldline context`, by the requirements PM-01 to PM-04 and SF-16."""

import json
from pathlib import Path

import pytest

from foldline.agent.cli import main
from foldline.prompts.adapters import ScriptedTurn, Transcript

from .providers import Provider
from .responses_wire import OpenAIResponsesWire
from .wires import AnthropicWire, OpenAIWire, Said, Wire

WIRES = [OpenAIWire(), OpenAIResponsesWire(), AnthropicWire()]
KNOWN = "openai:NAME, openai-responses:NAME or anthropic:NAME"
EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "code_reviewer" / "auth"
ROOT = ("--root", str(EXAMPLE))
QUESTION = "How are passwords hashed?"
CHOICE = json.dumps(
    {"files": [{"path": "passwords.py", "symbols": ["check_password", "nothing"]}], "whole": []}
)


def test_without_a_model_the_context_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["context", "How", "are", "passwords", "hashed?", *ROOT]) == 0
    shown = capsys.readouterr().out
    assert "passwords.py:43-47 hash_password\ndef hash_password(" in shown
    assert "passwords.py (python, 74 lines)" in shown


@pytest.mark.parametrize("budget", [100, 700, 1_500])
def test_the_budget_bounds_what_is_printed(budget: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["context", QUESTION, *ROOT, "--budget", str(budget)]) == 0
    shown = capsys.readouterr().out.removesuffix("\n")
    assert 0 < len(shown.encode()) <= budget
    assert "no room for " in shown


def test_nothing_found_is_status_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["context", "zebra", *ROOT]) == 1
    assert "no path and no symbol has any of: zebra" in capsys.readouterr().out


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.api)
def test_a_provider_chooses_and_answers(
    wire: Wire,
    provider: Provider,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "test")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
    provider.will(wire.whole(Said(CHOICE)), wire.whole(Said("By PBKDF2.")))
    assert main(["context", QUESTION, *ROOT, "--model", f"{wire.api}:a-model", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["answer"] == "By PBKDF2."
    assert result["choices"][0] == {"path": "passwords.py", "name": "check_password"}
    assert [one["name"] for one in result["unread"]] == ["nothing"]
    assert (result["usage"]["cached"], result["usage"]["written"]) == (16, 6)
    first, second = (json.dumps(request) for request in provider.requests)
    assert "passwords.py (python, 74 lines)" in first
    assert "compare_digest" not in first
    assert "def check_password" in second


def test_a_transcript_is_played_and_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    played, recorded = tmp_path / "played.json", tmp_path / "recorded.json"
    Transcript.of([ScriptedTurn(CHOICE)], [ScriptedTurn("By PBKDF2.")]).save(played)
    transcript = ["--transcript", str(played), "--record", str(recorded)]
    assert main(["context", QUESTION, *ROOT, *transcript]) == 0
    assert capsys.readouterr().out == "By PBKDF2.\n"
    # The recording has the prompts, so another question departs from it.
    assert main(["context", QUESTION, *ROOT, "--transcript", str(recorded)]) == 0
    assert main(["context", "Who signs tokens?", *ROOT, "--transcript", str(recorded)]) == 2
    assert "+Who signs tokens?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "openai:gpt-4o"], "OPENAI_API_KEY"),
        (["--model", "anthropic:a-model"], "ANTHROPIC_API_KEY"),
        (["--transcript", "missing.json"], "missing.json"),
        (["--record", "new.json"], "--record needs --model or --transcript"),
        (["--root", "/nowhere/at/all"], "no such file or folder"),
    ],
)
def test_what_is_missing_is_named(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert main(["context", QUESTION, *ROOT, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_sdk_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main(["context", QUESTION, *ROOT, "--model", "anthropic:a-model"]) == 2
    assert "install foldline[anthropic]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "gpt-4o"], f"'gpt-4o' isn't {KNOWN}"),
        (["--model", "openai:"], f"'openai:' isn't {KNOWN}"),
        (["--budget", "99"], "budget: must be from 100 to 100000, not 99"),
        (["--model", "openai:a", "--transcript", "b"], "not allowed with"),
    ],
)
def test_wrong_options_say_what_fits(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["context", QUESTION, *arguments]) == 2
    assert message in capsys.readouterr().err
