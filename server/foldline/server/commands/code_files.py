"""What the `code.*` commands share: which file is meant, and the form of their answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.server.convert import unstructure
from foldline.server.errors import RequestFailed
from foldline.server.workspace import path_of

if TYPE_CHECKING:
    from foldline.backends import SmartFileAccess
    from foldline.server.server import FoldlineServer


def find_folder(ls: FoldlineServer, uri: str | None) -> SmartFileAccess:
    """The files of the workspace folder that holds `uri`, or the focus, or of the first folder."""
    uri = uri or (ls.focus.uri if not ls.files.roots else None)
    if uri is not None:
        path = path_of(uri)
        return ls.files.access(path if path in ls.files.roots else ls.files.root_of(path))
    if not ls.files.roots:
        raise RequestFailed("no_document", "No workspace folder is open: open one, or name a `uri`")
    return ls.files.access(ls.files.roots[0])


def find_file(ls: FoldlineServer, path: str | None, uri: str | None) -> tuple[SmartFileAccess, str]:
    """The file at `path` below the root, or at `uri`, or that has the focus."""
    if path is not None:
        return find_folder(ls, uri), path
    uri = uri or ls.focus.uri
    if uri is None:
        raise RequestFailed(
            "no_document", "No document has the focus: open one, or name a `path` or `uri`"
        )
    return find_folder(ls, uri), str(path_of(uri))


def result(text: str, data: object, backend: str, coverage: str) -> dict[str, object]:
    """What a `code.*` command answers: the compact text, the models, and whose they are."""
    return {"text": text, "data": unstructure(data), "backend": backend, "coverage": coverage}
