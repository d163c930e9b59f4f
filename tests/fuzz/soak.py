"""A random editor and a random agent, and a saboteur, for as long as you like.

    uv run poe soak --minutes 30 [--seed N] [--json FILE]

The editor types, asks and previews in a workspace of its own; the agent asks over MCP; meanwhile
workers, language servers and their guards are killed and frozen, indexes are spoiled, branches are
switched, and trust comes and goes. Counted are requests, faults, requests without an answer or with
two, internal errors, stale answers (other than those of a fresh server), processes that are left
over, and the growth of memory, descriptors and threads. The exit status is 1 if something is wrong.
Memory is told as a slope, for a person to judge: short runs only show the warming of caches.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from .peers import LspPeer, McpPeer, Peer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
PATIENCE = 60.0
"""Seconds after which a request counts as unanswered; every deadline of ours is shorter."""
LEFT_OVER_SECONDS = 15.0
MOST_WAITING = 40
AGENT_SHARE = 0.3
PACE = 0.01
SAMPLE_SECONDS = 5.0
FAULT_PAUSE_SECONDS = (0.5, 3.0)
FROZEN_SECONDS = (0.5, 12.0)
SNIPPETS = (
    "\n",
    "x",
    "${name}",
    '"""',
    "(",
    ")",
    "\r",
    "é😀",
    "    ",
    "MarkdownSection[None](title='T', key='k', template='${x}'),",
    "def f(",
    "\x0c",
    "\u2028",
)
NAMES = ("AuthService", "TokenSigner.read", "reviewer", "Session", "fingerprint", "nowhere")
DOCUMENT_REQUESTS = (
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/codeLens",
    "textDocument/diagnostic",
    "textDocument/semanticTokens/full",
    "textDocument/documentLink",
)
POSITION_REQUESTS = (
    "textDocument/hover",
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
)


@dataclass
class Sample:
    """The server's size at one moment: MiB, descriptors, threads; processes below it."""

    minute: float
    memory: float
    descriptors: int
    threads: int
    processes: int


