"""The document and the prompt that a request is about, and the kind of their source."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import PROMPTS, in_thread
from foldline.ide.errors import NoDocument
from foldline.ide.plugins import Plugin, plugins
from foldline.ide.sources.source import SourceDocument
from foldline.ide.uris import path_of, uri_of

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.ide.analysis.model import Span, StaticSection
    from foldline.ide.prompts.request import PromptRef
    from foldline.ide.sources.source import PromptSource
    from foldline.ide.workspace import Workspace

_PYTHON = (".py", ".pyi")


def source_kind(workspace: Workspace, path: Path) -> type[PromptSource]:
    """Return the kind of source that a file is; nothing else chooses between them."""
    if workspace.folder(path).instructs(path):
        from foldline.ide.sources.markdown import MarkdownSource

        return MarkdownSource
    if path.suffix not in _PYTHON:
        for kind in plugins().ask(Plugin.source, path):
            if kind is not None:
                return kind
    from foldline.ide.sources.python import PythonSource

    return PythonSource


async def resolve(workspace: Workspace, ref: PromptRef) -> PromptSource:
    """Return the prompt that `ref` names.

    Raises:
        IdeError: There is no such document or prompt.
    """
    if ref.file is None:
        document = await find_document(workspace, ref.uri)
    else:
        root = ref.root or workspace.root_of(ref.file)
        document = SourceDocument(uri_of(ref.file), ref.file, root)
    choose = partial(source_kind, workspace, document.path)
    # Other files' plugins are waited for.
    kind = choose() if document.path.suffix in _PYTHON else await in_thread(choose, PROMPTS)
    source = kind(workspace, document, ref.mode)
    return replace(source, name=await source.name_of(ref))


async def find_document(workspace: Workspace, uri: str | None) -> SourceDocument:
    """Return the document at `uri`, or the one that has the focus.

    Raises:
        IdeError: There is no such document, or it may not be read.
    """
    uri = uri or workspace.focus.uri
    if uri is None:
        raise NoDocument("No document has the focus: open one, or name it with `uri`")
    path = path_of(uri)
    root = workspace.root_of(path)
    document = workspace.document(uri)
    if document is not None:
        return SourceDocument(uri, path, root, document.text, document.version)
    text = await workspace.async_access(root).read_file(str(path))
    return SourceDocument(uri, path, root, text)


def range_in(section: StaticSection, file: str) -> Span:
    """Return the range of a section in a file.

    It is the prompt's use of the section if another file declares it.
    """
    return section.source.span if section.source.file == file else section.use.span
