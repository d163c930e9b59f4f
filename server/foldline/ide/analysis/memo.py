"""Memoized evaluations, each valid until a name that it used changes its meaning, and their limits.

An evaluation is a frame on a stack, from `begin` to `end`. The names that it looks up are noted in
its frame, and in those around it when it ends. What it costs counts for a bucket: that of the
statement, or of the piece of it that is evaluated.

A piece outlives an edit of its statement. The new statement has to pay for it, too, or limits would
depend on the order of edits: the piece is `carried` until it's first asked for, and is paid then.

A few lines can describe more than memory holds. Costs are roughly bytes. Each statement has an
allowance, and so has each file for all of its statements; both grow with the file. A value that
exceeds an allowance stays unknown.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from foldline.ide.analysis.scopes import BodyScope
    from foldline.ide.analysis.source_map import MappedText
    from foldline.ide.analysis.syntax import Anchor
    from foldline.ide.analysis.top_level import Parsed
    from foldline.ide.analysis.values import Value

T = TypeVar("T")

Used: TypeAlias = "frozenset[tuple[str, str]]"
"""`(file, name)` pairs: the names that an evaluation looked up."""

Entry: TypeAlias = "tuple[object, Value, Used]"
"""A node (kept alive so that its `id` isn't reused), its value, and the names that it used."""

_NOTHING: Used = frozenset()


@dataclass(slots=True, eq=False)
class Bucket:
    """The memo of one anchor: a top-level statement without its pieces, or one of them."""

    anchor: Anchor
    entries: dict[int, Entry] = field(default_factory=dict)
    bodies: dict[int, BodyScope] = field(default_factory=dict)
    facts: dict[str, tuple[object, Used]] = field(default_factory=dict)
    used: set[tuple[str, str]] = field(default_factory=set)
    cost: int = 0
    carried: bool = False
    """True for a piece of an edited statement that doesn't count in the new one's cost yet."""
    exceeded: bool = False
    """True if something stayed unknown because it exceeded the statement's budget."""


class _Frame(NamedTuple):
    """An evaluation that goes on; what it costs counts for `account`."""

    anchor: Anchor
    used: set[tuple[str, str]]
    account: Bucket


class Memo:
    """Memoizes per anchor; an anchor is invalidated as a whole."""

    def __init__(self, size_of: Callable[[str], int]) -> None:
        self.meter = Meter()
        self._size_of = size_of
        self._buckets: dict[int, Bucket] = {}
        self._stack: list[_Frame] = []
        # Of what the meter has spent, the part that counts for an account already.
        self._settled = 0
        self._spent: Counter[str] = Counter()

    def bucket(self, anchor: Anchor) -> Bucket:
        """The memo of an anchor."""
        bucket = self._buckets.get(id(anchor))
        if bucket is None:
            bucket = self._buckets[id(anchor)] = Bucket(anchor)
        elif bucket.carried:
            bucket.carried = False
            self._charge(bucket)
        return bucket

    def fact(self, anchor: Anchor, name: str, compute: Callable[[], T]) -> T:
        """Return the result of `compute`, recomputed only after a name that it used has changed."""
        bucket = self.bucket(anchor)
        kept = bucket.facts.get(name)
        if kept is not None:
            self.record_uses(kept[1])
            return kept[0]  # type: ignore[return-value]  # One name always stands for one type.
        self.begin(anchor)
        try:
            value = compute()
        finally:
            used = self.end(anchor)
        if self.keeps:
            bucket.facts[name] = (value, used)
        return value

    def facts(self, anchor: Anchor, name: str, compute: Callable[[], Iterable[T]]) -> tuple[T, ...]:
        """Return all that `compute` yields, as `fact` returns one result."""
        return self.fact(anchor, name, lambda: tuple(compute()))

    def within(self, anchor: Anchor, compute: Callable[[], T]) -> T:
        """Return the result of `compute`, charged to the budget of the anchor's statement."""
        self.begin(anchor)
        try:
            return compute()
        finally:
            self.end(anchor)

    @property
    def evaluates(self) -> bool:
        """True during an evaluation."""
        return bool(self._stack)

    @property
    def keeps(self) -> bool:
        """True if the value just computed may be memoized.

        A value that is unknown for lack of budget is memoized for the statement whose budget ran
        out, not for others that it is part of.
        """
        return not self._stack or not self.meter.exceeded

    # The names that the current computation uses

    def begin(self, anchor: Anchor) -> None:
        if not self._stack:
            account = self.bucket(anchor)
            spent = self._spent[anchor.file]
            self.meter.start(self._size_of(anchor.file), spent, len(anchor.statement.text))
            self._settled = 0
        else:
            outer = self._stack[-1]
            account = outer.account
            # A piece of the statement for which all of this is evaluated counts by itself.
            first = self._stack[0].anchor.statement
            if anchor is not outer.anchor and anchor.parent and anchor.statement is first:
                account = self.bucket(anchor)
                self._settle(outer.account)
        self._stack.append(_Frame(anchor, set(), account))

    def end(self, anchor: Anchor) -> Used:
        _, used, account = self._stack.pop()
        self.meter.affords(_USED * len(used))
        outer = self._stack[-1] if self._stack else None
        if outer is None or outer.account is not account:
            self._settle(account)
        if outer is None:
            statement = self.bucket(anchor.statement)
            statement.exceeded = statement.exceeded or self.meter.exceeded
            self._spent[anchor.file] += self.meter.spent
        if not used:
            return _NOTHING
        if outer is not None:
            outer.used.update(used)
        self.bucket(anchor).used |= used
        return frozenset(used)

    def record_uses(self, used: Used) -> None:
        if used and self._stack and self.meter.affords(_USED * len(used)):
            self._stack[-1].used.update(used)

    def record_use(self, file: str, name: str) -> None:
        if self._stack:
            self._stack[-1].used.add((file, name))

    # Costs

    def _settle(self, account: Bucket) -> None:
        """Let what was spent since the last call count for `account`."""
        account.cost += self.meter.spent - self._settled
        self._settled = self.meter.spent

    def _charge(self, bucket: Bucket) -> None:
        """Charge what a piece cost that an edited statement still has, as if it were new."""
        if not self._stack:
            self._spent[bucket.anchor.file] += bucket.cost
            return
        self._settle(self._stack[-1].account)
        self.meter.affords(bucket.cost)
        self._settled = self.meter.spent

    # Forgetting

    def forget(self, file: str, names: frozenset[str], parsed: Parsed) -> None:
        """Forget the statements that a file no longer has, and all that used changed `names`."""
        gone = {(file, name) for name in names}
        live = {id(anchor) for statement in parsed.statements for anchor in statement.anchors()}
        buckets = self._buckets
        self._buckets = {
            key: bucket
            for key, bucket in buckets.items()
            if (bucket.anchor.file != file or key in live) and gone.isdisjoint(bucket.used)
        }
        self._spent = Counter()
        for bucket in self._buckets.values():
            if bucket.anchor.parent is not None:
                # The statement is gone: the new one hasn't paid for this piece.
                bucket.carried = id(bucket.anchor.statement) not in self._buckets
            if not bucket.carried:
                self._spent[bucket.anchor.file] += bucket.cost

    def drop(self, file: str) -> None:
        """Forget a file's statements; values derived from them elsewhere stay."""
        self._buckets = {
            key: bucket for key, bucket in self._buckets.items() if bucket.anchor.file != file
        }
        del self._spent[file]


STEP = 100
"""Cost of an evaluated expression, an item, an argument or a field."""
SECTION = 500
"""Cost of a section, each time it is shown."""
# A run of a mapped text, and a name that an evaluation used.
_RUN = 200
_USED = 60

_BASE = 2_000_000
_FOR_A_CHARACTER = 300
_LEAST_FOR_A_CHARACTER = 1_000
_MOST = 30_000_000
_STATEMENTS = 3
"""Number of statements in a file that may use their whole allowance."""


def text_cost(*texts: MappedText) -> int:
    """Cost of a text built from others."""
    return sum(len(text.text) + _RUN * len(text.runs) for text in texts)


class Meter:
    """Counts the cost of evaluating one statement at a time."""

    def __init__(self) -> None:
        self.exceeded = False
        self._allowed = 0
        self._left = 0

    def start(self, size: int, spent: int, length: int) -> None:
        """Start a statement of `length` characters in a file of `size` that cost `spent` so far."""
        allowance = min(_BASE + _FOR_A_CHARACTER * size, _MOST)
        # Whatever precedes it, a statement may cost what an ordinary one of its length does.
        least = min(_LEAST_FOR_A_CHARACTER * length, allowance)
        self._allowed = self._left = max(min(allowance, _STATEMENTS * allowance - spent), least)
        self.exceeded = False

    @property
    def spent(self) -> int:
        """Cost of the statement so far."""
        return self._allowed - max(self._left, 0)

    def affords(self, cost: int) -> bool:
        """Charge `cost`; return False once the allowance has been exceeded."""
        if not self.exceeded:
            self._left -= cost
            self.exceeded = self._left < 0
        return not self.exceeded
