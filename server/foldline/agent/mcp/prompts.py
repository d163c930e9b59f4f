"""The workspace's prompts as MCP prompts: listed from their source, rendered by running them."""

from __future__ import annotations

import difflib
import re
from functools import partial
from typing import TYPE_CHECKING

import mcp_types as types

from foldline.agent.mcp.calls import refusal
from foldline.agent.mcp.catalog import find_prompts
from foldline.backends.errors import BackendError
from foldline.backends.formatting.visible import visible
from foldline.backends.waiting import PROMPTS, in_thread
from foldline.ide.errors import RenderError
from foldline.ide.render.execution import execute
from foldline.ide.render.jobs import RENDER, Circumstances, open_sections
from foldline.ide.render.render_options import RenderOptions
from foldline.ide.resolve import PromptTarget

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.agent.folders import Folders
    from foldline.agent.mcp.catalog import CatalogPrompt, Parameter
    from foldline.ide.render.render import Render
    from foldline.ide.workspace import Workspace

OPEN_SECTIONS = "open_sections"
PAGE = 100
COMPLETIONS = 100
# Of the codes that JSON-RPC leaves to servers: the prompt's code failed, not foldline.
RENDER_FAILED = -32000
# The user goes on with this text: what an argument leaves out is for the code.
AS_AUTHORED = Circumstances(with_samples=False)
_PLACEHOLDER = re.compile(r"\$[0-9]{1,3}")
UNTRUSTED = (
    "Rendering a prompt executes its module, and this workspace is not trusted. Start the server "
    "with `foldline mcp --trust` where you trust its code"
)


class WorkspacePrompts:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    async def list(self, folders: Folders, cursor: str | None) -> types.ListPromptsResult:
        """One page of the prompts."""
        if cursor is not None and re.fullmatch("[0-9]{1,9}", cursor) is None:
            shown = _short(repr(cursor), 60)
            raise refusal(
                f"cursor: {shown} is not from a prompts/list answer; leave it out",
                types.INVALID_PARAMS,
            )
        start = int(cursor or 0)
        found = await _find(folders)
        rest = start + PAGE < len(found)
        return types.ListPromptsResult(
            prompts=[_listed(prompt) for prompt in found[start : start + PAGE]],
            next_cursor=str(start + PAGE) if rest else None,
        )

    async def get(
        self, folders: Folders, name: str, arguments: Mapping[str, str]
    ) -> types.GetPromptResult:
        """The rendered prompt, with the sections of `open_sections` in full.

        Raises:
            MCPError: There is no such prompt, it may not be executed, or it failed.
        """
        prompt = _named(await _find(folders), name)
        arguments = _without_placeholders(prompt, arguments)
        params = _params(prompt, arguments)
        if not self._workspace.settings.trusted:
            raise refusal(UNTRUSTED, kind="untrusted")
        keys = _split(arguments.get(OPEN_SECTIONS, ""))
        try:
            render = await self._render(prompt, RenderOptions(params=params), keys)
        except RenderError as error:
            raise _failure(error) from error
        return types.GetPromptResult(
            description=_state(prompt, render),
            messages=[
                types.PromptMessage(role="user", content=types.TextContent(text=render.text))
            ],
        )

    async def _render(
        self, prompt: CatalogPrompt, options: RenderOptions, keys: Sequence[str]
    ) -> Render:
        target = PromptTarget.on_disk(prompt.file, prompt.folder.root, prompt.prompt.name)
        if keys:
            action = open_sections(keys, "Asked for by the argument open_sections")
            return (await execute(self._workspace, target, action, options, AS_AUTHORED)).render
        return await execute(self._workspace, target, RENDER, options, AS_AUTHORED)

    async def complete(
        self, folders: Folders, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        """Prompt arguments as they are typed: the section keys of `open_sections`."""
        values: list[str] = []
        if isinstance(params.ref, types.PromptReference) and params.argument.name == OPEN_SECTIONS:
            prompt = _named(await _find(folders), params.ref.name)
            before, comma, typed = params.argument.value.rpartition(",")
            chosen = _split(before)
            values = [
                f"{before}{comma}{key}"
                for key in prompt.summarised
                if key.startswith(typed.strip()) and key not in chosen
            ]
        return types.CompleteResult(
            completion=types.Completion(
                values=values[:COMPLETIONS], total=len(values), has_more=len(values) > COMPLETIONS
            )
        )


async def _find(folders: Folders) -> tuple[CatalogPrompt, ...]:
    try:
        return await in_thread(partial(find_prompts, folders), PROMPTS)
    except BackendError as error:
        raise refusal(str(error), kind="path") from error


def _named(prompts: Sequence[CatalogPrompt], name: str) -> CatalogPrompt:
    """The prompt of that name; the name of its variable is good too where only one has it."""
    for prompt in prompts:
        if prompt.name == name:
            return prompt
    by_variable = [prompt for prompt in prompts if prompt.prompt.name == name]
    if len(by_variable) == 1:
        return by_variable[0]
    names = [prompt.name for prompt in prompts]
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.4) or names[:3]
    hint = f"did you mean {', '.join(near)}?" if near else "the workspace has none"
    raise refusal(f"There is no prompt {name!r}; {hint}", types.INVALID_PARAMS, near=near)


