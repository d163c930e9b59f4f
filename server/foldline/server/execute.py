"""What the commands ask of a prompt that is run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.waiting import in_thread
from foldline.ide.errors import Untrusted
from foldline.ide.render import jobs
from foldline.ide.render.interpreter import find_interpreter
from foldline.ide.render.jobs import RENDER, RenderRequest, build_job
from foldline.ide.render.render import Location, Position, Range
from foldline.ide.render.render_options import RenderOptions
from foldline.ide.render.token_costs import with_costs
from foldline.ide.structuring import unstructure
from foldline.server.client_configuration import report
from foldline.server.prompt_index import ask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.ide.analysis.model import SourceSpan
    from foldline.ide.render.interpreter import Interpreter
    from foldline.ide.render.jobs import Action
    from foldline.ide.render.render import AnswerT, OpenedSections, Render
    from foldline.server.prompt_index import Asked
    from foldline.server.resolve import PromptTarget
    from foldline.server.server import FoldlineServer

UNTRUSTED = (
    "This workspace is not trusted, so its prompts are not executed. Trust it in your editor, or "
    'start the server with initializationOptions {"trusted": true}'
)


async def render(
    ls: FoldlineServer, target: PromptTarget, options: RenderOptions, *, tolerant: bool = False
) -> Render:
    """The prompt with its costs, its document, and the places of its sections."""
    answer = await execute(ls, target, RENDER, options, tolerant=tolerant)
    return await _with_document(ls, target, answer)


async def open_sections(
    ls: FoldlineServer,
    target: PromptTarget,
    options: RenderOptions,
    *,
    section_keys: Sequence[str],
    reason: str,
    tolerant: bool = False,
) -> OpenedSections:
    """What the prompt's own tool asks for, and the prompt as it is rendered after that."""
    action = jobs.open_sections(section_keys, reason)
    answer = await execute(ls, target, action, options, tolerant=tolerant)
    opened = replace(answer.render, interpreter=answer.interpreter, effects=answer.effects)
    return replace(answer, render=await _with_document(ls, target, opened))


async def render_opened(
    ls: FoldlineServer, target: PromptTarget, section_keys: Sequence[str]
) -> Render:
    """The prompt as it is rendered once these sections, if any, are opened as a model does."""
    if not section_keys:
        return await render(ls, target, RenderOptions())
    opened = await open_sections(
        ls, target, RenderOptions(), section_keys=section_keys, reason="Opened in the editor"
    )
    return opened.render


async def render_at(
    ls: FoldlineServer, target: PromptTarget, texts: Mapping[str, str], options: RenderOptions
) -> Render:
    """The prompt with its costs, with these texts in place of their files and of open buffers."""
    answer = await execute(ls, target, RENDER, options, texts=texts)
    counter = ls.prompts.folder(target.document.path).counter
    return await in_thread(partial(with_costs, answer, counter))


async def execute(
    ls: FoldlineServer,
    target: PromptTarget,
    action: Action[AnswerT],
    options: RenderOptions,
    *,
    texts: Mapping[str, str] | None = None,
    tolerant: bool = False,
) -> AnswerT:
    """The worker's answer to `action` on the prompt `target`, as its text stands in the editor.

    `texts` stand for files by path, before those of the editor.

    Raises:
        IdeError: The workspace is not trusted, or the prompt could not be rendered.
    """
    _require_trust(ls)
    document = target.document
    request = RenderRequest(
        file=document.path,
        root=document.root,
        name=target.name,
        options=options,
        overlays={
            **ls.files.overlays(),
            str(document.path): document.text,
            **(texts or {}),
        },
        tolerant=tolerant,
    )
    job, problems = await in_thread(partial(build_job, request, action, ls.settings))
    report(ls, list(problems))
    interpreter = find_interpreter(document.path, ls.settings.interpreter)
    # It may have been taken back meanwhile.
    _require_trust(ls)
    answer = await ls.renderer.run(interpreter, job, action.answers)
    ls.focus.prompt(document.uri, answer.name)
    return answer


def _require_trust(ls: FoldlineServer) -> None:
    if not ls.settings.trusted:
        raise Untrusted(UNTRUSTED)


def described(ls: FoldlineServer, interpreter: Interpreter) -> object:
    """An interpreter and why it is the one, with what it said of itself when it last rendered."""
    used = ls.renderer.interpreters.get(interpreter.path)
    if used is None:
        return {"path": str(interpreter.path), "reason": interpreter.reason}
    return unstructure(used)


async def _with_document(ls: FoldlineServer, target: PromptTarget, render: Render) -> Render:
    """A render with its costs and its document, and each block with its place in the source."""
    document = target.document

    def places(asked: Asked) -> dict[tuple[str, ...], Location]:
        return section_locations(asked, render.name)

    folder = ls.prompts.folder(document.path)
    priced = await in_thread(partial(with_costs, render, folder.counter))
    locations = await ask(ls, document.uri, places) or {}
    return replace(
        priced,
        uri=document.uri,
        version=document.version,
        token_budget=folder.options.token_budget,
        blocks=tuple(replace(block, location=locations.get(block.path)) for block in priced.blocks),
    )


def section_locations(asked: Asked, name: str) -> dict[tuple[str, ...], Location]:
    """Where the source declares each section of the prompt `name`, by path."""
    prompt = asked.analysis.module.prompt(name)
    locations: dict[tuple[str, ...], Location] = {}
    for section in prompt.walk() if prompt is not None else ():
        location = location_of(asked, section.selection)
        if location is not None:
            locations[section.path] = location
    return locations


def location_of(asked: Asked, place: SourceSpan) -> Location | None:
    """A place in any file of the project, as the client counts."""
    found = asked.location(place)
    if found is None:
        return None
    start, end = (Position(at.line, at.character) for at in (found.range.start, found.range.end))
    return Location(found.uri, Range(start, end))
