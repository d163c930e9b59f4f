"""An editor waits for the answer to `initialize`: what it does not need is loaded after it."""

from __future__ import annotations

import asyncio
import io
import json
import pkgutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from pygls.io_ import StdoutWriter

from foldline.ide import analysis
from foldline.server import warm_up
from foldline.server.app import create_server
from foldline.server.transport import read_message

from .test_protocol import LONGEST, initialize, notification, request

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.server.server import FoldlineServer

pytestmark = pytest.mark.real

# Each costs milliseconds, or memory that many workspaces never need.
LATER = (
    "foldline.backends.file_access",
    "foldline.backends.lsp",
    "foldline.backends.models",
    "foldline.backends.outlines.locations",
    "foldline.server.diagnostic_items",
    "foldline.ide.folder",
    "foldline.ide.analysis",
    "foldline.prompts",
    "jedi",
    "mcp",
    "platformdirs",
    "rs_bpe",
    "sqlite3",
    "starlette",
    "tomllib",
    "tree_sitter",
)

# What the symbols of a prompt don't need either.
NOT_FOR_SYMBOLS = {
    "anyio",
    "foldline.backends.file_access",
    "foldline.backends.index.workspace",
    "foldline.backends.lsp",
    "foldline.backends.references.two_tier_references",
    "foldline.ide.features.hover",
    "httpx",
    "jedi",
    "mcp",
    "multiprocessing",
    "platformdirs",
    "rs_bpe",
    "sqlite3",
    "starlette",
}

# Most files that an editor opens have no prompts, and neither symbols nor diagnostics of them.
NOT_WITHOUT_PROMPTS = {
    "foldline.ide.analysis.project",
    "foldline.ide.analysis.syntax",
    "foldline.ide.checks.run",
    "foldline.ide.features.prompt_symbols",
    "foldline.prompts.sections",
    "tree_sitter",
}

CREATE = "from foldline.server.app import create_server; create_server()"
WARM_UP = """
import asyncio
from foldline.server.warm_up import warm_up
asyncio.run(warm_up(lambda: False))
"""

# Serves the client on standard input, and tells what was loaded when it left.
SERVE = """
import sys
from foldline.agent import cli
from foldline.ide import lifecycle
from foldline.server import warm_up
warm_up.PAUSE_SECONDS = 600
lifecycle.end_process = lambda status: print(*sys.modules, file=sys.stderr) or status
cli.main(["serve"])
"""
PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate

template = PromptTemplate(
    ns="a", key="b", sections=(MarkdownSection(title="Task", key="task", template="Do ${it}."),)
)
"""
PLAIN = """
from json import dumps

def text(it: object) -> str:
    return dumps(it)
"""


def loaded(program: str) -> set[str]:
    """The modules that a program has loaded when it ends."""
    result = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(result.stdout.split())


@pytest.fixture(scope="module")
def created() -> set[str]:
    return loaded(CREATE)


@pytest.mark.parametrize("module", LATER)
def test_a_server_starts_without(module: str, created: set[str]) -> None:
    assert "foldline.server.app" in created
    assert module not in created


def test_types_of_the_protocol_are_loaded_without_what_no_request_needs() -> None:
    program = """
import attrs
define = attrs.define
from foldline.agent.serve import _load_types
_load_types()
from lsprotocol.types import Hover, Position
assert attrs.define is define
assert "__repr__" not in vars(Hover) and "__eq__" in vars(Hover)
assert Position(1, 2) == Position(1, 2) and Hover("a").contents == "a"
"""
    assert "lsprotocol.types" in loaded(program)


def test_the_analysis_loads_none_of_its_modules_by_itself() -> None:
    """Two threads that load it, from outside and from inside, would get it half loaded."""
    package = analysis.__name__
    assert not {name for name in loaded(f"import {package}") if name.startswith(f"{package}.")}


def test_the_first_question_finds_its_modules_loaded() -> None:
    warm = loaded(f"{CREATE}\n{WARM_UP}")
    modules = pkgutil.walk_packages(analysis.__path__, f"{analysis.__name__}.")
    assert {module.name for module in modules} <= warm
    assert {
        "foldline.backends.ast_backend",
        "foldline.backends.references.definitions",
        "foldline.backends.file_access",
        "foldline.backends.references.two_tier_references",
        "foldline.server.diagnostic_items",
    } <= warm
    assert "rs_bpe" not in warm


@pytest.mark.parametrize(
    ("text", "names", "needed", "unneeded"),
    [
        (
            PROMPT,
            ["template", "1. Task"],
            {"foldline.ide.features.prompt_symbols"},
            NOT_FOR_SYMBOLS,
        ),
        (PLAIN, [], {"foldline.ide.folder"}, NOT_FOR_SYMBOLS | NOT_WITHOUT_PROMPTS),
    ],
    ids=["prompt", "plain"],
)
def test_the_first_symbols_wait_for_nothing_that_they_do_not_need(
    text: str, names: list[str], needed: set[str], unneeded: set[str], tmp_path: Path
) -> None:
    file = tmp_path / "prompt.py"
    document = {"uri": file.as_uri(), "languageId": "python", "version": 1, "text": text}
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(
        initialize(tmp_path)
        + notification("initialized", {})
        + notification("textDocument/didOpen", {"textDocument": document})
        + request(2, "textDocument/documentSymbol", {"textDocument": {"uri": file.as_uri()}})
    )
    process.stdin.flush()
    answer: dict[str, Any] = {}
    while answer.get("id") != 2:
        answer = json.loads(read_message(process.stdout) or b"{}")  # type: ignore[arg-type]  # Binary.
    assert [symbol["name"] for symbol in answer["result"]] == names
    _, told = process.communicate(request(3, "shutdown") + notification("exit"), timeout=60)
    modules = set(told.decode().split())
    assert needed <= modules
    assert modules & unneeded == set()


async def test_nothing_is_loaded_ahead_while_a_request_waits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    events: list[str] = []
    waits = [True, True]

    def is_asked() -> bool:
        events.append("asked")
        return bool(waits) and waits.pop()

    monkeypatch.setattr(warm_up, "import_module", events.append)
    monkeypatch.setattr(warm_up, "PAUSE_SECONDS", 0)
    await warm_up.warm_up(is_asked)
    assert events[:3] == ["asked"] * 3
    assert events[3].startswith("foldline.")


async def test_the_client_is_waiting_until_its_request_is_answered() -> None:
    server = create_server()
    protocol, output = server.protocol, io.BytesIO()
    protocol.set_writer(StdoutWriter(output))
    event = asyncio.Event()

    async def wait(ls: FoldlineServer, params: object) -> None:
        await event.wait()

    server.feature("test/wait")(wait)
    message = {"jsonrpc": "2.0", "method": "test/wait", "params": {}}
    protocol.receive(initialize().partition(b"\r\n\r\n")[2])
    protocol.handle_message(message)
    assert not protocol.is_asked()
    protocol.handle_message({**message, "id": 2})
    assert protocol.is_asked()
    event.set()
    async with asyncio.timeout(LONGEST):
        while protocol.is_asked():
            await asyncio.sleep(0)
    assert b'"id": 2' in output.getvalue()
    await server.stop()


def test_a_tokenizer_is_loaded_for_the_first_text_that_is_counted() -> None:
    program = "from foldline.ide.token_counter import token_counter; token_counter()"
    assert "rs_bpe" not in loaded(program)
    assert "rs_bpe" in loaded(f"{program}.count('text')")
