"""Prompt-cache plans: the cacheable prefix of a rendered prompt, and its breakpoints.

Providers keep prefixes of requests: the output's schema and the tools first, then the text. So a
value that changes with each request makes everything behind it new. The plan says how often each
span changes, in the order of the wire, and after which of them a breakpoint pays.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from foldline.prompts.cache.stability import Stability, of_fields, of_type
from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.specialise import field_names

if TYPE_CHECKING:
    from foldline.prompts.layout.blocks import Block
    from foldline.prompts.layout.tree import Node
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.visibility import SectionPath

__all__ = [
    "Breakpoint",
    "CachePlan",
    "CacheRules",
    "CacheSpan",
    "CacheStage",
    "MisplacedValue",
]

# A render gives spans (`spans_to_send`), each of one stability, before any token is counted:
# counting may be slow, and a request is compared with an earlier one by texts alone
# (`common_beginning`). The stability of a prefix is the worst in it, so it only rises from span to
# span, and a breakpoint pays just before a rise.

OUTPUT, TOOLS = "output schema", "tools"
NOT_TEXT = (OUTPUT, TOOLS)
"""The parts that aren't text: breakpoints in a message can't be set there."""

_FROM_FIELDS = (SegmentKind.PARAM, SegmentKind.DEFAULT)
_COMPUTED = (SegmentKind.DERIVED, SegmentKind.ERROR)
_DECLARED_CHANGES = (Stability.SESSION, Stability.REQUEST)
WORTH_MOVING = 128
"""The fewest tokens behind a value that make it worth a diagnostic."""


@dataclass(frozen=True, slots=True)
class CacheRules:
    """The limits of a provider's cache.

    Args:
        breakpoints: The most breakpoints in one request; 0 where the provider takes none.
        minimum_tokens: A shorter prefix is never kept.
    """

    breakpoints: int = 4
    minimum_tokens: int = 1_024


class UncountedSpan(NamedTuple):
    """A span of a request before its tokens are counted; see `CacheSpan`."""

    part: str
    path: SectionPath | None
    fields: tuple[str, ...]
    start: int
    end: int
    text: str
    stability: Stability


class CacheSpan(NamedTuple):
    """A span of the request that changes as a whole.

    Args:
        part: `output schema`, `tools`, or the role of the message.
        path: The section; None for the schema and the tools.
        fields: The fields whose values are in it.
        start: Where it begins in `RenderedPrompt.text`; 0 for the schema and the tools.
        end: Where it ends.
        tokens: How many tokens it has.
        stability: How often it changes by itself.
        prefix: How often it changes together with what is in front of it.
    """

    part: str
    path: SectionPath | None
    fields: tuple[str, ...]
    start: int
    end: int
    tokens: int
    stability: Stability
    prefix: Stability

    @property
    def dotted_key(self) -> str:
        """The section's path joined with dots, or the part."""
        return ".".join(self.path) if self.path else self.part


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A location after which a provider is asked to keep the prefix.

    Args:
        after: The index of the last span in front of it.
        part: Where it is: `output schema`, `tools`, or the role of the message.
        offset: The offset in `RenderedPrompt.text`; 0 for the schema and the tools.
        tokens: The tokens in front of it.
        stability: How often the prefix changes.
        kept: False if the prefix is too short to be kept, so that no breakpoint is set.
    """

    after: int
    part: str
    offset: int
    tokens: int
    stability: Stability
    kept: bool

    def ends_before(self, span: UncountedSpan) -> bool:
        """Return True if there is a breakpoint where this span follows on the same prefix."""
        level = max(self.stability, Stability.DEPLOYMENT)
        return level < span.stability and level <= Stability.SESSION


@dataclass(frozen=True, slots=True)
class MisplacedValue:
    """A value that changes more often than `tokens` tokens behind it, which are new each time."""

    path: SectionPath
    fields: tuple[str, ...]
    stability: Stability
    tokens: int


@dataclass(frozen=True, slots=True)
class CacheStage:
    """A span of the request that begins where something changes more often than all before.

    Args:
        first: The dotted key of the section that it begins in, or `tools`.
        last: The one that it ends in.
        tokens: How many tokens it has.
        stability: How often it changes together with what is in front of it.
        cause: The section and the fields that change so often; None if nothing of it changes.
        fields: These fields.
        change: The tokens that are new when it changes: its own and all behind it.
        breakpoint: What the plan says of a breakpoint behind it; None if none belongs there.
    """

    first: str
    last: str
    tokens: int
    stability: Stability
    cause: str | None
    fields: tuple[str, ...]
    change: int
    breakpoint: str | None

    @property
    def why(self) -> str:
        """The frequency of its changes, and their cause."""
        words = _WORDS[self.stability]
        if self.stability is Stability.UNKNOWN:
            return _undeclared(self.fields or (self.first,))
        return words if self.cause is None else f"{words}: {self.cause}"


@dataclass(frozen=True, slots=True)
class CachePlan:
    """The spans of a request in the order of the wire, and its breakpoints."""

    spans: tuple[CacheSpan, ...]
    breakpoints: tuple[Breakpoint, ...]
    rules: CacheRules

    @property
    def tokens(self) -> int:
        """All tokens of the request."""
        return sum(span.tokens for span in self.spans)

    @property
    def sentence(self) -> str:
        """The plan in a few words; empty where nothing could be kept."""
        minimum = self.rules.minimum_tokens
        longest = max((mark.tokens for mark in self.breakpoints), default=0)
        text = f"{too_short(longest, minimum)}; "
        if kept := [mark for mark in self.breakpoints if mark.kept]:
            parts = (f"{mark.tokens:,} tokens {_PREFIXES[mark.stability]}" for mark in kept)
            text = f"Can be cached: {', '.join(parts)}; "
        unknown = (n for n, span in enumerate(self.spans) if span.stability is Stability.UNKNOWN)
        first = next(unknown, len(self.spans))
        behind = sum(span.tokens for span in self.spans[first + 1 :])
        if behind < minimum:
            return text.removesuffix("; ") if longest else ""
        name = _name(self.spans[first : first + 1])
        hint = f"{behind:,} tokens behind {name}, which doesn't declare how often it changes"
        return text + hint if longest else hint

    @property
    def cached(self) -> int:
        """The tokens of the longest prefix that a provider keeps; 0 if none is long enough."""
        return max((mark.tokens for mark in self.breakpoints if mark.kept), default=0)

    def kept_before(self, same: int, following: UncountedSpan | None) -> int | None:
        """Return the longest prefix that another request reads from the cache after this one.

        It's the index of the breakpoint at its end; None if it reads nothing.

        Args:
            same: How many spans both requests begin with.
            following: The span behind those in the other one; None at its end.
        """
        blocks = (
            index
            for index, mark in enumerate(self.breakpoints)
            if mark.kept
            and mark.part not in NOT_TEXT
            and mark.after < same
            and (mark.after < same - 1 or following is None or mark.ends_before(following))
        )
        return max(blocks, key=lambda index: self.breakpoints[index].tokens, default=None)

    def misplaced(self) -> Iterator[MisplacedValue]:
        """Yield the first declared value of each kind in front of what changes less often.

        Only where moving it pays: at least 128 tokens behind it, which make a prefix that is long
        enough to be kept together with those in front of it.
        """
        before = Stability.CONSTANT
        for index, span in enumerate(self.spans):
            is_first, before = span.stability > before, span.prefix
            if not is_first or span.path is None or span.stability not in _DECLARED_CHANGES:
                continue
            lost = sum(
                behind.tokens
                for behind in self.spans[index + 1 :]
                if behind.stability < span.stability and behind.stability != Stability.UNKNOWN
            )
            kept = lost + sum(ahead.tokens for ahead in self.spans[:index])
            if lost >= WORTH_MOVING and kept >= self.rules.minimum_tokens:
                yield MisplacedValue(span.path, span.fields, span.stability, lost)

    def __str__(self) -> str:
        """A table: the spans with their breakpoints, and what a change of each would cost."""
        behind = self.tokens
        marks = {mark.after: mark for mark in self.breakpoints}
        numbered = list(enumerate(self.spans))
        rows = [
            [*group]
            for _, group in groupby(numbered, lambda item: (item[1].dotted_key, item[1].prefix))
        ]
        names = [_name([span for _, span in row]) for row in rows]
        width = max(map(len, names), default=0)
        lines = []
        for name, row in zip(names, rows, strict=True):
            tokens = sum(span.tokens for _, span in row)
            stability = max(span.stability for _, span in row)
            lines.append(
                f"{name:{width}}  {tokens:>7,} tokens  {_WORDS[stability]}"
                f"; re-read if changed: {behind:,}"
            )
            behind -= tokens
            if mark := marks.get(row[-1][0]):
                lines.append(f"── {self._said(mark)}")
        return "\n".join(lines)

    def _said(self, mark: Breakpoint) -> str:
        if mark.kept:
            return f"Cache breakpoint here: stays the same {_PREFIXES[mark.stability]}"
        return too_short(mark.tokens, self.rules.minimum_tokens)

    def stages(self) -> Iterator[CacheStage]:
        """Yield the request in at most five spans, each of which changes more often."""
        behind = self.tokens
        marks = {mark.after: mark for mark in self.breakpoints}
        for prefix, group in groupby(enumerate(self.spans), lambda item: item[1].prefix):
            indices, spans = zip(*group, strict=True)
            tokens = sum(span.tokens for span in spans)
            mark = marks.get(indices[-1])
            note = None if mark is None else self._said(mark)
            cause = _name(spans[:1]) if prefix is not Stability.CONSTANT else None
            first, last = spans[0], spans[-1].dotted_key
            yield CacheStage(
                first.dotted_key, last, tokens, prefix, cause, first.fields, behind, note
            )
            behind -= tokens

    def to_json(self) -> dict[str, Any]:
        """Return the stages, the breakpoints, the misplaced values and the sentence as JSON."""
        return {
            "sentence": self.sentence,
            "minimumTokens": self.rules.minimum_tokens,
            "cached": self.cached,
            "stages": [_json(stage, without="fields") for stage in self.stages()],
            "breakpoints": [_json(mark, without="after") for mark in self.breakpoints],
            "misplaced": [
                {
                    "section": ".".join(value.path),
                    "fields": list(value.fields),
                    "stability": value.stability.name.lower(),
                    "tokens": value.tokens,
                }
                for value in self.misplaced()
            ],
        }


def _json(item: CacheStage | Breakpoint, *, without: str = "") -> dict[str, object]:
    """Return the fields as JSON, a stage with the sentence why it changes in place of the cause."""
    names = ("why" if name == "cause" else name for name in field_names(type(item)))
    values = ((name, getattr(item, name)) for name in names if name != without)
    return {
        name: value.name.lower() if isinstance(value, Stability) else value
        for name, value in values
    }


_WORDS = {
    Stability.CONSTANT: "constant",
    Stability.DEPLOYMENT: "stable",
    Stability.SESSION: "per session",
    Stability.UNKNOWN: "not declared",
    Stability.REQUEST: "per request",
}
_PREFIXES = {
    Stability.CONSTANT: "in every request",
    Stability.DEPLOYMENT: "in every request of a deployment",
    Stability.SESSION: "in every request of a session",
    Stability.UNKNOWN: "for the whole conversation",
    Stability.REQUEST: "for the whole conversation",
}


def too_short(tokens: int, minimum: int) -> str:
    """Return why a prefix of so many tokens isn't kept."""
    return f"Too short to cache ({tokens:,} of at least {minimum:,} tokens)"


