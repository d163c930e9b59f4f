"""Evaluations as streams of what happens in them: one iterator for all providers."""

from __future__ import annotations

import functools
import queue
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeAlias, TypeVar, cast

from foldline.prompts.adapters.protocol import CALLING
from foldline.prompts.bus import EventBus, InProcessEventBus, PublishResult, Subscription
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError
from foldline.prompts.runtime.bounded import EVALUATION_THREAD_NAME, CancelScope, Slots, start
from foldline.prompts.runtime.events import Event, ModelAnswered, PromptRendered
from foldline.prompts.runtime.response import PromptResponse

if TYPE_CHECKING:
    import asyncio

# The evaluation runs in a thread of its own, where all of it is heard in order: texts and calls as
# they come, and the events, on a bus that stands before the caller's. The iterator takes them out
# of a queue; an asynchronous one waits for them without a thread.

P = ParamSpec("P")
OutputT = TypeVar("OutputT")


@FrozenDataclass()
class TextDelta:
    """A piece of the model's text, as it arrives.

    Whether it is of the answer is known when its message ends: `ModelAnswered` has the same `turn`,
    and `calls` if it isn't. A `ToolCallStarted` of that turn says so earlier.
    """

    text: str
    turn: int
    """The number of the message in its evaluation, from 1."""


@FrozenDataclass()
class ToolCallStarted:
    """The model has begun a call of a tool, whose arguments are still to come.

    What it said in that turn was before its calls, and isn't the answer.
    """

    name: str
    turn: int


StreamEvent: TypeAlias = TextDelta | ToolCallStarted | Event
"""What a stream yields: texts, calls and the evaluation's events, in the order of their time."""


class EvaluationStream(Generic[OutputT]):
    """An evaluation as an iterator of `StreamEvent`, plain or asynchronous; enter it first.

    >>> async def main(adapter, prompt):
    ...     async with adapter.stream(prompt) as events:
    ...         async for event in events:
    ...             if isinstance(event, TextDelta):
    ...                 print(event.text, end="")
    ...     return events.response.usage

    It ends with the answer, or raises what the evaluation raises. Leaving the context cancels an
    evaluation that still runs, and closes its connection.
    """

    def __init__(
        self,
        evaluate: Callable[..., PromptResponse[OutputT]],
        keywords: Mapping[str, Any],
        slots: Slots,
    ) -> None:
        self._evaluate = evaluate
        self._keywords = keywords
        self._slots = slots
        self._slot: AbstractAsyncContextManager[None] | None = None
        self._items: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._wake: Callable[[], object] = lambda: None
        self._came: asyncio.Event | None = None
        self._stop: CancelScope | None = None
        self._response: PromptResponse[OutputT] | None = None
        self._over = False
        self._turn = 1

    @property
    def response(self) -> PromptResponse[OutputT]:
        """The response, once the iterator has ended.

        Raises:
            PromptConfigurationError: It hasn't, or ended with an error.
        """
        if self._response is None:
            raise PromptConfigurationError(
                "The stream has no response yet: iterate over it to its end."
            )
        return self._response

    def __enter__(self) -> Self:
        self._check_new()
        self._begin()
        return self

    def __exit__(self, *_: object) -> None:
        if self._stop is not None:
            self._stop.cancel()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> StreamEvent:
        if self._over or not self._is_entered():
            raise StopIteration
        event = self._taken(*self._items.get())
        if event is None:
            raise StopIteration
        return event

    async def __aenter__(self) -> Self:
        import asyncio

        self._check_new()
        self._slot = self._slots.slot(self._keywords.get("deadline"))
        await self._slot.__aenter__()
        loop, came = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # The loop has ended, so no one waits.
                loop.call_soon_threadsafe(came.set)

        self._came, self._wake = came, wake
        self._begin()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()
        if self._slot is not None:
            await self._slot.__aexit__(None, None, None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent:
        while not self._over and self._is_entered():
            try:
                event = self._taken(*self._items.get_nowait())
            except queue.Empty:
                if self._came is None:
                    raise PromptConfigurationError(
                        "Enter the stream by `async with`, to iterate by `async for`."
                    ) from None
                self._came.clear()
                await self._came.wait()
            else:
                if event is not None:
                    return event
        raise StopAsyncIteration

    def _is_entered(self) -> bool:
        if self._stop is None:
            raise PromptConfigurationError(
                "Enter the stream first: `async with adapter.stream(…) as events`, or `with`."
            )
        return True

    def _check_new(self) -> None:
        if self._stop is not None:
            raise PromptConfigurationError("A stream runs once; call `stream` again.")

    def _begin(self) -> None:
        keywords = self._keywords
        self._stop = CancelScope(keywords.get("cancellation"))
        session_bus = getattr(keywords.get("session"), "bus", None)
        bus = keywords.get("bus") or session_bus or InProcessEventBus()
        also = keywords.get("on_text")

        def on_text(text: str) -> None:
            self._put("event", TextDelta(text, self._turn))
            if also is not None:
                also(text)

        keywords = {
            **keywords,
            "cancellation": self._stop,
            "bus": _Heard(bus, self._hear),
            "on_text": on_text,
        }

        def evaluate() -> PromptResponse[OutputT]:
            CALLING.set(lambda name: self._put("event", ToolCallStarted(name, self._turn)))
            return self._evaluate(**keywords)

        start(EVALUATION_THREAD_NAME, evaluate, self._put)

    def _hear(self, event: Event) -> None:
        if isinstance(event, PromptRendered):
            self._turn = 1
        self._put("event", event)
        if isinstance(event, ModelAnswered):
            self._turn = event.turn + 1

    def _put(self, kind: str, item: object) -> None:
        self._items.put((kind, item))
        self._wake()

    def _taken(self, kind: str, item: Any) -> StreamEvent | None:
        """Return an event; None at the end."""
        if kind == "event":
            return cast("StreamEvent", item)
        self._over = True
        if kind == "raised":
            raise item
        self._response = item
        return None


class _Heard:
    """A bus on which a stream hears the events, too."""

    def __init__(self, bus: EventBus, hear: Callable[[Event], object]) -> None:
        self._bus = bus
        self._hear = hear

    def subscribe(
        self, event_type: type[Any], subscriber: Callable[[Any], object], /
    ) -> Subscription:
        return self._bus.subscribe(event_type, subscriber)

    def publish(self, event: object, /) -> PublishResult:
        if isinstance(event, Event):
            self._hear(event)
        return self._bus.publish(event)


def streamed(call: Callable[P, PromptResponse[OutputT]]) -> Callable[P, EvaluationStream[OutputT]]:
    """Return a call on an adapter as one that returns a stream, which runs it once entered."""

    @functools.wraps(call)
    def stream(*args: P.args, **keywords: P.kwargs) -> EvaluationStream[OutputT]:
        slots = Slots.of(*args, **keywords)
        return EvaluationStream(functools.partial(call, *args), keywords, slots)

    return stream
