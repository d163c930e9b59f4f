"""The answers about a prompt, as models: made of a worker's JSON once, and sent as JSON once.

What the worker answers is structured by `Renderer.run`; `structuring.unstructure` writes the same
shape for clients. Locations, tokens, spans and documents aren't the worker's: the server adds them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence  # Structuring looks it up.
from dataclasses import replace
from itertools import accumulate
from operator import attrgetter
from typing import Any, Literal, Self, TypeVar

from foldline.backends.base.reading import OMITTED, renamed
from foldline.records import record

EXECUTED, STATIC = "executed", "static"


@record
class Position:
    """A position in a document, as its client counts."""

    line: int
    character: int


@record
class Range:
    """A range of a document."""

    start: Position
    end: Position


@record
class Location:
    """A range of the document at `uri`."""

    uri: str
    range: Range


@record
class Segment:
    """A part of a block's text.

    Attributes:
        kind: `heading`, `literal` or another `SegmentKind`.
        field: The field whose value it is.
        known: In a static render, whether it's the text or a placeholder for it.
        stability: How often it changes, a `Stability` in small letters.
    """

    kind: str
    text: str
    field: str | None
    stability: str = dataclasses.field(default="constant", metadata=OMITTED)
    known: bool | None = dataclasses.field(default=None, metadata=OMITTED)


@record
class BlockError:
    """Why a section couldn't be rendered; without a `line`, it's the section as a whole."""

    message: str
    file: str | None
    line: int | None
    type: str
    traceback: str


@record
class IfOpened:
    """The extra cost of a request once a section is open.

    Attributes:
        text: Tokens of the text; less than none if opening saves some.
        tools: Tokens of the tools.
        total: All of them.
        breakpoint: Where the prefix ends that is still read from the cache, in the cache plan's
            breakpoints; None if nothing is.
    """

    text: int
    tools: int
    total: int
    breakpoint: int | None


@record
class BlockTokens:
    """The tokens of a block.

    Attributes:
        own: Of its own text.
        subtree: With the blocks below it.
        if_opened: What opening it costs; None if it isn't summarized, or can't be shown open.
    """

    own: int = dataclasses.field(metadata=renamed("self"))
    subtree: int
    if_opened: IfOpened | None


@record
class RenderedTool:
    """A tool that a model is offered with the prompt.

    Attributes:
        schema: The JSON schema of its parameters.
        parameters: The descriptions of its parameters.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    parameters: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    tokens: int | None = dataclasses.field(default=None, metadata=OMITTED)


@record
class Replaced:
    """The blocks in place of those from `start` to `end`."""

    start: int
    end: int
    blocks: tuple[Block, ...]


@record
class Opening:
    """The changes that opening a section makes to a request.

    Attributes:
        tools: The names of all tools after it.
        added: Those that weren't there before.
        stability: How often the list of tools changes then.
    """

    parts: tuple[Replaced, ...]
    tools: tuple[str, ...] = ()
    added: tuple[RenderedTool, ...] = ()
    stability: str = "constant"


@record
class Block:
    """One section, as it's rendered.

    Attributes:
        id: Its path with slashes; no key holds one.
        span: The offsets of its text in the prompt's, where `Render.with_spans` has set them: every
            block below an edit would be a changed one.
        opening: What opening it changes; left out once that is counted.
        location: Where the source declares the section.
        role: The role of the message that shows it.
        opened: True if the user of a preview opened it.
        stability: How often the section appears, disappears, or is opened and closed.
    """

    id: str
    path: tuple[str, ...]
    key: str
    number: str
    title: str
    depth: int
    visibility: str
    enabled: bool
    text: str
    segments: tuple[Segment, ...]
    error: BlockError | None = None
    location: Location | None = None
    span: tuple[int, int] | None = dataclasses.field(default=None, metadata=OMITTED)
    opening: Opening | None = dataclasses.field(default=None, metadata=OMITTED)
    tokens: BlockTokens | None = dataclasses.field(default=None, metadata=OMITTED)
    role: str = dataclasses.field(default="user", metadata=OMITTED)
    opened: bool | None = dataclasses.field(default=None, metadata=OMITTED)
    stability: str = dataclasses.field(default="constant", metadata=OMITTED)

    def is_of(self, answered: Block, tokens: BlockTokens, location: Location | None) -> bool:
        """Return True if this is the worker's `answered` block with these tokens and that place."""
        return (self.tokens, self.location, *_answered(self)) == (
            tokens,
            location,
            *_answered(answered),
        )

    @property
    def written(self) -> str:
        """Its text without the code that stands for a part of it in a static render."""
        if all(one.known is not False or one.field is not None for one in self.segments):
            return self.text
        written = (one for one in self.segments if one.known is not False or one.field is not None)
        return "".join(one.text for one in written)

    @property
    def own_tokens(self) -> int:
        """The tokens of its own text, if they are counted."""
        return self.tokens.own if self.tokens is not None else 0

    @property
    def if_opened(self) -> IfOpened | None:
        """The cost of opening it, if that is counted."""
        return self.tokens.if_opened if self.tokens is not None else None

    @property
    def is_summarized(self) -> bool:
        """True if it shows a summary that can be opened."""
        return self.enabled and self.visibility == "SUMMARY"


