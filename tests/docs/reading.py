"""Reads a page as its reader does, and says where it stops making sense."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 24_000
"""The most bytes of a page that is read from its top to its end."""
LISTS = {"docs/benchmarks.md": 40_000}
"""Pages in which one looks something up. Each entry says all of it, though others say the same."""

LANGUAGES = {
    *(
        "",
        "console",
        "python",
        "pycon",
        "text",
        "diff",
        "toml",
        "yaml",
        "json",
        "jinja",
        "markdown",
        "sh",
        "sql",
    ),
    *("lua", "elisp", "{toctree}"),
}

_FENCE = re.compile(r"(?P<indent> *)(?P<fence>`{3,})(?P<info>[^`]*)$")
_HEADING = re.compile(r"(#{1,6}) +(.+?) *$")
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_PYTHON = re.compile(
    r'(?:from [\w.]+ import |import [\w.]+$|@\w+$|@\w+\(|(?:async )?def \w+\(|class \w+.*:$|""")'
)
_TO_WRITERS = re.compile(r"[Dd](?:on't|o not) edit|\bTODO\b|\bTBD\b|\bTo be written\b")


@dataclass(frozen=True)
class Block:
    """A fenced block, a heading or a paragraph, with the line that it begins at."""

    line: int
    text: str
    info: str | None = None
    """What stands behind the fence; None without one."""
    heading: int = 0


@dataclass
class Page:
    """A page in its blocks."""

    name: str
    text: str
    blocks: list[Block] = field(default_factory=list)
    open_fence: int = 0

    def __post_init__(self) -> None:
        # Comments aren't shown. Lines keep their numbers.
        shown = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), self.text)
        paragraph: list[str] = []
        fence: re.Match[str] | None = None
        begin = 0
        for number, line in enumerate([*shown.split("\n"), ""], 1):
            found = _FENCE.match(line)
            if fence is not None:
                if found and not found["info"] and len(found["fence"]) >= len(fence["fence"]):
                    self.blocks.append(Block(begin, "\n".join(paragraph), fence["info"].strip()))
                    fence, paragraph = None, []
                else:
                    paragraph.append(line)
                continue
            heading = _HEADING.match(line)
            if paragraph and (found or heading or not line.strip()):
                self.blocks.append(Block(begin, "\n".join(paragraph)))
                paragraph = []
            if found:
                fence, begin = found, number
            elif heading:
                self.blocks.append(Block(number, heading[2], heading=len(heading[1])))
            elif line.strip():
                begin = begin if paragraph else number
                paragraph.append(line)
        self.open_fence = begin if fence is not None else 0

    @property
    def prose(self) -> Iterator[Block]:
        """Its paragraphs, lists and tables."""
        return (block for block in self.blocks if block.info is None and not block.heading)

    @property
    def fenced(self) -> Iterator[Block]:
        """Its code and outputs."""
        return (block for block in self.blocks if block.info is not None)

    @property
    def codes(self) -> Iterator[tuple[int, str]]:
        """What stands in backticks within its prose, each with its line."""
        for block in self.blocks:
            if block.info is None:
                for code in CODE.finditer(block.text):
                    line = block.line + block.text.count("\n", 0, code.start())
                    yield line, " ".join(code[2].split())


def problems(name: str, text: str) -> list[str]:
    """Return what stops a reader, each with its line."""
    page = Page(name, text)
    checks = (_size, _fences, _prose, _headings, _repeated)
    return [f"{name}:{line}: {said}" for check in checks for line, said in check(page)]


def _size(page: Page) -> Iterator[tuple[int, str]]:
    size = len(page.text.encode())
    if size > LISTS.get(page.name, SIZE):
        yield 1, f"{size:,} bytes are too much to read: split it"


def _fences(page: Page) -> Iterator[tuple[int, str]]:
    if page.open_fence:
        yield page.open_fence, "the fence isn't closed"
    for block in page.fenced:
        if block.info not in LANGUAGES:
            yield block.line, f"no block has the language {block.info!r}"
        if not block.text.strip():
            yield block.line, "the block is empty"


def _prose(page: Page) -> Iterator[tuple[int, str]]:
    for block in page.prose:
        text = CODE.sub("", block.text)
        if "`" in text:
            yield block.line, "a backtick or a fence is inside of the text"
        for number, line in enumerate(block.text.split("\n")):
            if _PYTHON.match(line.strip()):
                yield block.line + number, f"code stands outside of a block: {line.strip()}"
        if told := _TO_WRITERS.search(text):
            yield block.line, f"this is for who writes the page, not for who reads it: {told[0]}"


def _headings(page: Page) -> Iterator[tuple[int, str]]:
    above: list[str] = []
    seen: set[tuple[str, ...]] = set()
    first = page.blocks[0] if page.blocks else None
    if first is None or first.heading != 1:
        yield 1, "the page doesn't begin with its title"
    for block in page.blocks:
        if not block.heading:
            continue
        if block.heading == 1 and block is not first:
            yield block.line, f"a second title: {block.text}"
        if block.heading > len(above) + 1:
            yield block.line, f"a heading skips a level: {block.text}"
        above = [*above[: block.heading - 1], block.text]
        if tuple(above) in seen:
            yield block.line, f"the heading is there already: {block.text}"
        seen.add(tuple(above))


def _repeated(page: Page) -> Iterator[tuple[int, str]]:
    """Long paragraphs and blocks that are twice on a page."""
    if page.name in LISTS:
        return
    seen: dict[str, int] = {}
    for block in page.blocks:
        text = " ".join(block.text.split())
        if block.heading or len(text) < 60:
            continue
        if text in seen:
            yield block.line, f"this is at line {seen[text]} already: {text[:60]}…"
        seen.setdefault(text, block.line)


def slugs(page: Page) -> set[str]:
    """Return the anchors of its headings."""
    counted: Counter[str] = Counter()
    found = set()
    for block in page.blocks:
        if block.heading:
            title = re.sub(r"[^\w -]", "", block.text.replace("`", "")).lower().replace(" ", "-")
            found.add(f"{title}-{counted[title]}" if counted[title] else title)
            counted[title] += 1
    return found
