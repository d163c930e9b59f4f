"""What a prompt declares, as data: for versioning, overrides and tools that look at prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.prompts.visibility import SectionPath

__all__ = ["ChapterDescriptor", "PromptDescriptor"]


@dataclass(frozen=True, slots=True)
class ChapterDescriptor:
    """A chapter as declared; `parent_path` is empty for one at the root."""

    key: str
    title: str
    description: str | None
    parent_path: SectionPath


@dataclass(frozen=True, slots=True)
class PromptDescriptor:
    """A prompt as declared."""

    ns: str
    key: str
    chapters: tuple[ChapterDescriptor, ...] = ()
