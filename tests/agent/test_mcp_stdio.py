"""The server as a process, asked by the SDK's own client over standard input and output."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from .mcp_process import EXAMPLE, SECONDS, call, command, connect

NAMES = [
    "get_tree",
    "search_for_files",
    "grep_in_files",
    "get_file_outline",
    "read_symbol",
    "read_lines",
    "find_references",
    "read_file",
]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_client_lists_and_calls_every_tool(mode: str) -> None:
    async with connect("--root", str(EXAMPLE), mode=mode) as client:
        listed = await client.list_tools()
        assert [tool.name for tool in listed.tools] == NAMES
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in listed.tools)
        answers = {
            "get_tree": await call(client, "get_tree"),
            "search_for_files": await call(client, "search_for_files", query="session store"),
            "grep_in_files": await call(client, "grep_in_files", pattern="def sign_\\w+"),
            "get_file_outline": await call(client, "get_file_outline", path="auth/service.py"),
            "read_symbol": await call(
                client, "read_symbol", path="auth/service.py", name="AuthService.sign_out"
            ),
            "read_lines": await call(client, "read_lines", path="auth/errors.py", start=1, end=2),
            "find_references": await call(client, "find_references", name="SessionStore"),
            "read_file": await call(client, "read_file", path="README.md"),
        }
        assert list(answers) == NAMES
        assert not any(is_error for _, is_error in answers.values())
        expected = {
            "get_tree": "  service.py ",
            "search_for_files": "auth/sessions.py",
            "grep_in_files": "async def sign_out",
            "get_file_outline": "class AuthService",
            "read_symbol": "async def sign_out(self, token: str) -> None:",
            "read_lines": (EXAMPLE / "auth" / "errors.py").read_text().splitlines()[0],
            "find_references": "auth/sessions.py",
            "read_file": (EXAMPLE / "README.md").read_text(),
        }
        for name, part in expected.items():
            assert part in answers[name][0], name


HOSTILE = [
    "../../pyproject.toml",
    "/etc/passwd",
    "auth/../../../pyproject.toml",
    "auth\\..\\..\\..\\pyproject.toml",
    "C:\\Windows\\win.ini",
    "file:///etc/passwd",
    "~/.ssh/id_rsa",
    "",
    ".",
    "\0",
    "a" * 5_000,
    "auth/" * 2_000,
    "auth/servce.py",
]


async def test_hostile_paths_are_errors_that_say_what_to_do_and_the_server_stays() -> None:
    async with connect("--root", str(EXAMPLE)) as client:
        for path in HOSTILE:
            text, is_error = await call(client, "read_file", path=path)
            assert is_error, path
            assert ": " in text
            assert "foldline:" not in text, "an internal failure"
            assert "root:" not in text
        for name, arguments, said in (
            ("read_file", {}, "path: is required"),
            ("read_symbol", {"path": "auth/service.py", "name": "AuthServce"}, "'AuthService'"),
            ("read_lines", {"path": "auth/service.py", "start": 0, "end": 1}, "count from 1"),
            ("read_lines", {"path": "auth/service.py", "start": 2, "end": 1}, "before the first"),
            ("get_tree", {"path": "auth/service.py"}, "is a file"),
            ("get_tree", {"cursor": "refs@1"}, "leave it out to start anew"),
            ("get_file_outline", {"path": ["auth"]}, "path: Input should be a valid string"),
        ):
            text, is_error = await call(client, name, **arguments)
            assert is_error
            assert said in text
        with pytest.raises(MCPError, match="there is get_file_outline") as caught:
            await client.call_tool("get_outline", {})
        assert caught.value.code == types.INVALID_PARAMS
        _, is_error = await call(client, "get_tree")
        assert not is_error


async def test_a_long_answer_is_read_to_its_end_by_cursors(tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(3_000)]
    (tmp_path / "long.txt").write_text("\n".join(lines))
    async with connect("--root", str(tmp_path)) as client:
        text = ""
        cursor: str | None = None
        while True:
            result = await client.call_tool("read_file", {"path": "long.txt", "cursor": cursor})
            shown, note = (
                block.text for block in result.content if isinstance(block, types.TextContent)
            )
            assert len(shown.encode()) <= 8_000
            text += shown
            if "ask with cursor " not in note:
                break
            cursor = note.partition("ask with cursor ")[2].split()[0]
        assert text == "\n".join(lines)


async def test_calls_side_by_side_are_each_answered_once() -> None:
    paths = [f"auth/{name}.py" for name in ("errors", "models", "service", "tokens")] * 25
    async with connect("--root", str(EXAMPLE)) as client:
        answers = await asyncio.gather(
            *(call(client, "get_file_outline", path=path) for path in paths)
        )
    assert [text.partition(" ")[0] for text, _ in answers] == paths


def test_nothing_but_protocol_reaches_standard_output_and_garbage_is_survived() -> None:
    requests = [
        "this is no JSON",
        '{"jsonrpc": "2.0", "id": 7}',
        json.dumps(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "initialize",
                "params": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {},
                    "clientInfo": {"name": "raw", "version": "0"},
                },
            }
        ),
        '{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        '{"jsonrpc": "2.0", "id": 2, "method": "tools/list"}',
        '{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "get_tree", '
        '"arguments": null}}',
        '{"jsonrpc": "2.0", "id": 4, "method": "no/such"}',
    ]
    process = subprocess.Popen(
        command("--root", str(EXAMPLE)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("\n".join(requests) + "\n")
    process.stdin.flush()
    answers: dict[object, dict[str, Any]] = {}
    while not {1, 2, 3, 4} <= answers.keys():
        answer = json.loads(process.stdout.readline())
        assert answer["jsonrpc"] == "2.0"
        answers[answer.get("id")] = answer
    rest, _ = process.communicate(timeout=SECONDS)
    assert rest == ""
    assert process.returncode == 0
    assert answers[1]["result"]["protocolVersion"] == "2025-06-18"
    assert len(answers[2]["result"]["tools"]) == len(NAMES)
    assert "auth/" in answers[3]["result"]["content"][0]["text"]
    assert answers[4]["error"]["code"] == types.METHOD_NOT_FOUND


def test_a_root_that_is_no_folder_is_refused_at_the_start() -> None:
    refused = subprocess.run(
        command("--root", str(EXAMPLE / "gone")),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
    )
    assert refused.returncode == 2
    assert "--root" in refused.stderr
    assert "no such folder" in refused.stderr
    assert refused.stdout == ""