@dataclass
class Report:
    """The result of a run; `wrong` counts what must not happen."""

    seed: int
    minutes: float
    requests: int = 0
    refused: int = 0
    faults: dict[str, int] = field(default_factory=dict)
    unanswered: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    internal: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    exits: dict[str, int | None] = field(default_factory=dict)
    samples: dict[str, list[Sample]] = field(default_factory=dict)

    def sample(self, doors: Mapping[str, Peer], minute: float) -> None:
        """Note the servers' sizes, every `SAMPLE_SECONDS`."""
        for door, peer in doors.items():
            samples = self.samples[door]
            if not samples or minute - samples[-1].minute > SAMPLE_SECONDS / 60:
                with suppress(psutil.Error):
                    samples.append(_sample(peer, minute))

    @property
    def wrong(self) -> int:
        """The number of things that must not happen."""
        failed = sum(status != 0 for status in self.exits.values())
        lists = (self.unanswered, self.twice, self.internal, self.stale, self.left_over)
        return failed + sum(map(len, lists))

    def slope(self, door: str) -> float:
        """The growth of memory in MiB a minute over the second half of the run."""
        samples = self.samples[door]
        half = samples[len(samples) // 2 :]
        if len(half) < 2:
            return 0.0
        times, sizes = [one.minute for one in half], [one.memory for one in half]
        middle, mean = sum(times) / len(times), sum(sizes) / len(sizes)
        spread = sum((at - middle) ** 2 for at in times)
        pairs = zip(times, sizes, strict=True)
        return sum((at - middle) * (size - mean) for at, size in pairs) / spread if spread else 0.0

    def lines(self) -> list[str]:
        """The report for people."""
        faults = ", ".join(f"{count} {name}" for name, count in sorted(self.faults.items()))
        lines = [
            f"seed {self.seed}, {self.minutes:g} minutes, {self.requests:,} requests "
            f"({self.refused:,} refused), {sum(self.faults.values())} faults: {faults}"
        ]
        for name in ("unanswered", "twice", "internal", "stale", "left_over"):
            found = Counter(getattr(self, name))
            lines.append(f"{name.replace('_', ' ')}: {sum(found.values())}")
            lines += [f"  {count} x {what}" for what, count in found.most_common(8)]
        lines.append(f"exit status: {self.exits}")
        for door, samples in self.samples.items():
            first, last = samples[0], samples[-1]
            lines.append(
                f"{door}: memory {first.memory:.0f} -> {last.memory:.0f} MiB "
                f"({self.slope(door):+.2f} MiB/min over the second half), "
                f"descriptors {first.descriptors} -> {last.descriptors}, "
                f"threads {first.threads} -> {last.threads}, "
                f"processes {first.processes} -> {last.processes}"
            )
        return lines


class Workspace:
    """A repository with two branches, made of the example and of much other code."""

    def __init__(self, folder: Path) -> None:
        self.root = (folder / "workspace").resolve()
        self.cache = folder / "cache"
        shutil.copytree(EXAMPLE, self.root, ignore=shutil.ignore_patterns("__pycache__"))
        (self.root / "pyproject.toml").write_text("[tool.foldline]\ntoken-budget = 9000\n")
        (self.root / "lib.ts").write_text("export function pay(a: number) { return a; }\npay(1);\n")
        (self.root / "deep.yaml").write_text("- a\n- b:\n    - c\n")
        for number in range(40):
            module = self.root / "pkg" / f"module_{number}.py"
            module.parent.mkdir(exist_ok=True)
            module.write_text(
                f"class Thing{number}:\n    def fingerprint(self):\n        return {number}\n"
            )
        self._git("init", "-q", "-b", "main")
        self._git("add", "-A")
        self._git("commit", "-q", "-m", "one")
        self._git("checkout", "-q", "-b", "other")
        for number in range(0, 40, 3):
            (self.root / "pkg" / f"module_{number}.py").write_text("Session = 1\n")
        self._git("commit", "-q", "-a", "-m", "two")
        self._git("checkout", "-q", "main")

    def _git(self, *arguments: str) -> None:
        identity = ("-c", "user.name=Soak", "-c", "user.email=soak@example.com")
        subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True)

    def switch(self, chance: random.Random) -> None:
        self._git("checkout", "-q", "-f", chance.choice(("main", "other")))

    def spoil(self, chance: random.Random) -> None:
        """Damage one file of the caches, in one of the ways that disks and people know."""
        files = [path for path in self.cache.rglob("*") if path.is_file()]
        if not files:
            return
        path = chance.choice(files)
        with suppress(OSError):
            way = chance.randrange(4)
            if way == 0:
                path.unlink()
            elif way == 1:
                os.truncate(path, 0)
            elif way == 2:
                path.write_bytes(chance.randbytes(200))
            else:
                os.truncate(path, path.stat().st_size // 2)


class Editor:
    """A person at an editor, of a kind."""

    def __init__(self, workspace: Workspace, chance: random.Random, env: Mapping[str, str]) -> None:
        self.workspace = workspace
        self.chance = chance
        self.peer = LspPeer(workspace.root, env, trusted=True)
        self.texts: dict[str, str] = {}
        self.versions: Counter[str] = Counter()
        self.files = ["reviewer_prompt.py", "auth/service.py", "code_reviewer/prompt.py", "lib.ts"]

    def uri(self, path: str) -> str:
        return (self.workspace.root / path).as_uri()

    def act(self) -> None:
        """Do one random thing."""
        weights = {
            self._edit: 30,
            self._ask_about_document: 25,
            self._ask_at_position: 15,
            self._ask_about_code: 20,
            self._ask_about_prompt: 20,
            self._preview: 10,
            self._open_or_close: 4,
            self._cancel: 3,
            self._status: 4,
        }
        (action,) = self.chance.choices(list(weights), list(weights.values()))
        action()

    def _open_or_close(self) -> None:
        path = self.chance.choice(self.files)
        uri = self.uri(path)
        if path in self.texts:
            del self.texts[path]
            self.peer.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
        else:
            self.open(path, (self.workspace.root / path).read_text(encoding="utf-8"))

    def open(self, path: str, text: str) -> None:
        self.texts[path] = text
        document = {"uri": self.uri(path), "languageId": "python", "version": 1, "text": text}
        self.peer.notify("textDocument/didOpen", {"textDocument": document})

    def _document(self) -> str:
        if not self.texts:
            self._open_or_close()
        return self.chance.choice(list(self.texts))

    def _edit(self) -> None:
        path = self._document()
        text = self.texts[path]
        if self.chance.random() < 0.04:
            self.mend(path)
            return
        start = _character(text, self.chance.randrange(len(text) + 1))
        end = _character(text, min(len(text), start + self.chance.choice((0, 0, 0, 1, 1, 12))))
        snippet = self.chance.choice(SNIPPETS)
        span = {"start": _position(text, start), "end": _position(text, end)}
        self._change(path, text[:start] + snippet + text[end:], {"range": span, "text": snippet})

    def mend(self, path: str) -> None:
        """Bring a document back to sound text, as undo does."""
        text = (EXAMPLE / path).read_text() if (EXAMPLE / path).exists() else "pay(1);\n"
        self._change(path, text, {"text": text})

    def _change(self, path: str, text: str, change: dict[str, object]) -> None:
        self.texts[path] = text
        self.versions[path] += 1
        self.peer.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.uri(path), "version": 1 + self.versions[path]},
                "contentChanges": [change],
            },
        )

    def _ask_about_document(self) -> None:
        document = {"textDocument": {"uri": self.uri(self._document())}}
        self.peer.request(self.chance.choice(DOCUMENT_REQUESTS), document)

    def _ask_at_position(self) -> None:
        path = self._document()
        place = _position(self.texts[path], self.chance.randrange(len(self.texts[path]) + 1))
        params = {"textDocument": {"uri": self.uri(path)}, "position": place}
        self.peer.request(self.chance.choice(POSITION_REQUESTS), params)

    def _ask_about_code(self) -> None:
        name, path = self.chance.choice(NAMES), self.chance.choice(self.files)
        seconds = self.chance.choice((0, 1, 5))
        ways: list[tuple[str, dict[str, object]]] = [
            ("code.tree", {}),
            ("code.outline", {"path": path}),
            ("code.readSymbol", {"path": path, "name": name, "seconds": seconds}),
            ("code.findReferences", {"name": name, "seconds": seconds}),
            ("code.hover", {"path": path, "name": name, "seconds": seconds}),
            ("code.diagnostics", {"path": path, "seconds": seconds}),
            ("code.readFile", {"path": path}),
            ("code.readLines", {"path": path, "start": 1, "end": 5}),
            ("code.searchFiles", {"query": name}),
            ("code.grep", {"pattern": name[:4]}),
        ]
        command, arguments = self.chance.choice(ways)
        self.peer.command(command, **arguments)

    def _ask_about_prompt(self) -> None:
        uri = self.uri("reviewer_prompt.py")
        ways: list[tuple[str, dict[str, object]]] = [
            ("prompt.list", {}),
            ("prompt.render", {"uri": uri}),
            ("prompt.tokens", {"uri": uri}),
            ("prompt.readSection", {"uri": uri, "section_key": "workspace.history"}),
            ("prompt.summary", {"uri": uri, "section_key": "reference-docs"}),
            ("prompt.diff", {"uri": uri, "revision": "HEAD"}),
        ]
        command, arguments = self.chance.choice(ways)
        self.peer.command(command, **arguments)

    def _preview(self) -> None:
        uri = self.uri("reviewer_prompt.py")
        ways: list[tuple[str, dict[str, object]]] = [
            ("prompt.preview", {"uri": uri}),
            ("prompt.openSections", {"section_keys": ["reference-docs"], "reason": "soak"}),
            ("prompt.closeSections", {"section_keys": ["reference-docs"]}),
            ("prompt.undo", {}),
            ("prompt.history", {}),
            ("prompt.closePreview", {}),
        ]
        command, arguments = self.chance.choice(ways)
        self.peer.command(command, **arguments)

    def _cancel(self) -> None:
        self._ask_about_code()
        self.peer.notify("$/cancelRequest", {"id": self.peer.tally.requests})

    def _status(self) -> None:
        self.peer.command("status")

    def shown(self, peer: LspPeer) -> dict[str, object]:
        """The answers that depend on texts and files alone, from `peer`."""
        answers: dict[str, object] = {}
        for path in sorted(self.texts):
            document = {"textDocument": {"uri": self.uri(path)}}
            for method in DOCUMENT_REQUESTS[:2]:
                answers[f"{method} {path}"] = _result(peer.ask(method, document, PATIENCE))
        questions: list[tuple[str, dict[str, object]]] = [
            ("code.tree", {}),
            ("code.outline", {"path": "reviewer_prompt.py"}),
            ("code.findReferences", {"name": "fingerprint", "seconds": 0, "budget": 20_000}),
            ("code.grep", {"pattern": "Session", "budget": 20_000}),
        ]
        for command, arguments in questions:
            params = {"command": f"foldline.server.{command}", "arguments": [arguments]}
            answer = _result(peer.ask("workspace/executeCommand", params, PATIENCE))
            answers[command] = answer.get("text") if isinstance(answer, dict) else answer
        return answers


