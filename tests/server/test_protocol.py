"""Bytes on the wire: every request is answered once, whatever comes in, and no more is sent."""

import io
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.waiting import wait_until

from foldline.server.transport import LONGEST_MESSAGE, read_message

from .conftest import EXAMPLE, SERVE

pytestmark = pytest.mark.real

LONGEST = 60


def frame(message: object) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def request(number: int, method: str, params: object = None) -> bytes:
    message: dict[str, object] = {"jsonrpc": "2.0", "id": number, "method": method}
    if params is not None:
        message["params"] = params
    return frame(message)


def notification(method: str, params: object = None) -> bytes:
    return frame({"jsonrpc": "2.0", "method": method, "params": params})


def initialize(root: Path = EXAMPLE, **options: object) -> bytes:
    folders = [{"uri": root.as_uri(), "name": root.name}]
    params = {
        "processId": None,
        "rootUri": root.as_uri(),
        "capabilities": {},
        "workspaceFolders": folders,
        "initializationOptions": options,
    }
    return request(1, "initialize", params)


def talk(*frames: bytes) -> tuple[list[Any], subprocess.CompletedProcess[bytes]]:
    """All messages that the server sends to this input, and how it ended."""
    done = subprocess.run(
        SERVE, input=b"".join(frames), capture_output=True, timeout=LONGEST, check=False
    )
    return parse(done.stdout), done


def parse(stream: bytes) -> list[Any]:
    """The messages of a stream that holds nothing else."""
    messages = []
    while stream:
        header = re.match(rb"Content-Length: (\d+)\r\n(?:Content-Type: [^\r]+\r\n)?\r\n", stream)
        assert header, f"not a message: {stream[:200]!r}"
        end = header.end() + int(header[1])
        messages.append(json.loads(stream[header.end() : end]))
        stream = stream[end:]
    return messages


EXIT = (request(99, "shutdown"), notification("exit"))


def test_a_session_ends_with_status_0() -> None:
    messages, done = talk(initialize(), *EXIT)
    assert [message["id"] for message in messages] == [1, 99]
    assert messages[0]["result"]["serverInfo"]["name"] == "foldline"
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr


def test_an_exit_without_shutdown_ends_with_status_1() -> None:
    _, done = talk(initialize(), notification("exit"))
    assert done.returncode == 1


@pytest.mark.parametrize(
    "garbage", [b"garbage", b"garbage\n" * 1000, b"Content-Length: 12\r\nhalf", b"\0\xff" * 50]
)
def test_garbage_is_answered_with_nothing_and_ends_quietly(garbage: bytes) -> None:
    messages, done = talk(garbage)
    assert messages == []
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr


def test_what_is_no_json_is_answered_as_a_parse_error() -> None:
    messages, _ = talk(frame(b"{nonsense"), initialize(), *EXIT)
    assert messages[0]["error"]["code"] == -32700
    assert messages[0]["id"] is None
    assert [message["id"] for message in messages[1:]] == [1, 99]


@pytest.mark.parametrize("body", [b"[]", b"3", b'{"id": 7}', b'"text"'])
def test_what_is_no_message_is_answered_as_an_invalid_request(body: bytes) -> None:
    messages, _ = talk(frame(body), initialize(), *EXIT)
    assert messages[0]["error"]["code"] == -32600
    assert [message["id"] for message in messages[1:]] == [1, 99]


def test_a_request_whose_params_do_not_fit_is_answered() -> None:
    wrong = request(7, "textDocument/documentSymbol", {"textDocument": 3})
    messages, _ = talk(initialize(), wrong, *EXIT)
    assert messages[1]["id"] == 7
    assert messages[1]["error"]["code"] == -32602


def test_requests_before_initialize_and_after_shutdown_are_refused() -> None:
    command = {"command": "foldline.server.status", "arguments": []}
    messages, done = talk(
        request(5, "workspace/executeCommand", command),
        initialize(),
        initialize(),
        request(6, "shutdown"),
        request(7, "workspace/executeCommand", command),
        notification("exit"),
    )
    codes = {message["id"]: message.get("error", {}).get("code") for message in messages}
    assert codes == {5: -32002, 1: -32600, 6: None, 7: -32600}
    assert sum(message["id"] == 1 for message in messages) == 2
    assert done.returncode == 0


def test_shutdown_answers_no_more_than_what_the_client_asked() -> None:
    begun = json.loads(initialize().partition(b"\r\n\r\n")[2])["params"]
    begun["capabilities"] = {"workspace": {"configuration": True}}
    # The server waits for the configuration, for a handler of its own.
    messages, _ = talk(request(1, "initialize", begun), notification("initialized", {}), *EXIT)
    assert any(message.get("method") == "workspace/configuration" for message in messages)
    assert [message["id"] for message in messages if "method" not in message] == [1, 99]


