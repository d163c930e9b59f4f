"""Policies that keep a conversation small by shortening its tool results.

Every request to a model sends all earlier tool results again. A `ContextPolicy` keeps them small in
two steps. A result that has a summary, such as a file's outline, is replaced by it once the reading
is some turns ago. If the old results still exceed the budget, some are removed: low priority first,
then medium, then high, and of each the oldest first. The last turns don't count against the
budget: they stay, whatever else is removed.

With `prices`, both steps wait until they pay. A provider caches the beginning of a request, byte
for byte: a result that changes voids all after it. That tail is then written again instead of read,
once, and what was removed isn't read in any later request. So old results are replaced in batches,
at least as large as the tail behind them, when the requests still expected save more than it costs.

A turn is one message of the model together with the user's message before it and the results of
the tools that it called. No message is ever dropped: providers want an answer for every call, so a
removed result leaves one line that says what it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from foldline.prompts.cache.prices import CACHE_PRICES, CachePrices
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import check_at_least
from foldline.prompts.priority import Priority
from foldline.prompts.roles import Role

__all__ = [
    "KEEP_TURNS",
    "ContextPolicy",
    "ManagedContext",
    "Message",
    "Priority",
    "Role",
    "Savings",
    "manage",
    "summarise",
    "trim",
]

TOKEN_BYTES = 4
"""The bytes of a token, for estimates."""
READ_RESULT = "read_result"
"""The tool that returns replaced results."""
KEEP_TURNS = 3
"""The default number of last turns that a policy leaves unchanged."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    Attributes:
        content: The text that is sent; for a call of tools, with the arguments.
        tool: The tool that a result is from.
        label: The call's subject, such as a path, so that a model can make the call again.
        summary: The text that replaces `content` after some turns; None where the result is
            compact as it is.
        priority: How long a result is kept.
        handle: The name under which a replaced result can be read again; None if it can't.
    """

    role: Role
    content: str
    tool: str | None = None
    label: str = ""
    summary: str | None = None
    priority: Priority = Priority.MEDIUM
    handle: str | None = None

    @property
    def size(self) -> int:
        """The bytes of `content` in UTF-8."""
        return _size_of(self.content)


@dataclass(frozen=True, slots=True)
class Savings:
    """The savings of replacing old results, in bytes and in billed-equivalent tokens.

    Tokens are estimated as a quarter of the bytes; which side is larger doesn't depend on that.

    >>> savings = Savings(removed=5_000, rewritten=20_000)
    >>> round(savings.cost), savings.saved_per_request, round(savings.pays_after)
    (5750, 125.0, 46)

    Attributes:
        removed: The bytes by which each request is smaller from now on.
        rewritten: The bytes behind the first change that were in the provider's cache.
        prices: What a token costs.
    """

    removed: int
    rewritten: int
    prices: CachePrices = CACHE_PRICES

    @property
    def cost(self) -> float:
        """Billed-equivalent tokens, once: the tail is written instead of read."""
        return self.rewritten / TOKEN_BYTES * max(self.prices.write - self.prices.read, 0)

    @property
    def saved_per_request(self) -> float:
        """Billed-equivalent tokens that each request reads less."""
        return self.removed / TOKEN_BYTES * self.prices.read

    @property
    def pays_after(self) -> float:
        """The number of requests after which it has paid; infinite if it never does."""
        if not self.cost:
            return 0.0
        return self.cost / self.saved_per_request if self.saved_per_request else float("inf")


@dataclass(frozen=True, slots=True)
class ManagedContext:
    """A conversation to which a policy was applied.

    Attributes:
        messages: As many as before.
        evicted: The places of the results that were removed, in the order of their removal.
        size: The bytes of all tool results together, those of the last turns too.
        savings: What the change saves and costs; None if nothing changed.
    """

    messages: tuple[Message, ...]
    evicted: tuple[int, ...]
    size: int
    savings: Savings | None = None


@FrozenDataclass()
class ContextPolicy:
    """The policy for the tool results of a conversation.

    Newer models tie their reasoning to what stood in front of it. Where a policy replaces a result,
    OpenAI drops the reasoning behind it, and Anthropic can refuse the request (status 400).

    Attributes:
        keep_turns: How many of the last turns are left alone; None leaves all alone, so that
            nothing is ever replaced or removed.
        budget: The most bytes of tool results that are older than those turns; None for no limit.
            The line that a removed result leaves doesn't count, nor does a result as short as it.
        prices: Replace results only when it pays at these prices, or when the budget is exceeded;
            None replaces each result as soon as it is old.
        expected_requests: How many requests are expected to follow; by default, as many as the
            conversation has had. It matters with `prices` only.
        handles: Let the model read what was replaced: evaluations offer it a tool `read_result`.

    Raises:
        PromptConfigurationError: A number is negative.
    """

    keep_turns: int | None = KEEP_TURNS
    budget: int | None = None
    prices: CachePrices | None = None
    expected_requests: int | None = None
    handles: bool = False

    def __post_init__(self) -> None:
        check_at_least(
            0,
            keep_turns=self.keep_turns,
            budget=self.budget,
            expected_requests=self.expected_requests,
        )

    def apply(self, messages: Iterable[Message]) -> ManagedContext:
        """The messages of the next request."""
        messages = tuple(messages)
        budget = _size_of_results(messages) if self.budget is None else self.budget
        if self.keep_turns is None:
            return ManagedContext(messages, (), _size_of_results(messages))
        managed = manage(messages, budget, self.keep_turns)
        if self.prices is None:
            return replace(managed, savings=_savings(messages, managed.messages, CACHE_PRICES))
        requests = self.expected_requests
        if requests is None:
            requests = sum(message.role is Role.ASSISTANT for message in messages)
        summarized = summarise(messages, self.keep_turns)
        batch = _paying_batch(messages, summarized, self.prices, requests)
        if trim(batch, budget, self.keep_turns).evicted:
            batch = _large_batch(managed.messages, messages, self.prices, self.keep_turns)
        return _batched(messages, batch, self.prices)


def summarise(messages: Iterable[Message], keep_turns: int = KEEP_TURNS) -> tuple[Message, ...]:
    """The messages, with the summary as content where a result is older than `keep_turns`.

    Results without a summary stay unchanged, and so does one whose summary isn't smaller.
    """
    messages = tuple(messages)
    recent = _recent(messages, keep_turns)
    return tuple(
        message if index in recent else _summarized(message)
        for index, message in enumerate(messages)
    )


def trim(messages: Iterable[Message], budget: int, keep_turns: int = KEEP_TURNS) -> ManagedContext:
    """The messages, with results removed until the other old ones fit `budget` bytes.

    System messages, the user's and the model's words, and the last `keep_turns` turns are kept, and
    their bytes don't count.
    """
    kept = list(messages)
    order = _eviction_order(kept, keep_turns)
    size = sum(kept[index].size for index in order)
    evicted: list[int] = []
    for index in order:
        if size <= budget:
            break
        size -= kept[index].size
        kept[index] = _stub(kept[index])
        evicted.append(index)
    return ManagedContext(tuple(kept), tuple(evicted), _size_of_results(kept))


def manage(
    messages: Iterable[Message], budget: int, keep_turns: int = KEEP_TURNS
) -> ManagedContext:
    """Both steps: summaries for what is old, then removal of what doesn't fit."""
    return trim(summarise(messages, keep_turns), budget, keep_turns)


