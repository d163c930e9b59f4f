"""Tries extras of an installed foldline, in its environment's Python: `try_extras.py EXTRA…`.

It has the standard library and foldline alone; the folder `examples/code_reviewer` is what it works
on. An extra that nothing here knows is tried by importing what it installs.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from importlib import import_module, metadata
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXAMPLE = Path(__file__).parents[1] / "examples" / "code_reviewer"
FOLDLINE = str(Path(sys.executable).with_name("foldline"))
SECONDS = 120


def main(extras: list[str]) -> None:
    """Try the prompt library, and what each extra adds; an exception says what doesn't work."""
    try_prompts()
    for module in sorted({module for extra in extras for module in installed_modules(extra)}):
        import_module(module)
    parts = {part for extra in extras for part in parts_of(extra)}
    for part, check in CHECKS.items():
        if part in parts:
            check()


def requirements(extra: str) -> Iterator[tuple[str, bool]]:
    """Yield each distribution that an extra needs, and whether every machine gets it."""
    for text in metadata.requires("foldline") or ():
        requirement, _, marker = text.partition(";")
        if re.search(rf"extra == ['\"]{re.escape(extra)}['\"]", marker):
            name = re.match(r"[\w.-]+", requirement)
            assert name is not None
            yield name[0], " and " not in marker


def parts_of(extra: str) -> list[str]:
    """Return the extras whose requirements `extra` includes, itself among them."""
    own = set(requirements(extra))
    extras = metadata.metadata("foldline").get_all("Provides-Extra") or []
    return [other for other in extras if own >= set(requirements(other))]


def installed_modules(extra: str) -> Iterator[str]:
    """Yield the top-level modules of what an extra needs."""
    modules: dict[str, list[str]] = {}
    for module, names in metadata.packages_distributions().items():
        for name in names:
            modules.setdefault(re.sub(r"[-_.]+", "-", name).lower(), []).append(module)
    for name, everywhere in requirements(extra):
        if everywhere or name in modules:
            # Some install compiled modules whose files look like more top-level ones.
            yield from (module for module in modules[name] if not module.startswith("_"))


def try_prompts() -> None:
    """Render a template."""
    from dataclasses import dataclass

    from foldline.prompts import MarkdownSection, Prompt, PromptTemplate

    @dataclass(frozen=True)
    class Request:
        change: str

    section = MarkdownSection[Request](title="Review", key="review", template="See ${change}.")
    template = PromptTemplate(ns="try", key="extras", sections=[section])
    rendered = Prompt(template).bind(Request(change="the diff")).render()
    assert "See the diff." in rendered.text


def try_server() -> None:
    """Check a prompt, read code, and shake hands with the language server."""
    run("check", "reviewer_prompt.py")
    assert "AuthService" in run("outline", "auth/service.py")
    assert "auth/sessions.py" in run("refs", "SessionStore")
    initialize = request(1, "initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    body = json.dumps(initialize).encode()
    with start("serve", "--stdio") as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        server.stdin.flush()
        header = server.stdout.readline() + server.stdout.readline()
        while not header.endswith(b"\r\n\r\n"):
            header += server.stdout.readline()
        length = re.search(rb"Content-Length: (\d+)", header)
        assert length is not None, header
        answer = json.loads(server.stdout.read(int(length[1])))
        assert "capabilities" in answer["result"], answer


def try_mcp() -> None:
    """Shake hands over MCP, and list the tools."""
    client = {"name": "try", "version": "1"}
    opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    with start("mcp", "--root", ".") as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for message in (
            request(1, "initialize", opening),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            request(2, "tools/list", {}),
        ):
            server.stdin.write(json.dumps(message).encode() + b"\n")
        server.stdin.flush()
        for line in server.stdout:
            answer = json.loads(line)
            if answer.get("id") == 2:
                names = [tool["name"] for tool in answer["result"]["tools"]]
                assert "get_file_outline" in names, names
                return
    raise AssertionError("the server ended")


def try_web() -> None:
    """Serve a preview, and get its page."""
    with start("preview", "--serve", "reviewer_prompt.py") as server:
        assert server.stdout is not None
        address = server.stdout.readline().decode().strip()
        with urllib.request.urlopen(address, timeout=SECONDS) as page:
            assert b"<html" in page.read().lower()


def try_anthropic() -> None:
    """Construct the adapter with a client of the SDK."""
    from foldline.prompts.adapters.anthropic import AnthropicAdapter

    AnthropicAdapter("none", api_key="none")


def try_openai() -> None:
    """Construct both adapters with a client of the SDK."""
    from foldline.prompts.adapters.openai import OpenAIAdapter
    from foldline.prompts.adapters.openai_responses import OpenAIResponsesAdapter

    OpenAIAdapter("none", api_key="none")
    OpenAIResponsesAdapter("none", api_key="none")


def try_otel() -> None:
    """Attach the exporter."""
    from foldline.plugins.stores.otel import OpenTelemetryExporter

    OpenTelemetryExporter()


def try_postgres() -> None:
    """Open a store by psycopg, and ask a server that isn't there."""
    if sys.platform == "win32" and platform.machine() == "ARM64":
        return
    from foldline.plugins.stores import open_event_store
    from foldline.prompts.errors import StoreUnavailableError

    try:
        open_event_store("postgresql://127.0.0.1:1/none").events()
    except StoreUnavailableError:
        return
    raise AssertionError("a server answered that isn't there")


def try_tokens() -> None:
    """Count exactly, where the tokenizer has a wheel."""
    from foldline.ide.token_counter import token_counter

    counter = token_counter()
    if sys.version_info < (3, 14):
        assert counter.count("hello world") == 2
        assert counter.exact


CHECKS: dict[str, Callable[[], None]] = {
    "server": try_server,
    "mcp": try_mcp,
    "web": try_web,
    "anthropic": try_anthropic,
    "openai": try_openai,
    "otel": try_otel,
    "postgres": try_postgres,
    "tokens": try_tokens,
}


def request(number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """Return a request of JSON-RPC."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def run(*arguments: str) -> str:
    """Return what a command prints."""
    done = subprocess.run(
        [FOLDLINE, *arguments],
        cwd=EXAMPLE,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


@contextmanager
def start(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command for as long as the `with` block; a deadline ends it before."""
    with subprocess.Popen(
        [FOLDLINE, *arguments],
        cwd=EXAMPLE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        deadline = Timer(SECONDS, process.kill)
        deadline.start()
        try:
            yield process
        finally:
            deadline.cancel()
            process.kill()


if __name__ == "__main__":
    main(sys.argv[1:])
