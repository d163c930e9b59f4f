"""The page on services: its code serves, plain and streamed, and ends when the client leaves."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
import uvicorn

from foldline.prompts.runtime.bounded import EVALUATION_THREAD_NAME, THREAD_NAME

from .providers import Provider, Reply
from .wires import Line, OpenAIWire, Said

PAGE = Path(__file__).resolve().parents[3] / "docs" / "services.md"
TASK = {"request": "Move to 3.14."}
ANSWER = Said(json.dumps({"steps": ["Freeze it", "Try it"]}))
OPENING = Said("", (("open_sections", {"section_keys": ["guide"], "reason": "How?"}),))


@pytest_asyncio.fixture
async def client(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of the page's code, which a real server runs on loopback."""
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    blocks = PAGE.read_text("utf-8").split("```python\n")[1:]
    namespace: dict[str, Any] = {"__name__": "service"}
    exec(compile("\n".join(block.partition("```")[0] for block in blocks), PAGE, "exec"), namespace)
    server = uvicorn.Server(uvicorn.Config(namespace["app"], log_level="error", lifespan="off"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with httpx2.AsyncClient(base_url=url, timeout=30) as made:
            yield made
        server.should_exit = True
        await serving


def test_the_first_example_is_ten_lines() -> None:
    code = PAGE.read_text("utf-8").split("```python\n")[1].partition("```")[0]
    assert len([line for line in code.splitlines() if line]) <= 10


async def test_plain(client: httpx2.AsyncClient, provider: Provider) -> None:
    provider.will(OpenAIWire().whole(Said("Freeze it.")))
    answer = await client.post("/plan", json=TASK)
    assert (answer.status_code, answer.json()) == (200, "Freeze it.")


async def test_streamed_with_an_opening(client: httpx2.AsyncClient, provider: Provider) -> None:
    Line(OpenAIWire(), provider, streaming=True).will_say(OPENING, ANSWER)
    answer = await client.post("/stream", json=TASK)
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert answer.status_code == 200
    assert {"opened": ["guide"]} in lines
    assert "Freeze the old version" in json.dumps(provider.requests[1])
    assert [line["steps"] for line in lines[-2:]] == [
        ["Freeze it", "Try "],
        ["Freeze it", "Try it"],
    ]


async def test_a_client_that_goes_away_ends_the_request(
    client: httpx2.AsyncClient, provider: Provider
) -> None:
    pieces = OpenAIWire().streamed(Said('{"steps": ["Freeze it", "Tr', stop="none"))
    provider.will(Reply(pieces=pieces[:-1], drip=True))
    async with client.stream("POST", "/stream", json=TASK) as answer:
        first = await anext(answer.aiter_lines())
        assert not provider.readers_gone.is_set()
    assert json.loads(first) == {"steps": []}
    assert await asyncio.to_thread(provider.readers_gone.wait, 10)
    for thread in threading.enumerate():
        if thread.name in (THREAD_NAME, EVALUATION_THREAD_NAME):
            await asyncio.to_thread(thread.join, 10)
            assert not thread.is_alive()
