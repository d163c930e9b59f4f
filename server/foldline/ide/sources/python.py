"""Prompts of Python modules: executed, or as far as their source tells."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.base.near_names import near_names
from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.ide.errors import NoPrompt, RenderError
from foldline.ide.render.interpreter import find_interpreter
from foldline.ide.render.options import read_preview_options
from foldline.ide.render.render import OpenedSections, Render
from foldline.ide.render.static import static_render, static_tokens
from foldline.ide.settings import Network
from foldline.ide.snapshot import Snapshot
from foldline.ide.sources.source import PromptSource
from foldline.ide.uris import file_of
from foldline.records import record
from foldline.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from foldline.ide.analysis.model import Span
    from foldline.ide.checks import Diagnostic
    from foldline.ide.features.completion import Completion
    from foldline.ide.features.hover import Hover, Inlay, Lens
    from foldline.ide.prompts.request import PromptRef, View
    from foldline.ide.render.render import AnswerT, Block
    from foldline.ide.render.renderer import Job
    from foldline.ide.render.static import PromptTokens
    from foldline.ide.sources.source import Action, Locations
    from foldline.ide.workspace import Result


@record(slots=False)
class PythonSource(PromptSource):
    """A module, and the prompt that one of its variables holds."""

    trust_needed = True

    async def name_of(self, ref: PromptRef) -> str | None:
        """Return the variable of the prompt that is called so, or `ns/key`.

        Without a name it is the prompt last shown of an editor's document, or else the first that
        the author has bound values to, or else the first.
        """
        name, uri = ref.name, self.document.uri
        if name is not None and (ref.file is not None or name.isidentifier()):
            # A variable may hold a prompt in a way that only executing the module shows.
            return name
        prompts = await self.workspace.query(uri, lambda one: one.analysis.module.prompts) or ()
        names = {prompt.name: prompt.name for prompt in prompts}
        names |= {f"{prompt.ns}/{prompt.key}": prompt.name for prompt in prompts if prompt.key}
        if name is None:
            shown = self.workspace.focus.prompt_names.get(uri) if ref.file is None else None
            bound_first = sorted(prompts, key=lambda prompt: not prompt.bound)
            return next((one.name for one in bound_first), None) if shown not in names else shown
        if names and name not in names:
            near = near_names(name, names) or sorted(names)
            raise NoPrompt(
                f"{self.document.path.name} has no prompt {name!r}; it has {', '.join(near)}",
                name=name,
                near=near,
            )
        return names.get(name, name)

    # Actions

    async def render(self, view: View, known: Sequence[Block] = ()) -> Render:
        if self.only_source:
            return await self.render_source(view)
        self.workspace.require_trust()
        if keys := view.pending:
            first = replace(view, opened=tuple(key for key in view.opened if key not in keys))
            reason = view.reason or self.mode.opening_reason
            return (await self.open_sections(first, keys, reason)).render
        if not self.mode.costs:
            return await self.answer(view, Render, {"action": "render"})
        # The source is understood while the worker runs.
        locating = asyncio.create_task(in_thread(self._locations, PROMPTS))
        try:
            answer = await self.answer(view, Render, {"action": "render"})
            locations = (await locating).get(answer.name, {})
            return await in_thread(partial(self.with_document, answer, locations, known))
        finally:
            locating.cancel()
            await asyncio.gather(locating, return_exceptions=True)

    async def render_source(self, view: View) -> Render:
        return await static_render(self, view)

    async def open_sections(
        self, view: View, keys: Sequence[str] | None, reason: str
    ) -> OpenedSections:
        def finish(answer: OpenedSections) -> OpenedSections:
            locations = self._locations().get(answer.render.name, {})
            opened = replace(answer.render, effects=answer.effects)
            return replace(answer, render=self.with_document(opened, locations))

        action = {
            "action": "open_sections",
            "section_keys": None if keys is None else list(keys),
            "reason": reason,
            "opened": view.pending,
        }
        costs = self.mode.costs
        answer = await self.answer(view, OpenedSections, action, finish if costs else None)
        if not costs:
            return answer
        return replace(answer, render=replace(answer.render, interpreter=answer.interpreter))

    async def answer(
        self,
        view: View,
        answers: type[AnswerT],
        action: Action,
        finish: Callable[[AnswerT], AnswerT] | None = None,
    ) -> AnswerT:
        """Return a worker's answer about the prompt, with the texts of open documents.

        `finish` completes the answer in the thread that reads it.
        """
        workspace, document = self.workspace, self.document
        workspace.require_trust()
        job, problems = await in_thread(partial(build_job, self, view, action))
        workspace.report(problems)
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

    async def tokens(self) -> PromptTokens:
        return await static_tokens(self)

    def _locations(self) -> Mapping[str, Locations]:
        """The locations of the sections of each prompt of the document, by its variable."""

        def locate(snapshot: Snapshot) -> Mapping[str, Locations]:
            return {
                prompt.name: {
                    section.path: self.workspace.locate(snapshot, section.selection)
                    for section in prompt.walk()
                }
                for prompt in snapshot.analysis.module.prompts
                if self.name in (None, prompt.name)
            }

        return self.workspace.with_snapshot(self.document.uri, locate) or {}

    # Features

    def with_snapshot(self, query: Callable[[Snapshot], Result]) -> Result | None:
        uri, file = self.document.uri, file_of(self.document.uri)
        folder = self.workspace.folder(self.document.path)
        project = folder.project
        with project.lock:
            document = self.workspace.as_of_now(project, folder, file)
            analysis = project.analysis(file)
            if analysis is None:
                return None
            return query(Snapshot(uri, document, analysis, folder, self, None))

    def hover(self, snapshot: Snapshot, offset: int) -> Hover | None:
        from foldline.ide.features.hover import hover

        return hover(snapshot.analysis, offset, snapshot.counter)

    def lenses(self, snapshot: Snapshot) -> Iterable[Lens]:
        from foldline.ide.features.hover import lenses

        return lenses(snapshot.analysis)

    def inlays(self, snapshot: Snapshot) -> Iterable[Inlay]:
        from foldline.ide.features.hover import inlays

        return inlays(snapshot.analysis, snapshot.counter)

    def completions(self, snapshot: Snapshot, offset: int) -> Iterable[Completion]:
        from foldline.ide.features.completion import completions

        return completions(snapshot.analysis, offset)

    def foldings(self, snapshot: Snapshot) -> Iterable[Span]:
        from foldline.ide.features.structure import foldings

        return foldings(snapshot.analysis)

    def diagnostics(self, snapshot: Snapshot) -> Sequence[Diagnostic]:
        from foldline.ide.checks.costs import check_costs
        from foldline.ide.checks.plugin_checks import plugin_diagnostics
        from foldline.ide.checks.run import diagnostics

        analysis, options = snapshot.analysis, snapshot.options
        costs = check_costs(analysis, options.token_budget, snapshot.counter)
        others = plugin_diagnostics(snapshot)
        return diagnostics(analysis, severities=options.severity, more=costs, of_plugins=others)


def build_job(source: PythonSource, view: View, action: Action) -> tuple[Job, tuple[str, ...]]:
    """The job of a request about a prompt, and the problems of the project's options.

    It reads files: keep it off the event loop. Either of the project and the settings may deny the
    network.

    Raises:
        ValuesError: A file of values can't be read.
    """
    from foldline.ide.render.renderer import Job
    from foldline.ide.render.values import find_sources

    document, mode, settings = source.document, source.mode, source.workspace.settings
    if mode.for_model:
        project = read_preview_options(document.path, document.root)
        of_project = project.table.network or Network.ALLOW
        values, problems = None, project.problems
    else:
        sources = find_sources(document.path, document.root, mode.params_file, mode.texts)
        values, of_project, problems = sources.request, sources.network, sources.problems
    denied = Network.DENY in (of_project, settings.preview.network)
    opened = {} if mode.at_revision else source.workspace.overlays()
    if document.text is not None and not mode.at_revision:
        opened[str(document.path)] = document.text
    job = Job(
        file=document.path,
        root=document.root,
        overlays={**opened, **mode.texts},
        deadline=settings.render_deadline,
        action={
            "version": VERSION,
            "name": source.name,
            "network": Network.DENY if denied else Network.ALLOW,
            "values": values,
            "opening_reason": mode.opening_reason,
            "tolerant": mode.tolerant,
            "compared": mode.compared,
            **view.request(),
            **action,
        },
    )
    return job, problems
