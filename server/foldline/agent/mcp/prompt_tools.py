"""MCP tools for the prompts of the workspace: their sections, and the tools of their own.

An instruction file is such a prompt, too; its name is its path.

A prompt's text names `open_sections` and `read_section`. They keep no state here: each call says
which prompt is meant and what is open of it. The tools of all prompts are called by one tool,
because many clients list a server's tools once, before any prompt is chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import partial
from pathlib import PurePath
from typing import Annotated, Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from foldline.agent.folders import Folders
from foldline.agent.mcp.calls import crash, failure, success
from foldline.agent.mcp.prompt_needs import Needs, all_needs
from foldline.agent.mcp.prompt_requests import read_request
from foldline.agent.mcp.prompt_text import opened_text, static_opened_text, static_text, with_usage
from foldline.agent.mcp.prompts import REMEDY
from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.ide.errors import REFUSALS, ArgumentsError, NoPrompt, Untrusted
from foldline.ide.operations.operation import Doc
from foldline.ide.operations.reading import input_schema, read_arguments
from foldline.ide.prompts.action import Action
from foldline.ide.prompts.actions import ACTIONS, OpenSections
from foldline.ide.prompts.arguments import action_of, arguments_of
from foldline.ide.prompts.perform import perform
from foldline.ide.prompts.request import PromptRef, RenderMode, View
from foldline.ide.render.render import OpenedSections, Render, ToolAnswer
from foldline.ide.render.static_disclosure import StaticText
from foldline.ide.workspace import Workspace
from foldline.records import record


@record(kw_only=True)
class PromptSubject:
    """The arguments that every tool for prompts takes."""

    prompt: Annotated[str, Doc("the prompt's name, or an instruction file's path")]
    arguments: Annotated[
        dict[str, object] | None, Doc("the prompt's arguments", tool="the prompt's")
    ] = None
    open: Annotated[tuple[str, ...], Doc("what is open already", tool="keys opened before")] = ()


class PromptTools:
    """The actions for models on the prompts of a workspace, or those that run nothing."""

    def __init__(
        self,
        workspace: Workspace,
        actions: Iterable[type[Action[Any]]] = ACTIONS,
        *,
        only_safe: bool = False,
    ) -> None:
        self._workspace = workspace
        self._actions = {
            action.names.snake: action
            for action in actions
            if action.names.description and (action.names.safe or not only_safe)
        }
        self._arguments = {
            name: arguments_of(
                action, PromptSubject, ("prompt", "arguments", "open"), for_models=True
            )
            for name, action in self._actions.items()
        }

    @property
    def listed(self) -> tuple[types.Tool, ...]:
        """All tools that a workspace may need."""
        return self.needed(all_needs(trusted=self._workspace.settings.trusted))

    def needed(self, needs: Needs) -> tuple[types.Tool, ...]:
        """Return the tools that prompts with these needs name."""
        return tuple(
            types.Tool(
                name=name,
                description=action.names.description,
                input_schema=input_schema(self._arguments[name]),
                annotations=types.ToolAnnotations(
                    read_only_hint=action.names.safe,
                    open_world_hint=False if action.names.safe else None,
                ),
            )
            for name, action in self._actions.items()
            if not action.names.of_sets and needs.has(name, safe=action.names.safe)
        )

    def has(self, name: str) -> bool:
        """Return True for the name of one of these tools, whether it's listed or not."""
        return name in self._actions

    async def call(
        self, name: str, folders: Folders, arguments: Mapping[str, object]
    ) -> types.CallToolResult:
        """Run a tool call, and return its result or its failure."""
        try:
            return await self._perform(name, folders, arguments)
        except Untrusted as error:
            return failure(f"{error}. {REMEDY}")
        except ArgumentsError as error:
            return failure(f"{name}: {error}")
        except (*REFUSALS, MCPError) as error:
            return failure(str(error) if isinstance(error, REFUSALS) else error.message)
        except Exception as error:
            return crash(name, arguments, error)

    async def _perform(
        self, name: str, folders: Folders, values: Mapping[str, object]
    ) -> types.CallToolResult:
        arguments = read_arguments(self._arguments[name], values, from_model=True)
        by_name = {one.name: getattr(arguments, one.name) for one in fields(arguments)}
        action = action_of(self._actions[name], by_name)
        prompt, opened, request = arguments.prompt, arguments.open, None
        if PurePath(prompt).suffix in (".md", ".mdc"):
            ref = await in_thread(partial(self._instruction_file, folders, prompt, opened), PROMPTS)
        else:
            texts = _texts(arguments.arguments or {})
            complete = not self._actions[name].names.of_sets
            request = await read_request(folders, prompt, texts, opened, complete=complete)
            ref = request.ref
        answer = await perform(self._workspace, ref, action)
        match answer:
            case StaticText() if isinstance(action, OpenSections):
                keys, reason = action.section_keys, action.reason
                return success(static_opened_text(ref.view.opened, answer, keys, reason, REMEDY))
            case StaticText():
                return success(static_text(answer, REMEDY))
            case OpenedSections():
                return success(opened_text(ref.view.opened, answer))
            case ToolAnswer(opened=OpenedSections() as sections):
                return success(opened_text(ref.view.opened, sections))
            case ToolAnswer(success=False):
                return failure(answer.text)
            case ToolAnswer():
                return success(answer.text, answer.summary, answer.priority)
            case Render() if request is not None:
                return success(with_usage(request, answer))
        return success(answer.text)

    def _instruction_file(self, folders: Folders, path: str, opened: tuple[str, ...]) -> PromptRef:
        """Return an instruction file by its path; `PathError` for none, `NoPrompt` for others."""
        location = folders.locate(path)
        with location.folder.errors():
            backend = location.folder.access.file_backend
            name = backend.resolve(location.path)
            source = backend.load(name)
        file = location.folder.root / name
        if not self._workspace.folder(file).instructs(file):
            raise NoPrompt(f"{path} isn't an instruction file: `read_symbol` reads its headings")
        # What a link leads to was checked when this text was read.
        view, texts = View(opened=opened), {str(file): source.text}
        mode = RenderMode(for_model=True, costs=False, texts=texts)
        return PromptRef(file=file, root=location.folder.root, view=view, mode=mode)


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
