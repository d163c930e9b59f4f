"""The costs of instruction sections, what editors show of them, and the levels of a skill."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property, lru_cache
from pathlib import Path

from foldline.backends.errors import PathError
from foldline.backends.files.reader import read_text
from foldline.backends.formatting.parts import counted
from foldline.ide import cost_texts
from foldline.ide.analysis.model import (
    PromptModule,
    SourceSpan,
    Span,
    StaticPrompt,
    StaticSection,
    Visibility,
)
from foldline.ide.folder import Folder
from foldline.ide.instructions.document import InstructionFile, InstructionSection
from foldline.ide.instructions.files import LARGEST
from foldline.ide.instructions.front_matter import SKILL, fields
from foldline.ide.render.render import Block, Render
from foldline.ide.render.token_costs import with_costs
from foldline.ide.token_counter import TokenCounter
from foldline.records import record


@record(slots=False)
class Costs:
    """An instruction file, and what its sections cost."""

    file: InstructionFile
    counter: TokenCounter

    @cached_property
    def render(self) -> Render:
        """The file as a model gets it."""
        return with_costs(self.file.render(), self.counter)

    @cached_property
    def blocks(self) -> Mapping[str, Block]:
        """The sections by their keys; those inside a folded one as if it were open."""
        shown = {block.key: block for block in self.render.blocks}
        if not self.file.folded:
            return shown
        every = self.file.render({section.key for section in self.file.sections})
        return {block.key: block for block in with_costs(every, self.counter).blocks} | shown

    @property
    def total(self) -> int:
        """The tokens of the file as a model gets it."""
        assert self.render.tokens is not None
        return self.render.tokens.total

    def cost(self, section: InstructionSection) -> str:
        """Return `52 tokens, 97 in all`, or `25 tokens, +269 if opened`."""
        block = self.blocks[section.key]
        return cost_texts.section_cost(block, self.counter, plan=self.render.cache)


@lru_cache(maxsize=32)
def costs(file: InstructionFile, counter: TokenCounter) -> Costs:
    """Return what a file costs; counted once per text, and each section once per its text."""
    return Costs(file, counter)


def module_of(file: InstructionFile, path: str) -> PromptModule:
    """Return a file as a module with one prompt."""
    below: dict[tuple[str, ...], list[StaticSection]] = {}
    for section in reversed(file.sections):
        span = SourceSpan(path, section.start, section.end)
        children = reversed(below.pop(section.path, []))
        below.setdefault(section.path[:-1], []).append(
            StaticSection(
                path=section.path,
                key=section.path[-1],
                title=section.title,
                number=section.number,
                depth=len(section.path) - 1,
                visibility=Visibility.SUMMARY if section.summary else Visibility.FULL,
                kind="markdown",
                source=span,
                selection=SourceSpan(path, *file.heading(section)),
                use=span,
                children=tuple(children),
            ),
        )
    prompt = StaticPrompt(
        name=file.name,
        ns=file.path.rpartition("/")[0] or ".",
        key=file.name,
        range=Span(0, len(file.text)),
        name_range=Span(0, 0),
        sections=tuple(reversed(below.get((), []))),
        complete=True,
        bound=True,
        stale=False,
    )
    return PromptModule(file.text, (prompt,), broken=False)


@record
class SkillLevels:
    """The tokens of a skill at the three levels at which a model sees it.

    https://agentskills.io/specification ("Progressive disclosure") has them.

    Attributes:
        always: Of its name and description, which every session has.
        used: Of its text, which comes when the skill is used.
        files: Of each file of its folder that is text: read on demand, if at all.
    """

    always: int
    used: int
    files: Mapping[str, int]

    def sentence(self, counter: TokenCounter) -> str:
        """Return `85 tokens always, 2,104 when used, 5,611 in 4 files on demand`."""
        always = cost_texts.tokens(self.always, counter)
        levels = f"{always} always, {counter.format(self.used)} when used"
        if not self.files:
            return levels
        tokens, files = counter.format(sum(self.files.values())), counted(len(self.files), "file")
        return f"{levels}, {tokens} in {files} on demand"


def listed_text(file: InstructionFile) -> str:
    """Return what each session has of a skill or an agent: its name and its description."""
    shown = (one for one in fields(file) if one.name in ("name", "description"))
    return "".join(f"{one.name}: {one.value}\n" for one in shown)


def skill_levels(
    file: InstructionFile, path: Path, folder: Folder, counter: TokenCounter
) -> SkillLevels | None:
    """Return the costs of a skill, as its folder is on disk; None for other instruction files."""
    if path.name != SKILL:
        return None
    files, backend = {}, folder.access.file_backend
    for stamp in backend.walk_folder(backend.resolve(str(path.parent))):
        other = folder.root / stamp.path
        with suppress(PathError):
            if other != path:
                text = read_text(other, LARGEST, strict=True)
                files[other.relative_to(path.parent).as_posix()] = counter.count(text)
    return SkillLevels(counter.count(listed_text(file)), costs(file, counter).total, files)
