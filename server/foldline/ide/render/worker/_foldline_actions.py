"""The actions on a prompt, carried out with the user's own foldline."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from types import ModuleType
from typing import Any

import _foldline_chapters
import _foldline_job
import _foldline_parameters
import _foldline_values
from _foldline_failures import RequestError, describe
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
    """Carry out `request` on a prompt of `module`, and return the answer."""
    session = _Session(module, request)
    try:
        answer = ACTIONS[request["action"]](session, request)
    except ToolValidationError as error:
        raise RequestError("tool", str(error), near=list(error.near)) from error
    return {**session.metadata(), **answer}


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

    def metadata(self) -> dict[str, object]:
        """Return the prompt's name, parameter values and chapters, for every answer."""
        return {
            "name": self.name,
            "generated": self.values.generated,
            "parameter_set": self.values.chosen,
            "parameter_sets": [parameters.description() for parameters in self.values.sets],
            "parameters": _foldline_parameters.describe(self.values),
            "chapters": self.chapters,
        }

    def render(self, overrides: Overrides | None = None) -> RenderedPrompt[Any]:
        """Render the prompt; if the request is tolerant, failed sections go into `errors`."""
        self.errors = {}
        try:
            return self.prompt.render(
                *self.values.bound.values(),
                visibility_overrides={**self.overrides, **(overrides or {})},
                on_error=self._record_error if self._request.get("tolerant") else None,
            )
        except PromptValidationError as error:
            raise RequestError("prompt", str(error), near=list(error.near)) from error

    def instruct(self, instructions: str | None) -> None:
        """Give every task of the prompt its expansion instructions, as an agent loop does."""
        for value in (*self.prompt.params, *self.values.bound.values()):
            if isinstance(value, Task):
                self.values.bound[type(value)] = replace(value, expansion_instructions=instructions)

    def _record_error(self, path: Path, error: PromptError) -> str:
        failure = describe(error, self._request)
        if failure["line"] is None:
            # The whole section failed, and the server knows its location.
            failure |= {"message": str(error), "file": None}
        self.errors[path] = failure
        return f"[not rendered: {failure['message']}]"

    def _read_overrides(self, overrides: dict[str, str]) -> Overrides:
        read: Overrides = {}
        for key, visibility in overrides.items():
            if visibility not in SectionVisibility.__members__:
                raise RequestError(
                    "prompt", f"overrides: {key}: {visibility!r} is neither FULL nor SUMMARY"
                )
            # An unknown key is passed on: the library's error suggests near names.
            read[self.paths.get(key, (key,))] = SectionVisibility[visibility]
        return read


def _render(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    if request.get("instructions") is not None:
        session.instruct(request["instructions"])
    return _render_result(session, session.render())


def _open(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    rendered = session.render()
    keys = tuple(request["section_keys"]) or tuple(_summarized(rendered))
    expansion = _expansion(session, rendered, keys, request["reason"])
    session.instruct(expansion.expansion_instructions)
    opened = dict(expansion.requested_overrides)
    return {
        "requested_overrides": {".".join(path): value.name for path, value in opened.items()},
        "section_keys": expansion.section_keys,
        "reason": expansion.reason,
        "expansion_instructions": expansion.expansion_instructions,
        "render": {**session.metadata(), **_render_result(session, session.render(opened))},
    }


def _read(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    rendered = session.render()
    key = request["section_key"] or _first_summarized(rendered)
    # Validated by the tool that a model would call; both tools show the same text.
    _expansion(session, rendered, (key,), "Read in the editor")
    return {"section_key": key, "text": rendered.if_opened(session.paths[key])}


def _summary(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    rendered = session.render()
    key = request["section_key"] or _first_summarized(rendered)
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
    """Return the expansion that opening the sections `keys` requests."""
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
            # A model can only read these; a person may see the prompt with them open.
            paths = [session.paths[key] for key in keys]
            folded = {block.path for block in rendered.blocks if _is_summarized(block)} | set(paths)
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
    raise RequestError("tool", "No section is summarized: there is nothing to open", near=[])


def _find_prompt(module: ModuleType, name: str | None) -> tuple[str, Prompt[Any]]:
    """Return the prompt in the variable `name` (or with that `ns/key`), or the module's first."""
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
    """Yield `(dotted key, path)` for each section."""
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
    """Return the text of a summarized block once opened; None for others, or if it fails."""
    if _is_summarized(block):
        # A section that can't be shown open can still be shown folded.
        with contextlib.suppress(PromptError):
            return rendered.if_opened(block.path)
    return None


def _block(block: Block) -> dict[str, object]:
    return {
        # Keys contain no slashes.
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


def _is_summarized(block: Block) -> bool:
    return block.enabled and block.visibility is SectionVisibility.SUMMARY


def _summarized(rendered: RenderedPrompt[Any]) -> list[str]:
    return [block.dotted_key for block in rendered.blocks if _is_summarized(block)]


def _first_summarized(rendered: RenderedPrompt[Any]) -> str:
    keys = _summarized(rendered)
    if not keys:
        raise RequestError("tool", "No section is summarized", near=[])
    return keys[0]


def _size(text: str) -> int:
    """The size of `text` in UTF-8 bytes."""
    return len(text.encode("utf-8", "replace"))
