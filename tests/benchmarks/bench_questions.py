"""What an engineer's questions cost by foldline, and by ripgrep with ranges of lines.

    uv run --group bench python -m tests.benchmarks.bench_questions [--all] [--show WORD | --check]

`questions.jsonl` has sixty questions on tox (Python), msw (TypeScript), maturin (Rust), each with
the lines or names that answer it: those were written down from the sources, before either side was
asked. `--all` asks those of `questions_others.jsonl`, too: twenty on chi (Go), monolog (PHP) and
MediatR (C#), whose sources git fetches. Each side has a list of calls, as an agent would choose
them from the question and from what it was shown so far; after the first runs they were mended
once, on both sides, where a call used a name that nothing had shown. The rules are the same for
both:

- A name may be asked for only once the question or an earlier answer showed it, and where it is, is
  taken from what was shown. Where a place isn't known, the side searches for the definition first.
- A side stops as soon as all that answers the question was shown. If its list is at an end before,
  it goes on with the next page or range of its last call, ten calls in all; then it has failed.
- An answer counts as a model gets it, and the request as it writes it: the tool's name, and its
  arguments as JSON, those of `rg` and `sed` as the `command` of a tool `bash`. A line is shown if
  the answer has its text, or, where places are asked for, its number below the name of its file.
- Questions of a kind are asked alike, by the following rules.

| kind | foldline | ripgrep |
|---|---|---|
| where | search, then read a definition that it names | `rg` words, then 50 lines from there |
| callers | references | `rg -w` |
| offers | the outline of the class by its name | its line, then `rg` of definitions, or 50 lines |
| rename | references, then `grep` the name in quotes | `rg -w` |
| tests | the tests of it, then the outline | `rg -w` in tests, then `rg` of tests there |
| option, error | `grep`, then 17 lines around a match | `rg`, then 17 lines around a match |
| reach | references, from the end backwards | `rg`, from the end backwards, and lines around |

foldline is asked over MCP. A definition is read by its name alone, or by its file and a line; one
of which a search showed that it has 50 lines or more, with the words of the search as `query`.
Where a search doesn't show what is asked for next, the outline of the first file follows, then a
`grep` of what `rg` is asked for. `rg -n` is cut after a hundred lines, and at 500 characters a
line; a definition is read by `sed -n` in ranges of 50 lines. Language servers may start before the
first question.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from tests.agent.mcp_process import call, connect
from tests.backends.corpora import sdist
from tests.benchmarks.localise_others import git_tag, npm_package
from tests.benchmarks.measurement import Measurement, as_json, told
from tests.benchmarks.quotes import SAME, Quotes, elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mcp import Client

QUESTIONS = Path(__file__).with_name("questions.jsonl")
OTHERS = QUESTIONS.with_name("questions_others.jsonl")
SOURCES = {
    "tox": lambda: sdist("tox", "4.30.3"),
    "msw": lambda: npm_package("msw", "2.11.3") / "src",
    "maturin": lambda: sdist("maturin", "1.9.6"),
    "chi": lambda: git_tag("https://github.com/go-chi/chi", "v5.2.3"),
    "monolog": lambda: git_tag("https://github.com/Seldaek/monolog", "3.9.0"),
    "MediatR": lambda: git_tag("https://github.com/jbogard/MediatR", "v12.5.0"),
}
GOAL = 0.5
CALLS = 10
PAGE = 100
RANGE = 50
AROUND = 8
# Where a number below a path says as much as the line itself.
PLACES = ("callers", "rename", "tests", "reach")
# What stands before a name where it's defined.
_DEFINES = {
    "tox": r"(def|class) {}\b",
    "msw": r"(class|function|const|interface|type|async|public|private|static|abstract) {}\b",
    "maturin": r"(fn|struct|enum|trait|type) {}\b",
    "chi": r"(func( \([^)]*\))?|type|var) {}\b",
    "monolog": r"(function|class|interface|trait|enum|const) {}\b",
    "MediatR": r"(class|interface|record|struct|enum|(public|private|protected|internal) .*) {}\b",
}
_CURSOR = re.compile(r"cursor ([\w.-]+@\S+)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, what answers it by path (lines or names), and both sides' calls."""

    repo: str
    kind: str
    question: str
    gold: list[tuple[str, list[int | str]]]
    foldline: list[str]
    rg: list[str]


