"""Evaluations in asynchronous programs: many at once, bounded, cancelled, with their context."""

import asyncio
import contextvars
import gc
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from foldline.prompts import (
    Deadline,
    MarkdownSection,
    PromptTemplate,
    Tool,
    ToolContext,
    ToolResult,
)
from foldline.prompts.adapters import ScriptedAdapter, ScriptedCall, ScriptedTurn, streaming
from foldline.prompts.adapters.openai import OpenAIAdapter
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import (
    EvaluationFailure,
    EvaluationTimeoutError,
    PromptConfigurationError,
    PromptEvaluationError,
)
from foldline.prompts.runtime import aevaluate_with_disclosure, bounded
from foldline.prompts.runtime.bounded import EVALUATION_THREAD_NAME, CancelScope

from .providers import Provider, Reply, serving
from .wires import Line, OpenAIWire, Said, Wire

PROMPT = PromptTemplate(
    ns="t", key="async", sections=[MarkdownSection[None](title="T", key="t", template="Hello.")]
)
MANY = 40
"""More than asyncio's own pool has threads, on any machine (32)."""


def evaluation_threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == EVALUATION_THREAD_NAME]


class Counting(Provider):
    """Answers only when a number of requests have come, and counts connections."""

    def __init__(self, together: int = 1) -> None:
        super().__init__()
        self.barrier = threading.Barrier(together)
        self.connections: set[object] = set()

    def next_reply(self) -> Reply:
        self.barrier.wait(60)
        return OpenAIWire().whole(Said("Fine."))

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        self.connections.add(handler.client_address)
        super().answer(handler)


class Listening(Provider):
    """Sends the first pieces of an answer, if it streams, and waits until the client leaves."""

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers["content-length"]))
        pieces = self.next_reply().pieces
        if pieces is not None:
            handler.send_response(200)
            handler.send_header("content-type", "text/event-stream")
            handler.end_headers()
            handler.wfile.write("".join(pieces).encode())
        self.lingers.set()
        if not handler.connection.recv(1):
            self.readers_gone.set()
        handler.close_connection = True


@pytest.fixture
def listening(provider: Provider, wire: Wire) -> Iterator[Listening]:
    del provider  # For the environment, and because it joins the threads.
    with serving(Listening()) as made:
        # Without the mark of the end, at which a client may leave.
        made.will(Reply(), Reply(pieces=wire.streamed(Said("one two", stop="none"))[:-1]))
        yield made


@pytest.mark.usefixtures("provider")
@pytest.mark.parametrize(
    "many", [MANY, pytest.param(128, marks=pytest.mark.slow)], ids=["some", "many"]
)
async def test_as_many_run_at_once_as_are_awaited(many: int) -> None:
    with serving(Counting(many)) as provider:
        adapter = OpenAIAdapter("m", api_key="test", base_url=f"{provider.url}/v1")
        calls = [aevaluate_with_disclosure(adapter, PROMPT) for _ in range(many)]
        answers = await asyncio.gather(*calls)
        adapter.close()
    assert [answer.text for answer in answers] == ["Fine."] * many


@pytest.mark.usefixtures("provider")
async def test_a_connection_is_kept_for_the_next_request() -> None:
    with serving(Counting()) as provider:
        with OpenAIAdapter("m", api_key="test", base_url=f"{provider.url}/v1") as adapter:
            for _ in range(3):
                await adapter.aevaluate(PROMPT)
        assert len(provider.connections) == 1


async def test_a_place_is_free_again_when_no_thread_can_be_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    adapter = ScriptedAdapter(lambda *_: "Fine.", max_concurrency=1)
    with monkeypatch.context() as patch:
        patch.setattr(streaming, "start", full)
        with pytest.raises(RuntimeError, match="can't start"):
            await adapter.aevaluate(PROMPT)
    assert (await asyncio.wait_for(adapter.aevaluate(PROMPT), 60)).text == "Fine."


@pytest.mark.parametrize("bound", [3, pytest.param(64, marks=pytest.mark.slow)])
async def test_a_bound_holds_and_those_that_wait_hold_no_thread(bound: int) -> None:
    peak, barrier = 0, threading.Barrier(bound)

    def answer(*_: object) -> str:
        nonlocal peak
        barrier.wait(60)
        peak = max(peak, len(evaluation_threads()))
        barrier.wait(60)
        return "Fine."

    adapter = ScriptedAdapter(answer, max_concurrency=bound)
    answers = await asyncio.gather(*(adapter.aevaluate(PROMPT) for _ in range(bound * 16)))
    assert [answer.text for answer in answers] == ["Fine."] * bound * 16
    # One that has delivered may not have ended yet.
    assert bound <= peak <= 2 * bound


def test_a_bound_is_one_of_each_event_loop() -> None:
    adapter = ScriptedAdapter(lambda *_: "Fine.", max_concurrency=1)

    async def both() -> None:
        await asyncio.gather(adapter.aevaluate(PROMPT), adapter.aevaluate(PROMPT))

    asyncio.run(both())
    asyncio.run(both())


