"""`foldline tokens`: token counts of prompts, instruction files and sections, and their growth."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline import agent, ide
from foldline.agent.refusals import Refused
from foldline.agent.targets import number_from
from foldline.agent.terminal import show, show_styled
from foldline.backends.formatting.visible import visible

if TYPE_CHECKING:
    from argparse import Namespace

    from foldline.agent.verbs import Verbs

DESCRIPTION = """\
Counts the tokens of each prompt and section from their source alone: literal text, literal
defaults, placeholders as written, sections summarized as declared, chapters open as `evaluate`
sends them by default. Counts are exact with foldline[tokens] installed, and otherwise estimates,
marked with ~, as are those with placeholders. With ≥ a count is without the text that code makes.
--run runs the prompts, and counts what is sent. Files that instruct agents, such as AGENTS.md, are
counted as models get them; a skill has what is always loaded, and the files of its folder, too.
With --baseline, the output of an earlier `foldline tokens --json`, the exit status is 1 when a
prompt has grown by more than --max-growth, or may have, as a part of it isn't counted that the
baseline had; parts missing on both sides are named. Prompts are the same by `ns/key`, wherever
their files are; what only one side has is named."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "tokens", help="count the tokens of prompts and instruction files", description=DESCRIPTION
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: .)")
    parser.add_argument("--json", action="store_true", help="write JSON, also for --baseline")
    parser.add_argument(
        "--run", action="store_true", dest="execute", help="run the prompts, and count what is sent"
    )
    parser.add_argument(
        "--depth",
        type=number_from(1),
        metavar="N",
        help="show N levels of sections; deeper ones are counted with those that hold them",
    )
    parser.add_argument("--encoding", choices=("o200k", "cl100k"), help="default: as configured")
    parser.add_argument("--baseline", metavar="FILE", help="earlier counts to compare with")
    parser.add_argument(
        "--max-growth",
        metavar="N%",
        help="how much a prompt may grow over the baseline (default: 0%%)",
    )
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    if options.max_growth is not None and options.baseline is None:
        raise Refused("--max-growth goes with --baseline FILE: it compares with those counts")
    limit = agent.token_baseline.percentage(options.max_growth or "0%")
    baseline = agent.token_baseline.read_baseline(options.baseline) if options.baseline else None
    scanned = agent.scan.scan(options.paths)
    counter = scanned.counter(options.encoding)
    if options.execute:
        # Counts from source and executed counts aren't comparable, so their encodings differ.
        counter = replace(counter, encoding=f"{counter.encoding} --run")
    if baseline is not None:
        agent.token_baseline.check_comparable(baseline, counter)
    counts = agent.token_counts.count(scanned, counter)
    if options.execute:
        import asyncio

        counts = asyncio.run(agent.token_counts.executed(counts, scanned.folder.root, counter))
    comparison = agent.token_baseline.Comparison()
    if baseline is not None:
        comparison = agent.token_baseline.compare(counts, baseline, limit)
    unnamed = agent.token_counts.without_variable(scanned)
    if options.json:
        more = {"without_variable": unnamed, **ide.structuring.unstructured(comparison)}
        show(agent.token_counts.json_of(counts, counter, more))
    else:
        lines = [*agent.token_counts.table_lines(counts, counter, options.depth)]
        if unnamed:
            told = f"not counted: {len(unnamed)} that no variable of a module holds, such as "
            lines.append([(visible(f"{told}{unnamed[0]} (--json lists them)"), "dim")])
        show_styled((*lines, *comparison.lines()), wrap=True)
    return 1 if comparison.fails else 0