_answered = attrgetter(
    "path",
    "number",
    "title",
    "visibility",
    "enabled",
    "text",
    "segments",
    "role",
    "stability",
    "error",
)


@record
class Output:
    """The structured output that a model is asked for."""

    type: str
    container: str
    schema: Mapping[str, Any]


@record
class Descriptor:
    """The prompt's identity and the hash of its content.

    Attributes:
        texts: The hash of each section's text and tools, by dotted key, where a revision is
            compared.
    """

    ns: str
    key: str
    name: str | None
    content_hash: str
    texts: Mapping[str, str] = dataclasses.field(default_factory=dict, metadata=OMITTED)


@record
class Tokens:
    """The tokens of a request: those of its blocks, its tools and the output's schema.

    Attributes:
        words: The total and its parts, for people.
        lower_bound: True if a model gets more.
        unresolved: What the source doesn't show, as it names it: it isn't counted.
    """

    text: int
    tools: int
    output: int
    total: int
    encoding: str
    exact: bool
    words: tuple[str, ...]
    lower_bound: bool = dataclasses.field(default=False, metadata=OMITTED)
    unresolved: tuple[str, ...] = dataclasses.field(default=(), metadata=OMITTED)


@record
class Kept:
    """The part of a prompt's last version that a provider's cache keeps.

    Attributes:
        characters: Of the text that both begin with.
        tools: True if the tools and the output's schema are alike: providers read them before the
            text.
        cached: The tokens of this version that are read from the cache.
        words: That, or why there are none, for people.
    """

    characters: int
    tools: bool
    cached: int
    words: str


@record
class ParameterSet:
    """A parameter set and where its values come from."""

    name: str
    origins: tuple[Mapping[str, Any], ...]


@record
class ParameterField:
    """A field of a prompt's parameters.

    Attributes:
        shown: Its value as a line of text.
        origin: Where the value comes from.
    """

    name: str
    type: str
    doc: str
    required: bool
    default: str | None
    choices: tuple[Any, ...] | None
    value: Any
    editable: bool
    shown: str | None
    origin: Mapping[str, Any] | None


@record
class Parameters:
    """A dataclass that sections of the prompt take.

    Attributes:
        section: The dotted key of the section that these are for alone; None for all sections of
            the type. Values are given under this key, else under the type's name.
    """

    type: str
    section: str | None
    doc: str
    fields: tuple[ParameterField, ...]


@record
class Chapter:
    """A chapter, and whether it's open or may be.

    Attributes:
        around: The keys of the chapters around it.
        reasons: Why it may open, or may not.
    """

    key: str
    title: str
    description: str | None
    around: tuple[str, ...]
    sections: tuple[str, ...]
    open: bool
    may_open: bool
    reasons: tuple[str, ...]


def chapters_shown(chapters: Sequence[Chapter]) -> str:
    """Return which chapters are open, and if that is as `evaluate` sends them by default."""
    named = [one.key for one in chapters if one.open]
    closed = [
        one.key if one.may_open else f"{one.key} ({'; '.join(one.reasons)})"
        for one in chapters
        if not one.open
    ]
    shown = f"{', '.join(named) or 'none'} open" if closed else "all open"
    failed = any(" raised " in reason for one in chapters for reason in one.reasons)
    if not failed and all(one.open or not one.may_open for one in chapters):
        shown += ", as `evaluate` sends them"
    return shown + (f"; closed: {', '.join(closed)}" if closed else "")


@record
class Effect:
    """Something that the module did besides making prompts, and the line that did it."""

    message: str
    subject: str | None
    file: str
    line: int


@record
class UsedInterpreter:
    """The interpreter that rendered, and why it's the one.

    Attributes:
        mismatch: Why its foldline doesn't fit the server's.
        threads: The packages that start threads when they are imported, so that each render has to
            import everything again.
    """

    path: str
    reason: str
    python: str | None
    foldline: str | None
    mismatch: str | None
    threads: tuple[str, ...] = dataclasses.field(default=(), metadata=OMITTED)


