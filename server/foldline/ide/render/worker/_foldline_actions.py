"""What can be asked of a prompt, answered by the user's own foldline."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from types import ModuleType
from typing import Any

import _foldline_chapters
import _foldline_job
import _foldline_parameters
import _foldline_values
from _foldline_failures import RequestError, about
from foldline.prompts import (
    Block,
    OpenSectionsParams,
    Prompt,
    PromptTemplate,
    ReadSectionParams,
    RenderedPrompt,
    Section,
    SectionVisibility,
    Task,
    ToolContext,
)
from foldline.prompts.errors import (
    PromptError,
    PromptValidationError,
    ToolValidationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.tool_calls import parameters_schema

Path = tuple[str, ...]
Overrides = dict[Path, SectionVisibility]


def perform(module: ModuleType, request: _foldline_job.Request) -> dict[str, object]:
    """The answer to `request` about a prompt of `module`."""
    session = _Session(module, request)
    try:
        answer = ACTIONS[request["action"]](session, request)
    except ToolValidationError as error:
        raise RequestError("tool", str(error), near=list(error.near)) from error
    return {**session.told(), **answer}


class _Session:
    """A prompt with its parameters and the overrides that apply."""

    def __init__(self, module: ModuleType, request: _foldline_job.Request) -> None:
        self.name, self.prompt = _find_prompt(module, request["name"])
        self.values = _foldline_values.values_for(module, self.name, self.prompt, request)
        self.prompt, self.chapters = _foldline_chapters.open_chapters(
            self.prompt, self.values.bound, request.get("chapters") or ()
        )
        self.paths = dict(_paths(self.prompt.template.sections))
        self.overrides = self._read_overrides(request["overrides"])
        self.errors: dict[Path, dict[str, object]] = {}
        self._request = request

    def told(self) -> dict[str, object]:
        """Which prompt this is, with which values."""
        return {
            "name": self.name,
            "generated": self.values.generated,
            "parameter_set": self.values.chosen,
            "parameter_sets": [parameters.described() for parameters in self.values.sets],
            "parameters": _foldline_parameters.described(self.values),
            "chapters": self.chapters,
        }

    def render(self, overrides: Overrides | None = None) -> RenderedPrompt[Any]:
        """The prompt; where the request is tolerant, with what its `errors` say of sections."""
        self.errors = {}
        try:
            return self.prompt.render(
                *self.values.bound.values(),
                visibility_overrides={**self.overrides, **(overrides or {})},
                on_error=self._take_error if self._request.get("tolerant") else None,
            )
        except PromptValidationError as error:
            raise RequestError("prompt", str(error), near=list(error.near)) from error

    def instruct(self, instructions: str | None) -> None:
        """Tell every task of the prompt how to go on, as the loop around a model does."""
        for value in (*self.prompt.params, *self.values.bound.values()):
            if isinstance(value, Task):
                self.values.bound[type(value)] = replace(value, expansion_instructions=instructions)

    def _take_error(self, path: Path, error: PromptError) -> str:
        told = about(error, self._request)
        if told["line"] is None:
            # It is the section as a whole, and the server knows where that stands.
            told |= {"message": str(error), "file": None}
        self.errors[path] = told
        return f"[not rendered: {told['message']}]"

    def _read_overrides(self, overrides: dict[str, str]) -> Overrides:
        read: Overrides = {}
        for key, visibility in overrides.items():
            if visibility not in SectionVisibility.__members__:
                raise RequestError(
                    "prompt", f"overrides: {key}: {visibility!r} is neither FULL nor SUMMARY"
                )
            # A key that names nothing goes on as it is: the library knows the near names.
            read[self.paths.get(key, (key,))] = SectionVisibility[visibility]
        return read


def _render(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    if request.get("instructions") is not None:
        session.instruct(request["instructions"])
    return _render_result(session, session.render())


def _open(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    rendered = session.render()
    keys = tuple(request["section_keys"]) or tuple(_summarised(rendered))
    expansion = _expansion(session, rendered, keys, request["reason"])
    session.instruct(expansion.expansion_instructions)
    opened = dict(expansion.requested_overrides)
    return {
        "requested_overrides": {".".join(path): value.name for path, value in opened.items()},
        "section_keys": expansion.section_keys,
        "reason": expansion.reason,
        "expansion_instructions": expansion.expansion_instructions,
        "render": {**session.told(), **_render_result(session, session.render(opened))},
    }


def _read(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    rendered = session.render()
    key = request["section_key"] or _first_summarised(rendered)
    # Validated by the tool that a model would call; both of them show the same text.
    _expansion(session, rendered, (key,), "Read in the editor")
    return {"section_key": key, "text": rendered.if_opened(session.paths[key])}


def _summary(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    rendered = session.render()
    key = request["section_key"] or _first_summarised(rendered)
    _expansion(session, rendered, (key,), "Asked for its size")
    path = session.paths[key]
    text = next((block.text.rstrip("\n") for block in rendered.blocks if block.path == path), "")
    return {
        "section_key": key,
        "text": text,
        "size": _size(text),
        "size_if_opened": _size(rendered.if_opened(path)),
    }


ACTIONS: dict[str, Callable[[_Session, _foldline_job.Request], dict[str, object]]] = {
    "open": _open,
    "read": _read,
    "render": _render,
    "summary": _summary,
}


def _expansion(
    session: _Session, rendered: RenderedPrompt[Any], keys: tuple[str, ...], reason: str
) -> VisibilityExpansionRequired:
    """What is asked for when a model, or else a person, opens the sections `keys`."""
    context = ToolContext(prompt=session.prompt, rendered=rendered)
    for tool in rendered.tools:
        if tool.name == "open_sections":
            try:
                tool.handler(OpenSectionsParams(keys, reason), context=context)
            except VisibilityExpansionRequired as expansion:
                return expansion
        if tool.name == "read_section":
            for key in keys:
                tool.handler(ReadSectionParams(key), context=context)
            # A model could only read them; a person may see the prompt with them open.
            paths = [session.paths[key] for key in keys]
            folded = {block.path for block in rendered.blocks if _is_summarised(block)} | set(paths)
            return VisibilityExpansionRequired(
                requested_overrides={
                    path[:end]: SectionVisibility.FULL
                    for path in paths
                    for end in range(1, len(path) + 1)
                    if path[:end] in folded
                },
                reason=reason,
                section_keys=keys,
            )
    raise RequestError("tool", "No section is summarised: there is nothing to open", near=[])


def _find_prompt(module: ModuleType, name: str | None) -> tuple[str, Prompt[Any]]:
    """The prompt that the variable `name` holds, or the module's first."""
    found = {
        variable: value
        for variable, value in vars(module).items()
        if isinstance(value, (Prompt, PromptTemplate))
    }
    if not found:
        raise RequestError("no_prompt", f"{module.__name__} holds no prompt template", near=[])
    name = name or next(iter(found))
    by_key = {f"{value.ns}/{value.key}": variable for variable, value in found.items()}
    variable = by_key.get(name, name)
    if variable not in found:
        raise RequestError(
            "no_prompt",
            f"{module.__name__} has no prompt {name!r}; it has {', '.join(found)}",
            near=list(found),
        )
    value = found[variable]
    return variable, value if isinstance(value, Prompt) else Prompt(value)


