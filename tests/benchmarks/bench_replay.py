"""What recorded sessions of an agent would have read with foldline.

    uv run --group bench python -m tests.benchmarks.bench_replay [--plain | --context BYTES]
        [--sessions] [--json]

`replay_sessions.jsonl` has facts of public session logs, and no text of theirs: what an agent read
and edited for each report of `bench_localise`, step by step, with the bytes that it was sent. Each
of its reads of a Python file of the release is answered by the tools, with their default budgets:

- A whole file by `generate_scoped_context` for the report within that file: its outline, and the
  definitions that match; with `--plain` by its outline alone. A short file is shown whole.
- A range by `read_lines`, to its end.
- What is read again, whole: what an edit has changed, or the outline.
- Before an edit, each symbol that is edited and wasn't shown in full is read, to its end; of a
  class, the lines that are edited, as its outline has its members, and so outside of symbols.

An edit replaces its lines by as many others, so that what is read again has changed. Nothing else
of a session is replayed; searches, shell output and reads of other files count as recorded.

Reading what is edited takes knowledge of the recording. *In hand* are the edits whose lines were
shown without it. *Asked* are the requests of our calls, which a model pays for as well; those that
were recorded aren't known. *Told* are MCP's schemas and foldline's instructions, once a session.

`replay_others.jsonl` has the sizes alone of what agents read in two other projects, whose files no
package registry has: for each session its bytes and its reads of code, each with its bytes, whether
it was the whole file, was read again, and was edited later. They are not replayed: each gets what a
read of its kind cost on average in the first corpus, and the least that the rules above allow.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.benchmarks.bench_context import numbers_of
from tests.benchmarks.bench_localise import releases, workspace
from tests.benchmarks.measurement import Measurement, as_json, told

from foldline.backends.base.waiting import run as wait_for
from foldline.backends.errors import PathError
from foldline.backends.files.source import split_lines
from foldline.backends.formatting.budget import size_of
from foldline.backends.formatting.parts import plain
from foldline.backends.models import SymbolKind
from foldline.backends.outlines.symbols import distinct, flatten
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.pages import ask

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.benchmarks.bench_localise import Task

    from foldline.backends import SmartFileAccess
    from foldline.backends.models import SymbolInfo

SESSIONS = Path(__file__).with_name("replay_sessions.jsonl")
OTHERS = Path(__file__).with_name("replay_others.jsonl")
LEAST = "if whole files cost nothing"
GOAL = 40.0
SESSION_GOAL = 80.0
IN_HAND_GOAL = 25.0
OTHER_GOALS = {"entireio/cli": 70.0, "JanDeDobbeleer/oh-my-posh": 90.0}
SHORT = 2_000
"""Bytes of a file that is shown whole."""
CONTEXT = 3_000
"""Bytes of a file's outline with the definitions that match."""
_REFUSED = 60
# What `replay_others.jsonl` says of a read, besides its bytes.
_WHOLE, _AGAIN, _EDITED = 1, 2, 4
_BY_TOOL = {operation.tool: operation for operation in OPERATIONS if operation.tool}


@dataclass(slots=True)
class Outcome:
    """One session: bytes as recorded and as replayed, and what was shown when.

    Attributes:
        session: Recorded bytes of all steps.
        reads: Recorded bytes of the reads that are replayed.
        ours: Bytes of the answers to them, and of what is read before edits.
        calls: Reads that are replayed.
        extra: Calls besides one for each of them.
        edited: Symbols that were edited.
        first: Those of them that the first look at their file showed in full.
        recorded_first: Those that it showed as it was recorded.
        before: How often an edited symbol was shown in full before the edit, of `edits`.
        asked: Bytes of our requests.
        places: Edits with a known place.
        in_hand: Those of them whose lines were shown before we looked at what is edited.
        whole: Recorded bytes of the reads of whole files.
        files: Files that were edited.
        looks: First looks at files that aren't short.
        again: Files that were read again.
    """

    id: str
    session: int = 0
    reads: int = 0
    ours: int = 0
    calls: int = 0
    extra: int = 0
    edited: int = 0
    first: int = 0
    recorded_first: int = 0
    before: int = 0
    edits: int = 0
    asked: int = 0
    places: int = 0
    in_hand: int = 0
    whole: int = 0
    files: int = 0
    looks: int = 0
    again: int = 0
    kinds: dict[str, int] = field(default_factory=dict)


