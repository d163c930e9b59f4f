"""Documents as clients have them open, and as a query sees them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.ide.uris import file_of
from foldline.records import record

if TYPE_CHECKING:
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.project import Project
    from foldline.ide.config import PromptOptions
    from foldline.ide.folder import Folder
    from foldline.ide.instructions.document import InstructionFile
    from foldline.ide.sources.source import PromptSource
    from foldline.ide.token_counter import TokenCounter


@dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class OpenDocument:
    """A document as a client has it open."""

    uri: str
    text: str
    version: int | None


@record
class Snapshot:
    """A document at one moment; valid only while the query runs that it's given to.

    Attributes:
        uri: The URI in the client's request.
        open_document: The client's; None where the disk's text holds.
        source: What features ask of it; an instruction file has no code to analyse.
        instructions: The document as a file that instructs agents; None for code.
    """

    uri: str
    open_document: OpenDocument | None
    analysis: ModuleAnalysis
    folder: Folder
    source: PromptSource
    instructions: InstructionFile | None

    @property
    def text(self) -> str:
        """The text, in which places are counted."""
        return self.open_document.text if self.open_document is not None else self.analysis.text

    @property
    def version(self) -> int | None:
        """The client's version of the text; None where it isn't open."""
        return self.open_document.version if self.open_document is not None else None

    @property
    def project(self) -> Project:
        """The modules around the document."""
        return self.folder.project

    @property
    def options(self) -> PromptOptions:
        return self.folder.options(Path(file_of(self.uri)))

    @property
    def counter(self) -> TokenCounter:
        """Counts tokens as the options say."""
        return self.folder.counter(Path(file_of(self.uri)))