def _listed(prompt: CatalogPrompt) -> types.Prompt:
    sections = ", ".join(
        section.title or section.key for section in prompt.prompt.sections if section.depth == 0
    )
    arguments = [_argument(parameter) for parameter in prompt.parameters]
    if prompt.summarised or not prompt.prompt.complete:
        known = f": {_short(', '.join(prompt.summarised), 300)}" if prompt.summarised else ""
        arguments.append(
            types.PromptArgument(
                name=OPEN_SECTIONS,
                description=f"Keys of sections to show in full, comma-separated{known}",
                required=False,
            )
        )
    return types.Prompt(
        name=prompt.name,
        description=_short(visible(f"{prompt.prompt.name} in {prompt.path}: {sections}"), 200),
        arguments=arguments,
    )


def _argument(parameter: Parameter) -> types.PromptArgument:
    about = [parameter.description] if parameter.description else []
    about.append("texts, comma-separated" if parameter.kind == "list" else parameter.annotation)
    if parameter.default not in (None, "None"):
        about.append(f"default {' '.join(parameter.default.split())}")
    return types.PromptArgument(
        name=parameter.name,
        description=_short("; ".join(about), 160),
        required=parameter.required,
    )


def _without_placeholders(prompt: CatalogPrompt, arguments: Mapping[str, str]) -> Mapping[str, str]:
    """The arguments but for those that the client means to fill in later and that aren't text.

    Some clients ask with `$1`, `$2` … as values, and put the user's words into the answer.
    """
    others = {OPEN_SECTIONS} | {
        parameter.name
        for parameter in prompt.parameters
        if parameter.kind in ("int", "float", "bool")
    }
    return {
        name: text
        for name, text in arguments.items()
        if name not in others or _PLACEHOLDER.fullmatch(text) is None
    }


def _params(prompt: CatalogPrompt, arguments: Mapping[str, str]) -> dict[str, dict[str, object]]:
    """The arguments as values for fields by dataclass name."""
    known = {parameter.name: parameter for parameter in prompt.parameters}
    params: dict[str, dict[str, object]] = {}
    for name, text in arguments.items():
        if name == OPEN_SECTIONS:
            continue
        if name not in known:
            names = [*known, OPEN_SECTIONS]
            near = difflib.get_close_matches(name, names, n=1) or names
            raise refusal(
                f"{prompt.name} has no argument {name!r}; there is {', '.join(near)}",
                types.INVALID_PARAMS,
                near=near,
            )
        parameter = known[name]
        params.setdefault(parameter.type_name, {})[parameter.field] = _value(parameter, text)
    missing = [
        each.name for each in prompt.parameters if each.required and each.name not in arguments
    ]
    if missing:
        raise refusal(
            f"{prompt.name} needs {', '.join(missing)}", types.INVALID_PARAMS, missing=missing
        )
    return params


def _value(parameter: Parameter, text: str) -> object:
    try:
        match parameter.kind:
            case "int":
                return int(text)
            case "float":
                return float(text)
            case "bool":
                return {"true": True, "false": False}[text.strip().lower()]
            case "list":
                return _split(text)
    except (KeyError, ValueError) as error:
        wanted = "true or false" if parameter.kind == "bool" else parameter.annotation
        raise refusal(
            f"{parameter.name}: {text!r} is not {wanted}", types.INVALID_PARAMS
        ) from error
    return text


def _state(prompt: CatalogPrompt, render: Render) -> str:
    """What is shown, what can be opened, and what is not as the author would have it."""
    summarised = [block.key for block in render.blocks if block.is_summarized]
    tools = [
        tool.name for tool in render.tools if tool.name not in ("open_sections", "read_section")
    ]
    parts = [visible(f"{prompt.prompt.name} in {prompt.path}")]
    if summarised:
        parts.append(f"summarised, to be opened by {OPEN_SECTIONS}: {', '.join(summarised)}")
    if tools:
        parts.append(f"its own tools are not offered here: {', '.join(tools)}")
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


def _split(text: str) -> list[str]:
    return [key.strip() for key in text.split(",") if key.strip()]


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
