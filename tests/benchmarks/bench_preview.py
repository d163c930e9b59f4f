"""From a key to the updated preview, through a language server that a client started.

    uv run --group bench python -m tests.benchmarks.bench_preview [--keys N] [--cases NAME …]

A letter is typed into a section in the middle of a prompt. At full speed each key waits for the
update that shows the one before; typed, a key follows another after 120 ms, whatever is shown, in
bursts of ten keys. A key is shown by the first update of its version of the text, or of a later
one. The list of sections is asked for right after a key, where no preview is open: what
understanding the edited module costs by itself.

Times are wall clock, as a user waits: a busy machine adds to them. The processor times are those of
the server's processes, with all that they started. What isn't installed is left out, and said.
"""

from __future__ import annotations

import argparse
import os
import queue
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.benchmarks.bench_server import SERVERS, Client
from tests.benchmarks.measurement import Measurement, as_json

if TYPE_CHECKING:
    from collections.abc import Iterator

PAUSE_SECONDS = 0.120
DEADLINE = 60.0
WARM_UP = 5
BURST = 10
SECTION = """    MarkdownSection[Params](title="Section {0}", key="s{0}", template='''
        Read ${{project}} with care, and say in section {0} what was found there.'''),
"""
MODULE = """{imports}
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate

@dataclass(frozen=True)
class Params:
    project: str = "foldline"

prompt = PromptTemplate(ns="bench", key="prompt", sections=[
{sections}])
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A prompt of so many sections, whose module imports a package."""

    sections: int
    package: str = ""

    @property
    def id(self) -> str:
        return f"{self.sections}-{self.package}" if self.package else str(self.sections)

    @property
    def name(self) -> str:
        imports = f", imports {self.package}" if self.package else ""
        return f"{self.sections:,} sections{imports}"

    @property
    def goal(self) -> float:
        return 60 if self.sections <= 200 else 250

    @property
    def text(self) -> str:
        sections = "".join(SECTION.format(number) for number in range(self.sections))
        imports = f"import {self.package}" if self.package else ""
        return MODULE.format(imports=imports, sections=sections)


CASES = [
    Case(3),
    Case(200),
    Case(2_000),
    Case(3, "openai"),
    Case(3, "numpy"),
    Case(3, "pandas"),
]


class Update(NamedTuple):
    """When an update came, and the version of the text that it shows."""

    at: float
    version: int


