"""Tool calls: every result and every failure is text that a model can act on."""

from __future__ import annotations

import functools
import logging
import re
from typing import TYPE_CHECKING, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from foldline.agent.folder_operations import call_operation, failure_text
from foldline.backends.base.near_names import near_names
from foldline.backends.errors import LONGEST_MESSAGE, cut
from foldline.ide.errors import REFUSALS
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.reading import input_schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from foldline.agent.folders import Folders
    from foldline.ide.operations.operation import Operation

log = logging.getLogger(__name__)

LARGEST_PAGE = 10_000
"""The most bytes of a page: clients keep only the ends of much longer results."""
META_PRIORITY = "foldline/priority"
"""The key of a result's priority in a conversation: `high`, `medium` or `low`."""
META_SUMMARY = "foldline/summary"
"""The text that can replace a result once it is some turns old."""
# Told once in a session; later answers still say that they are brief, or by name.
_REMARKED = ("find_references", "get_file_outline")
ONCE = re.compile(
    r"(?m)\n\((brief|partial)?[;:]? ?(budget \d+ shows (?:all|the code)|[\w. -]+ needs trust)\)$"
)


class Tools:
    """The operations for models, as MCP tools; the same remark on each answer is made `once`."""

    def __init__(
        self, operations: Iterable[Operation[Any, Any]] = OPERATIONS, *, once: bool = False
    ) -> None:
        self._told: set[str] | None = set() if once else None
        self._by_name = {operation.tool: operation for operation in operations if operation.tool}

    @functools.cached_property
    def listed(self) -> tuple[types.Tool, ...]:
        """The tools as the SDK lists them."""
        return tuple(
            types.Tool(
                name=operation.tool,
                description=operation.description,
                input_schema=input_schema(operation.arguments),
                annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
            )
            for operation in self._by_name.values()
        )

    def has(self, name: str) -> bool:
        """Return True for the name of one of these tools."""
        return name in self._by_name

    def find(self, name: str) -> Operation[Any, Any]:
        """Return the operation of the tool with that name.

        Raises:
            MCPError: There is none; the error has near names.
        """
        operation = self._by_name.get(name)
        if operation is None:
            near = near_names(cut(name), self._by_name) or tuple(self._by_name)
            raise refusal(
                f"Unknown tool {cut(name)!r}; there is {', '.join(near)}",
                types.INVALID_PARAMS,
                near=list(near),
            )
        return operation

    async def call(
        self, operation: Operation[Any, Any], folders: Folders, arguments: Mapping[str, object]
    ) -> types.CallToolResult:
        """Run a tool call, and return its result or its failure."""
        try:
            answer = await call_operation(operation, folders, arguments, largest_page=LARGEST_PAGE)
        except REFUSALS as error:
            return failure(failure_text(operation, error, self._by_name))
        except Exception as error:
            return crash(operation.tool, arguments, error)
        text = answer.text
        if self._told is not None and operation.tool in _REMARKED:
            text = ONCE.sub(functools.partial(shortened, self._told), text)
        return success(text, answer.summary, operation.priority)


def shortened(told: set[str], found: re.Match[str]) -> str:
    """Return a remark, or what a later answer has of it."""
    kept, said = found[1], re.sub(r"\d+", "", found[2])
    if said not in told:
        told.add(said)
        return found[0]
    return f"\n({kept})" if kept and not (kept == "partial" and " by name" in found.string) else ""


def success(
    text: str, summary: str | None = None, priority: str | None = None
) -> types.CallToolResult:
    """Return the result of a call; its metadata says how a conversation may shorten it."""
    entries = {META_PRIORITY: priority, META_SUMMARY: summary and _text(summary)}
    meta = {key: value for key, value in entries.items() if value is not None}
    result = _result(text, is_error=False)
    if meta:
        result.meta = meta
    return result


def failure(message: str) -> types.CallToolResult:
    """Return a failed result, which models read."""
    return _result(cut(message, LONGEST_MESSAGE), is_error=True)


def crash(tool: str, arguments: Mapping[str, object], error: Exception) -> types.CallToolResult:
    """Return the result of a call that failed inside foldline: the next call must work."""
    log.error("%s failed on %r", tool, dict(arguments), exc_info=error)
    return failure(f"{tool} failed inside foldline: {type(error).__name__}: {error}")


def refusal(message: str, code: int = types.INVALID_REQUEST, **data: object) -> MCPError:
    """Return a protocol error with structured data."""
    return MCPError(code, cut(message, LONGEST_MESSAGE), data)


def _result(text: str, *, is_error: bool) -> types.CallToolResult:
    content = types.TextContent(type="text", text=_text(text))
    return types.CallToolResult(content=[content], is_error=is_error)


def _text(text: str) -> str:
    # File names may contain bytes that aren't text, and the wire format is UTF-8.
    return text.encode("utf-8", "replace").decode()