class Agent:
    """A model with tools, of a kind."""

    def __init__(self, workspace: Workspace, chance: random.Random, env: Mapping[str, str]) -> None:
        self.chance = chance
        self.peer = McpPeer(workspace.root, env, trusted=True)

    def act(self) -> None:
        """Call one random tool, or get a prompt."""
        name, path = self.chance.choice(NAMES), self.chance.choice(("auth/service.py", "lib.ts"))
        ways: list[tuple[str, dict[str, object]]] = [
            ("get_tree", {}),
            ("search_for_files", {"query": name}),
            ("grep_in_files", {"pattern": name[:4]}),
            ("get_file_outline", {"path": path}),
            ("read_symbol", {"path": path, "name": name}),
            ("read_lines", {"path": path, "start": 1, "end": 5}),
            ("find_references", {"name": name}),
            ("read_file", {"path": path}),
        ]
        if self.chance.random() < 0.1:
            name = "examples/code-reviewer/review"
            self.peer.request("prompts/get", {"name": name, "arguments": {"project": "soak"}})
        elif self.chance.random() < 0.1:
            self.peer.request("prompts/list", {})
        else:
            tool, arguments = self.chance.choice(ways)
            self.peer.call(tool, **arguments)


class Saboteur:
    """Faults that a machine, a disk or a person brings about."""

    def __init__(self, editor: Editor, agent: Agent, chance: random.Random) -> None:
        self._editor = editor
        self._agent = agent
        self._chance = chance
        self._frozen: list[tuple[float, psutil.Process]] = []
        self._next = FAULT_PAUSE_SECONDS[1] / 60
        self.done: Counter[str] = Counter()

    def act(self, minute: float) -> None:
        """Bring about a fault, if it is time for one, and end those whose time is over."""
        self.thaw()
        if minute < self._next:
            return
        self._next = minute + self._chance.uniform(*FAULT_PAUSE_SECONDS) / 60
        ways: dict[str, Callable[[], object]] = {
            "killed": lambda: self._signal(signal.SIGKILL),
            "frozen": lambda: self._signal(signal.SIGSTOP),
            "spoiled": lambda: self._editor.workspace.spoil(self._chance),
            "branch switched": lambda: self._editor.workspace.switch(self._chance),
            "trust changed": self._change_trust,
            "restart": lambda: self._editor.peer.command("restart"),
        }
        name = self._chance.choice(list(ways))
        self.done[name] += 1
        ways[name]()

    def thaw(self, *, everything: bool = False) -> None:
        """Let frozen processes go on whose time is over."""
        now = time.monotonic()
        for at, process in list(self._frozen):
            if everything or at < now:
                self._frozen.remove((at, process))
                with suppress(psutil.Error):
                    process.send_signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        peer: Peer = self._chance.choice((self._editor.peer, self._agent.peer))
        processes = peer.descendants()
        if not processes:
            return
        process = self._chance.choice(processes)
        with suppress(psutil.Error):
            process.send_signal(number)
            if number == signal.SIGSTOP:
                until = time.monotonic() + self._chance.uniform(*FROZEN_SECONDS)
                self._frozen.append((until, process))

    def _change_trust(self) -> None:
        for trusted in (False, True):
            self._editor.peer.notify("foldline/didChangeTrust", {"trusted": trusted})