class Editor:
    """A client with one document open."""

    def __init__(self, folder: Path, text: str) -> None:
        self.uri = (folder / "prompt.py").as_uri()
        self.version = 1
        self._client = Client(SERVERS["foldline"])
        capabilities: dict[str, object] = {"textDocument": {"publishDiagnostics": {}}}
        self._client.request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder.as_uri(),
                "workspaceFolders": [{"uri": folder.as_uri(), "name": "bench"}],
                "capabilities": capabilities,
                "initializationOptions": {"trusted": True, "interpreter": sys.executable},
            },
        )
        self._client.notify("initialized", {})
        document = {"uri": self.uri, "languageId": "python", "version": 1, "text": text}
        self._client.notify("textDocument/didOpen", {"textDocument": document})
        lines = text.split("\n")
        found = [number for number, line in enumerate(lines) if "with care" in line]
        self._line = found[len(found) // 2]
        self._column = lines[self._line].index("with care")

    def open_preview(self) -> None:
        """Open a preview; returns once it has its first blocks."""
        command = {"command": "foldline.server.prompt.preview", "arguments": [{"uri": self.uri}]}
        answer = self._client.request("workspace/executeCommand", command)
        assert answer["result"]["fidelity"] == "executed", answer["result"]["stale"]

    def press(self) -> float:
        """Type a letter; returns when."""
        self.version += 1
        start = {"line": self._line, "character": self._column}
        letter = "abcdefghijklmnopqrstuvwxyz"[self.version % 26]
        self._column += 1
        began = time.perf_counter()
        self._client.notify(
            "textDocument/didChange",
            {
                "textDocument": {"uri": self.uri, "version": self.version},
                "contentChanges": [{"range": {"start": start, "end": start}, "text": letter}],
            },
        )
        return began

    def updates(self, until: float) -> Iterator[Update]:
        """Yield the updates that come until then."""
        while (left := until - time.perf_counter()) > 0:
            try:
                message = self._client.messages.get(timeout=left)
            except queue.Empty:
                return
            if message.get("method") == "foldline/preview/didUpdate":
                state = message["params"]
                assert state["stale"] is None, state["stale"]
                yield Update(time.perf_counter(), state["documentVersion"])

    def close(self) -> None:
        self._client.close()


class Typing(NamedTuple):
    """When each version of the text was typed, and the updates that came."""

    pressed: dict[int, float]
    updates: list[Update]

    @property
    def waits(self) -> tuple[float, ...]:
        """The milliseconds from each key to the update that shows it."""
        return tuple(
            (next(update.at for update in self.updates if update.version >= version) - at) * 1e3
            for version, at in self.pressed.items()
        )

    @property
    def gaps(self) -> tuple[float, ...]:
        """The milliseconds between two updates, and from the first key to the first of them."""
        moments = [min(self.pressed.values()), *(update.at for update in self.updates)]
        return tuple((after - before) * 1e3 for before, after in pairwise(moments))


def at_full_speed(editor: Editor, keys: int) -> Typing:
    """Type each key once the one before is shown."""
    typing = Typing({}, [])
    for _ in range(keys):
        began = editor.press()
        typing.pressed[editor.version] = began
        wait_for_last(editor, typing)
    return typing


def at_a_pace(editor: Editor, keys: int) -> Typing:
    """Type a key every `PAUSE_SECONDS`, and wait until the last is shown."""
    typing = Typing({}, [])
    began = time.perf_counter()
    for number in range(keys):
        typing.updates.extend(editor.updates(began + number * PAUSE_SECONDS))
        at = editor.press()
        typing.pressed[editor.version] = at
    wait_for_last(editor, typing)
    return typing


def wait_for_last(editor: Editor, typing: Typing) -> None:
    for update in editor.updates(time.perf_counter() + DEADLINE):
        typing.updates.append(update)
        if update.version == editor.version:
            return


def measure(case: Case, keys: int, plain: tuple[float, ...]) -> list[Measurement]:
    """Type into the preview of a prompt; `plain` are the times of one that imports nothing."""
    with opened(case) as editor:
        editor.open_preview()
        at_full_speed(editor, WARM_UP)
        fast = at_full_speed(editor, keys)
        bursts = [at_a_pace(editor, BURST) for _ in range(max(1, keys // BURST))]
    name = case.name
    rows = [
        Measurement(
            work=f"key → preview, {name}",
            values=fast.waits,
            goal=case.goal,
            anchor="without the import" if case.package else "",
            anchor_values=plain if case.package else (),
        ),
        Measurement(
            work=f"typed: the longest time between updates, {name}",
            values=tuple(max(burst.gaps) for burst in bursts),
            goal=250 if case.sections <= 200 else None,
        ),
        Measurement(
            work=f"typed: the last key → preview, {name}",
            values=tuple(burst.waits[-1] for burst in bursts),
            goal=100 if case.sections <= 200 else None,
        ),
    ]
    # What a prompt imports decides how soon it is shown, and nothing else.
    return rows[:1] if case.package else rows


@contextmanager
def opened(case: Case) -> Iterator[Editor]:
    """A server with the case's prompt open."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "prompt.py").write_text(case.text)
        editor = Editor(folder, case.text)
        try:
            yield editor
        finally:
            editor.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--keys", type=int, default=30, help="typed into each prompt")
    parser.add_argument("--cases", nargs="*", choices=[case.id for case in CASES])
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    measurements: list[Measurement] = []
    for case in CASES:
        if case.id not in (options.cases or [case.id]):
            continue
        if case.package and find_spec(case.package) is None:
            print(f"{case.package}: not installed, left out", file=sys.stderr)
            continue
        plain = measurements[0].values if measurements else ()
        measurements += measure(case, options.keys, plain)
    if options.json:
        print(as_json(measurements))
        return
    for one in measurements:
        figures = "".join(f"{value:>10,.1f}" for value in (one.minimum, one.median, one.p95))
        goal = "" if one.limit is None else f"  goal {one.limit:g}"
        print(f"{one.work:<66}{figures} {one.unit}{goal}  load {one.load}")


if __name__ == "__main__":
    main()
