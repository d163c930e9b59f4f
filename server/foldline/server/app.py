"""Builds the server: every module of `features` and `commands` is one of its own."""

from __future__ import annotations

import asyncio
import functools
import inspect
import pkgutil
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

from foldline.backends.base.waiting import Threads, in_thread
from foldline.ide.errors import REFUSALS, ArgumentsError, IdeError
from foldline.ide.operations import OPERATIONS
from foldline.ide.operations.operation import Operation
from foldline.ide.plugins import Part, plugins
from foldline.ide.prompts.action import Action
from foldline.ide.prompts.actions import ACTIONS
from foldline.ide.structuring import structure, unstructure
from foldline.server import commands, features
from foldline.server.commands.prompt_command import PromptCommand
from foldline.server.errors import request_failure
from foldline.server.features.notifications import NOTIFICATIONS
from foldline.server.operation_commands import OperationCommand
from foldline.server.server import FoldlineServer
from foldline.version import VERSION


def _modules(package: ModuleType, name: str) -> Iterator[ModuleType]:
    """The modules of a package that define `name`, in alphabetical order."""
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        module = import_module(info.name)
        if hasattr(module, name):
            yield module


FEATURES = tuple(_modules(features, "METHOD"))
_COMMANDS: tuple[ModuleType | PromptCommand, ...] = (
    *_modules(commands, "COMMAND"),
    *(PromptCommand(action) for action in ACTIONS if action.names.takes),
)
COMMANDS = tuple(sorted(_COMMANDS, key=lambda command: str(command.COMMAND)))

_OTHERS = Threads(32, "foldline-plugin-command")
"""For commands of others' plugins, which may take as long as their users wait."""


def create_server(
    operations: Iterable[Operation[Any, Any]] = OPERATIONS,
    actions: Sequence[type[Action[Any]]] = (),
) -> FoldlineServer:
    """A server for one client, with every feature, command and operation, and further `actions`."""
    server = FoldlineServer(VERSION, actions)
    for method, handle in NOTIFICATIONS.items():
        server.feature(method)(_refusing(handle))
    for feature in FEATURES:
        server.feature(feature.METHOD, feature.OPTIONS)(_refusing(feature.handle))
    for command in (*COMMANDS, *map(PromptCommand, actions)):
        _register(server, command.COMMAND, partial(_execute, command))
    for operation in operations:
        operation_command = OperationCommand(operation)
        _register(server, operation_command.name, operation_command.execute)
    plugins().reserve("commands", server.protocol.fm.commands.keys())
    for part in plugins().parts(lambda plugin: plugin.commands):
        _register(server, part.name, partial(_execute_part, part))
    return server


def _refusing(handle: Callable[..., Any]) -> Callable[..., Any]:
    """The handler, whose refusals are answers that say which one it is.

    Its answer is made plain in a thread: the event loop would stand still for all symbols of a
    large module.
    """
    if not inspect.iscoroutinefunction(handle):
        return handle

    # It keeps its signature: by that it is given the server.
    @functools.wraps(handle)
    async def answer(ls: FoldlineServer, *arguments: Any) -> Any:
        try:
            result = await handle(ls, *arguments)
            return result and await in_thread(partial(ls.protocol.plain, result))
        except REFUSALS as error:
            raise request_failure(error) from error

    return answer


async def _execute(command: Any, ls: FoldlineServer, value: object) -> Any:
    answer = await command.handle(ls, structure(value, command.Arguments))
    # It may be of any size, and the event loop has others to answer.
    return await in_thread(partial(unstructure, answer))


async def _execute_part(part: Part, ls: FoldlineServer, value: object) -> Any:
    """Execute a plugin's command, whose module is imported now; others' off the event loop."""
    module = await in_thread(partial(plugins().use, part, lambda module: module))
    if module is None:
        raise IdeError(plugins().left_out[part.entry])
    if part.entry.ours:
        return await _execute(module, ls, value)
    try:
        return await in_thread(lambda: asyncio.run(_execute(module, ls, value)), _OTHERS)
    except REFUSALS:
        raise
    except (Exception, SystemExit) as error:
        raise IdeError(f"{part.entry.shown} failed: {type(error).__name__}: {error}") from error


def _register(
    server: FoldlineServer,
    name: str,
    execute: Callable[[FoldlineServer, object], Coroutine[Any, Any, Any]],
) -> None:
    # Under the name `ls` the server is passed in; the rest is as the client sent it.
    async def answer(ls: FoldlineServer, *arguments: Any) -> Any:
        if len(arguments) > 1:
            raise request_failure(
                ArgumentsError({name: f"takes one object, not {len(arguments)} arguments"})
            )
        try:
            value = arguments[0] if arguments and arguments[0] is not None else {}
            return await execute(ls, value)
        except REFUSALS as error:
            raise request_failure(error) from error
        except UnicodeEncodeError as error:
            message = f"half a character (a lone surrogate) isn't text: {error}"
            raise request_failure(ArgumentsError({name: message})) from error

    server.command(name)(answer)