def run(minutes: float, seed: int) -> Report:
    """Soak for so many minutes and return what was seen.

    Everything is chosen by `seed`; timing is the machine's, so two runs aren't the same.
    """
    report = Report(seed, minutes)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="foldline-soak-") as folder:
        workspace = Workspace(Path(folder))
        env = {**os.environ, "FOLDLINE_CACHE_DIR": str(workspace.cache)}
        editor = Editor(workspace, chance, env)
        agent = Agent(workspace, chance, env)
        saboteur = Saboteur(editor, agent, chance)
        doors: dict[str, Peer] = {"serve": editor.peer, "mcp": agent.peer}
        report.samples = {door: [] for door in doors}
        started = time.monotonic()
        for minute in _turns(started, minutes):
            if any(peer.process.poll() is not None for peer in doors.values()):
                break  # A server has fallen: its exit status says so.
            for actor, share in ((editor, 1.0), (agent, AGENT_SHARE)):
                actor.peer.expire(PATIENCE)
                if actor.peer.waiting < MOST_WAITING and chance.random() < share:
                    actor.act()
            saboteur.act(minute)
            report.sample(doors, minute)
        saboteur.thaw(everything=True)
        _settle(report, editor, doors, env)
        report.faults = dict(saboteur.done)
    return report


def _turns(started: float, minutes: float) -> Iterator[float]:
    """The minutes passed, again and again, until `minutes` have."""
    while (passed := (time.monotonic() - started) / 60) < minutes:
        yield passed
        time.sleep(PACE)


