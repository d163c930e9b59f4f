"""Prompts of a workspace, executed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import in_thread
from foldline.ide.errors import RenderError
from foldline.ide.render import jobs
from foldline.ide.render.interpreter import find_interpreter
from foldline.ide.render.jobs import RENDER, STRICT, build_job
from foldline.ide.render.render_options import RenderOptions
from foldline.ide.render.token_costs import with_costs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.ide.render.jobs import Action, Circumstances
    from foldline.ide.render.render import AnswerT, Block, Location, OpenedSections, Render
    from foldline.ide.resolve import PromptTarget
    from foldline.ide.snapshot import Snapshot
    from foldline.ide.workspace import Workspace

    Locations = Mapping[str, Mapping[tuple[str, ...], Location | None]]


async def execute(
    workspace: Workspace,
    target: PromptTarget,
    action: Action[AnswerT],
    options: RenderOptions | None = None,
    circumstances: Circumstances = STRICT,
) -> AnswerT:
    """The worker's answer to `action` on a prompt, with the texts of open documents.

    Raises:
        IdeError: The workspace isn't trusted, or the prompt couldn't be rendered.
    """
    workspace.require_trust()
    options = options or RenderOptions()
    build = partial(build_job, workspace, target, action, options, circumstances)
    job, problems = await in_thread(build)
    workspace.report(problems)
    document = target.document
    interpreter = find_interpreter(document.path, workspace.settings.interpreter)
    # It may have been taken back meanwhile.
    workspace.require_trust()
    try:
        answer = await workspace.renderer.run(interpreter, job, action.answers)
    except RenderError as error:
        # Another one may have what is missing in this one.
        error.data["interpreter"] = str(interpreter.path)
        raise
    workspace.focus.prompt(document.uri, answer.name)
    return answer


async def render(
    workspace: Workspace,
    target: PromptTarget,
    options: RenderOptions | None = None,
    circumstances: Circumstances = STRICT,
    known: Sequence[Block] = (),
) -> Render:
    """The prompt with its costs, its document, and the places of its sections.

    A block that is as one of those `known` is that object.
    """
    workspace.require_trust()
    # The source is understood while the worker runs.
    locating = asyncio.create_task(_locations(workspace, target))
    try:
        answer = await execute(workspace, target, RENDER, options, circumstances)
        return await _with_document(workspace, target, answer, await locating, known)
    finally:
        locating.cancel()
        await asyncio.gather(locating, return_exceptions=True)


async def open_sections(
    workspace: Workspace,
    target: PromptTarget,
    action: Action[OpenedSections],
    options: RenderOptions | None = None,
    circumstances: Circumstances = STRICT,
) -> OpenedSections:
    """Open sections by the prompt's own tool, and render the prompt after that."""
    answer = await execute(workspace, target, action, options, circumstances)
    opened = replace(answer.render, interpreter=answer.interpreter, effects=answer.effects)
    locations = await _locations(workspace, target)
    return replace(answer, render=await _with_document(workspace, target, opened, locations))


async def render_opened(
    workspace: Workspace, target: PromptTarget, section_keys: Sequence[str]
) -> Render:
    """The prompt as it's rendered once these sections, if any, are opened as a model does."""
    if not section_keys:
        return await render(workspace, target)
    action = jobs.open_sections(section_keys, "Opened in the editor")
    return (await open_sections(workspace, target, action)).render


async def _with_document(
    workspace: Workspace,
    target: PromptTarget,
    render: Render,
    locations: Locations,
    known: Sequence[Block] = (),
) -> Render:
    """A render with its costs and its document, and each block with its place in the source."""
    document = target.document
    folder = workspace.folder(document.path)
    whole = replace(
        render,
        uri=document.uri,
        version=document.version,
        token_budget=folder.options.token_budget,
    )
    places = locations.get(render.name, {})
    return await in_thread(partial(with_costs, whole, folder.counter, places, known))


async def _locations(workspace: Workspace, target: PromptTarget) -> Locations:
    """The places of the sections of each prompt of a document, by the prompt's variable."""

    def locate(snapshot: Snapshot) -> Locations:
        return {
            prompt.name: {
                section.path: workspace.locate(snapshot, section.selection)
                for section in prompt.walk()
            }
            for prompt in snapshot.analysis.module.prompts
            if target.name in (None, prompt.name)
        }

    return await workspace.query(target.document.uri, locate) or {}
