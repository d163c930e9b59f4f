"""Instruction files as prompts: Markdown, which has no code to run."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.backends.errors import PathError
from foldline.backends.formatting.budget import size_of
from foldline.backends.formatting.visible import visible
from foldline.backends.outlines.syntax import ParseRefusedError
from foldline.ide import cost_texts
from foldline.ide.analysis.model import SourceSpan, Span
from foldline.ide.errors import ToolRefused
from foldline.ide.instructions.document import instruction_file, read_instructions
from foldline.ide.instructions.features import costs, module_of
from foldline.ide.prompts.request import PromptRef, View
from foldline.ide.render.render import OpenedSections, Render, SectionSummary, SectionText
from foldline.ide.snapshot import Snapshot
from foldline.ide.sources.source import PromptSource
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from foldline.ide.checks import Diagnostic
    from foldline.ide.features.hover import Hover, Inlay, Lens
    from foldline.ide.instructions.document import InstructionFile, InstructionSection
    from foldline.ide.render.render import Answer, AnswerT, Block
    from foldline.ide.render.static import PromptTokens
    from foldline.ide.snapshot import OpenDocument
    from foldline.ide.sources.source import Action
    from foldline.ide.workspace import Result

log = logging.getLogger(__name__)


@record(slots=False)
class MarkdownSource(PromptSource):
    """An instruction file, which is a prompt of that name.

    It raises PathError where the file can't be read, and ToolRefused for an unknown section.
    """

    trust_needed = False

    @cached_property
    def file(self) -> InstructionFile:
        """The file as the caller has it, as the editor has it, or as it is on disk."""
        path, root = self.document.path, self.document.root
        text = self.mode.texts.get(str(path), self.document.text)
        if text is None:
            return read_instructions(path, root)
        return instruction_file(path, root, text)

    async def name_of(self, ref: PromptRef) -> str:
        return self.document.path.name

    # Actions

    async def render(self, view: View, known: Sequence[Block] = ()) -> Render:
        return await in_thread(partial(self._render, view, known), PROMPTS)

    async def render_source(self, view: View) -> Render:
        return await self.render(view)

    async def open_sections(
        self, view: View, keys: Sequence[str] | None, reason: str
    ) -> OpenedSections:
        action = {"action": "open_sections", "section_keys": keys, "reason": reason}
        return await self.answer(view, OpenedSections, action)

    async def answer(self, view: View, answers: type[AnswerT], action: Action) -> AnswerT:
        answer = await in_thread(partial(self._answer, view, action), PROMPTS)
        assert isinstance(answer, answers)
        self.workspace.focus.prompt(self.document.uri, answer.name)
        return answer

    async def tokens(self) -> PromptTokens:
        from foldline.ide.render.static import tokens_of

        return tokens_of(await self.render(View()))

    def _answer(self, view: View, action: Action) -> Answer:
        match action:
            case {"action": "open_sections", "section_keys": keys, "reason": reason}:
                return self._opened(view, keys, reason)
            case {"action": "read_section", "section_key": key}:
                section = self._section(key)
                text = self.file.whole_text(section)
                return SectionText(name=self.file.name, section_key=section.key, text=text)
            case {"action": "summary", "section_key": key}:
                return self._summary(self._section(key))
        name = self.document.path.name
        raise ToolRefused(f"{name} is Markdown: it has no values, tools or requests")

    def _render(self, view: View, known: Sequence[Block] = ()) -> Render:
        shown = {key for key, how in view.overrides.items() if how == "FULL"}
        opened = {self.file.section(key).key for key in shown}
        opened.update(one for key in view.pending for one in self.file.opening(key))
        document, render = self.document, self.file.render(opened)
        if not self.mode.costs:
            return replace(render, uri=document.uri, version=document.version)
        path, locate = str(document.path), partial(self.workspace.locate, self.snapshot())
        spans = {one.path: SourceSpan(path, one.start, one.own) for one in self.file.sections}
        locations = {section: locate(span) for section, span in spans.items()}
        return self.with_document(render, locations, known)

    def _opened(self, view: View, keys: Sequence[str] | None, reason: str) -> OpenedSections:
        folded = [section.key for section in self.file.folded]
        wanted = []
        for key in folded if keys is None else keys:
            if not (opening := self.file.opening(key)):
                which = f"folded are {', '.join(folded)}" if folded else "none is folded"
                whole = self.file.section(key).key
                raise ToolRefused(f"{whole!r} is shown in full; {which}", near=folded)
            wanted += opening
        overrides = dict.fromkeys(wanted, "FULL")
        return OpenedSections(
            name=self.file.name,
            requested_overrides=overrides,
            section_keys=tuple(wanted),
            reason=reason,
            expansion_instructions=None,
            render=self._render(replace(view, overrides={**view.overrides, **overrides})),
        )

    def _summary(self, section: InstructionSection) -> SectionSummary:
        text = self.file.whole_text(section)
        folded = self.file.fold_text(section) if section.summary else text
        return SectionSummary(
            name=self.file.name,
            section_key=section.key,
            text=section.summary,
            size=size_of(folded),
            size_if_opened=size_of(text),
        )

    def _section(self, key: str | None) -> InstructionSection:
        """Return the section of a key; without one, the first that is folded."""
        if key is not None:
            return self.file.section(key)
        if not self.file.folded:
            raise ToolRefused(f"{self.file.name} folds no section; name one with `section_key`")
        return self.file.folded[0]

    # Features

    def with_snapshot(self, query: Callable[[Snapshot], Result]) -> Result | None:
        """Return the result of a query; it shares nothing with others, and takes no lock."""
        uri, path = self.document.uri, self.document.path
        opened, folder = self.workspace.document(uri), self.workspace.folder(path)
        try:
            text = opened.text if opened else folder.access.file_backend.load(str(path)).text
            source = replace(self, document=replace(self.document, text=text))
            snapshot = source.snapshot(opened)
        except (PathError, ParseRefusedError) as error:
            log.info("%s can't be read: %s", visible(uri), error)
            return None
        return query(snapshot)

    def snapshot(self, opened: OpenDocument | None = None) -> Snapshot:
        """The file as queries see it: a module without code, with the file as its one prompt."""
        path, folder = self.document.path, self.workspace.folder(self.document.path)
        analysis = folder.project.without_code(str(path), self.file.text)
        analysis.module = module_of(self.file, str(path))
        return Snapshot(self.document.uri, opened, analysis, folder, self, self.file)

    def hover(self, snapshot: Snapshot, offset: int) -> Hover | None:
        """Return Markdown about the section whose heading is at an offset; None elsewhere."""
        from foldline.ide.features.hover import Hover

        for section in self.file.sections:
            if section.start <= offset < section.body:
                number = f"{section.number}. " if section.number else ""
                cost = costs(self.file, snapshot.counter).cost(section)
                parts = [f"**{number}{section.title}** `{section.key}`", cost]
                if section.summary:
                    parts.append(f"Summary:\n\n> {section.summary}")
                return Hover("\n\n".join(parts), self.file.heading(section))
        return None

    def lenses(self, snapshot: Snapshot) -> Iterator[Lens]:
        """Yield the lenses: *Preview* at the top, *Open* above each folded section."""
        from foldline.ide.features.hover import Lens, LensTitle

        shown, first = costs(self.file, snapshot.counter), self.file.sections[0].start
        title = LensTitle(cost_texts.preview(shown.render, shown.counter))
        yield Lens(Span(first, first), self.file.name, title=title)
        for section in self.file.folded:
            title = LensTitle(f"Open · {shown.cost(section)}")
            yield Lens(Span(section.start, section.start), self.file.name, section.key, title)

    def inlays(self, snapshot: Snapshot) -> Iterator[Inlay]:
        """Yield what stands behind each heading: its number and its tokens."""
        from foldline.ide.features.hover import Inlay

        blocks, counter = costs(self.file, snapshot.counter).blocks, snapshot.counter
        for section in self.file.sections:
            if section.number:
                label = cost_texts.inlay(section.number, blocks[section.key], counter)
                yield Inlay(section.start, label)

    def foldings(self, snapshot: Snapshot) -> Sequence[Span]:
        """The ranges that an editor folds; the empty lines before the next heading stay visible."""
        sections, text = (one for one in self.file.sections if one.number), self.file.whole_text
        return [Span(one.start, one.start + len(text(one).rstrip())) for one in sections]

    def diagnostics(self, snapshot: Snapshot) -> Sequence[Diagnostic]:
        from foldline.ide.checks.plugin_checks import plugin_diagnostics
        from foldline.ide.instructions.checks import diagnostics

        ours = diagnostics(self.file, self.document.path, snapshot.folder)
        return (*ours, *plugin_diagnostics(snapshot))