def _paying_batch(
    messages: Sequence[Message],
    managed: Sequence[Message],
    prices: CachePrices,
    requests: int,
) -> Sequence[Message]:
    """The messages with the latest results replaced, as far back as saves most, if that pays."""
    best: tuple[float, Sequence[Message]] = 0, messages
    for index in reversed(_changes(messages, managed)):
        batch = (*messages[:index], *managed[index:])
        savings = _savings(messages, batch, prices)
        if savings is None or (savings.cost and savings.removed < savings.rewritten):
            continue
        saved = requests * savings.saved_per_request - savings.cost
        if saved > best[0]:
            best = saved, batch
    return best[1]


def _large_batch(
    managed: Sequence[Message], messages: Sequence[Message], prices: CachePrices, keep_turns: int
) -> Sequence[Message]:
    """The messages, with further results removed until the batch is as large as its tail."""
    batch = list(managed)
    for index in _eviction_order(batch, keep_turns):
        savings = _savings(messages, batch, prices)
        if savings is None or savings.removed >= savings.rewritten:
            break
        batch[index] = _stub(messages[index])
    return batch


def _batched(
    messages: Sequence[Message], batch: Sequence[Message], prices: CachePrices
) -> ManagedContext:
    evicted = tuple(
        index for index in _changes(messages, batch) if batch[index] == _stub(messages[index])
    )
    savings = _savings(messages, batch, prices)
    return ManagedContext(tuple(batch), evicted, _size_of_results(batch), savings)


def _changes(messages: Sequence[Message], managed: Sequence[Message]) -> list[int]:
    return [index for index, message in enumerate(messages) if managed[index] != message]


def _savings(
    messages: Sequence[Message], managed: Sequence[Message], prices: CachePrices
) -> Savings | None:
    changes = _changes(messages, managed)
    if not changes:
        return None
    # The last message of the model and what follows it is in no cache yet.
    models = [index for index, message in enumerate(messages) if message.role is Role.ASSISTANT]
    new = models[-1] if models else len(messages)
    removed = sum(messages[index].size - managed[index].size for index in changes)
    rewritten = sum(message.size for message in managed[changes[0] : max(new, changes[0])])
    return Savings(removed, rewritten, prices)


def _recent(messages: Sequence[Message], keep_turns: int) -> frozenset[int]:
    """The places of the last turns, and of the system's messages."""
    kept = {index for index, message in enumerate(messages) if message.role is Role.SYSTEM}
    turns = 0
    for index in range(len(messages) - 1, -1, -1):
        if turns == keep_turns and messages[index].role is not Role.USER:
            # A question belongs to the answer after it; here an earlier turn ends.
            break
        if keep_turns:
            kept.add(index)
        turns += messages[index].role is Role.ASSISTANT
    return frozenset(kept)


def _summarized(message: Message) -> Message:
    if message.summary is None or _size_of(message.summary + _handle(message)) >= message.size:
        return message
    return replace(message, content=message.summary + _handle(message))


def _eviction_order(messages: Sequence[Message], keep_turns: int) -> list[int]:
    """The places of the old results whose removal makes room."""
    recent = _recent(messages, keep_turns)
    ranks = {
        index: message.priority.rank
        for index, message in enumerate(messages)
        if index not in recent and message.role is Role.TOOL and _stub(message).size < message.size
    }
    return sorted(ranks, key=lambda place: (ranks[place], place))


def _stub(message: Message) -> Message:
    about = f" {message.label}" if message.label else ""
    again = "call it again" if message.handle is None else _read_again(message.handle)
    return replace(message, content=f"[{message.tool}{about}: removed to save room; {again}]")


def _handle(message: Message) -> str:
    return "" if message.handle is None else f"\n[shortened; {_read_again(message.handle)}]"


def _read_again(handle: str) -> str:
    return f"{READ_RESULT} returns it by its handle {handle!r}"


def _size_of_results(messages: Iterable[Message]) -> int:
    return sum(message.size for message in messages if message.role is Role.TOOL)


def _size_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
