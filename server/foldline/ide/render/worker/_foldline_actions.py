"""The actions on a prompt, carried out with the user's own foldline."""

import copy
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any

import _foldline_chapters
import _foldline_fixtures
import _foldline_job
import _foldline_openings
import _foldline_parameters
import _foldline_values
from _foldline_failures import RequestError, describe
from foldline.prompts import (
    Block,
    OverridesStore,
    Prompt,
    PromptTemplate,
    RenderedPrompt,
    Section,
    SectionVisibility,
    ToolContext,
)
from foldline.prompts.adapters.providers import SDK_ADAPTERS, sdk_adapter
from foldline.prompts.cache.cache_plan import BlockStability
from foldline.prompts.descriptor import PromptDescriptor, text_hash
from foldline.prompts.disclosure.disclosure import requested_expansion
from foldline.prompts.disclosure.retry import with_instructions
from foldline.prompts.errors import (
    PromptError,
    PromptValidationError,
    ToolValidationError,
    VisibilityExpansionRequired,
)
from foldline.prompts.forms.fields import declared_fields
from foldline.prompts.runtime.dispatch import ToolCall, dispatch_tool_calls, tool_text

Path = tuple[str, ...]
Overrides = dict[Path, SectionVisibility]


def perform(module: ModuleType, request: _foldline_job.Request) -> dict[str, object]:
    """Carry out `request` on a prompt of `module`, and return the answer."""
    if request["action"] == "sets":
        # Values that can't be made keep no set from being known.
        name, prompt = _find_prompt(module, request["name"])
        sets = _foldline_fixtures.Fixtures(module, name, prompt, request).sets
        return {"name": name, "parameter_sets": [one.description() for one in sets]}
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
        if request.get("tag"):
            self.prompt = copy.copy(self.prompt).bind(
                overrides=OverridesStore(request["root"]), tag=request["tag"]
            )
        self.values = _foldline_values.values_for(module, self.name, self.prompt, request)
        self.prompt, self.chapters = _foldline_chapters.open_chapters(
            self.prompt, self.values, request.get("chapters")
        )
        keys = [str(chapter["key"]) for chapter in self.chapters]
        unknown = [key for key in request.get("chapters") or () if key not in keys]
        # A preview goes on when an edit removes a chapter.
        if unknown and not request.get("tolerant"):
            message = f"there is no chapter {unknown[0]!r}; there is {', '.join(keys) or 'none'}"
            raise RequestError("prompt", message, near=keys)
        self.paths = dict(_paths(self.prompt.template.sections))
        self.overrides = self._read_overrides(request["overrides"])
        self.errors: dict[Path, dict[str, object]] = {}
        self.reason = request.get("opening_reason", "")
        self.instructions: str | None = None
        self.is_compared = request.get("compared", False)
        self._request = request

    @property
    def bound(self) -> Prompt[Any]:
        """The prompt with its values; tasks have the expansion instructions."""
        prompt = self.values.bind(self.prompt)
        return prompt if self.instructions is None else with_instructions(prompt, self.instructions)

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

    def render(self) -> RenderedPrompt[Any]:
        """Render the prompt; if the request is tolerant, failed sections go into `errors`."""
        self.errors = {}
        try:
            rendered = self.bound.render(
                visibility_overrides=self.overrides,
                on_error=self._record_error if self._request.get("tolerant") else None,
            )
        except PromptValidationError as error:
            raise RequestError("prompt", str(error), near=list(error.near)) from error
        for issue in rendered.override_issues if self._request.get("tag") else ():
            refused = PromptValidationError(f"the override {issue.tag}: {issue.reason}")
            if issue.what not in self.paths or not self._request.get("tolerant"):
                raise RequestError("prompt", f"{issue.what}: {refused}", near=[])
            self._record_error(self.paths[issue.what], refused)
        return rendered

    def apply(self, expansion: VisibilityExpansionRequired) -> None:
        """Show the sections that a request opens from now on, as an agent loop does."""
        self.overrides = {**self.overrides, **expansion.requested_overrides}
        self.instructions = expansion.expansion_instructions

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
    session.instructions = request.get("instructions")
    return _render_result(session, session.render())


