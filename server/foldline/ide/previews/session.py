"""One preview: what its user chose, and what it shows."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from foldline.ide import cost_texts
from foldline.ide.errors import NoPreview
from foldline.ide.previews.pace import Pace
from foldline.ide.previews.state import Budget, PreviewState, Spent, Stale, Step
from foldline.ide.prompts.request import IN_EDITOR, TOKENS, PromptRef, RenderMode, View
from foldline.ide.render import token_costs as costs
from foldline.ide.render.diff import Side
from foldline.ide.render.render import EXECUTED, Block, Kept, Render, chapters_shown
from foldline.records import record

Watcher = Callable[[PreviewState | None], None]
# How many of the most expensive sections a budget names.
MOST = 5
# Versions, and the bytes of their texts.
MAX_VERSIONS = 50
MAX_BYTES = 4 << 20


@record
class RenderTicket:
    """One render of a preview.

    Documents and options may change while a render goes on. Its outcome is shown only while its
    ticket is current: no younger render is shown, and the options are still those of the preview.

    Attributes:
        number: Renders are numbered as they start: a higher one has seen a younger text.
    """

    number: int
    options: View

    def is_outdated(self, preview: Preview) -> bool:
        """True if a younger text is shown already."""
        return self.number < preview.shown

    def is_current(self, preview: Preview) -> bool:
        """True if its outcome is the newest of what the user chose."""
        return not self.is_outdated(preview) and self.options is preview.options


class History:
    """The last versions of a preview; the oldest go when there are too many."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Side] = OrderedDict()
        self._bytes = 0

    @property
    def numbers(self) -> tuple[int, ...]:
        return tuple(self._kept)

    def add(self, number: int, side: Side) -> None:
        last = next(reversed(self._kept.values()), None)
        self._bytes += _own_bytes(side, last)
        self._kept[number] = side
        while len(self._kept) > MAX_VERSIONS or (len(self._kept) > 2 and self._bytes > MAX_BYTES):
            _, oldest = self._kept.popitem(last=False)
            self._bytes -= _own_bytes(oldest, next(iter(self._kept.values())))

    def get(self, number: int) -> Side | None:
        return self._kept.get(number)


