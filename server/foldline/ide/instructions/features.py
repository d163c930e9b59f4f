"""What an editor shows about the sections of an instruction file: their numbers and their costs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from foldline.ide import cost_texts
from foldline.ide.render.token_costs import with_costs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foldline.ide.instructions.document import InstructionFile, InstructionSection
    from foldline.ide.render.render import Block, Render
    from foldline.ide.token_counter import TokenCounter


class Lens(NamedTuple):
    """A line above a section; a click previews the file, or opens `opens`."""

    section: InstructionSection
    title: str
    opens: str | None = None


@dataclass(frozen=True)
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
        return cost_texts.section_cost(
            self.blocks[section.key], self.counter, plan=self.render.cache
        )

    def hover(self, offset: int) -> tuple[str, InstructionSection] | None:
        """Return Markdown about the section whose heading is at an offset; None elsewhere."""
        section = next((one for one in self.file.sections if one.start <= offset < one.body), None)
        if section is None:
            return None
        number = f"{section.number}. " if section.number else ""
        parts = [f"**{number}{section.title}** `{section.key}`", self.cost(section)]
        if section.summary:
            parts.append(f"Summary:\n\n> {section.summary}")
        return "\n\n".join(parts), section

    def lenses(self) -> Iterator[Lens]:
        """Yield the lenses: *Preview* at the top, shares of top sections, *Open* where folded."""
        sections, folded = self.file.sections, frozenset(self.file.folded)
        parts = ["Preview", cost_texts.tokens(self.total, self.counter)]
        if folded:
            parts.append(f"{len(folded)} {cost_texts.SUMMARIZED}")
        yield Lens(sections[0], " · ".join(parts))
        for section in sections:
            if section in folded:
                yield Lens(section, f"Open · {self.cost(section)}", section.key)
            elif section.path in self._top:
                tokens = self.blocks[section.key].tokens
                assert tokens is not None
                share = f"{100 * tokens.subtree / max(1, self.total):.0f} %"
                yield Lens(section, f"{cost_texts.tokens(tokens.subtree, self.counter)} · {share}")

    @cached_property
    def _top(self) -> frozenset[tuple[str, ...]]:
        """The sections at the uppermost level that has several: most files have one title."""
        paths = [section.path for section in self.file.sections if section.number]
        depths = sorted({len(path) for path in paths})
        levels = ([path for path in paths if len(path) == depth] for depth in depths)
        return frozenset(next((level for level in levels if len(level) > 1), ()))

    def inlays(self) -> Iterator[tuple[InstructionSection, str]]:
        """Yield what stands behind each heading: its number and its tokens."""
        for section in self.file.sections:
            if section.number:
                block = self.blocks[section.key]
                folded = f", {cost_texts.SUMMARIZED}" if block.is_summarized else ""
                cost = cost_texts.section_cost(block, self.counter)
                yield section, f"{section.number}. · {cost}{folded}"


@lru_cache(maxsize=32)
def costs(file: InstructionFile, counter: TokenCounter) -> Costs:
    """Return what a file costs; counted once per text, and each section once per its text."""
    return Costs(file, counter)