def _undeclared(names: Sequence[str]) -> str:
    listed = ", ".join(f"`{name}`" for name in names)
    return f"How often {listed} change{'' if len(names) > 1 else 's'} isn't declared"


def planned(
    uncounted: Sequence[UncountedSpan],
    *,
    rules: CacheRules,
    count_tokens: Callable[[str], int],
    goes_on: bool,
) -> CachePlan:
    """Return the plan of a request's spans, in the order of the wire."""
    prefixes = accumulate((span.stability for span in uncounted), max)
    spans = tuple(
        CacheSpan(*span[:5], tokens, span.stability, prefix)
        for span, tokens, prefix in zip(
            uncounted, _counted(uncounted, count_tokens), prefixes, strict=True
        )
    )
    return CachePlan(spans, tuple(_breakpoints(spans, rules, goes_on=goes_on)), rules)


def _counted(spans: Sequence[UncountedSpan], count: Callable[[str], int]) -> Iterator[int]:
    """Yield the tokens of each span; those of a section are together what its whole text has.

    A tokenizer reads across their borders: what that saves is shared among them.
    """
    for _, group in groupby(enumerate(spans), lambda item: item[1].path or item[0]):
        texts = [span.text for _, span in group]
        alone = [*accumulate(map(count, texts), initial=0)]
        total = count("".join(texts)) if len(texts) > 1 else alone[-1]
        ends = [total * end // alone[-1] if alone[-1] else 0 for end in alone]
        yield from (end - start for start, end in pairwise(ends))


def common_beginning(
    sent: Sequence[UncountedSpan], other: Iterable[UncountedSpan], start: int = 0
) -> tuple[int, UncountedSpan | None]:
    """Return how many spans two requests begin with, and the one that follows in the other.

    The first `start` are known to be the same; `other` has those from there on.
    """
    for span in other:
        if start == len(sent) or not _alike(sent[start], span):
            return start, span
        start += 1
    return start, None


def _alike(one: UncountedSpan, other: UncountedSpan) -> bool:
    """Return True if providers are sent the same for both, and it changes equally often."""
    return one is other or (
        (one.part, one.text, one.stability) == (other.part, other.text, other.stability)
    )


def _breakpoints(
    spans: Sequence[CacheSpan], rules: CacheRules, *, goes_on: bool
) -> Iterator[Breakpoint]:
    """Yield a breakpoint behind what a deployment keeps, and one behind what a session keeps.

    If the request `goes_on`, so that all of it is sent again, there is one at its end, too.
    """
    ends: dict[int, Stability] = {}
    for most in (Stability.DEPLOYMENT, Stability.SESSION):
        last = max((i for i, span in enumerate(spans) if span.prefix <= most), default=-1)
        if last >= 0:
            ends.setdefault(last, spans[last].prefix)
    if goes_on and spans:
        ends.setdefault(len(spans) - 1, spans[-1].prefix)
    total = [*accumulate(span.tokens for span in spans)]
    left = rules.breakpoints
    for after, stability in ends.items():
        kept = total[after] >= rules.minimum_tokens and left > 0
        left -= kept
        span = spans[after]
        yield Breakpoint(after, span.part, span.end, total[after], stability, kept)


def spans_to_send(
    rendered: RenderedPrompt[Any],
    sections: Mapping[SectionPath, Node],
    tools: Sequence[Mapping[str, object]],
) -> Iterator[UncountedSpan]:
    """Yield the spans of a request, in the order of the wire.

    `sections` has the prompt's sections; nothing is known of others.
    """
    spans = [(block, block_stability(block, sections.get(block.path))) for block in rendered.blocks]
    if (output := rendered.structured_output) is not None:
        yield span_of_schema(output.schema)
    if tools:
        text = json.dumps(list(tools), ensure_ascii=False)
        presence = stability_of_all(
            stability.presence
            for block, stability in spans
            if (node := sections.get(block.path)) is not None and node.section.tools
        )
        yield UncountedSpan(TOOLS, None, (), 0, 0, text, presence)
    for block, stability in spans:
        yield from spans_of(
            block.role.value, block.path, block.span.start, block.segments, stability
        )


def span_of_schema(schema: Mapping[str, object]) -> UncountedSpan:
    """Return the span of the output's schema, which is sent first."""
    return UncountedSpan(OUTPUT, None, (), 0, 0, json.dumps(schema), Stability.CONSTANT)


@dataclass(frozen=True, slots=True)
class BlockStability:
    """The frequency of a block's changes.

    Args:
        presence: How often the section appears, disappears, or is opened and closed.
        segments: How often each of its segments changes while it is there.
    """

    presence: Stability
    segments: tuple[Stability, ...]


class SegmentLike(Protocol):
    """The part of a segment that a plan needs, rendered or sent."""

    @property
    def text(self) -> str:
        """Its text."""

    @property
    def field(self) -> str | None:
        """The field whose value it is, if any."""


def block_stability(block: Block, node: Node | None) -> BlockStability:
    """Return the stability of a rendered block; unknown without its section."""
    kind = None if node is None else node.params_type
    fields, computed = of_fields(kind), of_type(kind)
    presence = (
        Stability.CONSTANT
        if node is not None and not node.gated and node.declared is not None
        else computed
    )
    names = None if node is None else node.section.computed_from
    derived = (
        computed
        if names is None
        else stability_of_all(fields.get(name, Stability.UNKNOWN) for name in names)
    )
    segments = stability_of_segments(
        block.segments, lambda name: fields.get(name, computed), derived
    )
    return BlockStability(presence, segments)


def stability_of_segments(
    segments: Iterable[Segment], of_field: Callable[[str], Stability], derived: Stability
) -> tuple[Stability, ...]:
    """Return the stability of each segment while its section is shown.

    Fields change as `of_field` says, and texts that the section computes as `derived`.
    """

    def own(segment: Segment) -> Stability:
        if segment.kind in _FROM_FIELDS:
            return of_field(base_field(segment.field))
        return derived if segment.kind in _COMPUTED else Stability.CONSTANT

    return tuple(map(own, segments))


def stability_of_all(found: Iterable[Stability]) -> Stability:
    """Return the stability of what depends on all of these; constant without any."""
    return max(found, default=Stability.CONSTANT)


def base_field(field: str | None) -> str:
    """Return the field of the parameters that a segment shows: `turns` of `turns[0].text`."""
    return (field or "").partition("[")[0]


def spans_of(
    part: str,
    path: SectionPath,
    start: int,
    segments: Sequence[SegmentLike],
    found: BlockStability,
) -> Iterator[UncountedSpan]:
    """Yield the spans of a block that begins at `start` in the text."""
    if not segments and found.presence is not Stability.CONSTANT:
        # Text that may be there in the next request.
        yield UncountedSpan(part, path, (), start, start, "", found.presence)
    presence = found.presence
    levels = [stability if stability > presence else presence for stability in found.segments]
    first = 0
    for end, level in enumerate(levels, 1):
        if end < len(levels) and levels[end] is level:
            continue
        alike = segments[first:end]
        first = end
        text = "".join([segment.text for segment in alike])
        fields: tuple[str, ...] = ()
        if level is not Stability.CONSTANT:
            # Computed placeholders begin with an underscore; they aren't fields.
            shown = [segment.field for segment in alike if segment.field]
            names = [base_field(field) for field in shown if not field.startswith("_")]
            fields = tuple(dict.fromkeys(names))
        yield UncountedSpan(part, path, fields, start, start + len(text), text, level)
        start += len(text)


def _name(spans: Sequence[CacheSpan]) -> str:
    fields = dict.fromkeys(field for span in spans for field in span.fields)
    name = spans[0].dotted_key
    return f"{name} ({', '.join(fields)})" if fields else name