class Replay:
    """One session against the tools."""

    def __init__(self, access: SmartFileAccess, task: Task, context: int) -> None:
        self._access = access
        self._task = task
        self._context = context
        self._shown: dict[str, set[int]] = {}
        # By path, what was asked for, with the lines that it shows.
        self._asked: dict[str, dict[str, tuple[str, dict[str, Any], range]]] = {}
        self._edited_lines: dict[str, set[int]] = {}
        self._seen: dict[str, set[int]] = {}
        self.outcome = Outcome(task.id)

    def run(self, steps: list[dict[str, Any]], edits: list[dict[str, Any]]) -> Outcome:
        """Replay the steps in order; an edit's step counts from 0."""
        outcome = self.outcome
        by_step: dict[int, list[dict[str, Any]]] = {}
        for edit in edits:
            by_step.setdefault(edit["step"], []).append(edit)
        wanted = {
            (edit["path"], min(lines), max(lines)): None
            for edit in edits
            if self._has(edit["path"]) and edit["start"] is not None
            for _, lines, _ in self._edited(edit)
        }
        first: dict[str, set[int]] = {}
        recorded: dict[str, set[int]] = {}
        for number, step in enumerate(steps):
            outcome.session += step["bytes"]
            path = step.get("path")
            if step["tool"] == "read" and path and self._has(path) and step["bytes"] > _REFUSED:
                outcome.reads += step["bytes"]
                outcome.calls += 1
                outcome.whole += 0 if "start" in step else step["bytes"]
                self._read(path, step)
                first.setdefault(path, set(self._shown[path]))
                start = step.get("start", 1)
                count = step.get("lines", len(self._lines(path)))
                recorded.setdefault(path, set(range(start, start + count)))
            for edit in by_step.get(number, ()):
                if self._has(edit["path"]) and edit["start"] is not None:
                    self._edit(edit)
        for path, start, end in wanted:
            lines = set(range(start, end + 1))
            outcome.edited += 1
            outcome.first += lines <= first.get(path, set())
            outcome.recorded_first += lines <= recorded.get(path, set())
        return outcome

    def _edited(self, edit: Mapping[str, Any]) -> Iterator[tuple[str, set[int], bool]]:
        """The symbols of an edit: how to ask for each, its lines, and whether it is a class.

        Of a class, they are the lines that are edited.
        """
        lines = set(range(edit["start"], edit["end"] + 1))
        for name in edit["symbols"]:
            found = self._symbol(edit["path"], name, edit["start"])
            if found is not None and found[1].kind == SymbolKind.CLASS:
                yield found[0], lines, True
            elif found is not None:
                yield found[0], set(range(found[1].line, found[1].line_end + 1)), False

    def _has(self, path: str | None) -> bool:
        if not path or not path.endswith(".py"):
            return False
        try:
            self._access.file_backend.resolve(path)
        except PathError:
            return False
        return True

    def _lines(self, path: str) -> list[str]:
        return split_lines(self._access.read_file(path))

    def _read(self, path: str, step: Mapping[str, Any]) -> None:
        """Answer one read."""
        calls = self.outcome.extra
        whole = "start" not in step
        if whole and self._asked.get(path, {}).get("whole"):
            self._again(path)
        elif whole:
            self._first_look(path)
        else:
            end = min(step["start"] + step["lines"] - 1, len(self._lines(path)))
            if end >= step["start"]:
                values = {"path": path, "start": step["start"], "end": end}
                self._ask("read_lines", values, range(step["start"], end + 1), "range")
        self._shown.setdefault(path, set())
        # The read itself is no extra call.
        self.outcome.extra = max(self.outcome.extra - 1, calls)

    def _first_look(self, path: str) -> None:
        lines = self._lines(path)
        text = self._access.read_file(path)
        if size_of(text) <= SHORT:
            self._ask("read_file", {"path": path}, range(1, len(lines) + 1), "whole", key="whole")
        elif not self._context:
            self._ask("get_file_outline", {"path": path}, range(0), "outline", key="whole")
        else:
            self._fold(path)

    def _fold(self, path: str) -> None:
        operation = _BY_TOOL["generate_scoped_context"]
        values = {"within": (path,), "query": self._task.issue, "budget": self._context}
        arguments = operation.arguments(**values)
        context = wait_for(operation.run(self._access, arguments))
        text = operation.text(context, arguments)
        self._count("folded", text, operation.tool, values)
        self.outcome.looks += 1
        shown = self._shown.setdefault(path, set())
        for detail in context.symbols:
            shown.update(numbers_of(detail))
        # What it shows can be asked for by itself.
        asked = self._asked.setdefault(path, {})
        asked["whole"] = ("get_file_outline", {"path": path}, range(0))
        for detail in context.symbols:
            name = detail.qualified_name or detail.name
            span = range(detail.body_line or detail.line, detail.line_end + 1)
            asked[name] = ("read_symbol", {"path": path, "name": name, "seconds": 0}, span)

    def _again(self, path: str) -> None:
        """Ask for the excerpts of a file that an edit has changed, or for its outline."""
        self.outcome.again += 1
        asked, edited = self._asked[path], self._edited_lines.get(path, set())
        changed = [key for key, (*_, span) in asked.items() if edited.intersection(span)]
        for key in changed or ["whole"]:
            tool, values, span = asked[key]
            self._ask(tool, values, span, "again", key=key)
        edited.clear()

    def _edit(self, edit: Mapping[str, Any]) -> None:
        """Read what is edited and wasn't shown, then change it."""
        path, start, end = edit["path"], edit["start"], edit["end"]
        shown = self._shown.setdefault(path, set())
        self.outcome.places += 1
        self.outcome.in_hand += set(range(start, end + 1)) <= shown
        symbols = [*self._edited(edit)]
        for name, lines, is_class in symbols:
            if not is_class and not lines <= shown:
                values = {"path": path, "name": name, "seconds": 0}
                span = range(min(lines), max(lines) + 1)
                self._ask("read_symbol", values, span, "before", key=name)
        edited = set(range(start, end + 1))
        if not edited <= shown:
            last = min(end + 2, len(self._lines(path)))
            values = {"path": path, "start": max(start - 2, 1), "end": last}
            self._ask("read_lines", values, range(max(start - 2, 1), last + 1), "before")
        self.outcome.edits += len(symbols)
        self.outcome.before += sum(lines <= shown for _, lines, _ in symbols)
        self.outcome.files += path not in self._edited_lines
        self._edited_lines.setdefault(path, set()).update(edited)
        text = self._access.read_file(path).split("\n")
        for number in edited:
            if number <= len(text):
                text[number - 1] += "  # edited"
        self._access.file_backend.set_overlay(path, "\n".join(text))

    def _ask(
        self, tool: str, values: dict[str, Any], span: range, kind: str, key: str | None = None
    ) -> None:
        """Call a tool, to the end of what it shows."""
        operation = _BY_TOOL[tool]
        path = values["path"]
        key = key or json.dumps(values)
        cursor = None
        while True:
            extra: dict[str, Any] = {"cursor": cursor} if cursor else {}
            arguments = operation.arguments(**values, **extra)
            result, lines = wait_for(ask(operation, self._access, arguments))
            self._count(kind, plain(lines), tool, {**values, **extra})
            cursor = getattr(result, "cursor", None)
            if not cursor:
                break
        self._shown.setdefault(path, set()).update(span)
        self._asked.setdefault(path, {})[key] = (tool, values, span)

    def _count(self, kind: str, text: str, tool: str, values: Mapping[str, Any]) -> None:
        size = size_of(text)
        self.outcome.asked += size_of(f"{tool} {json.dumps(values, ensure_ascii=False)}")
        self.outcome.ours += size
        self.outcome.extra += 1
        self.outcome.kinds[kind] = self.outcome.kinds.get(kind, 0) + size

    def _symbol(self, path: str, name: str, at: int) -> tuple[str, SymbolInfo] | None:
        """The definition `name` at a line, or the one around it, and how to ask for it."""
        known = list(flatten(self._access.get_outline(path).symbols))
        while name:
            same = [one for one in known if one.qualified_name == name]
            if same:
                here = [one for one in same if one.symbol.line <= at <= one.symbol.line_end]
                (best,) = (here or same)[:1]
                name = next(name for name, one in distinct(known) if one is best)
                return name, best.symbol
            name = name.rpartition(".")[0]
        return None


