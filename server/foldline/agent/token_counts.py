"""Token counts of prompts: a table, JSON, and the comparison with a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from foldline.agent.scan import ScanError
from foldline.agent.terminal import json_text
from foldline.backends.errors import MalformedFileError, PathError
from foldline.backends.files.limits import BASELINE_BYTES
from foldline.backends.files.reader import read_json
from foldline.backends.formatting.visible import visible
from foldline.ide.analysis.model import Visibility
from foldline.ide.features.hover import opened_costs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.agent.scan import Scan
    from foldline.ide.token_counter import TokenCounter


@dataclass(frozen=True, slots=True)
class SectionCount:
    """A section's own tokens; `if_opened` is what opening it adds, if it is folded."""

    key: str
    number: str
    title: str
    tokens: int
    if_opened: int | None


@dataclass(frozen=True, slots=True)
class PromptCount:
    """A prompt's tokens; `certain` tells that no part of it is decided by code."""

    file: str
    name: str
    prompt: str
    tokens: int
    certain: bool
    sections: tuple[SectionCount, ...]

    @property
    def identity(self) -> str:
        """What the prompt is known by in a baseline."""
        return f"{self.file}:{self.name}"


@dataclass(frozen=True, slots=True)
class Growth:
    """A prompt that grew by more than it may."""

    identity: str
    before: int
    after: int


def count(found: Scan, counter: TokenCounter) -> list[PromptCount]:
    """The counts of all prompts, in the order of their files."""
    counts: list[PromptCount] = []
    for analysis in found.analyses():
        for prompt in analysis.prompts:
            costs = opened_costs(prompt, counter)
            sections = tuple(
                SectionCount(
                    ".".join(block.path),
                    block.number,
                    block.title,
                    counter.count(block.text),
                    costs.get(block.path) if block.visibility is Visibility.SUMMARY else None,
                )
                for block in prompt.render.blocks
            )
            template = prompt.template
            counts.append(
                PromptCount(
                    file=found.shown(analysis.file),
                    name=prompt.name.id,
                    prompt=f"{template.text('ns')}/{template.text('key')}",
                    tokens=sum(section.tokens for section in sections),
                    certain=prompt.render.certain,
                    sections=sections,
                )
            )
    return counts


def write_table(
    counts: Sequence[PromptCount], grown: Sequence[Growth], counter: TokenCounter, out: TextIO
) -> None:
    """The counts for people: a line for each prompt, and one for each section below it."""
    for each in counts:
        more = "" if each.certain else "  (parts of it are decided by code)"
        out.write(
            f"{counter.shown(each.tokens):>9}  {visible(f'{each.prompt}  {each.identity}')}{more}\n"
        )
        for section in each.sections:
            opened = ""
            if section.if_opened is not None:
                opened = f"  folded, {counter.shown_change(section.if_opened)} if opened"
            indent = "  " * section.key.count(".")
            title = visible(f"{indent}{section.number}. {section.title}")
            out.write(f"{counter.shown(section.tokens):>9}    {title}{opened}\n")
    total = sum(each.tokens for each in counts)
    kind = "" if counter.exact else ", estimated: install rs-bpe for exact counts"
    out.write(
        f"{counter.shown(total):>9}  in {len(counts)} prompt{'' if len(counts) == 1 else 's'} "
        f"({counter.encoding}{kind})\n"
    )
    for growth in grown:
        percent = 100 * (growth.after - growth.before) / max(1, growth.before)
        out.write(
            f"{visible(growth.identity)} grew from {growth.before:,} to {growth.after:,} tokens "
            f"(+{percent:.1f}%)\n"
        )


def write_json(
    counts: Sequence[PromptCount], grown: Sequence[Growth], counter: TokenCounter, out: TextIO
) -> None:
    """The counts for programs; also what `--baseline` reads."""
    prompts = {
        each.identity: {
            "prompt": each.prompt,
            "tokens": each.tokens,
            "certain": each.certain,
            "sections": {
                section.key: {
                    "number": section.number,
                    "title": section.title,
                    "tokens": section.tokens,
                    "if_opened": section.if_opened,
                }
                for section in each.sections
            },
        }
        for each in counts
    }
    document = {
        "encoding": counter.encoding,
        "exact": counter.exact,
        "prompts": prompts,
        "grown": [
            {"prompt": each.identity, "before": each.before, "after": each.after} for each in grown
        ],
    }
    out.write(f"{json_text(document)}\n")


# Baselines


@dataclass(frozen=True, slots=True)
class Baseline:
    """Earlier counts, and how they were made."""

    encoding: str
    exact: bool
    tokens: Mapping[str, int]


def read_baseline(file: str) -> Baseline:
    """The counts that an earlier `foldline tokens --json` wrote.

    Raises:
        ScanError: The file cannot be read or is something else.
    """
    try:
        document: Any = read_json(Path(file), BASELINE_BYTES)
    except MalformedFileError as error:
        raise _no_baseline(file) from error
    except PathError as error:
        raise ScanError(error.summary) from error
    try:
        return Baseline(
            str(document["encoding"]),
            bool(document["exact"]),
            {str(name): int(each["tokens"]) for name, each in document["prompts"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _no_baseline(file) from error


def _no_baseline(file: str) -> ScanError:
    return ScanError(
        f"{visible(file)} is no baseline: write one with `foldline tokens --json > {visible(file)}`"
    )


def check_comparable(baseline: Baseline, counter: TokenCounter) -> None:
    """Make sure that the counts were made in one way.

    Raises:
        ScanError: Another encoding, or estimates on one side.
    """
    if (baseline.encoding, baseline.exact) != (counter.encoding, counter.exact):
        made = f"{baseline.encoding} {'exactly' if baseline.exact else 'by estimate'}"
        now = f"{counter.encoding} {'exactly' if counter.exact else 'by estimate'}"
        raise ScanError(f"the baseline was counted with {made}, this is {now}: write it anew")


def percentage(text: str) -> float:
    """`5%` or `5` as 5.0.

    Raises:
        ScanError: It is no percentage.
    """
    try:
        value = float(text.strip().removesuffix("%"))
    except ValueError:
        raise ScanError(f"--max-growth takes a percentage such as 5%, not {text!r}") from None
    if not 0 <= value < float("inf"):
        raise ScanError(f"--max-growth cannot be {text!r}: it is 0% or more")
    return value


def grown(counts: Sequence[PromptCount], baseline: Baseline, limit: float) -> list[Growth]:
    """The prompts beyond what the baseline allows; new prompts are not among them."""
    found: list[Growth] = []
    for each in counts:
        before = baseline.tokens.get(each.identity)
        if before is not None and each.tokens > before * (1 + limit / 100):
            found.append(Growth(each.identity, before, each.tokens))
    return found