@dataclass(frozen=True, slots=True)
class Row:
    """A line of an answer, the file that it is about, and the lines that it names."""

    path: str
    numbers: tuple[int, ...]
    text: str


@dataclass
class Sources:
    """The files of a repository."""

    root: Path
    lines: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def paths(self) -> set[str]:
        return {one.relative_to(self.root).as_posix() for one in self.root.rglob("*")}

    def line(self, path: str, number: int) -> str:
        return _squeezed(self.text(path)[number - 1])

    def text(self, path: str) -> list[str]:
        """The lines of a file; none of a folder."""
        if path not in self.lines:
            file = self.root / path
            text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
            self.lines[path] = text.split("\n")
        return self.lines[path]

    def rows(self, answer: str, path: str) -> Iterator[Row]:
        """The lines of an answer; `path` is the file that was asked for."""
        before = ""
        for line in answer.split("\n"):
            # Where else the line before stands.
            for file, number in elsewhere(line, path):
                yield Row(file, (number,), before)
            if SAME in line:
                continue
            before = line
            head = re.match(r"\s*([^\s:,]+)", line)
            numbers = re.match(r"\s*(\d+)(?:-(\d+))?(?=[:\s-]|$)", line)
            if head and head[1] in self.paths:
                path, rest = head[1], line[head.end() :]
                known = re.match(r":(\d+):", rest)
                found = [known[1]] if known else re.findall(r"(?<![\w.])\d+(?![\w.%])", rest)
            else:
                found = [one for one in (numbers.groups() if numbers else ()) if one]
            yield Row(path, tuple(map(int, found)), line)


class Side:
    """One side's way to the answer of a question."""

    def __init__(self, question: Question, sources: Sources) -> None:
        self.question = question
        self.sources = sources
        self.rows: list[Row] = []
        self.log: list[tuple[str, str]] = []
        self._more: Callable[[], object] | None = None

    @property
    def bytes(self) -> int:
        return sum(len(text.encode()) for pair in self.log for text in pair)

    def took(self, tool: str, values: dict[str, object], answer: str, path: str) -> None:
        self.log.append((f"{tool} {json.dumps(values, ensure_ascii=False)}", answer))
        self.rows += self.sources.rows(answer, path)

    @property
    def missing(self) -> list[tuple[str, int | str]]:
        """What answers the question and wasn't shown."""
        return [
            (path, one)
            for path, all_ in self.question.gold
            for one in all_
            if not self._has(path, one)
        ]

    def _has(self, path: str, gold: int | str) -> bool:
        rows = [row for row in self.rows if row.path == path]
        if isinstance(gold, str):
            return any(re.search(rf"\b{gold}\b", row.text) for row in rows)
        text = self.sources.line(path, gold)
        places = self.question.kind in PLACES
        return any(text in _squeezed(row.text) or (places and gold in row.numbers) for row in rows)

    def knows(self, name: str) -> bool:
        """Whether the question or an answer shows a name."""
        texts = [self.question.question, *(answer for _, answer in self.log)]
        return any(re.search(rf"\b{re.escape(name)}\b", text) for text in texts)

    def place(self, text: str) -> Row | None:
        """Where a text was shown, with a number if that was shown, too."""
        found = [row for row in self.rows if row.path and text in row.text]
        return next((row for row in found if row.numbers), found[0] if found else None)

    def path_of(self, scope: str) -> str:
        """A path, glob or option as it is, or the file where a name was shown."""
        row = self.definition(scope) if re.fullmatch(r"\w+", scope) else None
        return row.path if row and scope not in self.sources.paths else scope

    def defines(self, name: str) -> str:
        """A pattern of the line that defines a name."""
        return _DEFINES[self.question.repo].format(name)

    def definition(self, name: str) -> Row | None:
        """Where the definition of a name was shown, or any use of it."""
        word = rf"\b{re.escape(name)}\b"
        found = [row for row in self.rows if row.path and re.search(word, row.text)]
        best = [row for row in found if re.search(self.defines(name), row.text)]
        marked = [row for row in found if "defin" in row.text]
        return next(iter([*best, *marked, *found]), None)