def _open(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    rendered = _render_opened(session, request)
    keys = request["section_keys"]
    if keys is None:
        keys = _summarized(rendered)
    return _opened(session, rendered, requested_expansion(rendered, tuple(keys), request["reason"]))


def _read(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    rendered = _render_opened(session, request)
    key = _section_key(rendered, request)
    # Both tools show the same text.
    requested_expansion(rendered, (key,), "")
    return {"section_key": key, "text": rendered.if_opened(session.paths[key])}


def _call(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    rendered = _render_opened(session, request)
    call = ToolCall("call", request["tool"], request["input"] or {})
    try:
        (outcome,) = dispatch_tool_calls(
            [call], rendered.tools, context=ToolContext(prompt=session.bound, rendered=rendered)
        )
    except VisibilityExpansionRequired as expansion:
        opened = _opened(session, rendered, expansion)
        return {"text": "", "success": True, "opened": {**session.metadata(), **opened}}
    result = outcome.result
    return {
        "text": tool_text(result),
        "success": bool(result.success),
        "summary": result.summary,
        "priority": result.priority,
        "opened": None,
    }


def _summary(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    rendered = session.render()
    key = _section_key(rendered, request)
    requested_expansion(rendered, (key,), "")
    path = session.paths[key]
    if all(block.path != path for block in rendered.blocks):
        # A folded section around it hides its summary.
        around = {path[:depth]: SectionVisibility.FULL for depth in range(1, len(path))}
        session.overrides = {**session.overrides, **around}
        rendered = session.render()
    text = next((block.text.rstrip("\n") for block in rendered.blocks if block.path == path), "")
    return {
        "section_key": key,
        "text": text,
        "size": _size(text),
        "size_if_opened": _size(rendered.if_opened(path)),
    }


def _body(session: _Session, request: _foldline_job.Request) -> dict[str, object]:
    name = request["provider"]
    # Nothing is sent, so that no client is needed.
    adapter = sdk_adapter(name)(request["model"], client=object())
    try:
        return {"body": adapter.request(_render_opened(session, request), loop=request["loop"])}
    except ModuleNotFoundError as error:
        message = f"{SDK_ADAPTERS[name]} needs the package {error.name!r}: install foldline[{name}]"
        raise RequestError("prompt", message) from error


ACTIONS: dict[str, Callable[[_Session, _foldline_job.Request], dict[str, object]]] = {
    "body": _body,
    "call_prompt_tool": _call,
    "open_sections": _open,
    "read_section": _read,
    "render": _render,
    "summary": _summary,
}


def _render_opened(session: _Session, request: _foldline_job.Request) -> RenderedPrompt[Any]:
    """Render the prompt with the sections open that were opened before this request."""
    rendered = session.render()
    before = tuple(request.get("opened") or ())
    if not before:
        return rendered
    session.apply(requested_expansion(rendered, before, "Asked for"))
    return session.render()


def _opened(
    session: _Session, rendered: RenderedPrompt[Any], expansion: VisibilityExpansionRequired
) -> dict[str, object]:
    """Return what the request to open sections of `rendered` asks for, and the prompt after it."""
    session.apply(expansion)
    after = session.render()
    tool_names = {tool.name for tool in rendered.tools}
    return {
        "requested_overrides": {
            ".".join(path): value.name for path, value in expansion.requested_overrides.items()
        },
        "section_keys": tuple(expansion.section_keys),
        "reason": expansion.reason,
        "expansion_instructions": expansion.expansion_instructions,
        "new_tools": [tool.name for tool in after.tools if tool.name not in tool_names],
        "render": {**session.metadata(), **_render_result(session, after)},
    }


def _section_key(rendered: RenderedPrompt[Any], request: _foldline_job.Request) -> str:
    """Return the key that the request names, or else that of the first summarized section."""
    if (key := request["section_key"]) is not None:
        return key
    if not (keys := _summarized(rendered)):
        raise RequestError("tool", "No section is summarized", near=[])
    return keys[0]


def _find_prompt(module: ModuleType, name: str | None) -> tuple[str, Prompt[Any]]:
    """Return the prompt in the variable `name` (or with that `ns/key`), or the module's first."""
    prompts = {
        variable: value
        for variable, value in vars(module).items()
        if isinstance(value, (Prompt, PromptTemplate))
    }
    if not prompts:
        raise RequestError(
            "no_prompt",
            f"{module.__name__} holds no prompt template: put one of a function, a list or a class "
            "into a variable of the module; `foldline adopt FILE` makes a prompt of a string or a "
            "Jinja template, `foldline new PATH` writes one to begin with",
            near=[],
        )
    name = name or next(iter(prompts))
    by_key = {f"{value.ns}/{value.key}": variable for variable, value in prompts.items()}
    variable = by_key.get(name, name)
    if variable not in prompts:
        raise RequestError(
            "no_prompt",
            f"{module.__name__} has no prompt {name!r}; it has {', '.join(prompts)}",
            near=list(prompts),
        )
    value = prompts[variable]
    return variable, value if isinstance(value, Prompt) else Prompt(value)


def _paths(sections: Iterable[Section[object]], parent: Path = ()) -> Iterator[tuple[str, Path]]:
    """Yield `(dotted key, path)` for each section."""
    for section in sections:
        path = (*parent, section.key)
        yield ".".join(path), path
        yield from _paths(section.children, path)


def _render_result(session: _Session, rendered: RenderedPrompt[Any]) -> dict[str, object]:
    output, descriptor = rendered.structured_output, rendered.descriptor
    openings = _foldline_openings.Openings(
        rendered,
        session.reason,
        session.errors,
        lambda block: _block(block, rendered.stability_of(block)),
    )
    return {
        "text": rendered.text,
        "blocks": [
            {
                **_block(block, rendered.stability_of(block)),
                "opening": openings.opening(index),
                "error": session.errors.get(block.path),
            }
            for index, block in enumerate(rendered.blocks)
        ],
        "tools": [
            {
                **_foldline_openings.tool_json(tool, rendered),
                "parameters": {
                    field.name: field.metadata.get("description") or ""
                    for field in (declared_fields(tool.params_type) if tool.params_type else ())
                },
            }
            for tool in rendered.tools
        ],
        "tools_stability": openings.stability(),
        "fits": [] if session.errors else openings.fits(),
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
            "texts": _texts(descriptor) if session.is_compared else {},
        },
    }


def _texts(descriptor: PromptDescriptor) -> dict[str, str]:
    """Return the hash of each section's text and tools."""
    parts = {section.path: [section.text_hash] for section in descriptor.sections}
    for tool in descriptor.tools:
        parts.setdefault(tool.section_path, []).append(tool.text_hash)
    return {".".join(path): text_hash(repr(hashes))[:8] for path, hashes in parts.items()}


def _block(block: Block, stability: BlockStability) -> dict[str, object]:
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
        "role": block.role.value,
        "text": block.text,
        "segments": [
            {
                "kind": segment.kind.value,
                "text": segment.text,
                "field": segment.field,
                "stability": of_segment.name.lower(),
            }
            for segment, of_segment in zip(block.segments, stability.segments, strict=True)
        ],
        "stability": stability.presence.name.lower(),
    }


def _summarized(rendered: RenderedPrompt[Any]) -> list[str]:
    summary = SectionVisibility.SUMMARY
    blocks = (one for one in rendered.blocks if one.enabled and one.visibility is summary)
    return [block.dotted_key for block in blocks]


def _size(text: str) -> int:
    """The size of `text` in UTF-8 bytes."""
    return len(text.encode("utf-8", "replace"))
