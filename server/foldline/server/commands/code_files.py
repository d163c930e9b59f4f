"""What the `code.*` commands share: which file is meant, and the form of their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.backends.visible import visible
from foldline.server.convert import unstructure
from foldline.server.errors import RequestFailed
from foldline.server.targets import call
from foldline.server.workspace import path_of

if TYPE_CHECKING:
    from foldline.backends import AsyncSmartFileAccess, FileText
    from foldline.server.server import FoldlineServer


def find_folder(ls: FoldlineServer, uri: str | None) -> AsyncSmartFileAccess:
    """The files of the workspace folder at or around `uri`, or else of the first folder.

    Raises:
        RequestFailed: There is no such folder.
    """
    roots = ls.files.roots
    if uri is None and roots:
        return ls.files.asynchronous(roots[0])
    uri = uri or ls.focus.uri
    if uri is None:
        raise RequestFailed("no_document", "No workspace folder is open: open one, or a document")
    path = path_of(uri)
    root = path if path in roots else ls.files.root_of(path)
    if roots and root not in roots:
        # An open document of elsewhere may be read, not what lies around it.
        message = f"{visible(str(path))} is outside the workspace"
        raise RequestFailed("path", message, path=str(path))
    return ls.files.asynchronous(root)


def find_file(
    ls: FoldlineServer,
    path: str | None,
    uri: str | None,
    or_else: str = "name a `path` or `uri`",
) -> tuple[AsyncSmartFileAccess, str]:
    """The file at `path` below the root, or at `uri`, or that has the focus.

    `or_else` is what a caller could do instead of opening a document.

    Raises:
        RequestFailed: There is no such file in the workspace.
    """
    if path is not None:
        return find_folder(ls, uri), path
    uri = uri or ls.focus.uri
    if uri is None:
        raise RequestFailed("no_document", f"No document has the focus: open one, or {or_else}")
    file = path_of(uri)
    return ls.files.asynchronous(ls.files.root_of(file)), str(file)


async def find_name(
    ls: FoldlineServer, name: str | None, uri: str | None, field: str
) -> tuple[AsyncSmartFileAccess, str]:
    """The workspace folder, and the name asked about, which was sent as `field`.

    Without one it is that of the first symbol of the document at `uri`, or that has the focus.

    Raises:
        RequestFailed: There is no such document, or it defines nothing.
    """
    if name is not None:
        return find_folder(ls, uri), name
    access, path = find_file(ls, None, uri, f"give a `{field}`")
    outline = await call(access.get_outline(path))
    for symbol in outline:
        return access, symbol.name
    raise RequestFailed("symbol", f"{visible(path)} defines nothing: give a `{field}`", path=path)


def result(text: str, data: object, backend: str, coverage: str) -> dict[str, object]:
    """What a `code.*` command answers: the compact text, the models, and whose they are."""
    return {"text": text, "data": unstructure(data), "backend": backend, "coverage": coverage}


def page_result(page: FileText) -> dict[str, object]:
    """The same for lines of a file: the text is those lines and nothing else."""
    data = {
        "path": page.path,
        "start": page.start,
        "end": page.end,
        "line_count": page.line_count,
        "cursor": page.cursor,
        "note": page.note,
        "columns": page.columns,
        "cut": page.cut,
    }
    return result(page.text, data, page.backend, page.coverage)
