"""`foldline runs` reports, pushes and prunes, and says what it needs."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from foldline.agent.cli import main
from foldline.plugins.stores import SQLiteEventStore
from foldline.prompts.disclosure.disclosure import OpenSectionsParams
from foldline.prompts.runtime import ToolInvoked

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with an opening of today and one of ten days ago."""
    monkeypatch.delenv("FOLDLINE_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    with SQLiteEventStore(tmp_path / "laptop.db") as store:
        for days in (0, 10):
            store.add(
                ToolInvoked(
                    prompt_ns="ns",
                    prompt_key="k",
                    evaluation_id=str(days),
                    created_at=datetime.now(UTC) - timedelta(days=days),
                    name="open_sections",
                    turn=1,
                    call_id="c",
                    params=OpenSectionsParams(reason="r", section_keys=("docs",)),
                )
            )
    return tmp_path / "laptop.db"


def test_a_report_shows_openings_tokens_and_sizes(
    laptop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["runs", "report", "--store", str(laptop), "--days", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        "openings:",
        "  day         prompt_ns  prompt_key  section_key  openings  evaluations",
        f"  {datetime.now(UTC).date()}  ns         k           docs         1         1",
        "tokens: none",
        "sizes:",
        "  prompt_ns  prompt_key  kind         events  characters  largest",
        "  ns         k           ToolInvoked  1       0           0",
    ]
    assert main(["runs", "report", "--store", str(laptop), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["openings"] for row in report["openings"]] == [1, 1]
    assert report["tokens"] == []


def test_a_file_is_pushed_once_and_old_days_are_deleted(
    laptop: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("FOLDLINE_STORE", str(tmp_path / "team.db"))
    assert main(["runs", "push", str(laptop)]) == 0
    assert main(["runs", "push", str(laptop)]) == 0
    assert main(["runs", "prune", "--days", "5"]) == 0
    assert main(["runs", "migrate"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2 events pushed",
        "0 events pushed",
        "1 events deleted",
        "0 days made ahead",
    ]
    with SQLiteEventStore(tmp_path / "team.db") as store:
        assert [opening.evaluation_id for opening in store.openings()] == ["0"]
        store.prune(before=datetime.now(UTC))
    assert main(["runs", "report"]) == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("report", "No store is configured: set FOLDLINE_STORE"),
        ("report --store nowhere.db", "there is no file nowhere.db"),
        ("report --store pyproject.toml", "file is not a database"),
        ("report --store postgresql://a:hunt@er2@host/db", "nor a valid postgresql:// URL"),
        ("report --store postgresql://a:hunter2@127.0.0.1:1/db", "postgresql://a@127.0.0.1:1/db"),
        ("push --store team.db", "takes an SQLite file of events, not nothing"),
        ("push gone.db --store team.db", "takes an SQLite file of events, not gone.db"),
        ("prune --store laptop.db", "`prune` takes --days N"),
    ],
)
def test_what_is_missing_is_said(
    line: str, message: str, laptop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    laptop.with_name("pyproject.toml").write_text("[tool.other]\nkey = 1\n" * 9, "utf-8")
    if "pyproject" not in line:
        laptop.with_name("pyproject.toml").unlink()
    assert main(["runs", *line.split()]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "hunt" not in error


def test_a_server_that_only_the_project_names_gets_nothing_without_trust(
    laptop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    laptop.with_name("pyproject.toml").write_text(
        '[tool.foldline]\nstore = "postgresql://127.0.0.1:1/db"\n', "utf-8"
    )
    assert main(["runs", "push", str(laptop)]) == 2
    assert "add --trust" in capsys.readouterr().err
    assert main(["runs", "push", str(laptop), "--trust"]) == 2
    assert "can't be used" in capsys.readouterr().err


def test_what_models_and_projects_write_reaches_no_terminal_as_it_is(
    laptop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with SQLiteEventStore(laptop) as store:
        store.add(
            ToolInvoked(
                prompt_ns="ns",
                prompt_key="k",
                evaluation_id="e",
                name="open_sections",
                turn=1,
                call_id="c",
                params=OpenSectionsParams(reason="r", section_keys=("\x1b[31m\n",)),
            )
        )
    assert main(["runs", "report", "--store", str(laptop)]) == 0
    for where in ("\\u001b.db", "postgresql://\\u001b/x", "postgresql://[\\u001b"):
        (tmp_path / "pyproject.toml").write_text(f'[tool.foldline]\nstore = "{where}"\n')
        assert main(["runs", "report"]) == 2
    printed = "".join(capsys.readouterr())
    assert "\x1b" not in printed
    assert "\\u001b[31m" in printed


@pytest.mark.parametrize("days", ["9999999", "9" * 20])
def test_any_number_of_days_is_taken(laptop: Path, days: str) -> None:
    assert main(["runs", "report", "--store", str(laptop), "--days", days]) == 0
    assert main(["runs", "prune", "--store", str(laptop), "--days", days]) == 0
