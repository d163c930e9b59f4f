"""The comparison of token counts with a baseline: what `foldline tokens --json` printed earlier.

A prompt is the one of the baseline that has its `ns/key`, in the nearest file; else the one of its
file and variable. So neither moving a file nor renaming a variable takes it out of the comparison.
"""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.agent.refusals import Refused
from foldline.backends.errors import MalformedFileError, PathError
from foldline.backends.files.limits import BASELINE_BYTES
from foldline.backends.files.reader import read_json
from foldline.backends.formatting.visible import visible
from foldline.ide.cost_texts import named
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from foldline.agent.token_counts import PromptCount
    from foldline.backends.formatting.parts import Line
    from foldline.ide.token_counter import TokenCounter

MAX_NAMED = 10


@record
class Counted:
    """A prompt of a baseline, and the parts of it that weren't counted."""

    identity: str
    prompt: str
    tokens: int
    unresolved: tuple[str, ...]

    @property
    def path(self) -> str:
        return self.identity.partition(":")[0]


@record
class Baseline:
    """Earlier counts, and the way they were counted."""

    encoding: str
    exact: bool
    counts: tuple[Counted, ...]


@record
class Growth:
    """A prompt that grew by more than the limit; `before_without` are parts not counted then."""

    prompt: str
    before: int
    after: int
    before_without: tuple[str, ...] = ()


@record
class Without:
    """A prompt, and the parts of it that aren't counted."""

    prompt: str
    parts: tuple[str, ...]


