"""The MCP server: dispatches requests, and turns every failure into a protocol error."""

from __future__ import annotations

import asyncio
import functools
import logging
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, ParamSpec, TypeVar

import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from foldline.agent import mcp
from foldline.agent.folders import NoFolderError
from foldline.agent.mcp import calls
from foldline.agent.mcp.calls import Tools
from foldline.agent.mcp.lines import session_streams
from foldline.agent.mcp.prompt_needs import all_needs, find_needs
from foldline.agent.mcp.roots import Roots
from foldline.agent.mcp.stdio import CLOSE_SECONDS, LIST_SECONDS, Options
from foldline.agent.reading_steps import mcp_instructions
from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.backends.errors import BackendError
from foldline.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.context import ServerRequestContext

    from foldline.agent.mcp.prompt_tools import PromptTools
    from foldline.agent.mcp.prompts import WorkspacePrompts
    from foldline.ide.standard_streams import QueuedWriter
    from foldline.ide.workspace import Workspace

log = logging.getLogger(__name__)
_P = ParamSpec("_P")
_Result = TypeVar("_Result")

INSTRUCTIONS = mcp_instructions()
"""The instructions with all tools."""


class AgentServer:
    """The server of one client."""

    def __init__(
        self, options: Options, tools: Tools | None = None, workspace: Workspace | None = None
    ) -> None:
        self.tools = tools or Tools(once=not options.remote)
        self.workspace = workspace or options.workspace()
        self.roots = Roots(options.roots, self.workspace)
        self._remote = options.remote
        self.protocol: Server[dict[str, Any]] = Server(
            "foldline",
            version=VERSION,
            instructions=mcp_instructions([tool.name for tool in self.tools.listed]),
            get_tool_input_schema=self._input_schema,
            on_list_tools=_with_protocol_errors(self._list_tools),
            on_call_tool=_with_protocol_errors(self._call_tool),
            on_list_prompts=_with_protocol_errors(self._list_prompts),
            on_get_prompt=_with_protocol_errors(self._get_prompt),
            on_completion=_with_protocol_errors(self._complete),
        )
        self.protocol.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self._roots_changed
        )

    @functools.cached_property
    def prompts(self) -> WorkspacePrompts:
        """The workspace's prompts; what they need is loaded when a client first asks for one."""
        return mcp.prompts.WorkspacePrompts(self.workspace)

    @functools.cached_property
    def prompt_tools(self) -> PromptTools:
        """The tools of these prompts, loaded likewise."""
        return mcp.prompt_tools.PromptTools(self.workspace, only_safe=self._remote)

    async def run(self, stdin: BinaryIO, writer: QueuedWriter) -> None:
        """Serve the client at these streams until it disconnects."""
        options = self.protocol.create_initialization_options(
            NotificationOptions(prompts_changed=True, tools_changed=True)
        )
        async with session_streams(stdin, writer) as (incoming, outgoing):
            await self.protocol.run(incoming, outgoing, options)

    async def close(self) -> None:
        """Stop everything that runs for this client, and wait until it has stopped."""
        await self.workspace.stop(CLOSE_SECONDS)

    def _input_schema(self, name: str) -> Mapping[str, Any] | None:
        """Return a tool's schema, which the SDK would look for in a whole list."""
        tools = self.tools if self.tools.has(name) else self.prompt_tools
        return next((tool.input_schema for tool in tools.listed if tool.name == name), None)

    async def _list_tools(
        self, context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        if params is not None and params.cursor is not None:
            raise calls.refusal("cursor: leave it out, there is one page", types.INVALID_PARAMS)
        trusted = self.workspace.settings.trusted
        try:
            async with asyncio.timeout(LIST_SECONDS):
                look = partial(find_needs, await self.roots.listed(context), trusted=trusted)
                needs = await in_thread(look, PROMPTS)
        except (TimeoutError, NoFolderError, BackendError):
            # A later protocol names its folders with the first call: until then any may be needed.
            needs = all_needs(trusted=trusted)
        # Most workspaces need none of them, and never load what they are made of.
        for_prompts = self.prompt_tools.needed(needs) if needs.names else ()
        return types.ListToolsResult(tools=[*self.tools.listed, *for_prompts])

    async def _call_tool(
        self, context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        of_prompts = not self.tools.has(params.name) and self.prompt_tools.has(params.name)
        tool = None if of_prompts else self.tools.find(params.name)
        try:
            folders = await self.roots.folders(context, params.input_responses)
        except NoFolderError as error:
            return calls.failure(str(error))
        if isinstance(folders, types.InputRequiredResult):
            return folders
        arguments = params.arguments or {}
        if tool is None:
            return await self.prompt_tools.call(params.name, folders, arguments)
        return await self.tools.call(tool, folders, arguments)

    async def _list_prompts(
        self, context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        cursor = params.cursor if params is not None else None
        return await self.prompts.list(await self.roots.listed(context), cursor)

    async def _get_prompt(
        self, context: ServerRequestContext[Any, Any], params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        folders = await self.roots.folders(context, params.input_responses)
        if isinstance(folders, types.InputRequiredResult):
            return folders
        return await self.prompts.get(folders, params.name, params.arguments or {})

    async def _complete(
        self, context: ServerRequestContext[Any, Any], params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        return await self.prompts.complete(await self.roots.listed(context), params)

    async def _roots_changed(
        self, context: ServerRequestContext[Any, Any], params: types.NotificationParams
    ) -> None:
        self.roots.forget()
        await context.session.send_notification(types.PromptListChangedNotification())
        await context.session.send_notification(types.ToolListChangedNotification())


def _with_protocol_errors(
    handle: Callable[_P, Awaitable[_Result]],
) -> Callable[_P, Awaitable[_Result]]:
    """Wrap a handler so that failures become protocol errors; the SDK would send code 0."""

    @functools.wraps(handle)
    async def answer(*args: _P.args, **kwargs: _P.kwargs) -> _Result:
        try:
            return await handle(*args, **kwargs)
        except (MCPError, ValidationError):
            raise
        except NoFolderError as error:
            raise calls.refusal(str(error), kind="no_folder") from error
        except Exception as error:
            log.exception("A request failed")
            message = f"The request failed inside foldline: {type(error).__name__}: {error}"
            raise calls.refusal(message, types.INTERNAL_ERROR) from error

    return answer