def test_an_unknown_method_and_an_unknown_command_are_answered() -> None:
    messages, _ = talk(
        initialize(),
        request(2, "textDocument/nonsense", {}),
        request(3, "workspace/executeCommand", {"command": "foldline.server.nonsense"}),
        *EXIT,
    )
    codes = {message["id"]: message.get("error", {}).get("code") for message in messages}
    assert codes == {1: None, 2: -32601, 3: -32602, 99: None}


def test_what_user_code_prints_never_reaches_the_protocol(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "import os, subprocess, sys\n"
        "print('Content-Length: 5')\n"
        "os.write(1, b'raw bytes to fd 1\\n')\n"
        "subprocess.run([sys.executable, '-c', 'print(\"from a child\")'])\n"
        "from foldline.prompts import MarkdownSection, PromptTemplate\n"
        "p = PromptTemplate(ns='n', key='k', sections=[\n"
        "    MarkdownSection[None](title='T', key='t', template='body')])\n",
        encoding="utf-8",
    )
    render = {"command": "foldline.server.prompt.render"}
    render["arguments"] = [{"uri": (tmp_path / "loud.py").as_uri()}]  # type: ignore[assignment]
    server = subprocess.Popen(
        [*SERVE, "--log-level", "info"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(initialize(tmp_path, trusted=True))
        server.stdin.write(request(2, "workspace/executeCommand", render))
        server.stdin.flush()
        seen = b""
        while not re.search(rb'"id": 2', seen) or not seen.endswith(b"}"):
            seen += os.read(server.stdout.fileno(), 1 << 16)
        rest, log = server.communicate(b"".join(EXIT), timeout=LONGEST)
    messages = parse(seen + rest)
    assert [message["id"] for message in messages] == [1, 2, 99]
    assert messages[1]["result"]["text"] == "## 1. T\n\nbody"
    for line in (b"Content-Length: 5", b"raw bytes to fd 1", b"from a child"):
        assert b"loud.py: " + line in log


def test_what_the_server_itself_prints_never_reaches_the_protocol() -> None:
    code = (
        "import os, subprocess, sys\n"
        "from foldline.server import transport\n"
        "from foldline.server.app import create_server\n"
        "def noisy():\n"
        "    print('from a library')\n"
        "    os.write(1, b'raw bytes')\n"
        "    subprocess.run([sys.executable, '-c', 'print(\"from a child\")'])\n"
        "    return create_server()\n"
        "sys.exit(transport.serve_stdio(noisy))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=initialize() + b"".join(EXIT),
        capture_output=True,
        timeout=LONGEST,
        check=False,
    )
    assert [message["id"] for message in parse(done.stdout)] == [1, 99]
    for noise in (b"from a library", b"raw bytes", b"from a child"):
        assert noise in done.stderr


@pytest.fixture
def loop_forever(tmp_path: Path) -> Path:
    """A prompt that writes its process and one that it left behind to a file, and never ends."""
    file = tmp_path / "forever.py"
    file.write_text(
        "import os, subprocess, sys, pathlib\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'],\n"
        "                         start_new_session=True)\n"
        "pids = pathlib.Path(__file__).with_name('pids.part')\n"
        "pids.write_text(f'{os.getpid()} {child.pid}')\n"
        "pids.rename(pids.with_name('pids'))\n"
        "while True: pass\n",
        encoding="utf-8",
    )
    return file


@pytest.fixture
def orphaned(loop_forever: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[int]]]:
    """A parent of a server that renders for ever, and the processes below it."""
    root = loop_forever.parent
    command = {
        "command": "foldline.server.prompt.render",
        "arguments": [{"uri": loop_forever.as_uri(), "name": "p"}],
    }
    stream = initialize(root, trusted=True, render_deadline=600) + request(
        2, "workspace/executeCommand", command
    )
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import subprocess, sys, time\n"
            f"server = subprocess.Popen({list(SERVE)!r}, stdin=subprocess.PIPE)\n"
            f"server.stdin.write({stream!r}); server.stdin.flush()\n"
            "print(server.pid, flush=True); time.sleep(600)\n",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        pids = root / "pids"
        wait_until(pids.exists)
        yield parent, [server, *map(int, pids.read_text().split())]
    finally:
        parent.kill()
        parent.communicate()


def test_server_and_workers_are_gone_when_their_parent_is_killed(
    orphaned: tuple[subprocess.Popen[bytes], list[int]],
) -> None:
    parent, below = orphaned
    assert all(map(is_alive, below))
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    wait_until(lambda: not any(map(is_alive, below)))


def test_workers_are_gone_when_the_server_is_killed(
    orphaned: tuple[subprocess.Popen[bytes], list[int]],
) -> None:
    _, (server, *workers) = orphaned
    os.kill(server, signal.SIGKILL)
    wait_until(lambda: not any(map(is_alive, workers)))


def test_tcp_serves_each_client_by_itself_on_the_loopback() -> None:
    command = [sys.executable, "-m", "foldline.agent", "serve", "--tcp", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as server:
        try:
            assert server.stderr is not None
            where = server.stderr.readline().decode()
            match = re.fullmatch(r"foldline listens on (127\.0\.0\.1):(\d+)\n", where)
            assert match, where
            address = (match[1], int(match[2]))
            for _ in range(2):
                with socket.create_connection(address, timeout=LONGEST) as client:
                    client.sendall(initialize() + b"".join(EXIT))
                    answer = b""
                    while chunk := client.recv(1 << 16):
                        answer += chunk
                assert [message["id"] for message in parse(answer)] == [1, 99]
            # One that breaks the rules loses its own connection.
            with socket.create_connection(address, timeout=LONGEST) as client:
                client.sendall(b"GET / HTTP/1.1\r\n\r\n")
                assert client.recv(1) == b""
            with socket.create_connection(address, timeout=LONGEST) as client:
                client.sendall(initialize())
                assert client.recv(1) == b"C"
                server.send_signal(signal.SIGINT)
                assert server.wait(LONGEST) == 0
            assert server.stderr.read() == b""
        finally:
            server.kill()


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False  # It may leave between the opening and the reading.
    return state != b"Z"


BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize"}).encode()
LENGTH = b"Content-Length: %d\r\n" % len(BODY)

BROKEN: dict[str, bytes] = {
    "no header": b"garbage\r\n\r\n",
    "another header alone": b"Content-Type: x\r\n\r\n" + frame(BODY),
    "a name with a slip": frame(BODY).replace(b"Length", b"Lenght"),
    "half a header": b"Content-Le",
    "half a body": frame(BODY)[:-5],
    "a length that is no number": b"Content-Length: five\r\n\r\n" + BODY,
    "a length that no message has": b"Content-Length: %d\r\n\r\n" % (LONGEST_MESSAGE + 1) + BODY,
    "a line that is too long": b"x" * 100_000,
    "lines that are no headers": b"text\n" * 20_000 + frame(BODY),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_stream_whose_messages_cannot_be_told_apart_is_an_error(case: str) -> None:
    with pytest.raises(ValueError, match=r"Content-Length|header|bytes"):
        read_message(io.BytesIO(BROKEN[case]))


HEADERS: dict[str, bytes] = {
    "small letters": LENGTH.lower(),
    "capital letters": LENGTH.upper(),
    "no blank": LENGTH.replace(b": ", b":"),
    "blanks and a tab": LENGTH.replace(b": ", b" : \t ").replace(b"\r", b"  \r"),
    "another header": b"X-Y: z\r\n" + LENGTH + b"Content-Type: x\r\n",
    "two lengths": LENGTH * 2,
    "empty lines before": b"\r\n\r\n" + LENGTH,
}


@pytest.mark.parametrize("ending", [b"\r\n", b"\n"])
@pytest.mark.parametrize("case", HEADERS)
def test_headers_are_read_as_those_of_http(case: str, ending: bytes) -> None:
    head = (HEADERS[case] + b"\r\n").replace(b"\r\n", ending)
    stream = io.BytesIO((head + BODY) * 2)
    assert [read_message(stream) for _ in range(3)] == [BODY, BODY, None]


def test_a_header_without_a_length_is_told_and_ends_the_server() -> None:
    server = subprocess.Popen(
        SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with server:
        assert server.stdin is not None
        assert server.stderr is not None
        server.stdin.write(initialize() + b"Content-Lenght: 2\r\n\r\n{}")
        server.stdin.flush()
        # Though its input has not ended.
        assert server.wait(LONGEST) == 1
        assert b"it begins with b'Content-Lenght: 2'" in server.stderr.read()


def test_a_refused_beginning_is_answered_once_and_can_be_repeated() -> None:
    params = {"processId": None, "rootUri": None, "capabilities": 3}
    messages, done = talk(request(1, "initialize", params), initialize(), *EXIT)
    assert [message["id"] for message in messages] == [1, 1, 99]
    assert messages[0]["error"]["code"] == -32602
    assert "result" in messages[1]
    assert done.returncode == 0
