"""The tools that a workspace's prompts need; without prompts, their analysis isn't loaded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.agent.folders import Folder, Folders

# Every module that constructs a prompt mentions this.
PROMPT_WORD = r"\bPromptTemplate\b"

CALL_TOOL = "call_prompt_tool"


@dataclass(frozen=True, slots=True)
class Needs:
    """The tools that the prompts of a workspace need, as far as their source shows.

    Attributes:
        folded: Some may have summarized sections.
        tools: Some may have tools of their own, which may run.
    """

    folded: bool
    tools: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools for them."""
        if not (self.folded or self.tools):
            return ()
        from foldline.prompts.layout import layout

        folded = (layout.OPEN_SECTIONS, layout.READ_SECTION) if self.folded else ()
        return (*folded, CALL_TOOL) if self.tools else folded


def all_needs(*, trusted: bool) -> Needs:
    """Return what any prompt may need."""
    return Needs(folded=True, tools=trusted)


def find_needs(folders: Folders, *, trusted: bool) -> Needs:
    """Return what the prompts of all folders need. Blocks while files are read, until all is known.

    Args:
        folders: The folders.
        trusted: The prompts' tools may run.
    """
    folded = has_tools = False
    for folder in folders.folders:
        if not prompt_paths(folder):
            continue
        from foldline.agent.mcp.catalog import prompts_of, summarized_sections

        for _, prompt, facts in prompts_of(folder):
            # Only running the code tells the sections that its source doesn't show.
            folded = folded or not prompt.complete or any(summarized_sections(prompt))
            has_tools = has_tools or (trusted and (facts.declares_tools or not prompt.complete))
            if folded and has_tools is trusted:
                return Needs(folded, has_tools)
    return Needs(folded, has_tools)


def prompt_paths(folder: Folder) -> list[str]:
    """Return the files that may have prompts."""
    from foldline.backends.errors import NoMatchError

    # Unlike references, grep is complete while the index is being built.
    try:
        matches = folder.access.grep(PROMPT_WORD, "**/*.py")
    except NoMatchError:
        return []
    return sorted({match.path for match in matches})
