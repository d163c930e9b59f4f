"""The document and the prompt that a request is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.base.near_names import near_names
from foldline.ide.errors import NoDocument, NoPrompt
from foldline.ide.uris import path_of, uri_of
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from foldline.ide.analysis.model import Span, StaticPrompt, StaticSection
    from foldline.ide.prompts.request import PromptRef
    from foldline.ide.workspace import Workspace


@record
class DocumentTarget:
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
    is_instructions: bool = False
    """True for an instruction file, which is Markdown: the file is the prompt."""


@record
class PromptTarget:
    """One prompt of a document, by the variable that holds it.

    `name` is None if no prompt is found without executing the document.
    """

    document: DocumentTarget
    name: str | None

    @property
    def is_instructions(self) -> bool:
        """True if it's an instruction file, which has nothing to execute."""
        return self.document.is_instructions


async def resolve(workspace: Workspace, ref: PromptRef) -> PromptTarget:
    """Return the prompt that `ref` names.

    Raises:
        IdeError: There is no such document or prompt.
    """
    if ref.file is None:
        return await find_prompt(workspace, ref.uri, ref.name)
    if workspace.is_instructions(ref.file):
        root = ref.root or workspace.root_of(ref.file)
        document = DocumentTarget(uri_of(ref.file), ref.file, root, is_instructions=True)
        return PromptTarget(document, ref.file.name)
    name = ref.name or await workspace.query(
        uri_of(ref.file), lambda snapshot: first_prompt(snapshot.analysis.module.prompts)
    )
    document = DocumentTarget(uri_of(ref.file), ref.file, ref.root or workspace.root_of(ref.file))
    return PromptTarget(document, name)


async def find_document(workspace: Workspace, uri: str | None) -> DocumentTarget:
    """Return the document at `uri`, or the one that has the focus.

    Raises:
        IdeError: There is no such document, or it may not be read.
    """
    uri = uri or workspace.focus.uri
    if uri is None:
        raise NoDocument("No document has the focus: open one, or name it with `uri`")
    path = path_of(uri)
    root = workspace.root_of(path)
    instructs = workspace.is_instructions(path)
    document = workspace.document(uri)
    if document is not None:
        return DocumentTarget(uri, path, root, document.text, document.version, instructs)
    text = await workspace.async_access(root).read_file(str(path))
    return DocumentTarget(uri, path, root, text, is_instructions=instructs)


async def find_prompt(workspace: Workspace, uri: str | None, name: str | None) -> PromptTarget:
    """Return the prompt called `name` (its variable, or `ns/key`) of the document at `uri`.

    Without a name it is the prompt last shown of that document, or else the first that the author
    has bound values to, or else the first.

    Raises:
        IdeError: There is no such document or prompt.
    """
    document = await find_document(workspace, uri)
    if document.is_instructions:
        return PromptTarget(document, document.path.name)
    if name is not None and name.isidentifier():
        # A variable may hold a prompt in a way that only executing the module shows.
        return PromptTarget(document, name)
    prompts = (
        await workspace.query(document.uri, lambda snapshot: snapshot.analysis.module.prompts) or ()
    )
    names = {prompt.name: prompt.name for prompt in prompts}
    names |= {f"{prompt.ns}/{prompt.key}": prompt.name for prompt in prompts if prompt.key}
    if name is None:
        name = workspace.focus.prompt_names.get(document.uri)
        if name not in names:
            name = first_prompt(prompts)
        return PromptTarget(document, name)
    if name in names:
        return PromptTarget(document, names[name])
    if names:
        near = near_names(name, names) or sorted(names)
        raise NoPrompt(
            f"{document.path.name} has no prompt {name!r}; it has {', '.join(near)}",
            name=name,
            near=near,
        )
    return PromptTarget(document, name)


def first_prompt(prompts: Iterable[StaticPrompt]) -> str | None:
    """Return the variable of the first bound prompt, or else of the first prompt."""
    first = min(prompts, key=lambda prompt: not prompt.bound, default=None)
    return first.name if first is not None else None


def range_in(section: StaticSection, file: str) -> Span:
    """Return the range of a section in a file.

    It is the prompt's use of the section if another file declares it.
    """
    return section.source.span if section.source.file == file else section.use.span
