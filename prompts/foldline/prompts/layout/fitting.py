"""Fitting a prompt into a budget: sections are summarized first, and only then left out.

The steps have one order, whatever the budget is, and a render makes the first of them until it
fits. So a smaller budget never shows more. Each is one to the smallest form that the sections
allow, so that a prompt fits whenever one of its forms does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from foldline.prompts.cache.tokens import TOKEN, estimated_tokens, twentieths
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import (
    ErrorHandler,
    PromptError,
    PromptRenderError,
    PromptValidationError,
    check_at_least,
)
from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.layout.layout import BLANK_LINE, Piece
from foldline.prompts.visibility import SectionPath, SectionVisibility

if TYPE_CHECKING:
    from foldline.prompts.layout.blocks import Block
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
        check_at_least(1, tokens=self.tokens or 0)


@FrozenDataclass()
class Fitted:
    """How a prompt was made to fit; `render(fit=…)` with it makes the same changes again."""

    tokens: int
    """The tokens of its text, without what was opened since."""
    folded: tuple[SectionPath, ...] = ()
    """The sections that are summarized to fit, until they are opened."""
    left_out: tuple[SectionPath, ...] = ()
    """The sections that are left out to fit, with all inside."""


def fitted(
    source: RenderPass,
    pieces: Sequence[Piece[Node]],
    fit: Fit | Fitted,
    on_error: ErrorHandler | None = None,
) -> tuple[Fitted, Sequence[Piece[Node]]]:
    """Return how the rendered pieces are made to fit, and the pieces that fit."""
    opened, result = source.opened_paths(), fit
    if isinstance(fit, Fit):
        result = _Fitting(source, pieces, fit, lenient=on_error is not None).result(fit.tokens)
        if result.tokens > fit.tokens and not opened:
            raise PromptRenderError(
                f"{source.plan.prompt}: the smallest form has {result.tokens:,} tokens, and `fit` "
                f"allows {fit.tokens:,}: give long sections a `summary`, or let some go with "
                "fit='drop'."
            )
    if not isinstance(result, Fitted):
        raise PromptValidationError(f"`fit` is a Fit, such as Fit(tokens=8000), not {fit!r}.")
    left_out = [path for path in result.left_out if path not in opened]
    folded = dict.fromkeys(result.folded, SectionVisibility.SUMMARY)
    source.fitted = folded | dict.fromkeys(left_out)
    if result.folded or result.left_out:
        pieces = source.pieces(source.plan.roots, on_error=on_error)
        last = next((piece for piece in reversed(pieces) if piece.segments), None)
        if last is not None:
            last.segments.append(_line(source))
    return result, pieces


def forms(source: RenderPass, blocks: Iterable[Block], budgets: Sequence[int]) -> Iterator[Fitted]:
    """Yield how a render would fit each budget, the largest first; the smallest form may not."""
    pieces = []
    for block in blocks:
        end = -1 if block.segments[-1:] == (BLANK_LINE,) else None
        place, segments = source.plan.by_path[block.path], [*block.segments[:end]]
        pieces.append(Piece(place, block.enabled, block.visibility, segments))
    yield from map(_Fitting(source, pieces, Fit(tokens=budgets[0])).result, budgets)


def _line(source: RenderPass) -> Segment:
    return Segment(SegmentKind.SUFFIX, f"\n\n{source.plan.wording.fitted}", FITTED)


class _Fitting:
    """The changes made so far, and the sizes with them."""

    def __init__(
        self, source: RenderPass, pieces: Sequence[Piece[Node]], fit: Fit, *, lenient: bool = False
    ) -> None:
        self._source, self._expected = source, [PromptError] if lenient else []
        # Estimates add up as long as they aren't rounded.
        additive = fit.count_tokens is estimated_tokens
        self._count, self._unit = (twentieths, TOKEN) if additive else (fit.count_tokens, 1)
        self._line = self._count(_line(source).text)
        self._between = self._count(BLANK_LINE.text)
        self._pieces = {piece.node.path: piece for piece in pieces if piece.enabled}
        self._alone = {path: self._size(piece) for path, piece in self._pieces.items()}
        self._sizes = Counter(self._alone)
        """Each section with all inside, as it is shown now; `()` is the whole."""
        ranks: Counter[SectionPath] = Counter()
        self._kept = source.opened_paths()
        for path, piece in reversed(self._pieces.items()):
            section, around = piece.node.section, path[:-1]
            ranks[path] = max(ranks[path], section.priority.rank)
            ranks[around] = max(ranks[around], ranks[path])
            self._sizes[around] += self._sizes[path]
            if section.fit == "keep":
                self._kept |= {path[:end] for end in range(1, len(path) + 1)}
        self._order = sorted([*reversed(self._pieces)], key=ranks.__getitem__)
        self._changes: dict[SectionPath, SectionVisibility | None] = {}
        self._unchanged, self._left = self._total(), self._steps()

    def result(self, tokens: int) -> Fitted:
        """Return the first of the steps after which the prompt fits, of those not yet made."""
        while self._total() > tokens * self._unit and (step := next(self._left, None)):
            path, size, visibility = step
            change = size - self._sizes[path]
            if change < 0 and not self._is_hidden(path):
                self._sizes.update({path[:end]: change for end in range(len(path) + 1)})
                self._changes[path] = visibility
        # The line that says so may be longer than what it would be said of.
        changes = self._changes if self._total() < self._unchanged else {}
        shown = [path for path in self._pieces if path in changes and not self._is_hidden(path)]
        return Fitted(
            -(-min(self._total(), self._unchanged) // self._unit),
            tuple(path for path in shown if changes[path]),
            tuple(path for path in shown if not changes[path]),
        )

    def _steps(self) -> Iterator[tuple[SectionPath, int, SectionVisibility | None]]:
        """Fold and leave out one section after the other; a section comes after all inside."""
        summaries = self._summaries()
        for path in self._order:
            if path in summaries:
                yield path, summaries[path], SectionVisibility.SUMMARY
        for path in self._order:
            if self._goes(path):
                yield path, 0, None

    def _summaries(self) -> Mapping[SectionPath, int]:
        """Return the sizes of the summaries, except of sections that can be smaller in full."""
        summaries: dict[SectionPath, int] = {}
        least = Counter(self._alone)
        for path, piece in reversed(self._pieces.items()):
            is_full = piece.visibility is SectionVisibility.FULL
            if path not in self._kept and is_full and piece.node.section.has_summary:
                with suppress(*self._expected):
                    summary = self._source.piece(piece.node, SectionVisibility.SUMMARY)
                    if (size := self._size(summary)) <= least[path]:
                        summaries[path] = least[path] = size
            least[path[:-1]] += 0 if self._goes(path) else least[path]
        return summaries

    def _goes(self, path: SectionPath) -> bool:
        return path not in self._kept and self._pieces[path].node.section.fit == "drop"

    def _is_hidden(self, path: SectionPath) -> bool:
        return any(path[:end] in self._changes for end in range(1, len(path)))

    def _total(self) -> int:
        shown, line = self._sizes[()], self._line if self._changes else 0
        return shown and shown + line - self._between

    def _size(self, piece: Piece[Node]) -> int:
        text = "".join([segment.text for segment in piece.segments])
        return self._count(text + BLANK_LINE.text) if text else 0
