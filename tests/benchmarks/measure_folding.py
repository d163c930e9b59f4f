"""Measure what folding saves in six instruction files of others, as opencode sends them.

    uv run python -m tests.benchmarks.measure_folding [--mirrors DIR]

Prints the table of `INSTRUCTIONS.md`. The files come from GitHub, or from bare mirrors
`DIR/OWNER+NAME/repo`; the marks are ours, on sections that describe and don't direct. Each file is
alone in a folder, as its `AGENTS.md`: opencode runs there offline, with a script in place of a
model, four times: as its authors wrote it, folded, folded with one section read, and folded by a
foldline that is killed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.agent.real_agents.agents import opencode

from foldline.ide.instructions.document import InstructionFile

if TYPE_CHECKING:
    from tests.agent.real_agents.agents import Agent
    from tests.agent.real_agents.provider import Request

DONE = {"text": "The script is played."}
SAID = "What is this repository?"


@dataclass(frozen=True, slots=True)
class Source:
    """A file of a repository at a commit, and summaries by the key of their section."""

    repo: str
    commit: str
    path: str
    summaries: dict[str, str]


SOURCES = (
    Source(
        "pydantic/pydantic-ai",
        "4fda38988f2939fa6ea9cdefcf120693e10ef491",
        "AGENTS.md",
        {
            "repository-structure": "which package, documentation and example is in which folder",
            "development-workflow": "the tools of this project, and the `make` targets",
        },
    ),
    Source(
        "entireio/cli",
        "f446dcfc09fda981a5c373a5f47c54363761fa6e",
        "CLAUDE.md",
        {
            "strategy-details": "how manual-commit and auto-commit store and condense checkpoints",
            "key-files": "which file of `strategy/` does what",
            "session-phase-state-machine": "the phases of a session, and what moves it on",
            "metadata-structure": "where the metadata lives, on shadow branches and on its own",
            "checkpoint-id-linking": "how a commit leads to its checkpoint and back",
            "commit-trailers": "the trailers of commits, by branch",
            "multi-session-behavior": "what happens with two sessions in one folder",
        },
    ),
    Source(
        "openai/openai-agents-python",
        "7f7a44f8dc0650296bd5ab6c745c9bcbaa6ac3b7",
        "AGENTS.md",
        {
            "repo-structure-important-files": "what is in which folder",
            "utilities-tips": "commands for docs, examples and the package",
        },
    ),
    Source(
        "browser-use/browser-use",
        "85ddbfedf609166b2d2c76c3d80506649fee82a9",
        "AGENTS.md",
        {
            "quickstart": "install, choose a model, run a first agent",
            "going-to-production": "sandboxes, proxies and cookies in production",
            "agent-all-parameters": "every parameter of `Agent`",
            "agent-output-format": "what a history of a run gives, and structured output",
            "browser-all-parameters": "every parameter of `Browser`",
            "real-browser": "driving the user's own Chrome",
            "remote-browser": "the cloud browser, CDP addresses and proxies",
            "tools-available-tools": "the tools that an agent has by default",
            "telemetry": "what is collected, and how to opt out",
        },
    ),
    Source(
        "bytedance/deer-flow",
        "f1f4af99bbf1cffb83a80744bf6e4a44ee8f24be",
        "AGENTS.md",
        {
            "service-topology": "the services, their ports and who calls whom",
            "repository-map": "what is in which folder",
        },
    ),
    Source(
        "truera/trulens",
        "97f531aee7555f4a06d42453f7dd5c5eb4a721f1",
        "AGENTS.md",
        {
            "project-structure": "which package is in which folder",
            "otel-instrumentation": "spans, their attributes, and instrumenting other classes",
            "evaluation": "feedback functions, selectors and retrieved contexts, with code",
        },
    ),
)


def text_of(source: Source, mirrors: Path | None) -> str:
    """Return the file as its authors wrote it."""
    with tempfile.TemporaryDirectory() as scratch:
        git = Path(scratch)
        if mirrors is not None:
            git = mirrors / source.repo.replace("/", "+") / "repo"
        else:
            address = f"https://github.com/{source.repo}"
            _git(git, "init", "--quiet", "--bare")
            _git(git, "fetch", "--quiet", "--depth=1", address, source.commit)
        return _git(git, "show", f"{source.commit}:{source.path}").decode()


def _git(folder: Path, *words: str) -> bytes:
    return subprocess.run(
        ["git", "-C", str(folder), *words], check=True, capture_output=True
    ).stdout


def marked(text: str, summaries: dict[str, str]) -> str:
    """Return a text with a mark in each of these sections."""
    file = InstructionFile("AGENTS.md", text)
    places = {file.section(key).body: summary for key, summary in summaries.items()}
    for at, summary in sorted(places.items(), reverse=True):
        text = f"{text[:at]}<!-- fold: {summary} -->\n{text[at:]}"
    return text


def play(text: str, steps: list[dict[str, Any]], *, fold: bool, killed: bool) -> list[Request]:
    """Return what opencode sends where this is the only file."""
    with tempfile.TemporaryDirectory() as scratch:
        agent = opencode(Path(scratch))
        shutil.rmtree(agent.workspace)
        agent.workspace.mkdir()
        (agent.workspace / "AGENTS.md").write_text(text, encoding="utf-8")
        agent.install(*(["--fold"] if fold else []))
        if killed:
            _kill_plugin(agent)
        ended = agent.play([*steps, DONE], SAID)
        if ended.status != 0:
            sys.exit(ended.stderr)
        return [_without(scratch, request) for request in ended.requests]


def _without(scratch: str, request: Request) -> Request:
    """Return a request without the name of the folder, which is another in each run."""
    request.said = request.said.replace(scratch, "/scratch")
    return request


def _kill_plugin(agent: Agent) -> None:
    program = agent.home / "killed"
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    program.chmod(0o755)
    plugin = agent.home / ".config/opencode/plugins/foldline.js"
    lines = [
        f"const COMMAND = {json.dumps([str(program)])}" if "const COMMAND" in line else line
        for line in plugin.read_text(encoding="utf-8").splitlines()
    ]
    plugin.write_text("\n".join(lines), encoding="utf-8")


def prompt_bytes(request: Request) -> bytes:
    """Return what a provider reads of a request, in its order: tools, then messages."""
    body = json.loads(request.said)
    parts = [body["tools"], *body["messages"]]
    return b"\n".join(json.dumps(part, ensure_ascii=False).encode() for part in parts)


def row(source: Source, mirrors: Path | None) -> str:
    """Return the row of a file."""
    text = text_of(source, mirrors)
    with_marks = marked(text, source.summaries)
    key = next(iter(source.summaries))
    read = {"call": "read_section", "arguments": {"prompt": "AGENTS.md", "section_key": key}}
    (whole,) = play(text, [], fold=False, killed=False)
    (folded,) = play(with_marks, [], fold=True, killed=False)
    before, after = play(with_marks, [read], fold=True, killed=False)
    (killed,) = play(with_marks, [], fold=True, killed=True)
    file = InstructionFile("AGENTS.md", with_marks)
    assert after.results == [file.whole_text(file.section(key))]
    sent = prompt_bytes(before)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(sent, prompt_bytes(after), strict=False))
    kept = sum(1 for _ in same) / len(sent)
    assert with_marks in json.loads(killed.said)["messages"][0]["content"]
    sizes = [len(prompt_bytes(one)) for one in (whole, folded)]
    name = f"`{source.repo}`, {source.path}"
    cells = [
        f"{len(text.encode()):,}",
        str(len(source.summaries)),
        f"{sizes[0]:,}",
        f"{sizes[1]:,}",
        f"{sizes[1] - sizes[0]:+,}",
        f"{len(after.results[0].encode()):,}",
        f"{kept:.1%}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


HEAD = (
    "| file | bytes | marks | first request | folded | difference | a section, read | kept "
    "|\n|---|--:|--:|--:|--:|--:|--:|--:|"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirrors", type=Path)
    options = parser.parse_args()
    print(HEAD)
    for source in SOURCES:
        print(row(source, options.mirrors), flush=True)


if __name__ == "__main__":
    main()
