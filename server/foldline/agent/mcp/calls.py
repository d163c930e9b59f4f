"""Calling a tool: every answer and every failure is text that a model can act on."""

from __future__ import annotations

import difflib
import logging
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from foldline.agent.mcp.tools import TOOLS
from foldline.agent.mcp.tools.tool import ArgumentsError
from foldline.backends.errors import LONGEST_MESSAGE, BackendError, IgnoredPathError, cut
from foldline.backends.visible import visible
from foldline.backends.waiting import question_of, run_async

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.agent.mcp.folders import Folders
    from foldline.agent.mcp.tools.tool import CodeTool

log = logging.getLogger(__name__)

_BY_NAME = {tool.name: tool for tool in TOOLS}

LISTED = tuple(
    types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema(),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )
    for tool in TOOLS
)


def find_tool(name: str) -> CodeTool[Any]:
    """The tool of that name.

    Raises:
        MCPError: There is none; it names the nearest.
    """
    tool = _BY_NAME.get(name)
    if tool is None:
        near = difflib.get_close_matches(cut(name), _BY_NAME, n=1) or list(_BY_NAME)
        raise refusal(
            f"Unknown tool {cut(name)!r}; there is {', '.join(near)}",
            types.INVALID_PARAMS,
            near=near,
        )
    return tool


async def call(
    tool: CodeTool[Any], folders: Folders, arguments: Mapping[str, object]
) -> types.CallToolResult:
    """The tool's answer, or what went wrong and what to do about it."""
    try:
        texts = await run_async(question_of(tool.call)(folders, arguments), tool.threads)
    except ArgumentsError as error:
        return failure(f"{tool.name}: {error}")
    except IgnoredPathError as error:
        return failure(f"{visible(error.path)}: {error.problem}; ignored files are not shown")
    except BackendError as error:
        return failure(str(error))
    except Exception as error:
        # The outermost boundary of a call: whatever failed, the next call is answered.
        log.exception("%s failed on %r", tool.name, dict(arguments))
        return failure(f"{tool.name} failed inside foldline: {type(error).__name__}: {error}")
    return types.CallToolResult(content=[_block(text) for text in texts])


def failure(message: str) -> types.CallToolResult:
    """A call's failure as its answer, where a model reads it."""
    return types.CallToolResult(content=[_block(cut(message, LONGEST_MESSAGE))], is_error=True)


def refusal(message: str, code: int = types.INVALID_REQUEST, **data: object) -> MCPError:
    """A request's failure as a protocol error with structured data."""
    return MCPError(code, cut(message, LONGEST_MESSAGE), data)


def _block(text: str) -> types.TextContent:
    # Names of files may hold bytes that are no text, and what goes over the wire is UTF-8.
    return types.TextContent(text=text.encode("utf-8", "replace").decode())
