"""Sources of a few kilobytes whose many errors would take a parser seconds and all memory."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import Future
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from foldline.agent.cli import main
from foldline.backends import SmartFileAccess
from foldline.backends.index.database import today
from foldline.backends.models import Reference
from foldline.backends.outlines import parsing_workers, syntax
from foldline.backends.outlines.outlines import outline_source, outline_unparsed
from foldline.backends.outlines.parsing import Parsed, Parsing, Refused
from foldline.backends.outlines.parsing_pool import PoolParsing
from foldline.backends.outlines.syntax import ParseCostlyError, ParseStoppedError, parse
from foldline.backends.references.references import references_in_source
from foldline.ide.workspace import AccessOptions, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator
    from functools import partial
    from pathlib import Path

    from foldline.backends.parsers.outline_builder import Outline

UNITS = {
    "arrows in C": ("c", "a => "),
    "arrows that end": ("c", "a=>;"),
    "comparisons in C": ("c", ">=a%=]]"),
    "assignments in Java": ("java", "a |=!=\n"),
    "remainders": ("java", "= % a"),
    "quotients": ("java", "/=!=a "),
    "coalescing in C#": ("csharp", "??>>=\na "),
    "long names": ("c", "a" * 50 + " => "),
    "comments between": ("c", "a => /*" + "x" * 50 + "*/"),
}
POISON = b"a => " * 1_600
FAR = 10_000_000


@pytest.fixture
def pool() -> Iterator[PoolParsing]:
    pool = PoolParsing(workers=1)
    yield pool
    pool.close()


@pytest.mark.parametrize("name", UNITS)
@pytest.mark.parametrize("size", [16_000, 95_000])
def test_a_guarded_parse_ends_before_it_explodes(name: str, size: int) -> None:
    language, unit = UNITS[name]
    data = (unit * size)[:size].encode()
    word = unit.split()[0] if name == "long names" else "a"
    for ask in (
        lambda: parse(language, data, guarded=True),
        lambda: outline_source(language, data, guarded=True),
        lambda: references_in_source("a", language, data, word, guarded=True),
    ):
        with pytest.raises(ParseCostlyError):
            ask()


def test_code_is_never_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock stands for a machine on which each report takes as long as one of the sample."""
    ticks = iter(range(1_000_000))
    monkeypatch.setattr(syntax, "thread_time", lambda: next(ticks) / 1e6)
    monkeypatch.setattr(syntax, "_seconds_a_report", lambda: 1e-6)
    tree = parse("python", b"def f(a):\n    return a\n" * 4_000, guarded=True)
    assert not tree.root_node.has_error
    assert next(ticks) > 100