def _squeezed(text: str) -> str:
    return " ".join(text.split())


class Foldline(Side):
    """Calls over MCP."""

    def __init__(self, question: Question, sources: Sources, client: Client) -> None:
        super().__init__(question, sources)
        self._client = client
        self._last: tuple[str, dict[str, object]] = ("", {})
        self._grepped = False
        self._asked = ""

    async def run(self) -> None:
        for step in self.question.foldline:
            if not self.missing or len(self.log) >= CALLS:
                return
            await self._step(*step.split(" ", 1))
        while self.missing and len(self.log) < CALLS and await self._next():
            pass
        if self.missing and not self._grepped and len(self.log) < CALLS:
            await self._grep()

    async def ask(self, tool: str, **values: object) -> None:
        answer, _ = await call(self._client, tool, **values)
        self._last = tool, values
        self.took(tool, values, answer, str(values.get("path") or ""))

    async def _step(self, verb: str, rest: str) -> None:
        what, _, scope = rest.partition(" @ ")
        if verb == "search":
            self._asked = what
            await self.ask("search_for_files", query=what)
        elif verb == "grep":
            pattern = shlex.split(what)[0] if what.startswith("'") else what
            glob = self.path_of(scope)
            await self.ask("grep_in_files", pattern=pattern, **({"glob": glob} if glob else {}))
        elif verb == "around":
            row = self.place(what)
            if row and row.numbers:
                first = row.numbers[0]
                await self._lines(row.path, max(first - AROUND, 1), first + AROUND)
        elif verb == "at":
            row = self.place(what)
            if row and row.numbers:
                await self._read(f"{row.path}:{row.numbers[0]}")
        elif await self._known(what):
            await self._by_name(verb, what, scope)

    async def _by_name(self, verb: str, what: str, scope: str) -> None:
        if verb == "refs":
            tests = self.question.kind == "tests"
            more = {"relation": "tests"} if tests else {"scope": scope} if scope else {}
            await self.ask("find_references", name=what, **more)
            return
        if verb == "symbol":
            await self._read(what)
        else:
            # What tests a name is in the file that was shown; what offers something, a class.
            row = self.definition(what.rpartition(".")[2])
            if row is None and self.question.kind == "tests":
                row = next((row for row in self.rows if row.path), None)
            in_file = row is not None and self.question.kind != "offers"
            await self.ask("get_file_outline", path=row.path if row and in_file else what)

    async def _read(self, name: str) -> None:
        """Read a definition, a long one for what the search was about."""
        shown = re.compile(rf"\b{re.escape(name)}(?:\[\d+\])? (\d+)-(\d+)")
        found = next(filter(None, (shown.search(row.text) for row in self.rows)), None)
        is_long = found is not None and int(found[2]) - int(found[1]) >= RANGE
        asked = {"query": self._asked} if self._asked and is_long else {}
        await self.ask("read_symbol", name=name, **asked)

    async def _known(self, what: str) -> bool:
        """Whether a name was shown; after the first file's outline, and a grep."""
        name = what.rpartition(".")[2]
        tool, values = self._last
        first = next((row.path for row in self.rows if row.path), "")
        if not self.knows(name) and tool == "search_for_files" and first:
            await self.ask("get_file_outline", path=first, query=values["query"])
        if not self.knows(name) and not self._grepped:
            await self._grep()
        return self.knows(name)

    async def _grep(self) -> None:
        self._grepped = True
        words = shlex.split(self.question.rg[0])
        case = {"ignore_case": True} if "-i" in words else {}
        pattern = next(word for word in words[1:] if not word.startswith("-"))
        await self.ask("grep_in_files", pattern=pattern, **case)

    async def _next(self) -> bool:
        """Ask for the next page, if the last answer names one, or the next lines."""
        found = _CURSOR.findall(self.log[-1][1]) if self.log else []
        tool, values = self._last
        end = values.get("end")
        if found:
            await self.ask(tool, **{**values, "cursor": found[-1]})
        elif isinstance(end, int):
            await self._lines(str(values["path"]), end + 1, end + RANGE)
        return bool(found) or isinstance(end, int)

    async def _lines(self, path: str, start: int, end: int) -> None:
        await self.ask("read_lines", path=path, start=start, end=end)


