"""Finding what a request is about: the document, the prompt in it, the files it may read."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from foldline.ide.errors import NoDocument, NoPrompt
from foldline.server.convert import LineIndex
from foldline.server.prompt_index import ask
from foldline.server.workspace import path_of

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.ide.analysis.model import Span, StaticSection
    from foldline.server.server import FoldlineServer

    Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class DocumentTarget:
    """One document of the workspace.

    Attributes:
        index: The lines of the text, in the client's encoding.
        version: The editor's version of the text; None where the document is not open.
    """

    uri: str
    path: Path
    root: Path
    index: LineIndex
    version: int | None

    @property
    def text(self) -> str:
        return self.index.text


@dataclass(frozen=True, slots=True)
class PromptTarget:
    """One prompt of a document, by the variable that holds it.

    `name` is None where the document shows no prompt without being executed.
    """

    document: DocumentTarget
    name: str | None


async def find_document(ls: FoldlineServer, uri: str | None) -> DocumentTarget:
    """The document at `uri`, or the one that has the focus.

    Raises:
        IdeError: There is no such document, or it may not be read.
    """
    uri = uri or ls.focus.uri
    if uri is None:
        raise NoDocument("No document has the focus: open one, or name it with `uri`")
    path = path_of(uri)
    root = ls.files.root_of(path)
    open_document = ls.documents.document(uri)
    if open_document is not None:
        return DocumentTarget(uri, path, root, open_document.index, open_document.version)
    text = await ls.files.asynchronous(root).read_file(str(path))
    index = LineIndex.of(text, ls.documents.position_codec.encoding)
    return DocumentTarget(uri, path, root, index, None)


async def find_prompt(ls: FoldlineServer, uri: str | None, name: str | None) -> PromptTarget:
    """The prompt called `name` (its variable, or `ns/key`) of the document at `uri`.

    Without a name it is the prompt last shown of that document, or else the first that the author
    has bound values to, or else the first.

    Raises:
        IdeError: There is no such document or prompt.
    """
    document = await find_document(ls, uri)
    prompts = await ask(ls, document.uri, lambda asked: asked.analysis.module.prompts) or ()
    names = {prompt.name: prompt.name for prompt in prompts}
    names |= {f"{prompt.ns}/{prompt.key}": prompt.name for prompt in prompts if prompt.key}
    if name is None:
        name = ls.focus.prompt_names.get(document.uri)
        if name not in names:
            first = min(prompts, key=lambda prompt: not prompt.bound, default=None)
            name = first.name if first is not None else None
        return PromptTarget(document, name)
    if name in names:
        return PromptTarget(document, names[name])
    if names and not name.isidentifier():
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5) or sorted(names)
        raise NoPrompt(
            f"{document.path.name} has no prompt {name!r}; it has {', '.join(near)}",
            name=name,
            near=near,
        )
    # A variable may hold a prompt in a way that only executing the module shows.
    return PromptTarget(document, name)


def range_in(section: StaticSection, file: str) -> Span:
    """The stretch of a file that stands for a section.

    A section that another file declares is where the prompt uses it.
    """
    return section.source.span if section.source.file == file else section.use.span
