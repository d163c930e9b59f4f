"""Prompts of a workspace, executed."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.waiting import in_thread
from foldline.ide.render import jobs
from foldline.ide.render.interpreter import find_interpreter
from foldline.ide.render.jobs import RENDER, STRICT, build_job
from foldline.ide.render.render_options import RenderOptions
from foldline.ide.render.token_costs import with_costs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.ide.render.jobs import Action, Circumstances
    from foldline.ide.render.render import AnswerT, Location, OpenedSections, Render
    from foldline.ide.resolve import PromptTarget
    from foldline.ide.snapshot import Snapshot
    from foldline.ide.workspace import Workspace


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
    answer = await workspace.renderer.run(interpreter, job, action.answers)
    workspace.focus.prompt(document.uri, answer.name)
    return answer


async def render(
    workspace: Workspace,
    target: PromptTarget,
    options: RenderOptions | None = None,
    circumstances: Circumstances = STRICT,
) -> Render:
    """The prompt with its costs, its document, and the places of its sections."""
    answer = await execute(workspace, target, RENDER, options, circumstances)
    return await _with_document(workspace, target, answer)


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
    return replace(answer, render=await _with_document(workspace, target, opened))


async def render_opened(
    workspace: Workspace, target: PromptTarget, section_keys: Sequence[str]
) -> Render:
    """The prompt as it's rendered once these sections, if any, are opened as a model does."""
    if not section_keys:
        return await render(workspace, target)
    action = jobs.open_sections(section_keys, "Opened in the editor")
    return (await open_sections(workspace, target, action)).render


async def _with_document(workspace: Workspace, target: PromptTarget, render: Render) -> Render:
    """A render with its costs and its document, and each block with its place in the source."""
    document = target.document

    def places(snapshot: Snapshot) -> dict[tuple[str, ...], Location | None]:
        prompt = snapshot.analysis.module.prompt(render.name)
        return {
            section.path: workspace.locate(snapshot, section.selection)
            for section in (prompt.walk() if prompt is not None else ())
        }

    folder = workspace.folder(document.path)
    priced = await in_thread(partial(with_costs, render, folder.counter))
    locations = await workspace.query(document.uri, places) or {}
    return replace(
        priced,
        uri=document.uri,
        version=document.version,
        token_budget=folder.options.token_budget,
        blocks=tuple(replace(one, location=locations.get(one.path)) for one in priced.blocks),
    )
