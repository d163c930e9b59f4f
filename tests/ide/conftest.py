"""One string is the fixture: files, a cursor and spans, all written into the source."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from tests.fixtures import files

from foldline.ide.analysis.project import Project
from foldline.ide.workspace import Workspace

from .viewer import View, Viewer, viewers

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

HEAD = """\
from dataclasses import dataclass, field
from foldline.prompts import (
    Chapter, MarkdownSection, Prompt, PromptTemplate, SectionVisibility, Task, TaskSection, Tool,
)
from foldline.prompts import *
@dataclass
class P:
    name: str
    focus: str = "security"

"""

MARKS = re.compile(r"^#?[ \t]*\^+ .*$\n?", re.MULTILINE)


@dataclass(frozen=True)
class Fixture:
    """Files in a project; `text` is the first one's, `cursor` the place of `$0` in it."""

    project: Project
    file: str
    text: str
    cursor: int
    files: dict[str, str]


class Fixtures:
    """Reads fixtures and renders spans back into them."""

    @staticmethod
    def project(source: str, *, head: str = HEAD) -> Fixture:
        """`#- path` begins another file; `$0` is the cursor; lines of carets are taken out."""
        first, others = files(source)
        marked_files = {"prompt.py": head + first, **others}
        project = Project()
        cursor_file, cursor = "/w/prompt.py", 0
        clean: dict[str, str] = {}
        for name, marked in marked_files.items():
            file, text = f"/w/{name}", MARKS.sub("", marked)
            if "$0" in text:
                cursor_file, cursor = file, text.index("$0")
                text = text.replace("$0", "", 1)
            clean[file] = text
        for file, text in reversed(clean.items()):
            project.open(file, text)
        return Fixture(project, cursor_file, clean[cursor_file], cursor, clean)

    @staticmethod
    def render(text: str, spans: list[tuple[int, int, str]], *, head: str = HEAD) -> str:
        """The text with a line of carets below each line that a span begins in."""
        spans = sorted(spans)
        lines: list[str] = []
        at = 0
        for line in text.splitlines(keepends=True):
            end = at + len(line)
            lines.append(line)
            for start, stop, label in spans:
                if at <= start < end or (start == end == len(text)):
                    width = max(1, min(stop, end - 1) - start)
                    column = start - at
                    mark = "^" * width
                    before = "#" + " " * (column - 1) if column else ""
                    lines.append(f"{before}{mark} {label}\n")
            at = end
        return "".join(lines).removeprefix(head)


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """An empty folder to open files in that are not on disk."""
    return Workspace.at(tmp_path_factory.mktemp("editor"))


@pytest.fixture(scope="session")
def fixtures() -> Fixtures:
    return Fixtures()


@pytest.fixture
async def view() -> AsyncIterator[View]:
    """What opens a workspace in this process: `view(root, trusted=True, …)`."""
    async with viewers() as open_:
        yield open_


@pytest.fixture
def editor(view: View) -> Viewer:
    """The example workspace, trusted."""
    return view(trusted=True)
