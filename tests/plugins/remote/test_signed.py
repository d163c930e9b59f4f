"""What a client hands back is believed by every replica with the secret, and by no other."""

from __future__ import annotations

import json
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import mcp_types as types
import pytest

from foldline.agent.mcp import prompts
from foldline.plugins.remote import signed

from ...agent.mcp_process import EXAMPLE
from .apps import BEHIND_A_PROXY, HEADER, OPTIONS, Served, foldline, one_tool, served
from .replicas import SECRET, ask, message, result

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


OTHER = "another-secret-of-the-tests-of-more-than-32-bytes"


async def rounds(
    params: types.CallToolRequestParams,
) -> types.CallToolResult | types.InputRequiredResult:
    """A tool that keeps its first argument until the second call."""
    if params.request_state is None:
        return types.InputRequiredResult(
            input_requests={"roots": types.ListRootsRequest()}, request_state="kept"
        )
    return types.CallToolResult(content=[types.TextContent(text=params.request_state)])


@pytest.fixture
async def replicas() -> AsyncIterator[list[Served]]:
    """Two with one secret, one that changes it, and one with another."""
    secrets = [(SECRET,), (SECRET,), (OTHER, SECRET), (OTHER,)]
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                served(one_tool(rounds), replace(BEHIND_A_PROXY, secrets=one))
            )
            for one in secrets
        ]


async def hand_back(one: Served, state: str, user: str = "me", **arguments: Any) -> Any:
    headers = {HEADER: user}
    given = {"name": "wait", "arguments": arguments, "requestState": state}
    body, own = message("tools/call", **given, inputResponses={"roots": {"roots": []}})
    return await one.client.post(one.url, json=body, headers={**own, **headers})


async def test_state_is_believed_by_another_replica_with_the_secret(
    replicas: list[Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, another, changing, stranger = replicas
    asks = {"name": "wait", "arguments": {"x": 1}}
    first = result(await ask(one.client, one.url, "tools/call", {HEADER: "me"}, **asks))
    state = first["requestState"]
    assert "kept" not in state
    for replica in (one, another, changing):
        assert "kept" in (await hand_back(replica, state, x=1)).text
    last = "A" if state[-2] != "A" else "B"
    tampered = state[:-2] + last + state[-1]
    for refused in (
        await hand_back(stranger, state, x=1),
        await hand_back(another, state, user="you", x=1),
        await hand_back(another, state, x=2),
        await hand_back(another, tampered, x=1),
        await hand_back(another, "v1.x", x=1),
    ):
        assert refused.status_code == 400
        assert refused.json()["error"]["message"] == "Invalid or expired requestState"
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + signed.SECONDS + 1)
    assert (await hand_back(another, state, x=1)).status_code == 400


async def test_a_lists_cursor_is_sealed_likewise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prompts, "PAGE", 1)

    async def page(one: Served, cursor: object = None, user: str = "me") -> Any:
        given = {} if cursor is None else {"cursor": cursor}
        return await ask(one.client, one.url, "prompts/list", {HEADER: user}, **given)

    async with (
        foldline(BEHIND_A_PROXY, roots=(EXAMPLE,)) as one,
        foldline(BEHIND_A_PROXY, roots=(EXAMPLE,)) as another,
        foldline(replace(BEHIND_A_PROXY, secrets=(OTHER,)), roots=(EXAMPLE,)) as stranger,
    ):
        first = result(await page(one))
        cursor = first["nextCursor"]
        assert not cursor.isdecimal()
        second = result(await page(another, cursor))
        assert second["prompts"] != first["prompts"]
        for refused in (
            await page(stranger, cursor),
            await page(another, cursor, user="you"),
            await page(another, cursor[:-3]),
            await page(another, "1"),
            await page(another, "\ud800"),
        ):
            assert refused.status_code == 400
            assert "leave it out to start anew" in refused.json()["error"]["message"]
        now = time.time()
        monkeypatch.setattr(time, "time", lambda: now + signed.SECONDS + 1)
        assert (await page(another, cursor)).status_code == 400


async def test_cursors_of_answers_are_good_at_any_replica() -> None:
    """They say a position and what the answer stands on, so nothing has to be kept or signed."""
    async with foldline() as one, foldline(replace(OPTIONS, secrets=(OTHER,))) as another:
        whole = await text(one, budget=100_000)
        first = await text(one, budget=1000)
        cursor = first.rpartition("cursor ")[2].split()[0].rstrip(')]"')
        rest = await text(another, cursor=cursor, budget=100_000)
        assert rest.splitlines()[-1] == whole.splitlines()[-1]


async def text(one: Served, **arguments: object) -> str:
    asked = {"path": "README.md", **arguments}
    response = await ask(one.client, one.url, "tools/call", name="read_file", arguments=asked)
    shown: str = json.loads(response.text)["result"]["content"][0]["text"]
    return shown


async def test_a_replica_without_a_secret_says_where_one_is_needed(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with foldline(replace(OPTIONS, secrets=())) as one:
        result(await ask(one.client, one.url, "prompts/list"))
        assert "secret" not in caplog.text
        monkeypatch.setattr(prompts, "PAGE", 1)
        cursor = result(await ask(one.client, one.url, "prompts/list"))["nextCursor"]
        assert "replicas need a secret to share for it" in caplog.text
        assert result(await ask(one.client, one.url, "prompts/list", cursor=cursor))["prompts"]
        async with foldline(replace(OPTIONS, secrets=())) as another:
            refused = await ask(another.client, another.url, "prompts/list", cursor=cursor)
            assert refused.status_code == 400
