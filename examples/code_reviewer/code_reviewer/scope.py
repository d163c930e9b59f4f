"""Sections for the scope of a review: a focus and files, each only if the user gave it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from foldline.prompts import MarkdownSection
from reviewer_prompt import CodeReviewTask


class FilesSection(MarkdownSection[CodeReviewTask]):
    """The files of the task as a list."""

    derived_placeholders: ClassVar[tuple[str, ...]] = ("_file_list",)

    def derive(self, params: CodeReviewTask) -> Mapping[str, str]:
        """A line for each file."""
        return {"_file_list": "\n".join(f"- `{path}`" for path in params.files or ())}


focus = MarkdownSection[CodeReviewTask](
    title="Focus",
    key="focus",
    template="Look for problems of ${focus} first. Report others only if they are severe.",
    enabled=lambda task: bool(task.focus),
)

files = FilesSection(
    title="Files",
    key="files",
    template="""
        Review these files. Read others only to understand them.

        ${_file_list}
    """,
    enabled=lambda task: bool(task.files),
)