class Ripgrep(Side):
    """`rg -n … | head`, and `sed -n` of ranges."""

    def run(self) -> None:
        for step in self.question.rg:
            if not self.missing or len(self.log) >= CALLS:
                return
            self._step(*step.split(" ", 1))
        while self.missing and len(self.log) < CALLS and self._more:
            self._more()

    def _step(self, verb: str, rest: str) -> None:
        if verb == "rg":
            what, _, scope = rest.partition(" @ ")
            self._rg(shlex.split(what), self.path_of(scope))
        elif verb == "around":
            row = self.place(rest)
            if row and row.numbers:
                first = row.numbers[0]
                self._sed(row.path, max(first - AROUND, 1), first + AROUND)
        elif verb == "read":
            row = self.definition(rest)
            if self.knows(rest) and not (row and re.search(self.defines(rest), row.text)):
                self._rg([self.defines(rest)], "")
                row = self.definition(rest)
            if row and row.numbers:
                self._sed(row.path, row.numbers[0], row.numbers[0] + RANGE - 1)

    def _rg(self, words: list[str], path: str, first: int = 0) -> None:
        command = ["rg", "-n", *words, *([path] if path else [])]
        binary = shutil.which("rg", path=str(Path(sys.executable).parent)) or "rg"
        flags = ["--sort=path", "--max-columns=500", "--no-config"]
        done = subprocess.run(
            [binary, *flags, *command[1:], *([] if path else ["./"])],
            cwd=self.sources.root,
            capture_output=True,
            text=True,
            check=False,
        )
        lines = [line.removeprefix("./") for line in done.stdout.splitlines()]
        cut = f"| head -{PAGE}" if not first else f"| sed -n {first + 1},{first + PAGE}p"
        shown = "\n".join(lines[first : first + PAGE])
        is_file = (self.sources.root / path).is_file() if path else False
        values: dict[str, object] = {"command": f"{shlex.join(command)} {cut}"}
        self.took("bash", values, shown, path if is_file else "")
        more = first + PAGE
        self._more = (lambda: self._rg(words, path, more)) if len(lines) > more else None

    def _sed(self, path: str, start: int, end: int) -> None:
        lines = (self.sources.root / path).read_text(encoding="utf-8").split("\n")
        shown = "\n".join(lines[start - 1 : end])
        self.took("bash", {"command": f"sed -n {start},{end}p {path}"}, shown, path)
        following = end + 1, end + RANGE
        self._more = (lambda: self._sed(path, *following)) if len(lines) > end else None


@dataclass(frozen=True, slots=True)
class Pair:
    """Both sides of a question."""

    question: Question
    ours: Side
    theirs: Side

    @property
    def lost(self) -> int:
        """The bytes over the goal."""
        return round(self.ours.bytes - GOAL * self.theirs.bytes)


async def run(*files: Path) -> list[Pair]:
    """Ask all questions of the files."""
    texts = [text for file in files for text in file.read_text(encoding="utf-8").splitlines()]
    questions = [Question(**json.loads(text)) for text in texts]
    pairs = []
    for repo, some in groupby(questions, key=lambda one: one.repo):
        sources = Sources(SOURCES[repo]())
        async with connect("--root", str(sources.root)) as client:
            await call(client, "find_references", name="main")
            for question in some:
                ours = Foldline(question, sources, client)
                await ours.run()
                theirs = Ripgrep(question, sources)
                theirs.run()
                pairs.append(Pair(question, ours, theirs))
    return pairs


