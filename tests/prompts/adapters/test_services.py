"""The page on services: its code serves, plain and streamed, and ends when the client leaves."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from foldline.prompts.runtime.bounded import EVALUATION_THREAD_NAME, THREAD_NAME

from .providers import Provider, Reply
from .wires import Line, OpenAIWire, Said

PAGE = Path(__file__).resolve().parents[3] / "docs" / "services.md"
ANSWER = Said(json.dumps({"title": "Move", "steps": ["Freeze it", "Try it"]}))
OPENING = Said("", (("open_sections", {"section_keys": ["guide"], "reason": "How?"}),))


@pytest.fixture
def app(provider: Provider, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    (code,) = [
        part.partition("```")[0] for part in PAGE.read_text("utf-8").split("```python\n")[1:]
    ]
    namespace: dict[str, Any] = {"__name__": "service"}
    exec(compile(code, PAGE, "exec"), namespace)
    return namespace["app"]


async def post(
    app: Callable[..., Awaitable[None]], path: str, left: asyncio.Event
) -> tuple[int, list[str]]:
    """Post a task as a server does, for a client that leaves at that event."""
    body, sent = json.dumps({"request": "Move to 3.14."}).encode(), list[dict[str, Any]]()
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "method": "POST",
        "path": path,
        "query_string": b"",
        "headers": [(b"content-type", b"application/json")],
    }
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop()
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope, receive, send)
    text = b"".join(message.get("body", b"") for message in sent).decode()
    return sent[0]["status"], text.splitlines()


async def test_plain_with_an_opening(app: Any, provider: Provider) -> None:
    provider.will(*(OpenAIWire().whole(said) for said in (OPENING, ANSWER)))
    status, (answer,) = await post(app, "/plan", asyncio.Event())
    assert (status, json.loads(answer)["steps"]) == (200, ["Freeze it", "Try it"])
    assert "Freeze the old version" in json.dumps(provider.requests[1])


async def test_streamed_with_an_opening(app: Any, provider: Provider) -> None:
    Line(OpenAIWire(), provider, streaming=True).will_say(OPENING, ANSWER)
    status, lines = await post(app, "/stream", asyncio.Event())
    assert status == 200
    assert json.loads(lines[0]) == {"opened": ["guide"]}
    assert [json.loads(line)["steps"] for line in lines[-2:]] == [
        ["Freeze it", "Try "],
        ["Freeze it", "Try it"],
    ]


async def test_a_client_that_goes_away_ends_the_request(app: Any, provider: Provider) -> None:
    pieces = OpenAIWire().streamed(Said('{"title": "Move", "steps": ["Fre', stop="none"))
    provider.will(Reply(pieces=pieces[:-1], drip=True))
    left = asyncio.Event()
    serving = asyncio.create_task(post(app, "/stream", left))
    assert await asyncio.to_thread(provider.lingers.wait, 60)
    left.set()
    await serving
    assert await asyncio.to_thread(provider.readers_gone.wait, 10)
    for thread in threading.enumerate():
        if thread.name in (THREAD_NAME, EVALUATION_THREAD_NAME):
            await asyncio.to_thread(thread.join, 10)
            assert not thread.is_alive()