@record(kw_only=True)
class Answer:
    """The prompt and its values, as every answer of a worker has them.

    Attributes:
        name: The variable that holds the prompt.
        generated: The fields whose values were made up.
        parameter_set: The set that is used.
        effects: What the module did besides making prompts.
        reads: The workspace's files that were read, where a revision is rendered.
    """

    name: str
    generated: tuple[str, ...] = ()
    parameter_set: str | None = None
    parameter_sets: tuple[ParameterSet, ...] = ()
    parameters: tuple[Parameters, ...] = ()
    chapters: tuple[Chapter, ...] = ()
    effects: tuple[Effect, ...] = ()
    interpreter: UsedInterpreter | None = None
    reads: tuple[str, ...] = dataclasses.field(default=(), metadata=OMITTED)

    def with_blocks(self, blocks: tuple[Block, ...]) -> Self:
        """Return the answer with the blocks that came after it; only renders have some."""
        return self

    def with_spans(self) -> Self:
        """Return the answer, its blocks with their spans in the text; only renders have some."""
        return self


@record(kw_only=True)
class Render(Answer):
    """A prompt as a model would get it.

    Attributes:
        fidelity: `executed`, or `static` for what the source shows.
        certain: In a static render, whether running the code can only fill values in.
        uri: The document.
        version: The editor's version of its text; None where it isn't open.
        token_budget: The most that the project lets a request of a prompt cost.
        tools_stability: How often the list of tools changes.
        fits: What `Fit` makes of the text at 8k, 32k and 200k tokens, unless a section fails.
        cache: The part that a provider's cache can keep, `CachePlan.to_json`.
    """

    text: str
    blocks: tuple[Block, ...] = ()
    tools: tuple[RenderedTool, ...] = ()
    tools_stability: str = dataclasses.field(default="constant", metadata=OMITTED)
    fits: tuple[str, ...] = ()
    output: Output | None = None
    descriptor: Descriptor | None = None
    fidelity: str = EXECUTED
    certain: bool | None = dataclasses.field(default=None, metadata=OMITTED)
    tokens: Tokens | None = dataclasses.field(default=None, metadata=OMITTED)
    cache: Mapping[str, Any] | None = dataclasses.field(default=None, metadata=OMITTED)
    uri: str | None = dataclasses.field(default=None, metadata=OMITTED)
    version: int | None = None
    token_budget: int | None = None

    def with_blocks(self, blocks: tuple[Block, ...]) -> Self:
        return replace(self, blocks=blocks)

    def with_spans(self) -> Self:
        ends = tuple(accumulate(len(block.text) for block in self.blocks))
        spans = zip((0, *ends), ends, strict=False)
        blocks = map(lambda block, span: replace(block, span=span), self.blocks, spans)
        return replace(self, blocks=tuple(blocks))


@record(kw_only=True)
class OpenedSections(Answer):
    """The request of opening sections, and the prompt as it's rendered after that.

    Attributes:
        new_tools: The names of the tools that the prompt didn't have before.
    """

    requested_overrides: Mapping[str, str]
    section_keys: tuple[str, ...]
    reason: str
    expansion_instructions: str | None
    render: Render
    new_tools: tuple[str, ...] = dataclasses.field(default=(), metadata=OMITTED)

    def with_spans(self) -> Self:
        return replace(self, render=self.render.with_spans())


@record(kw_only=True)
class RequestBody(Answer):
    """The JSON that an evaluation would send to a provider."""

    body: Mapping[str, Any]


@record(kw_only=True)
class SectionText(Answer):
    """One section's text, which opens nothing."""

    section_key: str
    text: str


@record(kw_only=True)
class SectionSummary(Answer):
    """A folded section: its summary, and its sizes in UTF-8 bytes."""

    section_key: str
    text: str
    size: int
    size_if_opened: int


@record(kw_only=True)
class ToolAnswer(Answer):
    """The result of a call of the prompt's own tool.

    Attributes:
        text: The result as a model reads it.
        success: False if the text says why the call failed.
        summary: The text that can replace it in a model's conversation.
        priority: How long a conversation keeps it; None if the tool doesn't say.
        opened: The sections that the tool asked to open instead of returning a result.
    """

    text: str
    success: bool
    summary: str | None = None
    priority: Literal["high", "medium", "low"] | None = None
    opened: OpenedSections | None = None


AnswerT = TypeVar("AnswerT", bound=Answer)