def run(context: int = CONTEXT) -> Iterator[Outcome]:
    """Replay all sessions; a `context` of 0 bytes is a plain outline."""
    lines = SESSIONS.read_text(encoding="utf-8").splitlines()
    sessions = {row["id"]: row for row in map(json.loads, lines)}
    for root, some in releases(sdists=False, limit=None):
        for task in some:
            if task.id in sessions:
                with workspace(root) as access:
                    session = sessions[task.id]
                    replay = Replay(access, task, context)
                    yield replay.run(session["steps"], session["edits"])


def total(outcomes: list[Outcome]) -> Outcome:
    """The sum of all sessions."""
    whole = Outcome("all sessions")
    for one in outcomes:
        for name in Outcome.__slots__:
            value = getattr(one, name)
            if isinstance(value, int):
                setattr(whole, name, getattr(whole, name) + value)
        for kind, size in one.kinds.items():
            whole.kinds[kind] = whole.kinds.get(kind, 0) + size
    return whole


@dataclass(slots=True)
class Estimate:
    """The sessions of a project of which only sizes are known.

    Attributes:
        session: Recorded bytes of all steps.
        whole: Those of whole code files that aren't short.
        ours: What stands for these.
    """

    project: str
    sessions: int = 0
    session: int = 0
    whole: int = 0
    ours: float = 0


