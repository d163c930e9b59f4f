"""The workspace's prompts as MCP prompts: listed from their source, rendered by running them."""

from __future__ import annotations

import re
from collections.abc import Mapping

import mcp_types as types

from foldline.agent.folders import Folders
from foldline.agent.mcp.calls import refusal
from foldline.agent.mcp.catalog import CatalogPrompt, Parameter
from foldline.agent.mcp.prompt_needs import CALL_TOOL
from foldline.agent.mcp.prompt_requests import (
    OPEN_CHAPTERS,
    find,
    named_prompt,
    read_request,
    split,
)
from foldline.agent.mcp.prompt_text import own_tools, with_usage
from foldline.backends.formatting.visible import visible
from foldline.backends.parsers.strings import shorten
from foldline.ide.errors import RenderError
from foldline.ide.prompts.actions import RenderPrompt
from foldline.ide.prompts.perform import perform
from foldline.ide.render.render import Render, chapters_shown
from foldline.ide.workspace import Workspace
from foldline.prompts.layout import layout

PAGE = 100
COMPLETIONS = 100
# Of the codes that JSON-RPC leaves to servers: the prompt's code failed, not foldline.
RENDER_FAILED = -32000
REMEDY = "Start the server with `foldline mcp --trust` where you trust its code"
UNTRUSTED = f"Rendering a prompt executes its module, and this workspace is not trusted. {REMEDY}"


class WorkspacePrompts:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def list(self, folders: Folders, cursor: str | None) -> types.ListPromptsResult:
        """One page of the prompts."""
        if cursor is not None and re.fullmatch("[0-9]{1,9}", cursor) is None:
            shown = shorten(repr(cursor), 60)
            raise refusal(
                f"cursor: {shown} is not from a prompts/list answer; leave it out",
                types.INVALID_PARAMS,
            )
        start = int(cursor or 0)
        prompts = await find(folders)
        rest = start + PAGE < len(prompts)
        return types.ListPromptsResult(
            prompts=[_listed(prompt) for prompt in prompts[start : start + PAGE]],
            next_cursor=str(start + PAGE) if rest else None,
        )

    async def get(
        self, folders: Folders, name: str, arguments: Mapping[str, str]
    ) -> types.GetPromptResult:
        """The rendered prompt, with the sections of `open_sections` in full.

        Raises:
            MCPError: There is no such prompt, it may not be executed, or it failed.
        """
        request = await read_request(folders, name, arguments)
        if not self._workspace.settings.trusted:
            raise refusal(_untrusted(request.prompt), kind="untrusted")
        try:
            render = await perform(self._workspace, request.ref, RenderPrompt())
        except RenderError as error:
            raise _failure(error) from error
        text = types.TextContent(text=with_usage(request, render))
        return types.GetPromptResult(
            description=_state(request.prompt, render),
            messages=[types.PromptMessage(role="user", content=text)],
        )

    async def complete(
        self, folders: Folders, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """Prompt arguments as they are typed: the section keys of `open_sections`."""
        values: list[str] = []
        if (
            isinstance(params.ref, types.PromptReference)
            and params.argument.name == layout.OPEN_SECTIONS
        ):
            prompt = named_prompt(await find(folders), params.ref.name)
            before, comma, typed = params.argument.value.rpartition(",")
            chosen = split(before)
            values = [
                f"{before}{comma}{key}"
                for key in prompt.summarized
                if key.startswith(typed.strip()) and key not in chosen
            ]
        return types.CompleteResult(
            completion=types.Completion(
                values=values[:COMPLETIONS], total=len(values), has_more=len(values) > COMPLETIONS
            )
        )


def _listed(prompt: CatalogPrompt) -> types.Prompt:
    sections = ", ".join(
        section.title or section.key for section in prompt.prompt.sections if section.depth == 0
    )
    arguments = [_argument(parameter) for parameter in prompt.parameters]
    if prompt.summarized or not prompt.prompt.complete:
        summarized = f": {shorten(', '.join(prompt.summarized), 300)}" if prompt.summarized else ""
        arguments.append(
            types.PromptArgument(
                name=layout.OPEN_SECTIONS,
                description=f"Keys of sections to show in full, comma-separated{summarized}",
                required=False,
            )
        )
    if keys := ", ".join(one.key for one in prompt.prompt.walk() if one.kind == "chapter"):
        about = f"Keys of chapters to open, which are closed, comma-separated: {shorten(keys, 300)}"
        arguments.append(
            types.PromptArgument(name=OPEN_CHAPTERS, description=about, required=False)
        )
    left_out = ", ".join(one.name for one in prompt.fields if not one.kind)
    no_text = f"; not arguments, as no text gives them: {left_out}" if left_out else ""
    about = shorten(f"{prompt.prompt.name} in {prompt.path}: {sections}", 200)
    return types.Prompt(
        name=prompt.name,
        description=visible(about + shorten(no_text, 200)),
        arguments=arguments,
    )


def _argument(parameter: Parameter) -> types.PromptArgument:
    about = [parameter.description] if parameter.description else []
    if parameter.name != parameter.field:
        about.insert(0, f"the field {parameter.field} of {parameter.type_name}")
    about.append("texts, comma-separated" if parameter.kind == "list" else parameter.annotation)
    if parameter.default not in (None, "None"):
        about.append(f"default {' '.join(parameter.default.split())}")
    return types.PromptArgument(
        name=parameter.name,
        description=shorten("; ".join(about), 160),
        required=parameter.required,
    )


def _untrusted(prompt: CatalogPrompt) -> str:
    """Return why a prompt isn't rendered, and what can be read of it nevertheless."""
    keys = shorten(", ".join(prompt.summarized), 300)
    if not keys:
        return UNTRUSTED
    return f"{UNTRUSTED}. Until then `read_section` shows what the source has of {keys}"


def _state(prompt: CatalogPrompt, render: Render) -> str:
    """Return the status line: sections to open, tools, chapters and made-up values."""
    summarized = [block.key for block in render.blocks if block.is_summarized]
    tools = [tool.name for tool in own_tools(render)]
    parts = [visible(f"{prompt.prompt.name} in {prompt.path}")]
    if summarized:
        parts.append(f"summarized, to be opened by {layout.OPEN_SECTIONS}: {', '.join(summarized)}")
    if tools:
        parts.append(f"its own tools, called by {CALL_TOOL}: {', '.join(tools)}")
    if render.chapters:
        parts.append(f"chapters: {chapters_shown(render.chapters)}")
    if render.generated:
        parts.append(f"made up: {', '.join(render.generated)}")
    return "; ".join(parts)


def _failure(error: RenderError) -> Exception:
    where = f" ({error.file}:{error.line})" if error.file else ""
    code = types.INVALID_PARAMS if error.kind in ("tool", "prompt") else RENDER_FAILED
    near = error.data.get("near")
    return refusal(
        f"{error.message}{where}",
        code,
        kind=error.kind,
        **({"file": error.file, "line": error.line} if error.file else {}),
        **({"near": near} if near else {}),
    )
