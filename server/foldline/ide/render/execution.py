"""Prompts of a workspace, executed."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.ide.errors import RenderError
from foldline.ide.render.interpreter import find_interpreter
from foldline.ide.render.options import read_preview_options
from foldline.ide.render.render import OpenedSections, Render
from foldline.ide.render.renderer import Job
from foldline.ide.render.token_costs import with_costs
from foldline.ide.render.values import find_sources
from foldline.ide.settings import Network
from foldline.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from foldline.ide.prompts.request import View
    from foldline.ide.render.render import AnswerT, Block, Location
    from foldline.ide.resolve import PromptTarget
    from foldline.ide.snapshot import Snapshot
    from foldline.ide.workspace import Workspace

    Locations = Mapping[tuple[str, ...], Location | None]


async def execute(
    workspace: Workspace,
    target: PromptTarget,
    view: View,
    answers: type[AnswerT],
    action: Mapping[str, object],
    *,
    finish: Callable[[AnswerT], AnswerT] | None = None,
) -> AnswerT:
    """A worker's answer about a prompt, with the texts of open documents.

    `action` is what the worker does, by its name there, with its arguments. `finish` completes the
    answer in the thread that reads it.

    Raises:
        IdeError: The workspace isn't trusted, or the prompt couldn't be rendered.
    """
    if target.is_instructions:
        # It has no code: it needs no worker and no trust.
        from foldline.ide.instructions.answers import answer as answer_of

        asked = partial(answer_of, workspace, target.document, view, action)
        found = await in_thread(asked, PROMPTS)
        assert isinstance(found, answers)
        workspace.focus.prompt(target.document.uri, found.name)
        return found
    workspace.require_trust()
    job, problems = await in_thread(partial(build_job, workspace, target, view, action))
    workspace.report(problems)
    document = target.document
    interpreter = find_interpreter(document.path, workspace.settings.interpreter)
    # It may have been taken back meanwhile.
    workspace.require_trust()
    try:
        answer = await workspace.renderer.run(interpreter, job, answers, finish)
    except RenderError as error:
        # Another one may have what is missing in this one.
        error.data["interpreter"] = str(interpreter.path)
        raise
    workspace.focus.prompt(document.uri, answer.name)
    return answer


async def render(
    workspace: Workspace, target: PromptTarget, view: View, known: Sequence[Block] = ()
) -> Render:
    """The prompt as the view shows it.

    A block equal to one of `known` is that object.
    """
    if target.is_instructions:
        from foldline.ide.instructions.answers import InstructionAnswers

        asked = InstructionAnswers(workspace, target.document, view)
        return await in_thread(partial(asked.render, known), PROMPTS)
    workspace.require_trust()
    if keys := view.pending:
        first = replace(view, opened=tuple(key for key in view.opened if key not in keys))
        reason = view.reason or view.opening_reason
        return (await open_sections(workspace, target, first, keys, reason)).render
    if not view.costs:
        return await execute(workspace, target, view, Render, {"action": "render"})
    # The source is understood while the worker runs.
    locate = partial(_locations, workspace, target)
    locating = asyncio.create_task(in_thread(locate, PROMPTS))
    try:
        answer = await execute(workspace, target, view, Render, {"action": "render"})
        locations = (await locating).get(answer.name, {})
        return await in_thread(partial(_with_document, workspace, target, answer, locations, known))
    finally:
        locating.cancel()
        await asyncio.gather(locating, return_exceptions=True)


async def open_sections(
    workspace: Workspace,
    target: PromptTarget,
    view: View,
    section_keys: Sequence[str] | None,
    reason: str,
) -> OpenedSections:
    """Open sections by the prompt's own tool, None for all summarized ones, and render it."""

    def finish(answer: OpenedSections) -> OpenedSections:
        locations = _locations(workspace, target).get(answer.render.name, {})
        opened = replace(answer.render, effects=answer.effects)
        return replace(answer, render=_with_document(workspace, target, opened, locations))

    action = {
        "action": "open",
        "section_keys": None if section_keys is None else list(section_keys),
        "reason": reason,
        "opened": view.pending,
    }
    answer = await execute(
        workspace, target, view, OpenedSections, action, finish=finish if view.costs else None
    )
    if not view.costs or target.is_instructions:
        return answer
    return replace(answer, render=replace(answer.render, interpreter=answer.interpreter))


def build_job(
    workspace: Workspace, target: PromptTarget, view: View, action: Mapping[str, object]
) -> tuple[Job, tuple[str, ...]]:
    """The job of a request about a prompt, and the problems of the project's options.

    It reads files: keep it off the event loop. Either of the project and the settings may deny the
    network.

    Raises:
        ValuesError: A file of values can't be read.
    """
    document, settings = target.document, workspace.settings
    if view.for_model:
        project = read_preview_options(document.path, document.root)
        of_project = project.table.network or Network.ALLOW
        values, problems = None, project.problems
    else:
        sources = find_sources(document.path, document.root, view.params_file, view.texts)
        values, of_project, problems = sources.request, sources.network, sources.problems
    denied = Network.DENY in (of_project, settings.preview.network)
    opened = {} if view.at_revision else workspace.overlays()
    if document.text is not None and not view.at_revision:
        opened[str(document.path)] = document.text
    job = Job(
        file=document.path,
        root=document.root,
        overlays={**opened, **view.texts},
        deadline=settings.render_deadline,
        action={
            "version": VERSION,
            "name": target.name,
            "network": Network.DENY if denied else Network.ALLOW,
            "values": values,
            **view.request(),
            **action,
        },
    )
    return job, problems


def _with_document(
    workspace: Workspace,
    target: PromptTarget,
    render: Render,
    locations: Locations,
    known: Sequence[Block] = (),
) -> Render:
    """A render with its costs and its document, and each block with its location in the source."""
    document = target.document
    folder = workspace.folder(document.path)
    whole = replace(
        render,
        uri=document.uri,
        version=document.version,
        token_budget=folder.options(document.path).token_budget,
    )
    return with_costs(whole, folder.counter(document.path), locations, known)


def _locations(workspace: Workspace, target: PromptTarget) -> Mapping[str, Locations]:
    """The locations of the sections of each prompt of a document, by the prompt's variable."""

    def locate(snapshot: Snapshot) -> Mapping[str, Locations]:
        return {
            prompt.name: {
                section.path: workspace.locate(snapshot, section.selection)
                for section in prompt.walk()
            }
            for prompt in snapshot.analysis.module.prompts
            if target.name in (None, prompt.name)
        }

    return workspace.with_snapshot(target.document.uri, locate) or {}
