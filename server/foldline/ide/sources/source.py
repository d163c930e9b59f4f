"""`PromptSource`: what actions ask of a prompt, and what features ask of its document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from foldline.ide.prompts.request import RenderMode
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from foldline.ide.analysis.model import Span
    from foldline.ide.checks import Diagnostic
    from foldline.ide.features.completion import Completion
    from foldline.ide.features.hover import Hover, Inlay, Lens
    from foldline.ide.prompts.request import PromptRef, View
    from foldline.ide.render.render import AnswerT, Block, Location, OpenedSections, Render
    from foldline.ide.render.static import PromptTokens
    from foldline.ide.snapshot import Snapshot
    from foldline.ide.workspace import Result, Workspace

    Action = Mapping[str, Any]
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

    Actions raise IdeError where the prompt can't be rendered. Features are asked in a query of
    `with_snapshot`, about the snapshot that it's given.

    Attributes:
        name: The variable that holds the prompt, or the file's name; None if no prompt is found
            without executing the document.
        trust_needed: Rendering it executes code of the workspace.
    """

    workspace: Workspace
    document: SourceDocument
    mode: RenderMode = RenderMode()
    name: str | None = None
    trust_needed: ClassVar[bool]

    # The name of the prompt that is meant.
    @abstractmethod
    async def name_of(self, ref: PromptRef) -> str | None: ...

    # The prompt as a view shows it: a block equal to one of `known` is that object.
    @abstractmethod
    async def render(self, view: View, known: Sequence[Block] = ()) -> Render: ...

    # The same, from the source alone.
    @abstractmethod
    async def render_source(self, view: View) -> Render: ...

    # The prompt with sections opened as a model does it; without `keys`, all.
    @abstractmethod
    async def open_sections(
        self, view: View, keys: Sequence[str] | None, reason: str
    ) -> OpenedSections: ...

    # A worker's answer to an action.
    @abstractmethod
    async def answer(self, view: View, answers: type[AnswerT], action: Action) -> AnswerT: ...
    @abstractmethod
    async def tokens(self) -> PromptTokens: ...

    # What features ask; None where the document can't be read.
    @abstractmethod
    def with_snapshot(self, query: Callable[[Snapshot], Result]) -> Result | None: ...
    @abstractmethod
    def hover(self, snapshot: Snapshot, offset: int) -> Hover | None: ...
    @abstractmethod
    def lenses(self, snapshot: Snapshot) -> Iterable[Lens]: ...
    @abstractmethod
    def inlays(self, snapshot: Snapshot) -> Iterable[Inlay]: ...
    @abstractmethod
    def foldings(self, snapshot: Snapshot) -> Iterable[Span]: ...
    @abstractmethod
    def diagnostics(self, snapshot: Snapshot) -> Sequence[Diagnostic]: ...

    def completions(self, snapshot: Snapshot, offset: int) -> Iterable[Completion]:
        return ()

    @property
    def only_source(self) -> bool:
        """True if nothing may be executed, and the source alone is good enough."""
        return self.mode.fallback and self.trust_needed and not self.workspace.settings.trusted

    def require_trust(self) -> None:
        """Raise Untrusted where answering would run code that isn't trusted."""
        if self.trust_needed:
            self.workspace.require_trust()

    def with_document(
        self, render: Render, locations: Locations, known: Sequence[Block] = ()
    ) -> Render:
        """Return a render with its costs and document, and each block with its location."""
        from foldline.ide.render.token_costs import with_costs

        document, folder = self.document, self.workspace.folder(self.document.path)
        budget = folder.options(document.path).token_budget or None
        complete = replace(render, uri=document.uri, version=document.version, token_budget=budget)
        return with_costs(complete, folder.counter(document.path), locations, known)
