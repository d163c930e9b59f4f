"""A language server that knows words, and goes wrong in one way.

`faulty_server.py STATE_FOLDER WAY`. It appends to files of the folder: `pids` (its own, and those
of its children), `requests` (the methods it was asked), `answers` (what the client answered).
References are all places of the word in the `.py` files below the root, so that answers are right
wherever the way to go wrong leaves room for an answer.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

STATE = Path(sys.argv[1])
WAY = sys.argv[2]
FOREVER = 3600.0
LATE_SECONDS = 1.0
DEAF_SECONDS = 0.5
lock = threading.Lock()
documents: dict[str, str] = {}
asked: list[str] = []
root = Path()
hoard: list[bytearray] = []


def note(name: str, line: object) -> None:
    with lock, (STATE / name).open("a") as file:
        file.write(f"{line}\n")


def write(data: bytes) -> None:
    with lock:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def send(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))


def read() -> dict[str, Any]:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    if not length:
        raise EOFError
    message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    return message


def path_of(uri: str) -> Path:
    return Path(unquote(urlparse(uri).path))


def references(params: dict[str, Any]) -> list[dict[str, Any]]:
    uri = params["textDocument"]["uri"]
    line, column = params["position"]["line"], params["position"]["character"]
    text = documents.get(uri) or path_of(uri).read_text()
    found = re.compile(r"\w+").match(text.split("\n")[line], column)
    word = found.group() if found else "nothing"
    texts = {path.as_uri(): path.read_text() for path in sorted(root.rglob("*.py"))} | documents
    return [
        location(item, number, match.start(), match.end())
        for item, content in sorted(texts.items())
        for number, source in enumerate(content.split("\n"))
        for match in re.finditer(rf"\b{word}\b", source)
    ]


def location(uri: str, line: int, start: int, end: int) -> dict[str, Any]:
    return {
        "uri": uri,
        "range": {
            "start": {"line": line, "character": start},
            "end": {"line": line, "character": end},
        },
    }


def child(*, own_session: bool) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", f"import time; time.sleep({FOREVER})"],
        start_new_session=own_session,
    )
    note("pids", process.pid)


def go_wrong_at_start() -> None:
    if WAY == "ignores shutdown":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    elif WAY == "forks":
        child(own_session=False)
        child(own_session=True)
    elif WAY == "floods stderr":
        for number in range(200_000):
            sys.stderr.write(f"{number} nobody reads this line, which is one of many\n")
        sys.stderr.flush()
    elif WAY == "greets":
        write(b"Welcome!\n\nThis is no protocol at all.\n")
    elif WAY == "dies at once":
        sys.stderr.write("error: I cannot go on\nfrom there\n")
        sys.exit(3)


def greet(number: object) -> None:
    """Answer `initialize`."""
    scripted = WAY.startswith("symbols")
    result = {"capabilities": {"referencesProvider": True, "documentSymbolProvider": scripted}}
    if WAY == "goes deaf":
        os.close(0)
        send({"id": number, "result": result})
        time.sleep(DEAF_SECONDS)
        sys.stderr.write("I hear nothing\n")
        sys.stderr.flush()
        os._exit(5)
    send({"id": number, "result": result})


def answer(number: object, params: dict[str, Any]) -> None:
    """Answer a request for references in this server's own way."""
    result = references(params)
    if WAY == "late":
        time.sleep(LATE_SECONDS)
    elif WAY == "wrong ids":
        for wrong in (-1, 10**9, "one", None, [1]):
            send({"id": wrong, "result": []})
        send({"id": number, "result": result})
    elif WAY == "works" and len(asked) == 1:
        progress("begin")
        send({"id": number, "result": result[:1]})
        progress("end")
        return
    elif WAY == "asks back":
        ask_back()
    elif WAY == "only wrong ids":
        send({"id": 10**9, "result": result})
        return
    elif die() or breaks_off() or refuses(number):
        return
    send({"id": number, "result": unsound(result).get(WAY, result)})
    if WAY == "leaks":
        hoard.append(bytearray(os.urandom(1 << 20) * 300))


def answer_symbols(number: object) -> None:
    """Answer a request for symbols with what `symbols.json` holds now, or go wrong."""
    if WAY == "symbols: dies":
        os._exit(9)
    if WAY == "symbols: garbage":
        write_garbage()
    elif WAY == "symbols: refuses":
        send({"id": number, "error": {"code": -32603, "message": "no"}})
    elif WAY == "symbols: late":
        while not (STATE / "go").exists():
            time.sleep(0.01)
    if WAY in {"symbols", "symbols: late"}:
        send({"id": number, "result": json.loads((STATE / "symbols.json").read_text())})