def test_a_parse_ends_after_a_second_and_five_millionths_a_byte(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock goes on by a hundredth of a second with each report."""
    ticks = iter(range(1_000_000))
    now = 0.0

    def later() -> float:
        nonlocal now
        now = next(ticks) / 200  # Both clocks are read for a report.
        return now

    monkeypatch.setattr(syntax, "thread_time", later)
    monkeypatch.setattr(syntax, "perf_counter", later)
    data = b"def f(a):\n    return a\n" * 10_000
    with pytest.raises(ParseStoppedError):
        parse("python", data)
    assert 1 + 5e-6 * len(data) < now < 1.1 + 5e-6 * len(data)


def test_slow_steps_are_made_good_by_quick_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "_seconds_a_report", lambda: 1.0)
    monkeypatch.setattr(syntax, "thread_time", lambda: 0.0)
    pace = syntax._Pace()
    now = 0.0
    for _ in range(100):
        now += 400.0
        assert not pace.too_slow(now, FAR)
        for _ in range(200):
            now += 1.0
            assert not pace.too_slow(now, FAR)
    assert pace.too_slow(now + 600.0, FAR)


def test_steps_that_get_nowhere_are_behind_however_quick_they_are() -> None:
    pace = syntax._Pace()
    assert not any(pace.too_slow(0.0, 0) for _ in range(50))
    assert not pace.too_slow(0.0, 60 * 51)
    assert pace.too_slow(0.0, 40 * 52)


def test_code_with_errors_is_outlined_by_a_worker(
    pool: PoolParsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"int function(void) { return 1; }\n" + b"a => b;\n" * 100
    expected = outline_source("c", data)
    monkeypatch.setattr(syntax, "_MOST_BEHIND", -1)
    source = Parsed("a.c", "c", data)
    with pytest.raises(ParseCostlyError):
        outline_source("c", data, guarded=True)
    assert pool.outline(source) == expected
    kid = Parsed("a.cpp", "cpp", b"class Kid : Base {};\n" + b"a => b;\n" * 100)
    made = pool.types(kid)
    assert made is not None
    assert [(one.name, one.bases) for one in made.types] == [("Kid", ("Base",))]
    assert made.is_broken
    for use in pool.references([source, source], "function"):
        assert isinstance(use, Reference)
        assert (use.path, use.line) == ("a.c", 1)


def test_what_ended_workers_is_asked_for_once(
    pool: PoolParsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    start = parsing_workers.start

    def count(workers: int) -> object:
        started.append(workers)
        return start(workers)

    monkeypatch.setattr(parsing_workers, "start", count)
    source = Parsed("a.c", "c", POISON * 6)
    first = pool.outline(source)
    assert "not parsed" in first.reason
    before = len(started)
    assert before
    assert pool.outline(source) == first
    [refused] = pool.references([source], "a")
    assert isinstance(refused, Refused)
    assert len(started) == before
    whole = pool.outline(Parsed("b.c", "c", b"int function(void) { return 1; }\n" * 5_000))
    assert len(whole.symbols) == 5_000


@pytest.mark.slow
def test_the_server_and_the_command_line_survive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "poison.c").write_bytes(POISON * 10)
    workspace = Workspace.at(tmp_path, access=AccessOptions(parse_in_workers=True))
    try:
        outline = workspace.access(tmp_path).get_outline("poison.c")
    finally:
        workspace.close()
    assert "not parsed" in outline.reason
    main(["outline", "poison.c", "--root", str(tmp_path)])
    printed = capsys.readouterr()
    assert "not parsed" in printed.out
    assert not printed.err


MEASURED = """
import resource, sys
from foldline.backends.outlines.parsing import Parsed
from foldline.backends.outlines.parsing_pool import PoolParsing

if __name__ == "__main__":
    pool = PoolParsing(1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = b"a => " * int(sys.argv[1])
    print("not parsed" in pool.outline(Parsed("a.c", "c", data)).reason)
    print(list(pool.references([Parsed("a.c", "c", data)], "a"))[:1])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    pool.close()
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.real
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits a process's memory")
@pytest.mark.parametrize("count", [1_600, pytest.param(19_000, marks=pytest.mark.slow)])
def test_neither_the_process_nor_its_worker_takes_much_memory(count: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(count)],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    outlined, found, grown, worker = done.stdout.splitlines()
    assert outlined == "True"
    assert "not parsed" in found
    assert int(grown) < 60_000, "kB in the process that asks"
    assert int(worker) < 700_000, "kB in a worker"


def test_a_file_whose_parse_was_cut_is_parsed_once_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow.lua").write_text("local x = 1\n" * 400)
    parsed: list[str] = []

    def cut(_: Parsing, source: Parsed) -> Outline:
        parsed.append(source.path)
        return outline_unparsed(source.data, "not parsed: it was cut", provisional=True)

    monkeypatch.setattr(Parsing, "outline", cut)

    def ask() -> None:
        with closing(SmartFileAccess.for_workspace(tmp_path)) as access:
            outline = access.get_outline("slow.lua")
        assert "it was cut" in outline.reason

    for _ in range(3):
        ask()
    assert parsed == ["slow.lua"]
    tomorrow = today() + 1
    monkeypatch.setattr("foldline.backends.outlines.outline_cache.today", lambda: tomorrow)
    for _ in range(3):
        ask()
    assert parsed == ["slow.lua"] * 2
    (tmp_path / "slow.lua").write_text("local y = 1\n" * 400)
    ask()
    assert parsed == ["slow.lua"] * 3


def test_uses_in_a_file_whose_parse_was_cut_are_looked_for_once(
    pool: PoolParsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = Parsed("a.c", "c", POISON)
    asked: list[str] = []

    class Workers:
        def submit(self, _: object, task: partial[object], source: Parsed) -> Future[list[Refused]]:
            asked.append(task.keywords["name"])
            done: Future[list[Refused]] = Future()
            done.set_result([Refused(source.path, "not parsed: its parser was stopped")])
            return done

    monkeypatch.setattr(pool, "_started", Workers)
    found = [[*pool.references([source], name)] for name in ("a", "a", "a")]
    assert asked == ["a"]
    assert all(isinstance(one, Refused) for some in found for one in some)
    assert [len(some) for some in found] == [1, 1, 1]
