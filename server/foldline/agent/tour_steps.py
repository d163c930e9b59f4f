"""The steps of the tour, with a real server and client."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pygls.lsp.client import LanguageClient

REQUEST_SECONDS = 30
FILE = "auth/service.py"
SYMBOL = "AuthService.sign_in"
SECTION = "reference-docs"
REASON = "The task asks for a security review"


class TourError(Exception):
    """A step of the tour failed."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the tour.

    Attributes:
        command: The server command, with its `arguments`.
        text: The answer, as a model gets it.
        bytes: The size of `text` in UTF-8.
        whole: Size and name of what the step shows a part of.
    """

    title: str
    command: str
    arguments: dict[str, object]
    text: str
    bytes: int
    whole: tuple[int, str]


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the folded prompt; `if_opened` is set for summaries."""

    number: str
    title: str
    depth: int
    bytes: int
    if_opened: int | None


@dataclass(frozen=True, slots=True)
class Tour:
    workspace: str
    sections: tuple[Section, ...]
    steps: tuple[Step, ...]


async def run_tour(workspace: Path) -> Tour:
    """Run the tour of `workspace` with a new server.

    Raises:
        TourError: A step failed; the message has the command and the server's error.
    """
    from lsprotocol import types
    from pygls.lsp.client import LanguageClient

    client = LanguageClient("foldline-tour", "1")
    await client.start_io(sys.executable, "-P", "-m", "foldline.agent", "serve", "--stdio")
    try:
        async with asyncio.timeout(REQUEST_SECONDS):
            await client.initialize_async(
                types.InitializeParams(
                    capabilities=types.ClientCapabilities(),
                    workspace_folders=[types.WorkspaceFolder(workspace.as_uri(), workspace.name)],
                    initialization_options={"trusted": True},
                )
            )
        client.initialized(types.InitializedParams())
        prompt = workspace / "reviewer_prompt.py"
        client.text_document_did_open(
            types.DidOpenTextDocumentParams(
                types.TextDocumentItem(
                    prompt.as_uri(), "python", 1, prompt.read_text(encoding="utf-8")
                )
            )
        )
        sections, steps = await _prompt_steps(client, prompt.as_uri())
        steps += await _code_steps(client, workspace)
        async with asyncio.timeout(REQUEST_SECONDS):
            await client.shutdown_async(None)
        client.exit(None)
    except TimeoutError:
        raise TourError(f"the server did not answer within {REQUEST_SECONDS} s") from None
    except RuntimeError as error:
        # The client raises this once the server is gone.
        raise TourError(str(error)) from error
    finally:
        # The server exits when its input ends, whatever it is doing.
        if client.protocol.writer is not None:
            client.protocol.writer.close()
        await client.stop()  # type: ignore[no-untyped-call]  # Untyped in pygls.
    return Tour(str(workspace), tuple(sections), tuple(steps))


async def _prompt_steps(client: LanguageClient, uri: str) -> tuple[list[Section], list[Step]]:
    folded = await _execute(client, "prompt.render", uri=uri)
    summaries = {
        block["key"]: await _execute(client, "prompt.summary", uri=uri, section_key=block["key"])
        for block in folded["blocks"]
        if block["visibility"] == "SUMMARY"
    }
    if SECTION not in summaries:
        raise TourError(f"the section {SECTION} is not folded")
    opening = {"uri": uri, "section_keys": [SECTION], "reason": REASON}
    opened = await _execute(client, "prompt.openSections", **opening)
    (prompt, *_) = await _execute(client, "prompt.list", list, uri=uri)
    everything = await _execute(
        client, "prompt.render", uri=uri, overrides=dict.fromkeys(_keys(prompt["sections"]), "FULL")
    )
    whole = (_size(everything["text"]), "the prompt with everything open")
    sections = [
        Section(
            number=block["number"],
            title=block["title"],
            depth=block["depth"],
            bytes=_size(block["text"]),
            if_opened=summaries.get(block["key"], {}).get("size_if_opened"),
        )
        for block in folded["blocks"]
    ]
    return sections, [
        _step("The prompt, folded", "prompt.render", {}, folded["text"], whole),
        _step(
            f"The model opens `{SECTION}`",
            "prompt.openSections",
            {"section_keys": [SECTION], "reason": REASON},
            opened["render"]["text"],
            whole,
        ),
    ]


async def _code_steps(client: LanguageClient, workspace: Path) -> list[Step]:
    files = sorted((workspace / "auth").glob("*.py"))
    all_files = (sum(file.stat().st_size for file in files), f"the {len(files)} files of auth/")
    whole_file = ((workspace / FILE).stat().st_size, FILE)
    looks: Sequence[tuple[str, str, dict[str, object], tuple[int, str]]] = [
        ("The tree", "code.tree", {"path": "auth"}, all_files),
        ("An outline", "code.outline", {"path": FILE}, whole_file),
        ("One symbol", "code.readSymbol", {"path": FILE, "name": SYMBOL}, whole_file),
    ]
    steps = []
    for title, command, arguments, whole in looks:
        answer = await _execute(client, command, **arguments)
        steps.append(_step(title, command, arguments, answer["text"], whole))
    return steps


def _step(
    title: str, command: str, arguments: dict[str, object], text: str, whole: tuple[int, str]
) -> Step:
    if not text.strip():
        raise TourError(f"{command} gave an empty text")
    return Step(title, f"foldline.server.{command}", arguments, text, _size(text), whole)


def _keys(sections: Sequence[dict[str, Any]]) -> list[str]:
    """Return the keys of the sections and all below them."""
    below = (key for section in sections for key in _keys(section["children"]))
    return [*(section["key"] for section in sections), *below]


async def _execute(
    client: LanguageClient, command: str, kind: type = dict, /, **arguments: object
) -> Any:
    from lsprotocol.types import ExecuteCommandParams
    from pygls.exceptions import JsonRpcException

    name = f"foldline.server.{command}"
    try:
        async with asyncio.timeout(REQUEST_SECONDS):
            answer = await client.workspace_execute_command_async(
                ExecuteCommandParams(command=name, arguments=[arguments])
            )
    except JsonRpcException as error:
        raise TourError(f"{name}: {error.message}") from error
    if not isinstance(answer, kind):
        raise TourError(f"{name} answered {answer!r}")
    return answer


def _size(text: str) -> int:
    return len(text.encode())
