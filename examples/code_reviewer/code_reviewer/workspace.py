"""The code under review: a digest of it in the prompt, and tools to look closer."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import ClassVar

from foldline.backends import SmartFileAccess
from foldline.backends.text import format_outline, format_symbol
from foldline.prompts import MarkdownSection, Section, Tool, ToolContext, ToolResult
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.runtime import Session


@FrozenDataclass()
class FileDigest:
    path: str
    lines: int
    purpose: str


@FrozenDataclass()
class WorkspaceDigest:
    """What there is to review, as the session keeps it."""

    files: tuple[FileDigest, ...] = ()


def digest_of(root: Path, folder: str) -> WorkspaceDigest:
    """The Python files of a folder, with their lengths and the first lines of their docstrings."""
    found = []
    for path in sorted((root / folder).glob("*.py")):
        source = path.read_text(encoding="utf-8")
        purpose = (ast.get_docstring(ast.parse(source)) or "").partition("\n")[0]
        name = path.relative_to(root).as_posix()
        found.append(FileDigest(name, len(source.splitlines()), purpose))
    return WorkspaceDigest(tuple(found))


class WorkspaceDigestSection(MarkdownSection[None]):
    """Lists the files of the session's digest."""

    derived_placeholders: ClassVar[tuple[str, ...]] = ("_files",)

    def __init__(self, *, session: Session) -> None:
        self.session = session
        super().__init__(title="Workspace Digest", key="workspace-digest", template="${_files}")

    def derive(self, params: None) -> Mapping[str, str]:
        """The files as the session knows them when the prompt is rendered."""
        files = self.session[WorkspaceDigest].state.files
        return {
            "_files": "\n".join(f"- `{f.path}` ({f.lines} lines): {f.purpose}" for f in files)
            or "There are no files to review."
        }


@FrozenDataclass()
class OutlineParams:
    file: str = field(metadata={"description": "The file, such as 'auth/tokens.py'."})


@FrozenDataclass()
class SymbolParams:
    file: str = field(metadata={"description": "The file, such as 'auth/tokens.py'."})
    name: str = field(metadata={"description": "The symbol, such as 'TokenSigner.read'."})


@FrozenDataclass()
class LinesParams:
    file: str = field(metadata={"description": "The file, such as 'auth/tokens.py'."})
    start: int = field(metadata={"description": "The first line, from 1."})
    end: int = field(metadata={"description": "The last line."})


class WorkspaceTools:
    """Tools that read the code at the cheapest level that answers the question."""

    def __init__(self, access: SmartFileAccess) -> None:
        self._access = access

    def outline(self, params: OutlineParams, *, context: ToolContext) -> ToolResult[str]:
        """Signatures and lines of a file."""
        return ToolResult(value=format_outline(self._access.get_outline(params.file)))

    def symbol(self, params: SymbolParams, *, context: ToolContext) -> ToolResult[str]:
        """The source of one symbol."""
        return ToolResult(value=format_symbol(self._access.read_symbol(params.file, params.name)))

    def lines(self, params: LinesParams, *, context: ToolContext) -> ToolResult[str]:
        """Some lines of a file."""
        return ToolResult(value=self._access.read_lines(params.file, params.start, params.end))

    def all(self) -> list[Tool[object, object]]:
        """The tools, the cheapest first."""
        return [
            Tool[OutlineParams, str](
                name="get_file_outline",
                description="The symbols of a file with signatures and lines, without bodies.",
                handler=self.outline,
            ),
            Tool[SymbolParams, str](
                name="read_symbol",
                description="The source of one function, class or method.",
                handler=self.symbol,
            ),
            Tool[LinesParams, str](
                name="read_lines",
                description="The lines of a file from `start` to `end`.",
                handler=self.lines,
            ),
        ]


def with_tools(section: Section[object], tools: list[Tool[object, object]]) -> Section[object]:
    """A clone of a section that also offers these tools."""
    twin = section.clone()
    twin.tools = (*twin.tools, *tools)
    return twin
