"""Plays the program that the Claude Agent SDK starts: it asks the SDK's MCP server, and answers.

Arguments: a file for what it was given and got, and the calls to make, as JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]


def say(message: Json) -> None:
    print(json.dumps(message), flush=True)


def hear() -> Json:
    heard: Json = json.loads(sys.stdin.readline())
    return heard


def ask(number: int, method: str, params: Json) -> Json:
    """The result of a request to the MCP server that runs in the SDK's own process."""
    message: Json = {"jsonrpc": "2.0", "method": method, "params": params}
    if not method.startswith("notifications/"):
        message["id"] = number
    request = {"subtype": "mcp_message", "server_name": "prompt", "message": message}
    say({"type": "control_request", "request_id": f"r{number}", "request": request})
    result: Json = hear()["response"]["response"]["mcp_response"]["result"]
    return result


def main(record: Path, calls: list[tuple[str, Json]], arguments: list[str]) -> None:
    initialize = hear()
    done = {"subtype": "success", "request_id": initialize["request_id"], "response": {}}
    say({"type": "control_response", "response": done})
    prompt = hear()["message"]["content"]
    client: Json = {"name": "scripted", "version": "1"}
    hello: Json = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    ask(1, "initialize", hello)
    ask(2, "notifications/initialized", {})
    tools = ask(3, "tools/list", {})["tools"]
    results = [
        ask(number, "tools/call", {"name": name, "arguments": given})["content"]
        for number, (name, given) in enumerate(calls, 4)
    ]
    record.write_text(
        json.dumps({"arguments": arguments, "prompt": prompt, "tools": tools, "results": results}),
        encoding="utf-8",
    )
    ended = {"duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "session_id": "s"}
    say({"type": "result", "subtype": "success", "is_error": False, "result": "Sdk.", **ended})
    # The SDK closes its side.
    sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3:])
