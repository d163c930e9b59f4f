"""The code under review: a digest of it in the prompt."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from foldline.agent.instructions import reading_code
from foldline.prompts import MarkdownSection, Section, Stability, Stable, Tool
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

    __stability__: ClassVar[Stability] = Stable

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


class WorkspaceDigestSection(MarkdownSection[WorkspaceDigest]):
    """Lists the files of the session's digest."""

    derived_placeholders: ClassVar[tuple[str, ...]] = ("_files",)

    def __init__(self, *, session: Session) -> None:
        self.session = session
        super().__init__(
            title="Workspace Digest",
            key="workspace-digest",
            template="${_files}",
            default_params=session[WorkspaceDigest].state,
        )

    def derive(self, params: WorkspaceDigest) -> Mapping[str, str]:
        """A line for each file."""
        return {
            "_files": "\n".join(
                f"- `{f.path}` ({f.lines} lines): {f.purpose}" for f in params.files
            )
            or "There are no files to review."
        }


def with_reading(section: Section[object], tools: Sequence[Tool[Any, Any]]) -> Section[object]:
    """A clone of a section that also says how code is read, and offers the tools for it."""
    return section.clone(children=[*section.children, reading_code.clone(tools=tools)])
