"""The code operations as tools for agents written in Python.

>>> from foldline.agent.tools import code_tools
>>> from foldline.ide.workspace import Workspace
>>> tools = code_tools(Workspace.at("."))
>>> tools[0].name
'get_tree'
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from foldline.agent.folder_operations import failure_text, run_in_folders
from foldline.agent.folders import NoFolderError, open_folders
from foldline.backends.base.waiting import run
from foldline.ide.errors import REFUSALS, ArgumentsError
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.operation import Operation
from foldline.ide.operations.reading import input_schema, read_arguments
from foldline.ide.workspace import Workspace
from foldline.prompts import ContextPolicy, Priority, Tool, ToolContext, ToolResult
from foldline.prompts.errors import ToolValidationError
from foldline.prompts.output.schema import JsonSchema

CONTEXT_POLICY = ContextPolicy(budget=12_000)
"""The policy of the tools: some 3,000 tokens of results, besides those of the last turns."""


def code_tools(
    workspace: Workspace, operations: Iterable[Operation[Any, Any]] = OPERATIONS
) -> tuple[Tool[Any, str], ...]:
    """Return the operations for models as tools on the files of a workspace.

    Handlers block; names, arguments, sizes and failures are the same as in the MCP server. Results
    have a priority, and a file's page has its outline as summary; the tools' `CONTEXT_POLICY` uses
    both.
    """
    operations = [operation for operation in operations if operation.tool]
    offered = {operation.tool for operation in operations}
    return tuple(_tool(operation, workspace, offered) for operation in operations)


def _tool(
    operation: Operation[Any, Any], workspace: Workspace, offered: Collection[str]
) -> Tool[Any, str]:
    arguments = operation.arguments

    class OperationTool(Tool[arguments, str]):  # type: ignore[valid-type]  # Known at run time.
        """A tool whose schema and arguments are the operation's."""

        @property
        def parameters(self) -> JsonSchema:
            return input_schema(operation.arguments)

        def decode(self, arguments: str | Mapping[str, object]) -> Any:
            try:
                values = json.loads(arguments) if isinstance(arguments, str) else arguments
                return read_arguments(operation.arguments, values, from_model=True)
            except (ValueError, ArgumentsError) as error:
                raise ToolValidationError(f"{operation.tool}: {error}") from error

    def handle(params: Any, *, context: ToolContext) -> ToolResult[str]:
        del context
        try:
            folders = open_folders(workspace, workspace.roots)
            answer = run(run_in_folders(operation, folders, params))
        except NoFolderError as error:
            return ToolResult(str(error), success=False)
        except REFUSALS as error:
            return ToolResult(failure_text(operation, error, offered), success=False)
        return ToolResult(
            answer.text, answer.text, summary=answer.summary, priority=Priority(operation.priority)
        )

    return OperationTool(
        name=operation.tool,
        description=operation.description,
        handler=handle,
        context_policy=CONTEXT_POLICY,
    )
