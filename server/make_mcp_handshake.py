"""Writes `foldline/agent/mcp/handshake.json` from the answers of the SDK and the types of MCP.

    uv run python server/make_mcp_handshake.py

A test fails while the file is older than what it tells.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from foldline.agent.mcp.handshake import FACTS, Line
from foldline.agent.mcp.server import AgentServer
from foldline.agent.mcp.stdio import Options
from foldline.agent.mcp.wire import Refusal, parse, serialize

# Where there is no folder, the prompts may need any tool.
_EVERY_TOOL = Options(roots=(Path(__file__).with_name("no-such-folder"),), trusted=True)


def facts() -> dict[str, Any]:
    """Return the content of the file."""
    answers = {version: _first_answers(version) for version in HANDSHAKE_PROTOCOL_VERSIONS}
    greeting, listed = answers[LATEST_HANDSHAKE_VERSION]
    for version, (other, tools) in answers.items():
        # Only the version differs; else it would have to be recorded for each.
        assert other == greeting | {"protocolVersion": version}
        assert tools == listed
    count = len(AgentServer(_EVERY_TOOL).tools.listed)
    list_ = _request("tools/list", "params", types.PaginatedRequestParams)
    code = listed["tools"][:count]
    return {
        "versions": list(HANDSHAKE_PROTOCOL_VERSIONS),
        "result": greeting,
        "tools": code,
        "for_prompts": listed["tools"][count:],
        "initialize": _request("initialize", "params!", types.InitializeRequestParams),
        "requests": [
            "one",
            list_,
            _call([tool["name"] for tool in code], list_["params"]["_meta"]),
        ],
    }


def sdk_answers(options: Options, *messages: dict[str, Any]) -> list[Any]:
    """Return the SDK's answers to the requests of a new client, each after the one before."""

    async def ask() -> list[Any]:
        server = AgentServer(options)
        arrived, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](9)
        outgoing, leaving = anyio.create_memory_object_stream[SessionMessage](9)
        capabilities = server.protocol.create_initialization_options(
            NotificationOptions(prompts_changed=True, tools_changed=True)
        )
        answers = []
        async with incoming, outgoing, leaving:
            running = asyncio.create_task(server.protocol.run(incoming, outgoing, capabilities))
            async with arrived:
                for message in messages:
                    parsed = parse(Line(json.dumps(message).encode()))
                    if isinstance(parsed, Refusal):
                        answers += parsed.answers()
                    elif parsed is not None:
                        await arrived.send(SessionMessage(parsed))
                        if "id" in message:
                            answer = await leaving.receive()
                            answers.append(json.loads(serialize(answer.message)))
            await running
        await server.close()
        return answers

    return asyncio.run(ask())


def initialize(version: str, **params: object) -> dict[str, Any]:
    """Return a request for a session of that version."""
    known = {"protocolVersion": version, "capabilities": {}}
    client = {"clientInfo": {"name": "a", "version": "0"}}
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {**known, **client, **params},
    }


def _first_answers(version: str) -> tuple[Any, Any]:
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    list_ = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    answers = sdk_answers(_EVERY_TOOL, initialize(version), initialized, list_)
    first, second = (answer["result"] for answer in answers)
    return first, second


def _call(names: list[str], meta: Any) -> dict[str, Any]:
    """Return the type of calls of these tools; what more a call can have is left to the SDK."""
    members = types.CallToolRequestParams.model_json_schema(by_alias=True)["properties"]
    others = {name: ["of"] for name in members if name != "name"}
    known = {"name!": ["of", *names], "arguments": {}, "_meta": meta}
    return _message("tools/call") | {"params!": others | known}


def _request(method: str, params: str, model: Any) -> dict[str, Any]:
    schema = model.model_json_schema(by_alias=True)
    return _message(method) | {params: _type(schema, schema.get("$defs", {}))}


def _message(method: str) -> dict[str, Any]:
    return {"jsonrpc!": ["of", "2.0"], "id!": ["one", "str", "int"], "method!": ["of", method]}


def _type(schema: Any, known: dict[str, Any]) -> Any:
    """Return a JSON schema as `foldline.agent.mcp.handshake.fits` reads it.

    Everything may be null that isn't required, so null is left out.
    """
    if "$ref" in schema:
        return _type(known[schema["$ref"].rpartition("/")[2]], known)
    if "anyOf" in schema:
        kinds = [_type(one, known) for one in schema["anyOf"] if one.get("type") != "null"]
        return kinds[0] if len(kinds) == 1 else ["one", *kinds]
    if "enum" in schema:
        return ["of", *schema["enum"]]
    if schema["type"] == "array":
        return ["list", _type(schema["items"], known)]
    if schema["type"] != "object":
        return {"string": "str", "integer": "int", "boolean": "bool"}[schema["type"]]
    members = schema.get("additionalProperties")
    if isinstance(members, dict):
        return ["map", _type(members, known)]
    required = schema.get("required", ())
    return {
        name + "!" * (name in required): _type(one, known)
        for name, one in schema.get("properties", {}).items()
    }


if __name__ == "__main__":
    FACTS.write_text(json.dumps(facts(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"{FACTS}\n")
