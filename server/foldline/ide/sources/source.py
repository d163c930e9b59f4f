"""`PromptSource`: what actions ask of a prompt, and what features ask of its document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from foldline.ide.prompts.request import RenderMode
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from foldline.ide.analysis.model import SourceSpan, Span
    from foldline.ide.checks import Diagnostic
    from foldline.ide.features.completion import Completion
    from foldline.ide.features.hover import Hover, Inlay, Lens
    from foldline.ide.instructions.checks import Around
    from foldline.ide.instructions.document import InstructionFile
    from foldline.ide.instructions.fold import Mark
    from foldline.ide.instructions.mentions import Mention
    from foldline.ide.prompts.request import View
    from foldline.ide.render.render import AnswerT, Block, Location, OpenedSections, Render
    from foldline.ide.render.static import PromptTokens
    from foldline.ide.snapshot import Snapshot
    from foldline.ide.workspace import Result, Workspace

    Locations = Mapping[tuple[str, ...], Location | None]


@record
class SourceDocument:
    """One document of the workspace.

    Attributes:
        text: Its text; None to read it from disk.
        version: The client's version of the text; None if it isn't open.
    """

    uri: str
    path: Path
    root: Path
    text: str | None = None
    version: int | None = None


@record(slots=False)
class PromptSource(ABC):
    """A document, one prompt of it, and what the caller needs; `ide.resolve` chooses the kind.

    Actions raise IdeError where the prompt can't be rendered; features are asked in a query of
    `with_snapshot`, on the snapshot that it's given.

    Attributes:
        name: The variable that holds the prompt, or the file's name; None if no prompt is found
            without executing the document.
        trust_needed: Rendering it executes code of the workspace.
        completes_in_parts: Names are completed a folder at a time, and up to a number.
    """

    workspace: Workspace
    document: SourceDocument
    mode: RenderMode = RenderMode()
    name: str | None = None
    trust_needed: ClassVar[bool]
    completes_in_parts: ClassVar[bool] = False

    @property
    def only_source(self) -> bool:
        """True if nothing may be executed, and the source alone is good enough."""
        return self.mode.fallback and self.trust_needed and not self.workspace.settings.trusted

    def require_trust(self) -> None:
        """Refuse to go on where answering would run code that isn't trusted.

        Raises:
            Untrusted: It would.
        """
        if self.trust_needed:
            self.workspace.require_trust()

    def with_document(
        self, render: Render, locations: Locations, known: Sequence[Block] = ()
    ) -> Render:
        """Return a render with its costs and document, and each block with its location."""
        from foldline.ide.render.token_costs import with_costs

        document, folder = self.document, self.workspace.folder(self.document.path)
        budget = folder.options(document.path).token_budget
        whole = replace(render, uri=document.uri, version=document.version, token_budget=budget)
        return with_costs(whole, folder.counter(document.path), locations, known)

    @abstractmethod
    async def first_name(self) -> str | None:
        """Return the name of the first bound prompt, or else of the first prompt."""

    @abstractmethod
    async def name_of(self, name: str | None) -> str | None:
        """Return the name of a prompt that is called so, or of the one that's meant without.

        Raises:
            NoPrompt: There is none.
        """

    @abstractmethod
    async def render(self, view: View, known: Sequence[Block] = ()) -> Render:
        """Return the prompt as the view shows it; a block equal to a known one is that object."""

    @abstractmethod
    async def render_source(self, view: View) -> Render:
        """Return the prompt as far as its source tells; nothing is executed."""

    @abstractmethod
    async def open(self, view: View, keys: Sequence[str] | None, reason: str) -> OpenedSections:
        """Open sections as a model does, None for all summarized ones, and render the prompt."""

    @abstractmethod
    async def answer(
        self, view: View, answers: type[AnswerT], action: Mapping[str, object]
    ) -> AnswerT:
        """Return a worker's answer; `action` is what it does, by its name there."""

    @abstractmethod
    async def tokens(self) -> PromptTokens:
        """Return the tokens of the prompt and of each section, from its source alone."""

    @abstractmethod
    def with_snapshot(self, query: Callable[[Snapshot], Result]) -> Result | None:
        """Return the result of a query on the document now; None where it can't be read."""

    @abstractmethod
    def hover(self, snapshot: Snapshot, offset: int) -> Hover | None: ...

    @abstractmethod
    def lenses(self, snapshot: Snapshot) -> Iterable[Lens]: ...

    @abstractmethod
    def inlays(self, snapshot: Snapshot) -> Iterable[Inlay]: ...

    @abstractmethod
    def completions(self, snapshot: Snapshot, offset: int) -> Sequence[Completion]: ...

    @abstractmethod
    def foldings(self, snapshot: Snapshot) -> Iterable[Span]:
        """Return what an editor folds: the line in which a range ends is hidden, too."""

    @abstractmethod
    def mentions(self, snapshot: Snapshot) -> Iterable[tuple[Mention, Span | SourceSpan]]:
        """Return what its Markdown names, and where."""

    @abstractmethod
    def diagnostics(
        self, snapshot: Snapshot, known: Callable[[InstructionFile], Around]
    ) -> Sequence[Diagnostic]:
        """Return the diagnostics; `known` has what the repository says of an instruction file."""

    def marks(self, offset: int) -> Sequence[Mark] | None:
        """Return what folds or unfolds the section at an offset; None where code does."""
        return None

    def look_around(self) -> Around | None:
        """Return what the repository says of the document, if that's asked; it takes seconds."""
        return None