def _paths(sections: Iterable[Section[object]], parent: Path = ()) -> Iterator[tuple[str, Path]]:
    """The path of each section by its dotted key."""
    for section in sections:
        path = (*parent, section.key)
        yield ".".join(path), path
        yield from _paths(section.children, path)


def _render_result(session: _Session, rendered: RenderedPrompt[Any]) -> dict[str, object]:
    output, descriptor = rendered.structured_output, rendered.descriptor
    described = rendered.tool_param_descriptions
    return {
        "text": rendered.text,
        "blocks": [
            {
                **_block(block),
                "opened_text": _opened_text(rendered, block),
                "error": session.errors.get(block.path),
            }
            for block in rendered.blocks
        ],
        "tools": [
            {
                "name": tool.name,
                "description": tool.description,
                "parameters": {
                    field.name: field.metadata.get("description", "")
                    for field in (fields(tool.params_type) if tool.params_type else ())
                },
                "schema": parameters_schema(tool, described.get(tool.name)),
            }
            for tool in rendered.tools
        ],
        "output": output
        and {
            "type": output.output_type.__name__,
            "container": output.container,
            "schema": output.schema,
        },
        "descriptor": descriptor
        and {
            "ns": descriptor.ns,
            "key": descriptor.key,
            "name": descriptor.name,
            "content_hash": descriptor.content_hash,
        },
    }


def _opened_text(rendered: RenderedPrompt[Any], block: Block) -> str | None:
    """What a summary would be if it were opened; None for others, and where that fails."""
    if _is_summarised(block):
        # A section that cannot be shown open is no reason not to show it folded.
        with contextlib.suppress(PromptError):
            return rendered.if_opened(block.path)
    return None


def _block(block: Block) -> dict[str, object]:
    return {
        # No key holds a slash.
        "id": "/".join(block.path),
        "path": block.path,
        "key": block.dotted_key,
        "number": block.number,
        "title": block.title,
        "depth": block.depth,
        "visibility": block.visibility.name,
        "enabled": block.enabled,
        "span": [block.span.start, block.span.end],
        "text": block.text,
        "segments": [
            {"kind": segment.kind.value, "text": segment.text, "field": segment.field}
            for segment in block.segments
        ],
    }


def _is_summarised(block: Block) -> bool:
    return block.enabled and block.visibility is SectionVisibility.SUMMARY


def _summarised(rendered: RenderedPrompt[Any]) -> list[str]:
    return [block.dotted_key for block in rendered.blocks if _is_summarised(block)]


def _first_summarised(rendered: RenderedPrompt[Any]) -> str:
    keys = _summarised(rendered)
    if not keys:
        raise RequestError("tool", "No section is summarised", near=[])
    return keys[0]


def _size(text: str) -> int:
    """The size of `text` in UTF-8 bytes."""
    return len(text.encode("utf-8", "replace"))
