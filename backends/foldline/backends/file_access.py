"""One way in to the code of a workspace, from the cheapest look at it to whole files."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from foldline.backends import budget as budgets
from foldline.backends.ast_backend import ASTFileAnalysisBackend
from foldline.backends.errors import PathError, SymbolError, SymbolNotFoundError
from foldline.backends.files.local import LocalFileBackend
from foldline.backends.models import References
from foldline.backends.text import reference_line

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping
    from typing import TypeVar

    from foldline.backends.files.base import BaseFileBackend
    from foldline.backends.models import FileOutline, FileTree, Reference, SymbolDetail
    from foldline.backends.protocol import FileAnalysisBackend

    Answer = TypeVar("Answer")

_KIND = "refs"


class SmartFileAccess:
    """Reads a workspace at the cheapest level that answers: tree, outline, symbol, lines, file.

    The language server backend, where there is one, is asked first; whatever it raises, the
    analysis backend answers, and the answer's `backend` says which one did.

    >>> access = SmartFileAccess.for_workspace(".")  # doctest: +SKIP
    >>> print(format_outline(access.get_outline("setup.py")))  # doctest: +SKIP
    """

    def __init__(
        self,
        file_backend: BaseFileBackend,
        analysis_backend: FileAnalysisBackend,
        lsp_backend: FileAnalysisBackend | None = None,
    ) -> None:
        self._files = file_backend
        self._analysis = analysis_backend
        self._lsp = lsp_backend

    @classmethod
    def for_workspace(
        cls, root: str | os.PathLike[str], *, overlays: Mapping[str, str] | None = None
    ) -> SmartFileAccess:
        """Access to the files of the disk below `root`; `overlays` are open buffers by path."""
        files = LocalFileBackend(root)
        for path, text in (overlays or {}).items():
            files.set_overlay(path, text)
        return cls(files, ASTFileAnalysisBackend(files))

    @property
    def file_backend(self) -> BaseFileBackend:
        """The files that are read, with their overlays."""
        return self._files

    def get_tree(
        self,
        path: str = ".",
        *,
        depth: int | None = None,
        budget: int | None = None,
        cursor: str | None = None,
    ) -> FileTree:
        """The folder's files with sizes; `budget` is the bytes of its text form."""
        return self._files.get_tree(path, depth=depth, budget=budget, cursor=cursor)

    def get_outline(self, file: str) -> FileOutline:
        """The file's definitions, signatures and imports, without bodies."""
        return self._ask(lambda backend: backend.get_outline(file))

    def read_symbol(self, file: str, name: str) -> SymbolDetail:
        """The source of one definition: `name`, `Class.method`, or `name[2]` for the second.

        Raises:
            SymbolNotFoundError: with the nearest names.
            AmbiguousSymbolError: with the candidates' names.
        """
        detail = self._ask(lambda backend: backend.read_symbol(file, name))
        if detail is None:
            raise SymbolNotFoundError(file, name)
        return detail

    def find_references(
        self,
        name: str,
        scope: str | None = None,
        *,
        budget: int | None = None,
        cursor: str | None = None,
    ) -> References:
        """The uses of `name` in the workspace or below `scope`, grouped by file."""
        budgets.check_budget(budget)
        first = budgets.read_cursor(_KIND, cursor)
        found = self._ask(lambda backend: backend.find_references(name, scope))
        return _page(name, scope, tuple(found), first, budget)

    def read_lines(self, file: str, start: int, end: int) -> str:
        """The lines `start` to `end`, counted from 1, both included, joined by newlines."""
        return self._files.read_lines(file, start, end)

    def read_file(self, file: str) -> str:
        """The whole text: the last resort, after outline, symbols and lines."""
        return self._files.read_file(file)

    def _ask(self, question: Callable[[FileAnalysisBackend], Answer]) -> Answer:
        if self._lsp is not None:
            try:
                return question(self._lsp)
            except (PathError, SymbolError):
                raise
            except Exception:
                # Whatever a semantic backend dies of, it is never the end of an answer.
                return question(self._analysis)
        return question(self._analysis)


def _page(
    name: str, scope: str | None, found: tuple[Reference, ...], first: int, budget: int | None
) -> References:
    files = sum(1 for _ in groupby(found, key=lambda each: each.path))
    last = len(found)
    if budget is not None:
        left = budget - 160
        last = first
        path = ""
        for each in found[first:]:
            cost = budgets.size_of(reference_line(each)) + 1
            if each.path != path:
                cost += budgets.size_of(each.path) + 8
                path = each.path
            if cost > left and last > first:
                break
            left -= cost
            last += 1
    return References(
        name,
        found[first:last],
        len(found),
        files,
        scope,
        budgets.make_cursor(_KIND, last) if last < len(found) else None,
        "" if found else "no identifier of that name in code below the scope",
        "ast",
    )