def _settle(report: Report, editor: Editor, doors: dict[str, Peer], env: Mapping[str, str]) -> None:
    """Compare with a fresh server, then end all and look at what is left."""
    for peer in doors.values():
        peer.settle(PATIENCE if peer.process.poll() is None else 0)
    if editor.peer.process.poll() is None:
        _compare(report, editor, env)
    processes = {door: peer.descendants() for door, peer in doors.items()}
    if editor.peer.process.poll() is None:
        with suppress(TimeoutError):
            editor.peer.ask("shutdown", None, PATIENCE)
        editor.peer.notify("exit")
    for door, peer in doors.items():
        report.exits[door] = peer.leave()
        _, alive = psutil.wait_procs(processes[door], timeout=LEFT_OVER_SECONDS)
        report.left_over += [f"{door}: {_name(process)}" for process in alive]
        report.requests += peer.tally.requests
        report.refused += peer.tally.refused
        report.unanswered += peer.tally.unanswered
        report.twice += peer.tally.twice
        report.internal += peer.tally.internal


def _compare(report: Report, editor: Editor, env: Mapping[str, str]) -> None:
    """Note where the editor's server answers other than one that was started just now."""
    editor.peer.notify("foldline/didChangeTrust", {"trusted": True})
    for path in editor.texts:
        editor.mend(path)  # A broken statement shows what its last good text said, as it should.
    fresh = LspPeer(editor.workspace.root, env, trusted=True)
    other = Editor.__new__(Editor)
    other.peer, other.workspace, other.texts = fresh, editor.workspace, {}
    for path, text in editor.texts.items():
        other.open(path, text)
    try:
        here, there = editor.shown(editor.peer), editor.shown(fresh)
        report.stale += [name for name in here if here[name] != there[name]]
    except TimeoutError as error:
        report.unanswered.append(str(error))
    fresh.leave()


def _sample(peer: Peer, minute: float) -> Sample:
    process = psutil.Process(peer.process.pid)
    return Sample(
        minute,
        process.memory_info().rss / (1 << 20),
        process.num_fds(),
        process.num_threads(),
        len(process.children(recursive=True)),
    )


def _name(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())[:120]
    except psutil.Error:
        return str(process.pid)


def _character(text: str, offset: int) -> int:
    """The offset, or the one before it where it's inside a CR LF, which LSP takes as one end."""
    return offset - 1 if text[max(offset - 1, 0) : offset + 1] == "\r\n" else offset


def _position(text: str, offset: int) -> dict[str, int]:
    """The LSP position of an offset, in code points; lines end at LF, CR LF and CR."""
    lines = text[: _character(text, offset)].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return {"line": len(lines) - 1, "character": len(lines[-1])}


def _result(message: Any) -> Any:
    if "error" in message:
        return {"error": message["error"]["message"]}
    return message.get("result")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--json", type=Path, help="write the whole report to this file")
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
    report = run(options.minutes, seed)
    print("\n".join(report.lines()))
    if options.json:
        options.json.write_text(json.dumps(asdict(report), indent=1))
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
