"""A prompt with each of its parameter sets, side by side."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from foldline.backends.formatting.parts import note, plain
from foldline.backends.formatting.visible import visible
from foldline.ide.errors import IdeError
from foldline.ide.render.execution import execute, render
from foldline.ide.render.render import Answer, Block, Render, Tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from foldline.backends.formatting.parts import Line, Part
    from foldline.ide.prompts.request import View
    from foldline.ide.resolve import PromptTarget
    from foldline.ide.workspace import Workspace

NO_SET = "none"
SECONDS = 60.0
"""The most that all sets of a prompt may take together."""
MAX_NAME = 18
STYLES = {"full": "", "summary": "", "disabled": "dim", "absent": "dim", "failed": "red"}
LEGEND = "▸ summarized · - inside a summarized section · * not as in the first set"


@dataclass(frozen=True, slots=True)
class Cell:
    """A section as one set shows it.

    Attributes:
        shown: `full`, `summary`, `disabled`, `failed`, or `absent` where a summary stands for it.
        tokens: Of its own text.
        variant: Where a section looks alike in two sets, both have the same; the first set that
            can be rendered has 0.
    """

    shown: str
    tokens: int
    variant: int

    def __str__(self) -> str:
        words = {"summary": f"▸ {self.tokens:,}", "disabled": "off", "absent": "-"}
        shown = f"{self.tokens:,}" if self.shown == "full" else words.get(self.shown, self.shown)
        return f"{shown}{'*' if self.variant else ' '}"


@dataclass(frozen=True, slots=True)
class MatrixSection:
    """A row: a section that some set has."""

    id: str
    key: str
    title: str
    depth: int


@dataclass(frozen=True, slots=True)
class MatrixSet:
    """A column: a parameter set, with the sections in order and the tokens of a request.

    It has no cells where the set can't be rendered, and `error` says why.
    """

    name: str
    cells: tuple[Cell, ...]
    tokens: Tokens | None
    error: str | None


@dataclass(frozen=True, slots=True)
class Matrix:
    """The parameter sets of a prompt by its sections: what each shows, and what it costs."""

    sections: tuple[MatrixSection, ...]
    sets: tuple[MatrixSet, ...]

    @property
    def failed(self) -> bool:
        """True if a set can't be rendered, or not all of its sections."""
        return any(
            one.error or any(cell.shown == "failed" for cell in one.cells) for one in self.sets
        )

    @property
    def text(self) -> str:
        """The table as models read it."""
        return plain(matrix_lines(self))


async def render_sets(
    workspace: Workspace, target: PromptTarget, view: View
) -> dict[str, Render | str]:
    """Render the prompt with each of its sets, one after the other; a text is why one fails.

    Without sets, it's the prompt as its module defines it.

    Raises:
        IdeError: The sets aren't known, as the module fails.
    """
    action = {"action": "sets"}
    answer = await execute(workspace, target, replace(view, parameter_set=NO_SET), Answer, action)
    found: dict[str, Render | str] = {}
    limit = asyncio.get_running_loop().time() + SECONDS
    for name in [one.name for one in answer.parameter_sets] or [NO_SET]:
        try:
            async with asyncio.timeout_at(limit):
                found[name] = await render(workspace, target, replace(view, parameter_set=name))
        except TimeoutError:
            found[name] = f"Not rendered: all sets together may take {SECONDS:g} s"
        except IdeError as error:
            found[name] = str(error)
    return found


def matrix_of(renders: Mapping[str, Render | str]) -> Matrix:
    """Put renders side by side, as `render_sets` returns them."""
    order: list[str] = []
    sections: dict[str, MatrixSection] = {}
    blocks: dict[str, dict[str, Block]] = {}
    for name, shown in renders.items():
        blocks[name] = {} if isinstance(shown, str) else {one.id: one for one in shown.blocks}
        place = 0
        for block in blocks[name].values():
            if block.id not in sections:
                sections[block.id] = MatrixSection(block.id, block.key, block.title, block.depth)
                order.insert(place, block.id)
            place = order.index(block.id) + 1
    variants: dict[str, dict[tuple[str, str], int]] = {id_: {} for id_ in order}

    def cell(id_: str, block: Block | None) -> Cell:
        shown, known = _shown(block), variants[id_]
        # What divides it from the next section isn't its text.
        text = block.text.strip() if block else ""
        variant = known.setdefault((shown, text), len(known))
        return Cell(shown, block.own_tokens if block else 0, variant)

    sets = (
        MatrixSet(name, (), None, shown)
        if isinstance(shown, str)
        else MatrixSet(
            name, tuple(cell(id_, blocks[name].get(id_)) for id_ in order), shown.tokens, None
        )
        for name, shown in renders.items()
    )
    return Matrix(tuple(sections[id_] for id_ in order), tuple(sets))


def _shown(block: Block | None) -> str:
    if block is None:
        return "absent"
    if block.error is not None:
        return "failed"
    return block.visibility.lower() if block.enabled else "disabled"


def matrix_lines(matrix: Matrix, width: int | None = None) -> Iterator[Line]:
    """Yield the table; where a `width` can't hold all sets, as several tables."""
    rows = list(_rows(matrix))
    labels = max(_width(label) for (label, _), _ in rows)
    if width is not None:
        labels = min(labels, max(16, width // 3))
    place = 0
    while place < len(matrix.sets):
        first, used, widths = place, labels, list[int]()
        while place < len(matrix.sets):
            column = max(_width(cells[place][0]) for _, cells in rows)
            used += column + 2
            if widths and width is not None and used > width:
                break
            widths.append(column)
            place += 1
        if first:
            yield []
        for (label, style), cells in rows:
            line = [(_fit(label, labels), style)]
            for (text, kind), column in zip(cells[first:place], widths, strict=True):
                line.append((f"  {' ' * (column - _width(text))}{text}", kind))
            yield line
    for one in matrix.sets:
        if one.error is not None:
            yield [(f"{visible(one.name)}: ", "red"), (visible(one.error), "")]
    if len(matrix.sets) > 1:
        yield note(LEGEND)


def _rows(matrix: Matrix) -> Iterator[tuple[Part, list[Part]]]:
    """Yield rows of a label and a cell for each set, each text with its style."""
    names = [_fit(visible(one.name), MAX_NAME).strip() for one in matrix.sets]
    yield ("section", "bold"), [(f"{name} ", "bold") for name in names]
    for place, section in enumerate(matrix.sections):
        cells = [one.cells[place] if one.cells else None for one in matrix.sets]
        label = f"{'  ' * section.depth}{visible(section.title or section.key)}"
        yield (
            (label, ""),
            [("", "") if cell is None else (str(cell), _style(cell)) for cell in cells],
        )
    for name in ("tools", "output"):
        counts = [getattr(one.tokens, name, None) for one in matrix.sets]
        if any(counts):
            label = "output schema" if name == "output" else name
            yield (label, ""), [("" if count is None else f"{count:,} ", "") for count in counts]
    yield (
        ("total", "bold"),
        [
            (f"{one.tokens.words[0].partition(' ')[0]} ", "bold")
            if one.tokens
            else ("failed ", "red")
            for one in matrix.sets
        ],
    )


def _style(cell: Cell) -> str:
    return "yellow" if cell.variant and cell.shown != "failed" else STYLES[cell.shown]


def _width(text: str) -> int:
    """The columns that a terminal needs for a text."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _fit(text: str, columns: int) -> str:
    """Cut a text, or fill it with spaces, to so many columns."""
    if _width(text) > columns:
        while _width(text) >= columns:
            text = text[:-1]
        text += "…"
    return text + " " * (columns - _width(text))
