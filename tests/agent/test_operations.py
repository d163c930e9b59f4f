"""An operation is written once, and every shell has it: arguments, defaults, help and errors."""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
from pathlib import Path
from typing import Annotated, Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from foldline.agent.code import add_operation
from foldline.agent.folders import open_folders
from foldline.agent.mcp.calls import Tools
from foldline.agent.tools import code_tools
from foldline.backends import InvalidArgumentError, SmartFileAccess
from foldline.backends.base.reading import Between
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.arguments import FileArguments
from foldline.ide.operations.operation import Doc, Operation, Role
from foldline.ide.workspace import Workspace
from foldline.prompts import ToolContext
from foldline.prompts.errors import ToolValidationError
from foldline.records import record
from foldline.server.app import create_server


@record(kw_only=True, slots=False)
class ShoutArguments(FileArguments):
    times: Annotated[int, Doc("how often to shout", "how often"), Between(1, 3)] = 2
    hidden: Annotated[str | None, Doc("what models don't see"), Role.PEOPLE] = None


async def shout(access: SmartFileAccess, arguments: ShoutArguments) -> str:
    return access.read_file(arguments.path).upper() * arguments.times


SHOUT = Operation(
    "code.shout",
    "shout a file",
    ShoutArguments,
    shout,
    lambda text, _: [[(text, "")]],
    tool="shout_file",
    description="A file, loud.",
    verb="shout",
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("hey ", encoding="utf-8")
    return tmp_path


def test_a_new_operation_is_a_server_command(root: Path) -> None:
    server = create_server([*OPERATIONS, SHOUT])
    assert "foldline.server.code.shout" in server.protocol.fm.commands
    server.core.set_roots([root])
    execute = server.protocol.fm.commands["foldline.server.code.shout"]

    async def run(**arguments: object) -> Any:
        return await execute(arguments)

    try:
        assert asyncio.run(run(path="a.txt"))["text"] == "HEY HEY "
        with pytest.raises(JsonRpcException, match="times: must be from 1 to 3, not 9") as caught:
            asyncio.run(run(path="a.txt", times=9))
        assert caught.value.data == {"kind": "arguments", "fields": ["times"]}
    finally:
        server.close()


def test_a_new_operation_is_an_mcp_tool(root: Path) -> None:
    tools = Tools([*OPERATIONS, SHOUT])
    listed = next(tool for tool in tools.listed if tool.name == "shout_file")
    assert listed.description == "A file, loud."
    assert listed.input_schema["properties"] == {
        "path": {"type": "string"},
        "times": {"type": "integer", "description": "how often"},
    }
    assert listed.input_schema["required"] == ["path"]
    workspace = Workspace()
    folders = open_folders(workspace, [root])

    def call(**arguments: object) -> Any:
        return asyncio.run(tools.call(SHOUT, folders, arguments))

    try:
        assert call(path="a.txt").content[0].text == "HEY HEY "
        assert call(path="a.txt", times="3").content[0].text == "HEY HEY HEY "
        refused = call(path="a.txt", time=1)
        assert refused.is_error
        assert "did you mean 'times'?" in refused.content[0].text
    finally:
        workspace.close()


def test_a_new_operation_is_a_verb(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_operation(parser.add_subparsers(), SHOUT)
    with pytest.raises(SystemExit):
        parser.parse_args(["shout", "--help"])
    shown = capsys.readouterr().out
    assert "Shout a file." in shown
    assert "how often to shout" in shown
    options = parser.parse_args(["shout", "a.txt", "--root", str(root), "--times", "1"])
    assert options.run(options) == 0
    assert capsys.readouterr().out == "HEY \n"
    options = parser.parse_args(["shout", "a.txt", "--root", str(root), "--times", "7"])
    with pytest.raises(ArgumentsError, match="times: must be from 1 to 3, not 7"):
        options.run(options)


def test_a_new_operation_is_a_python_tool(root: Path) -> None:
    workspace = Workspace.at(root)
    tool = next(one for one in code_tools(workspace, [SHOUT]) if one.name == "shout_file")
    assert tool.parameters["required"] == ["path"]
    result = tool.handler(tool.decode('{"path": "a.txt"}'), context=ToolContext())
    assert result.value == "HEY HEY "
    with pytest.raises(ToolValidationError, match="times: must be from 1 to 3, not 0"):
        tool.decode({"path": "a.txt", "times": 0})
    missing = tool.handler(tool.decode({"path": "b.txt"}), context=ToolContext())
    assert not missing.success
    assert "b.txt" in missing.message
    workspace.close()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_argument_is_documented(operation: Operation[Any, Any]) -> None:
    assert all(argument.doc.documentation for argument in operation.parameters)


def test_the_commands_are_advertised() -> None:
    names = {f"foldline.server.{operation.name}" for operation in OPERATIONS}
    assert names <= set(create_server().protocol.fm.commands)
    assert types.WORKSPACE_EXECUTE_COMMAND


def test_the_tables_are_as_fresh_as_what_they_tell() -> None:
    file = Path(__file__).parents[2] / "docs" / "make_tables.py"
    spec = importlib.util.spec_from_file_location("make_tables", file)
    assert spec is not None
    assert spec.loader is not None
    tables = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tables)
    for path, text in tables.pages():
        assert path.read_text(encoding="utf-8") == text, "run `python docs/make_tables.py`"


def test_grep_takes_as_many_lines_of_context_as_it_announces(root: Path) -> None:
    [grep] = [one for one in OPERATIONS if one.verb == "grep"]
    [bounds] = [one.bounds for one in grep.parameters if one.name == "context"]
    assert bounds is not None
    assert bounds.most is not None
    access = SmartFileAccess.for_workspace(root)
    assert access.grep("hey", context=int(bounds.most)).total == 1
    with pytest.raises(InvalidArgumentError):
        access.grep("hey", context=int(bounds.most) + 1)
    access.close()