@pytest.mark.parametrize("bound", [0, -1, float("nan")])
def test_a_bound_below_one_is_refused(bound: float) -> None:
    with pytest.raises(PromptConfigurationError, match="`max_concurrency` must be 1 or more"):
        ScriptedAdapter(lambda *_: "", max_concurrency=bound)  # type: ignore[arg-type]


async def test_waiting_for_a_slot_ends_at_the_deadline_and_by_cancelling() -> None:
    started, go_on = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def answer(*_: object) -> str:
        loop.call_soon_threadsafe(started.set)
        go_on.wait(60)
        return "Fine."

    adapter = ScriptedAdapter(answer, max_concurrency=1)
    first = asyncio.create_task(adapter.aevaluate(PROMPT))
    await started.wait()
    with pytest.raises(EvaluationTimeoutError):
        await adapter.aevaluate(PROMPT, deadline=Deadline.after(0.01))
    waiting = asyncio.create_task(adapter.aevaluate(PROMPT))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go_on.set()
    assert (await first).text == (await adapter.aevaluate(PROMPT)).text == "Fine."


@pytest.mark.parametrize("heard", [None, lambda _: None], ids=["whole", "streamed"])
async def test_cancelling_closes_the_connection_and_ends_the_threads(
    listening: Listening, wire: Wire, heard: Callable[[str], object] | None
) -> None:
    if heard is not None:
        listening.next_reply()
    adapter = wire.adapter(listening, timeout=600)
    task = asyncio.create_task(adapter.aevaluate(PROMPT, on_text=heard))
    await asyncio.to_thread(listening.lingers.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(listening.readers_gone.wait, 10)


def test_a_cancellation_closes_the_connection_of_a_plain_evaluation(
    listening: Listening, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    with pytest.raises(PromptEvaluationError) as caught:
        wire.adapter(listening, timeout=600).evaluate(PROMPT, cancellation=listening.lingers)
    assert caught.value.kind is EvaluationFailure.CANCELLED
    assert listening.readers_gone.wait(10)
    for thread in threading.enumerate():
        if thread.name == bounded.THREAD_NAME:
            thread.join(10)
    assert slept == [], "the SDK doesn't wait to send it again"


async def test_an_adapter_goes_on_after_a_cancelled_evaluation(
    provider: Provider, wire: Wire
) -> None:
    line = Line(wire, provider, streaming=False)
    adapter = line.adapter()
    provider.will(Reply(hang=True))
    task = asyncio.create_task(adapter.aevaluate(PROMPT))
    await asyncio.to_thread(provider.lingers.wait, 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    line.will_say(Said("Fine."))
    assert (await adapter.aevaluate(PROMPT)).text == "Fine."


async def test_nothing_polls_whether_a_task_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "POLL", 3600)
    started, over = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def handler(params: Name, *, context: ToolContext) -> ToolResult[str]:
        del params, context
        loop.call_soon_threadsafe(started.set)
        over.wait(60)
        return ToolResult()

    task = asyncio.create_task(using(handler).aevaluate(calling(handler)))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    for thread in evaluation_threads():
        await asyncio.to_thread(thread.join, 10)
        assert not thread.is_alive()
    over.set()


async def test_context_variables_reach_tools_and_texts() -> None:
    tenant: contextvars.ContextVar[str] = contextvars.ContextVar("tenant")
    seen: list[str] = []

    def handler(params: Name, *, context: ToolContext) -> ToolResult[str]:
        del params, context
        seen.append(tenant.get())
        return ToolResult()

    async def serve(name: str) -> None:
        tenant.set(name)
        heard: Callable[[str], object] = lambda _: seen.append(tenant.get())  # noqa: E731
        await using(handler).aevaluate(calling(handler), on_text=heard)

    await asyncio.gather(serve("one"))
    await asyncio.gather(serve("two"))
    assert seen == ["one", "one", "two", "two"]


async def test_nothing_is_left_of_an_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[weakref.ref[CancelScope]] = []

    class Scope(CancelScope):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(weakref.ref(self))

    monkeypatch.setattr(streaming, "CancelScope", Scope)
    adapter = ScriptedAdapter(lambda *_: "Fine.", max_concurrency=2)
    for _ in range(20):
        await adapter.aevaluate(PROMPT)
    for thread in evaluation_threads():
        thread.join(10)
    gc.collect()
    assert [ref() for ref in made] == [None] * 20


@FrozenDataclass()
class Name:
    name: str = ""


Handler = Callable[..., ToolResult[str]]


def calling(handler: Handler) -> PromptTemplate[None]:
    tool = Tool[Name, str](name="use", description="Is used.", handler=handler)
    section = MarkdownSection[None](title="T", key="t", template="Hello.", tools=[tool])
    return PromptTemplate(ns="t", key="calling", sections=[section])


def using(handler: Handler) -> ScriptedAdapter:
    turns = iter([ScriptedTurn(tool_calls=(ScriptedCall("use", {}),)), ScriptedTurn("Used.")])
    return ScriptedAdapter(lambda *_: next(turns))
