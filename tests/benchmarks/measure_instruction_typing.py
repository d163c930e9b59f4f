"""What an editor waits for in an instruction file of 400 lines, in a workspace of 8,000 files.

    uv run python -m tests.benchmarks.measure_instruction_typing [--files N] [--lines N]

Times are the processor's, of the whole server and its threads, in milliseconds: a busy machine
doesn't change them much. Names are looked up in the background; keys are measured while that goes
on, where they also have its time, and after it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.benchmarks.bench_server import SERVERS, Client, start

if TYPE_CHECKING:
    from collections.abc import Sequence

KEYS = 30
REQUESTS = ("diagnostic", "codeLens", "documentSymbol", "foldingRange")


def processor_ms(client: Client) -> float:
    """The time that the server and its threads had so far."""
    fields = Path(f"/proc/{client.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def wait_until_idle(client: Client) -> None:
    before = -1.0
    while (now := processor_ms(client)) > before:
        before = now
        time.sleep(2)


def type_keys(
    client: Client, uri: str, line: int, version: int, requests: Sequence[str] = REQUESTS
) -> tuple[float, float]:
    """Type, and ask after each key; returns the processor's and the median time of a key."""
    began, waited = processor_ms(client), []
    for key in range(KEYS):
        begin = time.perf_counter()
        place = {"line": line, "character": 0}
        change = {"range": {"start": place, "end": place}, "text": "x"}
        document = {"uri": uri, "version": version + key}
        client.notify(
            "textDocument/didChange", {"textDocument": document, "contentChanges": [change]}
        )
        for request in requests:
            client.request(f"textDocument/{request}", {"textDocument": {"uri": uri}})
        waited.append((time.perf_counter() - begin) * 1000)
    return (processor_ms(client) - began) / KEYS, statistics.median(waited)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=8_000)
    parser.add_argument("--lines", type=int, default=400)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for number in range(options.files):
            file = root / f"d{number // 100}" / f"f{number}.go"
            file.parent.mkdir(exist_ok=True)
            file.write_text(f"package d\nfunc Thing{number}() {{}}\n")
        every = range(options.lines)
        lines = [f"Line {line} says what `Thing{line * 7}()` is for." for line in every]
        lines[::10] = [f"## Section {line}" for line in every[::10]]
        uri = (root / "AGENTS.md").as_uri()
        (root / "AGENTS.md").write_text("\n".join(lines))
        client = start(SERVERS["foldline"], root)
        started = processor_ms(client)
        document = {"uri": uri, "languageId": "markdown", "version": 1, "text": "\n".join(lines)}
        begin = time.perf_counter()
        client.notify("textDocument/didOpen", {"textDocument": document})
        client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        waited = (time.perf_counter() - begin) * 1000
        first = processor_ms(client) - started
        busy = type_keys(client, uri, options.lines // 2 + 1, 2)
        wait_until_idle(client)
        idle = type_keys(client, uri, options.lines // 2 + 1, 2 + KEYS)
        alone = type_keys(client, uri, options.lines // 2 + 1, 2 + 2 * KEYS, REQUESTS[:1])
        client.close()
    print(f"start: {started:.0f} ms of the processor")
    print(f"first diagnostics: {first:.0f} ms of the processor, {waited:.0f} ms waited")
    print(f"a key, names being looked up: {busy[0]:.0f} ms, {busy[1]:.0f} ms waited")
    print(f"a key: {idle[0]:.0f} ms of the processor, {idle[1]:.0f} ms waited")
    print(f"a key, diagnostics alone: {alone[0]:.0f} ms, {alone[1]:.0f} ms waited")
    return 0


if __name__ == "__main__":
    sys.exit(main())
