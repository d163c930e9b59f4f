"""A prompt with each of its parameter sets, side by side."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from unicodedata import east_asian_width

from foldline.backends.formatting.parts import Line, Part, note, plain
from foldline.backends.formatting.visible import visible
from foldline.ide.errors import IdeError
from foldline.ide.prompts.request import View
from foldline.ide.render.diff import Side
from foldline.ide.render.render import Answer, Block, Render, Tokens
from foldline.ide.sources.source import PromptSource
from foldline.records import record

SECONDS = 60.0
"""The most that all sets of a prompt may take together."""
MAX_NAME = 18
SUMS = {"tools": "Tools", "output": "Output schema", "total": "Total"}
WORDS = {"summary": "▸ {}", "disabled": "off", "absent": "-", "failed": "failed"}
WORDS["over"] = "{} over budget"
STYLES = {"disabled": "dim", "absent": "dim", "failed": "red", "over": "red"}
LEGEND = "▸ summarized · - left out with what is around it · * not as in the first set"


@record
class Cell:
    """A row with one set.

    Attributes:
        shown: `full`, `summary`, `disabled`, `failed`, or `absent` where what is around
            it is summarized, off or closed; `over` for a total over the project's `token-budget`.
        tokens: Of the section's own text.
        variant: Where a section looks alike in two sets, both have the same; the first set that
            can be rendered has 0.
        words: The tokens, or why there are none, for people.
    """

    shown: str
    tokens: int
    variant: int
    words: str


@record
class MatrixRow:
    """A section that some set has, or one without an `id`: the tools, the output, the total."""

    id: str | None
    key: str
    title: str
    depth: int


@record
class MatrixSet:
    """A column: a parameter set with a cell for each row, and the tokens of a request.

    It has no cells where the set can't be rendered, and `error` says why.
    """

    name: str
    cells: tuple[Cell, ...]
    tokens: Tokens | None
    error: str | None


@record
class Matrix:
    """The parameter sets of a prompt by its sections: what each shows, and what it costs."""

    rows: tuple[MatrixRow, ...]
    sets: tuple[MatrixSet, ...]

    @property
    def failed(self) -> bool:
        """True if a set can't be rendered, or one of its sections."""
        return any(one.error or "failed" in [cell.shown for cell in one.cells] for one in self.sets)

    @property
    def text(self) -> str:
        """The table as models read it."""
        return plain(matrix_lines(self))


async def render_sets(source: PromptSource, view: View) -> dict[str, Render | str]:
    """Render the prompt with each of its sets, one after the other; a text is why one fails.

    Without sets, it's the prompt as its module defines it.

    Raises:
        IdeError: The sets aren't known, as the module fails.
    """
    none = replace(view, parameter_set="none")
    answer = await source.answer(none, Answer, {"action": "sets"})
    renders: dict[str, Render | str] = {}
    limit = asyncio.get_running_loop().time() + SECONDS
    for name in [one.name for one in answer.parameter_sets] or ["none"]:
        try:
            async with asyncio.timeout_at(limit):
                renders[name] = await source.render(replace(view, parameter_set=name))
        except TimeoutError:
            renders[name] = f"Not rendered: all sets together may take {SECONDS:g} s"
        except IdeError as error:
            renders[name] = str(error)
    return renders


async def set_side(source: PromptSource, view: View, name: str | None) -> Side:
    """The prompt with one set, to compare; without a name with the view's."""
    shown = await source.render(replace(view, parameter_set=name or view.parameter_set))
    return Side(shown.parameter_set or "none", shown)


def matrix_of(renders: Mapping[str, Render | str]) -> Matrix:
    """Put renders side by side, as `render_sets` returns them."""
    rows: dict[str | None, MatrixRow] = {}
    order: list[str] = []
    used = {"total"}
    for render in renders.values():
        index = 0
        for block in render.blocks if isinstance(render, Render) else ():
            if block.id not in rows:
                rows[block.id] = MatrixRow(block.id, block.key, block.title, block.depth)
                # Behind the block before it: each set keeps its own order.
                order.insert(index, block.id)
            index = order.index(block.id) + 1
        tokens = render.tokens if isinstance(render, Render) else None
        used |= {name for name in SUMS if getattr(tokens, name, 0)}
    sums = [MatrixRow(None, key, title, 0) for key, title in SUMS.items() if key in used]
    ordered = (*(rows[id_] for id_ in order), *sums)
    variants: dict[MatrixRow, dict[object, int]] = {row: {} for row in ordered}

    def column(name: str, render: Render | str) -> MatrixSet:
        if isinstance(render, str):
            return MatrixSet(name, (), None, render)
        blocks = {block.id: block for block in render.blocks}
        mark = "" if render.tokens is None or render.tokens.exact else "~"
        cells = []
        for row, variant in variants.items():
            block = blocks.get(row.id or "")
            how = "full" if row.id is None else _shown(block)
            count = block.own_tokens if block else 0
            if row.id is None:
                count = getattr(render.tokens, row.key, 0)
                if row.key == "total" and count > (render.token_budget or count):
                    how = "over"
            # What divides it from the next section isn't its text.
            look = how, block.text.strip() if block else count
            words = WORDS.get(how, "{}").format(f"{mark}{count:,}")
            cells.append(Cell(how, count, variant.setdefault(look, len(variant)), words))
        return MatrixSet(name, tuple(cells), render.tokens, None)

    return Matrix(ordered, tuple(column(name, render) for name, render in renders.items()))


def _shown(block: Block | None) -> str:
    if block is None:
        return "absent"
    if block.error is not None:
        return "failed"
    return block.visibility.lower() if block.enabled else "disabled"


def matrix_lines(matrix: Matrix, width: int = sys.maxsize) -> Iterator[Line]:
    """Yield the table; where a `width` can't hold all sets, as several tables."""
    labels = ["", *(f"{'  ' * row.depth}{visible(row.title or row.key)}" for row in matrix.rows)]
    left = min(max(map(_width, labels)), max(16, width // 3))
    columns = [_column(one, len(labels)) for one in matrix.sets]
    while columns:
        ends = accumulate((_width(column[0][0]) for column in columns), initial=left)
        count = max(1, sum(end <= width for end in ends) - 1)
        for index, label in enumerate(labels):
            yield [(_fit(label, left), ""), *(column[index] for column in columns[:count])]
        columns = columns[count:]
        yield from ([],) if columns else ()
    for one in matrix.sets:
        if one.error is not None:
            yield [(f"{visible(one.name)}: ", "red"), (visible(one.error), "")]
    if len(matrix.sets) > 1:
        yield note(LEGEND)


def _column(one: MatrixSet, length: int) -> list[Part]:
    """The name of a set and its cells, all of one width."""
    texts = [(f"{_fit(visible(one.name), MAX_NAME).strip()} ", "bold")]
    for cell in one.cells:
        style = "yellow" if cell.variant else ""
        texts.append((f"{cell.words}{'*' if cell.variant else ' '}", STYLES.get(cell.shown, style)))
    texts += [("", "")] * (length - len(texts))
    width = max(_width(text) for text, _ in texts)
    return [(f"  {' ' * (width - _width(text))}{text}", style) for text, style in texts]


def _width(text: str) -> int:
    """The columns that a terminal needs for a text."""
    return len(text) + sum(east_asian_width(character) in "WF" for character in text)


def _fit(text: str, columns: int) -> str:
    """Cut a text, or fill it with spaces, to so many columns."""
    if _width(text) > columns:
        while _width(text) >= columns:
            text = text[:-1]
        text += "…"
    return text + " " * (columns - _width(text))