@dataclass(slots=True)
class Preview:
    """One preview.

    Attributes:
        steps: The user's options from the first to those that hold now. The first are none.
        versions: For each step, the version of the preview that first showed it.
        shown: The number of the render that is shown.
        render: What is shown, with the options of the preview; nothing before the first render.
        is_executed: The blocks come from running the prompt.
        stale: Why the blocks aren't executed ones of the newest text; None where they are.
        kept: The common prefix of the last version and the one before.
        milliseconds: How long the last execution took.
        pace: How long to wait between renders, and for one that goes on.
        changed: Set when a document has changed since the last render started.
        turn: Held while the options change, so that each change starts from the one before.
        watchers: Called with each state besides the client; with None at the end.
    """

    session_id: str
    uri: str
    name: str | None
    steps: list[View] = field(default_factory=lambda: [View()])
    versions: list[int] = field(default_factory=lambda: [1])
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    shown: int = 0
    version: int = 0
    document_version: int | None = None
    render: Render = field(default_factory=lambda: Render(name="", text="", blocks=()))
    is_executed: bool = False
    stale: Stale | None = None
    kept: Kept | None = None
    milliseconds: int | None = None
    history: History = field(default_factory=History)
    pace: Pace = field(default_factory=Pace)
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    watchers: list[Watcher] = field(default_factory=list)

    @property
    def options(self) -> View:
        """The user's options that hold now."""
        return self.steps[-1]

    def ref(self, mode: RenderMode) -> PromptRef:
        """The prompt, for a caller's needs."""
        return PromptRef(uri=self.uri, name=self.name, mode=mode)

    def ticket(self, options: View | None = None) -> RenderTicket:
        """The ticket of a render that starts now."""
        return RenderTicket(next(self.numbers), options or self.options)

    def show(
        self, render: Render, ticket: RenderTicket, stale: Stale | None = None
    ) -> tuple[Block, ...]:
        """Make a version of a render, and return the blocks that it changes.

        `stale` says why it isn't an executed one of the newest text, where it isn't.
        """
        earlier = {block.id: block for block in self.render.blocks}
        blocks = tuple(self._shown(block, earlier.get(block.id)) for block in render.blocks)
        last, self.render = self.render, replace(render, blocks=blocks, text="")
        if earlier:
            self.kept = costs.kept(last, self.render)
        self.name = render.name
        self.document_version = render.version
        self.is_executed = render.fidelity == EXECUTED
        self.blame(ticket, stale)
        return tuple(block for block in blocks if earlier.get(block.id) is not block)

    def _shown(self, block: Block, before: Block | None) -> Block:
        """Return the block as this preview shows it; an unchanged one is the last version's."""
        opened = block.key in self.options.opened
        if block is before and block.opened is opened:
            return block
        shown = replace(block, opened=opened)
        return before if before is not None and before == shown else shown

    def blame(self, ticket: RenderTicket, stale: Stale | None) -> None:
        """Make a version of the blocks that are shown; `stale` says why they are."""
        self.shown = ticket.number
        self.stale = stale
        self.version += 1
        self.history.add(self.version, Side(f"version {self.version}", self.render))

    def version_side(self, number: int) -> Side:
        """An earlier version, to compare.

        Raises:
            NoPreview: It isn't kept any more, or not there yet.
        """
        side = self.history.get(number)
        if side is None:
            kept = self.history.numbers
            raise NoPreview(
                f"{self.session_id} has no version {number} any more, or not yet; "
                f"kept are {kept[0]} to {kept[-1]}",
            )
        return side

    def folded_around(self, section_keys: Sequence[str]) -> dict[str, str]:
        """The overrides that show these sections in full: their own, and those of summaries around.

        Without keys it is every summary.
        """
        folded = [block.key for block in self.render.blocks if block.visibility == "SUMMARY"]
        around = (
            other for key in section_keys for other in folded if f"{key}.".startswith(f"{other}.")
        )
        return dict.fromkeys((*around, *section_keys) if section_keys else folded, "FULL")

    def state(self, blocks: Sequence[Block] | None = None) -> PreviewState:
        """The state with `blocks`, those that the client hasn't seen; without, with all of them."""
        render = self.render
        return PreviewState(
            sessionId=self.session_id,
            uri=self.uri,
            name=self.name,
            version=self.version,
            documentVersion=self.document_version,
            fidelity=render.fidelity,
            order=tuple(block.id for block in render.blocks),
            blocks=render.blocks if blocks is None else tuple(blocks),
            tools=render.tools,
            tokens=render.tokens,
            output=render.output,
            descriptor=render.descriptor,
            fits=render.fits,
            kept=self.kept,
            cache=render.cache,
            params=self.options.params,
            parameter_set=render.parameter_set,
            parameter_sets=render.parameter_sets,
            parameters=render.parameters,
            chapters=render.chapters,
            chapters_shown=chapters_shown(render.chapters),
            budget=self.budget(),
            generated=render.generated,
            effects=render.effects,
            interpreter=render.interpreter,
            steps=len(self.steps),
            milliseconds=self.milliseconds,
            stale=self.stale,
        )

    def budget(self) -> Budget | None:
        """The limit and what a request costs; None without a limit."""
        unit, limit = self.options.budget_unit, self.options.budget
        if limit is None:
            limit, unit = self.render.token_budget, TOKENS
        if not limit:
            return None
        spent = [
            *(Spent(block.key, costs.spent(block, unit)) for block in self.render.blocks),
            *(Spent(name, used) for name, used in costs.besides_text(self.render, unit)),
        ]
        used = sum(one.used for one in spent)
        largest = sorted(spent, key=lambda one: -one.used)[:MOST]
        over = max(0, used - limit)
        counted = self.render.tokens
        exact = unit != TOKENS or counted is None or not counted.words[0].startswith("~")
        words = cost_texts.of_budget(used, limit, unit, exact=exact)
        return Budget(limit, unit, used, over, words, tuple(largest))

    def notify(self, state: PreviewState | None) -> None:
        """Call the watchers with what the client is sent."""
        for watcher in tuple(self.watchers):
            watcher(state)

    def undo_steps(self) -> tuple[Step, ...]:
        """The steps that undo goes back through, the oldest first."""
        return tuple(
            Step(
                action=step.action,
                section_keys=step.section_keys,
                reason=None if step.reason == IN_EDITOR else step.reason,
                params=step.params,
                parameter_set=step.parameter_set,
                chapters=None if step.chapters is None else tuple(sorted(step.chapters)),
                budget=step.budget,
                overrides=step.overrides,
                version=version,
            )
            for step, version in zip(self.steps, self.versions, strict=True)
        )


def _own_bytes(side: Side, neighbour: Side | None) -> int:
    """The size of the blocks that a version doesn't share with the one before or after it."""
    shared = frozenset(map(id, neighbour.blocks)) if neighbour is not None else ()
    return sum(len(block.text) for block in side.blocks if id(block) not in shared)