def estimates(known: Outcome) -> list[Estimate]:
    """What reads cost at the averages of the sessions that were replayed."""
    look = known.kinds.get("folded", 0) / max(known.looks, 1)
    again = known.kinds.get("again", 0) / max(known.again, 1)
    before = known.kinds.get("before", 0) / max(known.files, 1)
    projects: dict[str, Estimate] = {}
    for row in map(json.loads, OTHERS.read_text(encoding="utf-8").splitlines()):
        one = projects.setdefault(row["project"], Estimate(row["project"]))
        one.sessions += 1
        one.session += row["bytes"]
        for size, flags in row["reads"]:
            if flags & _WHOLE and size > SHORT:
                one.whole += size
                one.ours += min(size, again if flags & _AGAIN else look)
                one.ours += before if flags & _EDITED and not flags & _AGAIN else 0
    return [*projects.values()]


def line(one: Outcome) -> str:
    """The figures of a session."""
    session = one.session - one.reads + one.ours
    return (
        f"{one.id:34} reads {one.reads:8,} -> {one.ours:8,} ({_percent(one.ours, one.reads)}), "
        f"session {one.session:9,} -> {session:9,} ({_percent(session, one.session)}), "
        f"calls {one.calls} + {one.extra}, edited symbols {one.edited}: "
        f"{one.first} at the first look ({one.recorded_first} as recorded), "
        f"{one.before} of {one.edits} before their edits"
    )


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plain", action="store_true", help="outlines alone at the first look")
    parser.add_argument("--context", type=int, default=CONTEXT, help="bytes of the first look")
    parser.add_argument("--sessions", action="store_true", help="each session, too")
    parser.add_argument("--json", action="store_true", help="measurements for the page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FOLDLINE_CACHE_DIR"] = cache
        outcomes = list(run(0 if options.plain else options.context))
    whole = total(outcomes)
    if options.json:
        print(as_json(measurements(outcomes, whole)))
        return
    for one in outcomes if options.sessions else ():
        print(line(one))
    print(line(whole))
    kinds = ", ".join(f"{kind} {size:,}" for kind, size in sorted(whole.kinds.items()))
    print(f"of these: {kinds}")
    for row in measurements(outcomes, whole):
        least = f"; {row.anchor} {row.anchor_values[0]:.1f} %" if row.anchor_values else ""
        goal = f"; goal {row.goal:g} %" if row.goal is not None else ""
        print(f"{row.median:6.1f} %  {row.work}{goal}{least}")


def measurements(outcomes: list[Outcome], whole: Outcome) -> list[Measurement]:
    """The bytes of each session against the recording, in percent."""
    first = _percent(whole.first, whole.edited)
    recorded = _percent(whole.recorded_first, whole.edited)
    session = whole.session - whole.reads + whole.ours
    percent = Measurement(work="", values=(0.0,), unit="%")
    count, fixed = len(outcomes), told()
    full = session + whole.asked + count * fixed
    lost = sum(one.ours + one.asked + fixed > one.reads for one in outcomes)
    rows = [
        replace(
            percent,
            work=f"reads, in all {whole.reads:,} bytes -> {whole.ours:,}",
            values=(100 * whole.ours / whole.reads,),
            goal=GOAL,
            anchor=LEAST,
            anchor_values=(100 * (whole.reads - whole.whole) / whole.reads,),
        ),
        replace(
            percent,
            work=f"whole sessions, in all {whole.session:,} bytes -> {session:,}",
            values=(100 * session / whole.session,),
        ),
        replace(
            percent,
            work=f"whole sessions with what we ask, schemas and instructions -> {full:,}",
            values=(100 * full / whole.session,),
            goal=SESSION_GOAL,
            anchor=LEAST,
            anchor_values=(100 * (whole.session - whole.whole) / whole.session,),
        ),
        replace(
            percent,
            work=f"sessions that cost more so: {lost} of {count}",
            values=(100 * lost / count,),
        ),
        replace(
            percent,
            work=f"of {whole.edited} symbols that are edited later, not shown in full at the first "
            f"look (shown: {first}, as recorded {recorded})",
            values=(100 - 100 * whole.first / whole.edited,),
        ),
        replace(
            percent,
            work=f"of {whole.places} edits, lines not in hand without knowing what will be edited "
            f"(in hand: {_percent(whole.in_hand, whole.places)})",
            values=(100 - 100 * whole.in_hand / whole.places,),
            goal=IN_HAND_GOAL,
        ),
    ]
    for one in estimates(whole):
        ours = one.session - one.whole + round(one.ours)
        more = one.sessions * fixed
        rows.append(
            replace(
                percent,
                work=f"{one.project}, {one.sessions} sessions, estimated from sizes, with schemas "
                f"and instructions: {one.session:,} bytes -> {ours + more:,}",
                values=(100 * (ours + more) / one.session,),
                goal=OTHER_GOALS[one.project],
                anchor=LEAST,
                anchor_values=(100 * (one.session - one.whole) / one.session,),
            )
        )
    return rows


if __name__ == "__main__":
    main()