def progress(kind: str) -> None:
    params = {"token": "work", "value": {"kind": kind, "title": "Reading"}}
    send({"method": "$/progress", "params": params})


def die() -> bool:
    if WAY == "dies" or (WAY == "dies once" and not (STATE / "died").exists()):
        note("died", "yes")
        sys.stderr.write("I die of references\n")
        sys.stderr.flush()
        os._exit(9)
    return WAY == "never answers"


def write_garbage() -> None:
    while True:
        write(b"\x00\xff no header, no message, nothing\n" * 1000)


def breaks_off() -> bool:
    """Whether something was written that is no answer."""
    if WAY == "garbage":
        write_garbage()
    if WAY == "half a header":
        write(b"Content-Len")
        return True
    if WAY == "half a message":
        write(b'Content-Length: 500\r\n\r\n{"jsonrpc": "2.0", ')
        os._exit(0)
    if WAY == "huge":
        write(b"Content-Length: 100000000\r\n\r\n")
        while True:
            write(b" " * 1_000_000)
    if WAY == "no json":
        write(b"Content-Length: 4\r\n\r\n{{{{")
        return True
    return False


def refuses(number: object) -> bool:
    if WAY == "content modified" and len(asked) <= 3:
        send({"id": number, "error": {"code": -32801, "message": "content modified"}})
        return True
    if WAY == "refuses":
        send({"id": number, "error": {"code": -32603, "message": "no"}})
        return True
    return False


def unsound(result: list[dict[str, Any]]) -> dict[str, Any]:
    """Results by the way in which they can't be right."""
    inside = result[0]["uri"]
    return {
        "nonsense": nonsense(result),
        "a text": "text",
        "an object": {"a": 5},
        "a list of texts": ["text"],
        "nothing": None,
        "an empty list": [],
        "beyond the end": [location(inside, 9999, 5, 9)],
        "negative": [location(inside, -1, 0, 4)],
        "another word": [location(inside, 1, 0, 3)],
        "another file": [location("file:///etc/passwd", 0, 0, 4)],
    }


def nonsense(result: list[dict[str, Any]]) -> list[Any]:
    """The result, twice, among places that are none."""
    inside = result[0]["uri"]
    return [
        location(inside, 10**6, 0, 3),
        location(inside, 0, 10**6, 10**6 + 1),
        location(inside, -5, 0, 1),
        location("file:///etc/passwd", 0, 0, 4),
        location("nowhere:at-all", 0, 0, 4),
        location("file:///\ud800.py", 0, 0, 4),
        {"uri": inside},
        "text",
        None,
        *result,
        *result,
    ]


def ask_back() -> None:
    for index, (method, params) in enumerate(
        [
            ("workspace/configuration", {"items": [{"section": "a.b"}, {"section": "x"}]}),
            ("client/registerCapability", {"registrations": []}),
            ("window/workDoneProgress/create", {"token": "t"}),
            ("workspace/workspaceFolders", None),
            ("workspace/applyEdit", {"edit": {}}),
            ("something/unknown", {}),
        ]
    ):
        send({"id": f"back-{index}", "method": method, "params": params})
        while (reply := read()).get("id") != f"back-{index}":
            pass
        note("answers", json.dumps([method, reply.get("result"), reply.get("error")]))


def main() -> None:
    global root  # noqa: PLW0603 - one root for each server.
    note("pids", os.getpid())
    go_wrong_at_start()
    while True:
        message = read()
        method, number = message.get("method"), message.get("id")
        params: Any = message.get("params")
        if number is not None and method:
            note("requests", method)
        if method == "initialize":
            root = path_of(params["rootUri"])
            if WAY == "never initializes":
                continue
            if WAY == "odd initialize":
                send({"id": number, "result": "hello"})
                continue
            greet(number)
        elif method in {"textDocument/didOpen", "textDocument/didChange"}:
            changes = params.get("contentChanges") or [params["textDocument"]]
            documents[params["textDocument"]["uri"]] = changes[0]["text"]
        elif method == "textDocument/didClose":
            documents.pop(params["textDocument"]["uri"], None)
        elif method == "$/cancelRequest":
            note("requests", method)
        elif method == "textDocument/references":
            asked.append(method)
            answer(number, params)
        elif method == "textDocument/documentSymbol":
            answer_symbols(number)
        elif method == "shutdown" and WAY != "ignores shutdown":
            send({"id": number, "result": None})
        elif method == "exit" and WAY != "ignores shutdown":
            sys.exit(0)


if __name__ == "__main__":
    try:
        main()
    except EOFError:
        if WAY == "ignores shutdown":
            time.sleep(FOREVER)