@record
class Comparison:
    """Changes of a baseline's prompts.

    Attributes:
        partial: Prompts with parts that aren't counted now, and that the baseline's didn't have.
        without: Prompts whose parts that aren't counted are all among the baseline's.
        missing: Prompts of the baseline that aren't among those counted now.
        new: Prompts that the baseline hasn't.
    """

    grown: tuple[Growth, ...] = ()
    partial: tuple[Without, ...] = ()
    without: tuple[Without, ...] = ()
    missing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()

    @property
    def fails(self) -> bool:
        """True if a prompt has grown, or may have."""
        return bool(self.grown or self.partial)

    def lines(self) -> Iterator[Line]:
        """Yield the comparison for people."""
        for growth in self.grown:
            percent = 100 * (growth.after - growth.before) / max(1, growth.before)
            change = f"{growth.before:,} to {growth.after:,} tokens (+{percent:.1f}%)"
            if growth.before_without:
                change += f"; before, without {visible(named(growth.before_without))}"
            yield [(visible(growth.prompt), "bold red"), (f" grew from {change}", "")]
        for one in self.partial:
            told = f" may have grown: {named(one.parts)} isn't counted now; count both with --run"
            yield [(visible(one.prompt), "bold red"), (visible(told), "")]
        for one in self.without:
            told = f": compared without {named(one.parts)}; --run counts that"
            yield [(visible(one.prompt), "yellow"), (visible(told), "")]
        for words, names in (
            ("In the baseline, and not among these", self.missing),
            ("New, not in the baseline", self.new),
        ):
            if names:
                more = len(names) - MAX_NAMED
                listed = ", ".join(names[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")
                yield [(visible(f"{words}: {listed}"), "yellow")]


def read_baseline(file: str) -> Baseline:
    """Read the output of an earlier `foldline tokens --json`.

    Raises:
        Refused: The file can't be read, or isn't such an output.
    """
    try:
        document: Any = read_json(Path(file), BASELINE_BYTES)
        counts = tuple(
            Counted(
                str(name),
                str(entry["prompt"]),
                # Earlier versions counted the text alone.
                int(entry["text"] + entry["tools"] + entry["output"]),
                tuple(map(str, entry["unresolved"])),
            )
            for name, entry in document["prompts"].items()
        )
        return Baseline(str(document["encoding"]), bool(document["exact"]), counts)
    except (MalformedFileError, ValueError, KeyError, TypeError, AttributeError) as error:
        write = "`foldline tokens --json > tokens.json`"
        raise Refused(f"{visible(file)} is not a baseline: write one with {write}") from error
    except PathError as error:
        raise Refused(error.summary) from error


def check_comparable(baseline: Baseline, counter: TokenCounter) -> None:
    """Check that both counts were made in the same way.

    Raises:
        Refused: The encodings differ, or only one count is exact.
    """
    if (baseline.encoding, baseline.exact) != (counter.encoding, counter.exact):
        counting = f"{baseline.encoding} {'exactly' if baseline.exact else 'by estimate'}"
        now = f"{counter.encoding} {'exactly' if counter.exact else 'by estimate'}"
        raise Refused(f"the baseline was counted with {counting}, this is {now}: write it again")


def percentage(text: str) -> float:
    """Parse a percentage: `5%` or `5` is 5.0.

    Raises:
        Refused: It isn't a percentage.
    """
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        raise Refused(f"--max-growth takes a percentage such as 5%, not {text!r}") from None
    if not 0 <= value < float("inf"):
        raise Refused(f"--max-growth cannot be {text!r}: it is 0% or more")
    return value


def compare(counts: Sequence[PromptCount], baseline: Baseline, limit: float) -> Comparison:
    """Compare counts with a baseline; growth is what is beyond `limit` percent.

    Raises:
        Refused: None of the baseline's prompts is among those counted.
    """
    pairs = _matched(counts, baseline.counts)
    if not pairs:
        raise Refused(
            f"nothing to compare: none of the baseline's {len(baseline.counts)} prompts is among "
            f"the {len(counts)} counted here: name the folder that it's of, or write it again"
        )
    partial, without = list[Without](), list[Without]()
    for then, now in pairs:
        parts = now.tokens.unresolved
        if new := tuple(part for part in parts if part not in then.unresolved):
            partial.append(Without(now.identity, new))
        elif parts:
            without.append(Without(now.identity, parts))
    before, after = ({one.identity for one in side} for side in zip(*pairs, strict=True))
    return Comparison(
        tuple(
            Growth(now.identity, then.tokens, now.tokens.total, then.unresolved)
            for then, now in pairs
            if 100 * (now.tokens.total - then.tokens) > limit * then.tokens
        ),
        tuple(partial),
        tuple(without),
        tuple(one.identity for one in baseline.counts if one.identity not in before),
        tuple(one.identity for one in counts if one.identity not in after),
    )


def _matched(
    counts: Sequence[PromptCount], baseline: Sequence[Counted]
) -> list[tuple[Counted, PromptCount]]:
    """Pair the counts with the baseline's, in the counts' order; each is in one pair at most."""
    rules: list[Callable[[Counted, PromptCount], bool]] = [
        lambda before, count: (before.identity, before.prompt) == (count.identity, count.prompt),
        lambda before, count: bool(count.name) and before.prompt == count.prompt,
        lambda before, count: before.identity == count.identity,
        # Instruction files have no other name; the folder counted may be another.
        lambda before, count: not count.name and _is_below(before.path, count.file),
    ]
    left = [*baseline]
    pairs: dict[str, tuple[Counted, PromptCount]] = {}
    for is_same in rules:
        for count in counts:
            same = [one for one in left if count.identity not in pairs and is_same(one, count)]
            if same:
                before = max(same, key=lambda one: _nearness(one, count))
                left.remove(before)
                pairs[count.identity] = before, count
    return [pairs[count.identity] for count in counts if count.identity in pairs]


def _nearness(before: Counted, count: PromptCount) -> int:
    """Count the last parts that two paths share."""
    pairs = zip(before.path.split("/")[::-1], count.file.split("/")[::-1], strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _is_below(one: str, other: str) -> bool:
    return f"/{one}".endswith(f"/{other}") or f"/{other}".endswith(f"/{one}")
