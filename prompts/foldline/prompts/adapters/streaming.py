"""Evaluations in threads of their own, as streams of what happens in them and as coroutines."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack, suppress
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, Self, TypeAlias, TypeVar

from foldline.prompts.bus import InProcessEventBus
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError
from foldline.prompts.output.partial import PartialOutput, parse_partial_output
from foldline.prompts.runtime.bounded import EVALUATION_THREAD_NAME, CancelScope, start
from foldline.prompts.runtime.events import Event, ModelAnswered, PromptRendered
from foldline.prompts.runtime.response import PromptResponse

if TYPE_CHECKING:
    import asyncio

P = ParamSpec("P")
OutputT = TypeVar("OutputT")

PARTIALS = 32
"""A partial output is parsed when the text has grown by such a fraction, to bound the cost."""


@FrozenDataclass()
class TextDelta:
    """A piece of the model's text, as it arrives.

    Whether it is of the answer is known when its message ends: then `ModelAnswered` has the same
    `turn`, and no `calls` if it is.
    """

    text: str
    turn: int
    """The number of the message in its evaluation, from 1."""


StreamEvent: TypeAlias = TextDelta | PartialOutput[OutputT] | Event
"""An item of a stream, in order of time; a `PartialOutput` follows the text it was parsed from."""


class EvaluationStream(Generic[OutputT]):
    """An evaluation as an asynchronous iterator of `StreamEvent`; enter it first.

    >>> async def main(adapter, prompt):
    ...     async with adapter.stream(prompt) as events:
    ...         async for event in events:
    ...             if isinstance(event, TextDelta):
    ...                 print(event.text, end="")
    ...     return events.response.usage

    It ends with the answer, or raises what the evaluation raises. Leaving the context cancels an
    evaluation that still runs, and closes its connection.
    """

    # All is heard in the thread of the evaluation, in order: texts, and events on a bus before the
    # caller's.

    def __init__(
        self, evaluate: Callable[..., Any], adapter: Any, keywords: dict[str, Any], *, silent: bool
    ) -> None:
        self._evaluate, self._adapter = evaluate, adapter
        self._keywords = keywords if silent else self._heard(keywords)
        self._items: asyncio.Queue[tuple[str, Any]] | None = None
        self._response: PromptResponse[OutputT] | None = None
        self._over = False
        self._rendered: Any = None
        self._begin_message(1)

    @property
    def response(self) -> PromptResponse[OutputT]:
        """The response, once the iterator has ended.

        Raises:
            PromptConfigurationError: It hasn't, or ended with an error.
        """
        if self._response is None:
            raise PromptConfigurationError("No response yet: iterate over the stream to its end.")
        return self._response

    async def __aenter__(self) -> Self:
        import asyncio

        if self._items is not None:
            raise PromptConfigurationError("A stream runs once; call `stream` again.")
        self._items, self._loop = asyncio.Queue(), asyncio.get_running_loop()
        # An adapter of others may have no bound.
        limit = getattr(self._adapter, "max_concurrency", None) or sys.maxsize
        slots = getattr(self._adapter, "slots", {}).setdefault(self._loop, asyncio.Semaphore(limit))
        deadline = self._keywords.get("deadline")
        async with AsyncExitStack() as stack:
            # Past the deadline, the evaluation says so itself.
            with suppress(TimeoutError):
                async with asyncio.timeout(None if deadline is None else deadline.remaining):
                    await stack.enter_async_context(slots)
            scope = CancelScope(self._keywords.get("cancellation"))
            stack.callback(scope.cancel)
            keywords = {**self._keywords, "cancellation": scope}
            start(EVALUATION_THREAD_NAME, functools.partial(self._evaluate, **keywords), self._put)
            self._exit = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._exit.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> StreamEvent[OutputT]:
        if self._items is None:
            raise PromptConfigurationError(
                "Enter the stream first: `async with adapter.stream(…) as events`."
            )
        if not self._over:
            kind, item = await self._items.get()
            if kind == "event":
                event: StreamEvent[OutputT] = item
                return event
            self._over = True
            if kind == "raised":
                raise item
            self._response = item
        raise StopAsyncIteration

    def _put(self, kind: str, item: object) -> None:
        assert self._items is not None
        with suppress(RuntimeError):  # The loop has ended, so no one waits.
            self._loop.call_soon_threadsafe(self._items.put_nowait, (kind, item))

    def _heard(self, keywords: dict[str, Any]) -> dict[str, Any]:
        """Return keywords with which the stream hears what happens, and then the caller's own."""
        bus = keywords.get("bus") or getattr(keywords.get("session"), "bus", None)
        self._bus: Any = bus or InProcessEventBus()
        self._on_text = keywords.get("on_text") or (lambda _: None)
        heard = SimpleNamespace(publish=self._publish, subscribe=self._bus.subscribe)
        return {**keywords, "bus": heard, "on_text": self._hear_text}

    def _publish(self, event: object) -> Any:
        if isinstance(event, Event):
            self._put("event", event)
        if isinstance(event, ModelAnswered):
            self._begin_message(event.turn + 1)
        elif isinstance(event, PromptRendered):
            self._begin_message(1)
            self._rendered = event.rendered if self._keywords.get("parse_output", True) else None
        return self._bus.publish(event)

    def _begin_message(self, turn: int) -> None:
        self._turn, self._text, self._next = turn, "", 0
        self._partial: PartialOutput[Any] | None = None

    def _hear_text(self, text: str) -> None:
        self._put("event", TextDelta(text, self._turn))
        self._text += text
        if self._rendered is not None and len(self._text) >= self._next:
            self._next = len(self._text) * (PARTIALS + 1) // PARTIALS
            partial = parse_partial_output(self._text, self._rendered)
            if partial is not None and partial != self._partial:
                self._partial = partial
                self._put("event", partial)
        self._on_text(text)


def streamed(
    call: Callable[P, PromptResponse[OutputT]], *, silent: bool = False
) -> Callable[P, EvaluationStream[OutputT]]:
    """Return a call on an adapter as one that returns a stream; a silent one yields nothing."""

    @functools.wraps(call)
    def stream(*args: P.args, **keywords: P.kwargs) -> EvaluationStream[OutputT]:
        adapter = args[0] if args else keywords.get("adapter")
        return EvaluationStream(functools.partial(call, *args), adapter, keywords, silent=silent)

    return stream


def in_thread(
    call: Callable[P, PromptResponse[OutputT]],
) -> Callable[P, Coroutine[None, None, PromptResponse[OutputT]]]:
    """Return a call on an adapter as a coroutine; cancelling its task cancels it."""
    stream = streamed(call, silent=True)

    @functools.wraps(call)
    async def awaited(*args: P.args, **keywords: P.kwargs) -> PromptResponse[OutputT]:
        async with stream(*args, **keywords) as events:
            async for _ in events:
                pass
        return events.response

    return awaited
