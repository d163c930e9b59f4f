"""MCP tools for the prompts of the workspace: their sections, and the tools of their own.

A prompt's text names `open_sections` and `read_section`. They keep no state here: each call says
which prompt is meant and what is open of it. The tools of all prompts are called by one tool,
because many clients list a server's tools once, before any prompt is chosen.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from foldline.agent.mcp.calls import failure, success
from foldline.agent.mcp.prompt_needs import CALL_TOOL, all_needs, find_needs
from foldline.agent.mcp.prompt_requests import read_request
from foldline.agent.mcp.prompt_text import (
    opened_text,
    static_opened_text,
    static_text,
)
from foldline.agent.mcp.prompts import REMEDY
from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.ide.errors import REFUSALS, ArgumentsError, Untrusted
from foldline.ide.operations.operation import Doc
from foldline.ide.operations.reading import fields_schema, read_fields
from foldline.ide.render import jobs
from foldline.ide.render.static_disclosure import open_statically, read_statically
from foldline.prompts.layout import layout

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping

    from foldline.agent.folders import Folders
    from foldline.agent.mcp.prompt_requests import PromptRequest
    from foldline.ide.workspace import Workspace

log = logging.getLogger(__name__)

NOT_CALLED = f"The tools of a prompt are its code, and this workspace is not trusted. {REMEDY}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptArguments:
    """The arguments that every tool for prompts takes."""

    prompt: Annotated[str, Doc("the name of the prompt")]
    arguments: Annotated[
        dict[str, object] | None, Doc("the prompt's arguments", tool="the prompt's")
    ] = None
    open: Annotated[tuple[str, ...], Doc("what is open already", tool="keys opened before")] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenArguments(PromptArguments):
    """The arguments of `open_sections`."""

    section_keys: Annotated[tuple[str, ...], Doc("the sections to open")]
    reason: Annotated[str, Doc("why they are needed", tool="why, in at most 256 characters")]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadArguments(PromptArguments):
    """The arguments of `read_section`."""

    section_key: Annotated[str, Doc("the section to read")]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallArguments(PromptArguments):
    """The arguments of `call_prompt_tool`."""

    tool: Annotated[str, Doc("the name of the tool")]
    input: Annotated[dict[str, object] | None, Doc("its arguments", tool="the tool's")] = None


def _tool(
    name: str, arguments: type[PromptArguments], description: str, *, read_only: bool
) -> types.Tool:
    return types.Tool(
        name=name,
        description=description,
        input_schema=fields_schema(arguments),
        annotations=types.ToolAnnotations(
            read_only_hint=read_only, open_world_hint=False if read_only else None
        ),
    )


_OPEN = _tool(
    layout.OPEN_SECTIONS,
    OpenArguments,
    "Opens summarized sections of a prompt: their full text, and their tools.",
    read_only=True,
)
_READ = _tool(
    layout.READ_SECTION,
    ReadArguments,
    "The full text of a summarized section of a prompt.",
    read_only=True,
)
_CALL = _tool(CALL_TOOL, CallArguments, "Calls a tool that a prompt names.", read_only=False)


class PromptTools:
    """The tools for the prompts of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._calls: dict[
            str, Callable[[Folders, Mapping[str, object]], Awaitable[types.CallToolResult]]
        ] = {
            layout.OPEN_SECTIONS: self._open,
            layout.READ_SECTION: self._read,
            CALL_TOOL: self._call,
        }

    @property
    def listed(self) -> tuple[types.Tool, ...]:
        """All tools that a workspace may need."""
        return _of_names(all_needs(trusted=self._trusted).names)

    async def needed(self, folders: Folders) -> tuple[types.Tool, ...]:
        """Return the tools that the texts of the folders' prompts name.

        Reads no more prompts than it takes to know.

        Raises:
            BackendError: A folder can't be read.
        """
        look = partial(find_needs, folders, trusted=self._trusted)
        return _of_names((await in_thread(look, PROMPTS)).names)

    def has(self, name: str) -> bool:
        """Return True for the name of one of these tools, whether it's listed or not."""
        return name in self._calls

    async def call(
        self, name: str, folders: Folders, arguments: Mapping[str, object]
    ) -> types.CallToolResult:
        """Run a tool call, and return its result or its failure."""
        try:
            return await self._calls[name](folders, arguments)
        except ArgumentsError as error:
            return failure(f"{name}: {error}")
        except (*REFUSALS, MCPError) as error:
            return failure(str(error) if isinstance(error, REFUSALS) else error.message)
        except Exception as error:
            # The outermost boundary of a call: whatever failed, the next call must work.
            log.exception("%s failed on %r", name, dict(arguments))
            return failure(f"{name} failed inside foldline: {type(error).__name__}: {error}")

    @property
    def _trusted(self) -> bool:
        return self._workspace.settings.trusted

    async def _open(self, folders: Folders, values: Mapping[str, object]) -> types.CallToolResult:
        arguments = read_fields(OpenArguments, values, from_model=True)
        request = await _request(folders, arguments)
        keys, reason = arguments.section_keys, arguments.reason
        if self._trusted:
            action = jobs.open_sections(keys, reason, request.opened)
            answer = await request.execute(self._workspace, action)
            return success(opened_text(request, answer))
        try:
            found = await open_statically(
                self._workspace,
                request.target,
                keys,
                reason,
                opened=request.opened,
                options=request.options,
            )
        except Untrusted as error:
            return failure(f"{error}. {REMEDY}")
        return success(static_opened_text(request, found, keys, reason, REMEDY))

    async def _read(self, folders: Folders, values: Mapping[str, object]) -> types.CallToolResult:
        arguments = read_fields(ReadArguments, values, from_model=True)
        request = await _request(folders, arguments)
        key = arguments.section_key
        if self._trusted:
            action = jobs.read_section(key, request.opened)
            return success((await request.execute(self._workspace, action)).text)
        try:
            found = await read_statically(
                self._workspace,
                request.target,
                key,
                opened=request.opened,
                options=request.options,
            )
        except Untrusted as error:
            return failure(f"{error}. {REMEDY}")
        return success(static_text(found, REMEDY))

    async def _call(self, folders: Folders, values: Mapping[str, object]) -> types.CallToolResult:
        arguments = read_fields(CallArguments, values, from_model=True)
        if not self._trusted:
            return failure(NOT_CALLED)
        request = await _request(folders, arguments)
        action = jobs.call_tool(arguments.tool, arguments.input or {}, request.opened)
        answer = await request.execute(self._workspace, action)
        if answer.opened is not None:
            return success(opened_text(request, answer.opened))
        if not answer.success:
            return failure(answer.text)
        return success(answer.text, answer.summary, answer.priority)


def _of_names(names: Collection[str]) -> tuple[types.Tool, ...]:
    return tuple(tool for tool in (_OPEN, _READ, _CALL) if tool.name in names)


async def _request(folders: Folders, arguments: PromptArguments) -> PromptRequest:
    return await read_request(
        folders, arguments.prompt, _texts(arguments.arguments or {}), arguments.open
    )


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    """Return a prompt's arguments as the texts that MCP has; models write JSON values, too.

    Raises:
        ArgumentsError: A value isn't one that an argument can have.
    """
    texts: dict[str, str] = {}
    problems: dict[str, str] = {}
    for name, value in values.items():
        if value is None:
            # Models write it for arguments that they leave out.
            continue
        text = _text(value)
        if text is None:
            problems[f"arguments.{name}"] = (
                "expected a text, a number, true, false, or texts without commas"
            )
        else:
            texts[name] = text
    if problems:
        raise ArgumentsError(problems)
    return texts


def _text(value: Any) -> str | None:
    match value:
        case str():
            return value
        case bool():
            return str(value).lower()
        case int() | float():
            return str(value)
        case list() if all(isinstance(item, str) and "," not in item for item in value):
            return ",".join(value)
    return None
