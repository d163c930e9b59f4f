"""What is asked of a prompt, answered for an instruction file, which has no code to run."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from foldline.ide.analysis.model import SourceSpan
from foldline.ide.errors import ToolRefused
from foldline.ide.instructions.document import instruction_file, read_instructions
from foldline.ide.render.render import OpenedSections, Render, SectionSummary, SectionText
from foldline.ide.render.token_costs import bytes_of, with_costs
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.ide.instructions.document import InstructionFile, InstructionSection
    from foldline.ide.prompts.request import View
    from foldline.ide.render.render import Answer, Block
    from foldline.ide.resolve import DocumentTarget
    from foldline.ide.workspace import Workspace


def answer(
    workspace: Workspace, document: DocumentTarget, view: View, action: Mapping[str, Any]
) -> Answer:
    """Return what a worker would answer about a prompt.

    Raises:
        PathError: The file can't be read.
        ToolRefused: There is no such section, or an instruction file has nothing of the kind.
    """
    asked = InstructionAnswers(workspace, document, view)
    match action:
        case {"action": "render"}:
            return asked.render()
        case {"action": "open", "section_keys": keys, "reason": reason}:
            return asked.open_sections(keys, reason)
        case {"action": "read", "section_key": key}:
            return asked.read_section(key)
        case {"action": "summary", "section_key": key}:
            return asked.summary(key)
    raise ToolRefused(f"{document.path.name} is Markdown: it has no values, tools or requests")


@record(slots=False)
class InstructionAnswers:
    """The answers about one instruction file, as a view shows it.

    Each raises PathError where the file can't be read, and ToolRefused for an unknown section.
    """

    workspace: Workspace
    document: DocumentTarget
    view: View

    @cached_property
    def file(self) -> InstructionFile:
        """The file as the view has it, as the editor has it, or as it is on disk."""
        path, root = self.document.path, self.document.root
        text = self.view.texts.get(str(path), self.document.text)
        if text is None:
            return read_instructions(path, root)
        return instruction_file(path, root, text)

    def render(self, known: Sequence[Block] = ()) -> Render:
        """Return the file as the view shows it; a block equal to one of `known` is that object."""
        shown = {key for key, how in self.view.overrides.items() if how == "FULL"}
        opened = {self.file.section(key).key for key in shown}
        opened.update(one for key in self.view.pending for one in self.file.opening(key))
        document, made = self.document, self.file.render(opened)
        made = replace(made, uri=document.uri, version=document.version)
        if not self.view.costs:
            return made
        from foldline.ide.instructions.features import snapshot_of

        path, folder = document.path, self.workspace.folder(document.path)
        snapshot = snapshot_of(self.file, document.uri, path, folder)
        locations = {
            section.path: self.workspace.locate(
                snapshot, SourceSpan(str(path), section.start, section.own)
            )
            for section in self.file.sections
        }
        made = replace(made, token_budget=folder.options(path).token_budget)
        return with_costs(made, folder.counter(path), locations, known)

    def open_sections(self, keys: Sequence[str] | None, reason: str) -> OpenedSections:
        """Open folded sections, None for all of them, and render the file."""
        folded = [section.key for section in self.file.folded]
        wanted = []
        for key in folded if keys is None else keys:
            if not (opening := self.file.opening(key)):
                which = f"folded are {', '.join(folded)}" if folded else "none is folded"
                whole = self.file.section(key).key
                raise ToolRefused(f"{whole!r} is shown in full; {which}", near=folded)
            wanted += opening
        overrides = dict.fromkeys(wanted, "FULL")
        view = replace(self.view, overrides={**self.view.overrides, **overrides})
        return OpenedSections(
            name=self.file.name,
            requested_overrides=overrides,
            section_keys=tuple(wanted),
            reason=reason,
            expansion_instructions=None,
            render=replace(self, view=view).render(),
        )

    def read_section(self, key: str | None) -> SectionText:
        """Return a section's whole text; by default that of the first folded one."""
        section = self._section(key)
        text = self.file.whole_text(section)
        return SectionText(name=self.file.name, section_key=section.key, text=text)

    def summary(self, key: str | None) -> SectionSummary:
        """Return what folds a section, and its sizes."""
        section = self._section(key)
        whole = self.file.whole_text(section)
        folded = self.file.fold_text(section) if section.mark else whole
        return SectionSummary(
            name=self.file.name,
            section_key=section.key,
            text=section.summary,
            size=bytes_of(folded),
            size_if_opened=bytes_of(whole),
        )

    def _section(self, key: str | None) -> InstructionSection:
        if key is not None:
            return self.file.section(key)
        if not self.file.folded:
            raise ToolRefused(f"{self.file.name} folds no section; name one with `section_key`")
        return self.file.folded[0]
