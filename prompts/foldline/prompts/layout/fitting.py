"""Fitting a prompt into a budget: sections are summarized first, and only then left out.

The steps have one order, whatever the budget is, and a render makes the first of them until it
fits. So a smaller budget never shows more. The last step gives the smallest form that the sections
allow, so that a prompt fits whenever one of its forms does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from foldline.prompts.cache.tokens import TOKEN, estimated_tokens, twentieths
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import (
    ErrorHandler,
    PromptRenderError,
    PromptValidationError,
    check_at_least,
)
from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.layout.layout import BLANK_LINE, Piece
from foldline.prompts.visibility import SectionPath, SectionVisibility

if TYPE_CHECKING:
    from foldline.prompts.layout.rendering import RenderPass
    from foldline.prompts.layout.tree import Node

__all__ = ["Fit", "Fitted"]

FITTED = "fitted"
"""The `field` of the segment that says so."""


@FrozenDataclass()
class Fit:
    """The most tokens that the text of a prompt may have; see `Prompt.render`.

    Sections shown in full are summarized until the text fits, those of the lowest `priority` first
    and of these the last in the text first. If that isn't enough, sections with `fit="drop"` are
    left out, in the same order. No text is cut. What a caller, a session or the model has opened
    stays open, even where it takes the text over the budget.

    Args:
        tokens: The budget. Tools, the output schema and a conversation come on top.
        count_tokens: Counts the tokens of one section at a time; an estimate by default.

    Raises:
        PromptConfigurationError: The budget is below 1.
    """

    tokens: int
    count_tokens: Callable[[str], int] = estimated_tokens

    def __post_init__(self) -> None:
        check_at_least(1, tokens=self.tokens)


@FrozenDataclass()
class Fitted:
    """How a prompt was made to fit; `render(fit=…)` with it makes the same changes again."""

    tokens: int
    """The tokens of its text."""
    folded: tuple[SectionPath, ...] = ()
    """The sections that are summarized to fit."""
    left_out: tuple[SectionPath, ...] = ()
    """The sections that are left out to fit, with all inside."""


def fitted(
    source: RenderPass,
    pieces: Sequence[Piece[Node]],
    fit: Fit | Fitted,
    on_error: ErrorHandler | None = None,
) -> tuple[Fitted, Sequence[Piece[Node]]]:
    """Return how the rendered pieces are made to fit, and the pieces that fit.

    Raises:
        PromptRenderError: No form that the sections allow is small enough.
    """
    if not isinstance(fit, (Fit, Fitted)):
        raise PromptValidationError(f"`fit` is a Fit, such as Fit(tokens=8000), not {fit!r}.")
    opened = source.opened_paths()
    result = fit if isinstance(fit, Fitted) else _Fitting(source, pieces, fit, opened).result()
    if not (result.folded or result.left_out):
        return result, pieces
    source.folded = dict.fromkeys(result.folded, SectionVisibility.SUMMARY)
    source.left_out = {*result.left_out} - opened
    pieces = source.pieces(source.plan.roots, on_error=on_error)
    for piece in reversed(pieces):
        if piece.segments:
            piece.segments.append(_line(source))
            break
    return result, pieces


def _line(source: RenderPass) -> Segment:
    return Segment(SegmentKind.SUFFIX, f"\n\n{source.plan.wording.fitted}", FITTED)


class _Fitting:
    def __init__(
        self,
        source: RenderPass,
        pieces: Sequence[Piece[Node]],
        fit: Fit,
        opened: set[SectionPath],
    ) -> None:
        self._source = source
        self._fit = fit
        self._opened = opened
        # Estimates add up as long as they aren't rounded.
        additive = fit.count_tokens is estimated_tokens
        self._count, self._unit = (twentieths, TOKEN) if additive else (fit.count_tokens, 1)
        self._pieces = {piece.node.path: piece for piece in pieces if piece.enabled}
        self._alone = {path: self._size(piece) for path, piece in self._pieces.items()}
        self._summaries: dict[SectionPath, int] = {}
        self._kept = set(opened)
        self._sizes = dict(self._alone)
        """Each section with all inside, as it is shown now."""
        ranks: dict[SectionPath, int] = {}
        for path in reversed(self._pieces):
            section = self._pieces[path].node.section
            inside = self._inside(path)
            self._sizes[path] += sum(self._sizes[below] for below in inside)
            ranks[path] = max(section.priority.rank, *(ranks[below] for below in inside), 0)
            if section.fit == "keep":
                self._kept |= {path[:end] for end in range(1, len(path) + 1)}
        self._shown = sum(size for path, size in self._sizes.items() if len(path) == 1)
        self._line = self._count(_line(source).text)
        self._between = self._count(BLANK_LINE.text)
        self._order = list(reversed(self._pieces))
        self._order.sort(key=ranks.__getitem__)
        self._folded: set[SectionPath] = set()
        self._left_out: set[SectionPath] = set()

    def result(self) -> Fitted:
        """Return the first of the steps after which the prompt fits."""
        steps = self._steps()
        most, unchanged = self._fit.tokens * self._unit, self._total()
        while self._total() > most and next(steps, None) is not None:
            pass
        tokens = -(-min(self._total(), unchanged) // self._unit)
        if self._total() >= unchanged:
            # The line that says so is longer than what it would be said of.
            self._folded, self._left_out = set(), set()
        if tokens > self._fit.tokens and not self._opened:
            raise PromptRenderError(
                f"{self._source.plan.prompt}: the smallest form has {tokens:,} tokens, and `fit` "
                f"allows {self._fit.tokens:,}: give long sections a `summary`, or let some go with "
                "fit='drop'."
            )
        shown = [path for path in self._pieces if not self._is_hidden(path)]
        return Fitted(
            tokens,
            tuple(path for path in shown if path in self._folded - self._left_out),
            tuple(path for path in shown if path in self._left_out),
        )

    def _steps(self) -> Iterator[SectionPath]:
        """Fold and leave out one section after the other; a section comes after all inside."""
        for path in self._order:
            if self._folds(path) and self._summary(path) < self._sizes[path]:
                self._folded.add(path)
                yield self._resize(path, self._summary(path))
        for path in self._order:
            if self._goes(path) and self._sizes[path] and not self._is_hidden(path):
                self._left_out.add(path)
                yield self._resize(path, 0)
        # A short section whose summary is longer than what is left without those inside.
        for path in self._order:
            if path in self._folded and path not in self._left_out and not self._is_hidden(path):
                size, folded, left_out = self._smallest(path)
                if size < self._sizes[path]:
                    self._folded = {p for p in self._folded if p[: len(path)] != path} | folded
                    self._left_out |= left_out
                    yield self._resize(path, size)

    def _smallest(self, path: SectionPath) -> tuple[int, set[SectionPath], set[SectionPath]]:
        """Return the smallest size of a section, and what is folded and left out then."""
        if self._goes(path):
            return 0, set(), {path}
        size, folded, left_out = self._alone[path], set[SectionPath](), set[SectionPath]()
        for below in self._inside(path):
            smallest = self._smallest(below)
            size += smallest[0]
            folded |= smallest[1]
            left_out |= smallest[2]
        if self._folds(path) and self._summary(path) <= size:
            return self._summary(path), {path}, set()
        return size, folded, left_out

    def _resize(self, path: SectionPath, size: int) -> SectionPath:
        change = size - self._sizes[path]
        self._shown += change
        for end in range(1, len(path) + 1):
            self._sizes[path[:end]] += change
        return path

    def _total(self) -> int:
        line = self._line if self._folded or self._left_out else 0
        return self._shown and self._shown + line - self._between

    def _inside(self, path: SectionPath) -> list[SectionPath]:
        children = self._pieces[path].node.children
        return [node.path for node in children if node.path in self._pieces]

    def _folds(self, path: SectionPath) -> bool:
        piece = self._pieces[path]
        is_full = piece.visibility is SectionVisibility.FULL
        return is_full and path not in self._kept and piece.node.section.has_summary

    def _goes(self, path: SectionPath) -> bool:
        return path not in self._kept and self._pieces[path].node.section.fit == "drop"

    def _is_hidden(self, path: SectionPath) -> bool:
        """Return True if a section around it is folded or left out."""
        around = (path[:end] for end in range(1, len(path)))
        return any(above in self._folded or above in self._left_out for above in around)

    def _summary(self, path: SectionPath) -> int:
        if path not in self._summaries:
            node = self._pieces[path].node
            summary = self._source.piece(node, SectionVisibility.SUMMARY)
            self._summaries[path] = self._size(summary)
        return self._summaries[path]

    def _size(self, piece: Piece[Node]) -> int:
        if not piece.segments:
            return 0
        return self._count("".join([segment.text for segment in piece.segments]) + BLANK_LINE.text)