def measurements(pairs: list[Pair]) -> list[Measurement]:
    """Bytes and calls by repository and by kind, what failed, and the four worst."""
    rows = [*_compared("all", pairs), _failed(pairs)]
    extra = told() * len({pair.question.repo for pair in pairs})
    rows.append(_bytes("all, with schemas and instructions once a repository", pairs, extra))
    for attribute in ("repo", "kind"):
        groups: dict[str, list[Pair]] = defaultdict(list)
        for pair in pairs:
            groups[getattr(pair.question, attribute)].append(pair)
        for name, some in groups.items():
            # Of a kind, the bytes alone: a page is read to its end.
            rows += _compared(name, some)[: 2 if attribute == "repo" else 1]
    worst = sorted(pairs, key=lambda pair: -pair.lost)[:4]
    rows += [_bytes(f"worst, {one.question.repo}: {one.question.question}", [one]) for one in worst]
    return rows


def _compared(name: str, pairs: list[Pair]) -> list[Measurement]:
    return [
        _bytes(f"{name}: {len(pairs)} questions", pairs, factor=GOAL),
        Measurement(
            work=f"{name}: calls",
            values=(sum(len(pair.ours.log) for pair in pairs),),
            unit="calls",
            anchor="rg",
            anchor_values=(sum(len(pair.theirs.log) for pair in pairs),),
            factor=1,
        ),
    ]


def _bytes(
    work: str, pairs: list[Pair], extra: int = 0, factor: float | None = None
) -> Measurement:
    return Measurement(
        work=work,
        values=(sum(pair.ours.bytes for pair in pairs) + extra,),
        unit="B",
        anchor="rg",
        anchor_values=(sum(pair.theirs.bytes for pair in pairs),),
        factor=factor,
    )


def _failed(pairs: list[Pair]) -> Measurement:
    ours = sum(bool(pair.ours.missing) for pair in pairs)
    theirs = sum(bool(pair.theirs.missing) for pair in pairs)
    return Measurement(
        work="all: not wholly answered",
        values=(ours,),
        unit="questions",
        goal=0,
        anchor="rg",
        anchor_values=(theirs,),
    )


def show(pairs: list[Pair], word: str | None) -> None:
    """Print each question with both sides' figures; those with `word` with all texts."""
    for pair in pairs:
        ours, theirs, question = pair.ours, pair.theirs, pair.question
        print(
            f"{question.repo:8}{question.kind:8} {ours.bytes:6,} in {len(ours.log)}  "
            f"rg {theirs.bytes:6,} in {len(theirs.log)}  {question.question}"
        )
        for name, side in (("foldline", ours), ("rg", theirs)):
            if side.missing:
                print(f"    {name} doesn't show {side.missing}")
            if word is not None and word in f"{question.repo} {question.question}":
                for request, answer in side.log:
                    print(f"--- {request}\n{answer}")


def check(pairs: list[Pair]) -> None:
    """Print the lines that answers quote and that their files don't have there."""
    checked = wrong = 0
    for pair in pairs:
        sources = pair.ours.sources
        quotes = Quotes({path: sources.text(path) for path in sources.paths})
        for request, answer in pair.ours.log:
            tool, _, values = request.partition(" ")
            quotes.look(tool, json.loads(values), answer)
        print(*(f"{pair.question.question}\n    {one}" for one in quotes.wrong), sep="\n", end="")
        checked, wrong = checked + quotes.checked, wrong + len(quotes.wrong)
    print(f"\n{checked:,} quotes, {wrong} of them aren't in their files.")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--all", action="store_true", help="ask the twenty others, too")
    parser.add_argument("--check", action="store_true", help="only look up what answers quote")
    parser.add_argument("--show", metavar="WORD", help="the texts of questions that have a word")
    parser.add_argument("--json", action="store_true", help="measurements for the page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FOLDLINE_CACHE_DIR"] = cache
        pairs = asyncio.run(run(QUESTIONS, *([OTHERS] if options.all else [])))
    if options.check:
        check(pairs)
        return
    rows = measurements(pairs)
    if options.json:
        print(as_json(rows))
        return
    show(pairs, options.show)
    for row in rows:
        ratio = row.median / row.anchor_values[0] if row.anchor_values[0] else 0
        print(f"{row.work:90} {row.median:9,.0f} {row.anchor_values[0]:9,.0f}  {ratio:.2f}")


if __name__ == "__main__":
    main()
