"""The tools that a workspace's prompts and instruction files need.

Without prompts, their analysis isn't loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.agent import mcp
from foldline.backends.errors import NoMatchError
from foldline.records import record

if TYPE_CHECKING:
    from foldline.agent.folders import Folder, Folders

# Every module that constructs a prompt mentions this.
PROMPT_WORD = r"\bPromptTemplate\b"

# A line that may fold a section; reading the file for that would load the grammar of Markdown.
FOLD_LINE = r"^ {0,3}<!--\s*fold:"

OPEN, READ, CALL_TOOL = "open_sections", "read_section", "call_prompt_tool"


@record
class Needs:
    """The tools that the prompts of a workspace need, as far as their source shows.

    Attributes:
        folded: Some may have summarized sections.
        tools: Some may have tools of their own, which may run.
        instructions: An instruction file has folded sections.
    """

    folded: bool
    tools: bool
    instructions: bool = False

    def has(self, name: str, *, safe: bool) -> bool:
        """Return whether one of the tools for prompts is needed."""
        return (self.folded or (self.instructions and name == READ)) if safe else self.tools

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools for them."""
        tools = {OPEN: True, READ: True, CALL_TOOL: False}
        return tuple(name for name, safe in tools.items() if self.has(name, safe=safe))


def all_needs(*, trusted: bool) -> Needs:
    """Return what any prompt may need."""
    return Needs(folded=True, tools=trusted)


def find_needs(folders: Folders, *, trusted: bool) -> Needs:
    """Return what all folders need; with `trusted`, tools may run. Blocks until all is known."""
    folded = has_tools = False
    for folder in folders.folders:
        if not prompt_paths(folder):
            continue
        for _, prompt, facts in mcp.catalog.prompts_of(folder):
            # Only running the code tells the sections that its source doesn't show.
            folded = folded or not prompt.complete or any(mcp.catalog.summarized_sections(prompt))
            has_tools = has_tools or (trusted and (facts.declares_tools or not prompt.complete))
            if folded and has_tools is trusted:
                return Needs(folded, has_tools)
    instructions = folded or any(map(_folds_instructions, folders.folders))
    return Needs(folded, has_tools, instructions)


def _folds_instructions(folder: Folder) -> bool:
    """Return whether an instruction file of the folder has a folded section."""
    try:
        matches = folder.access.grep(FOLD_LINE, "*.{md,mdc}")
    except NoMatchError:
        return False
    # The workspace knows it, too, but would load the analysis of prompts.
    from foldline.ide.instructions.files import instructs

    return any(instructs(folder.root / match.path, folder.root) for match in matches)


def prompt_paths(folder: Folder) -> list[str]:
    """Return the files that may have prompts."""
    # Unlike references, grep is complete while the index is being built.
    try:
        matches = folder.access.grep(PROMPT_WORD, "**/*.py")
    except NoMatchError:
        return []
    return sorted({match.path for match in matches})
