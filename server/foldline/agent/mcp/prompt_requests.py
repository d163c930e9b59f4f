"""Requests about prompts: a prompt's name, its arguments as texts, and what is open of it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial

import mcp_types as types

from foldline.agent.folders import Folders
from foldline.agent.mcp.calls import refusal
from foldline.agent.mcp.catalog import CatalogPrompt, Parameter, find_prompts
from foldline.backends.base.near_names import near_names
from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.backends.errors import BackendError
from foldline.ide.prompts.request import PromptRef, RenderMode, View
from foldline.prompts.layout import layout
from foldline.records import record

OPEN_CHAPTERS = "open_chapters"
_PLACEHOLDER = re.compile(r"\$[0-9]{1,3}")


@record
class PromptRequest:
    """A prompt and how it's rendered.

    Attributes:
        arguments: As the client gave them.
        ref: The prompt in its file on disk, with the arguments as values for fields.
    """

    prompt: CatalogPrompt
    arguments: Mapping[str, str]
    ref: PromptRef


async def read_request(
    folders: Folders,
    name: str,
    arguments: Mapping[str, str],
    opened: Sequence[str] = (),
    *,
    complete: bool = True,
) -> PromptRequest:
    """Return the request for the prompt called `name`; its arguments may say what is open, too.

    Unless they have to be `complete`, parameter sets give the others.

    Raises:
        MCPError: There is no such prompt, or its arguments don't fit.
    """
    prompt = named_prompt(await find(folders), name)
    usable = _without_placeholders(prompt, arguments)
    before = (*split(usable.get(layout.OPEN_SECTIONS, "")), *opened)
    view = View(
        params=_params(prompt, usable, complete=complete),
        chapters=frozenset(split(usable.get(OPEN_CHAPTERS, ""))),
        opened=tuple(dict.fromkeys(before)),
        reason="Asked for by the argument open_sections",
    )
    ref = PromptRef(
        file=prompt.file,
        root=prompt.folder.root,
        name=prompt.prompt.name,
        view=view,
        mode=RenderMode(for_model=True, fallback=True, costs=False),
    )
    return PromptRequest(prompt, arguments, ref)


async def find(folders: Folders) -> tuple[CatalogPrompt, ...]:
    """Return the prompts of all folders.

    Raises:
        MCPError: A folder can't be read.
    """
    try:
        return await in_thread(partial(find_prompts, folders), PROMPTS)
    except BackendError as error:
        raise refusal(str(error), kind="path") from error


def named_prompt(prompts: Sequence[CatalogPrompt], name: str) -> CatalogPrompt:
    """The prompt of that name; the name of its variable is good too where only one has it."""
    for prompt in prompts:
        if prompt.name == name:
            return prompt
    by_variable = [prompt for prompt in prompts if prompt.prompt.name == name]
    if len(by_variable) == 1:
        return by_variable[0]
    names = [prompt.name for prompt in prompts]
    near = near_names(name, names) or names[:3]
    hint = f"did you mean {', '.join(near)}?" if near else "the workspace has none"
    raise refusal(f"There is no prompt {name!r}; {hint}", types.INVALID_PARAMS, near=near)


def _without_placeholders(prompt: CatalogPrompt, arguments: Mapping[str, str]) -> Mapping[str, str]:
    """The arguments but for those that the client means to fill in later and that aren't text.

    Some clients ask with `$1`, `$2` … as values, and put the user's words into the answer.
    """
    others = {layout.OPEN_SECTIONS, OPEN_CHAPTERS} | {
        parameter.name
        for parameter in prompt.parameters
        if parameter.kind in ("int", "float", "bool") or "Literal[" in parameter.annotation
    }
    return {
        name: text
        for name, text in arguments.items()
        if name not in others or _PLACEHOLDER.fullmatch(text) is None
    }


def _params(
    prompt: CatalogPrompt, arguments: Mapping[str, str], *, complete: bool
) -> dict[str, dict[str, object]]:
    """The arguments as values for fields by dataclass name."""
    parameters = {parameter.name: parameter for parameter in prompt.parameters}
    params: dict[str, dict[str, object]] = {}
    for name, text in arguments.items():
        if name in (layout.OPEN_SECTIONS, OPEN_CHAPTERS):
            continue
        if name not in parameters:
            names = [*parameters, layout.OPEN_SECTIONS]
            near = near_names(name, names) or names
            raise refusal(
                f"{prompt.name} has no argument {name!r}; there is {', '.join(near)}",
                types.INVALID_PARAMS,
                near=near,
            )
        parameter = parameters[name]
        params.setdefault(parameter.type_name, {})[parameter.field] = _value(parameter, text)
    missing = [
        parameter.name
        for parameter in prompt.parameters
        if complete and parameter.required and parameter.name not in arguments
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
                return split(text)
    except (KeyError, ValueError) as error:
        wanted = "true or false" if parameter.kind == "bool" else parameter.annotation
        raise refusal(
            f"{parameter.name}: {text!r} is not {wanted}", types.INVALID_PARAMS
        ) from error
    return text


def split(text: str) -> list[str]:
    """Return the comma-separated texts in `text`."""
    return [key.strip() for key in text.split(",") if key.strip()]
