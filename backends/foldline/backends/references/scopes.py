"""The files of a question: a file, a folder, or a glob."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.errors import InvalidArgumentError, MissingPathError
from foldline.backends.search.walks import Walked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pathspec import GitIgnoreSpec

    from foldline.backends.files.base import FileBackend
    from foldline.backends.files.walk import FileStamp
    from foldline.backends.search.walks import Walks

_MAGIC = frozenset("*?[")


class Scope:
    """A part of the workspace: all of it, a file, a folder, or the paths that match a glob.

    A glob follows the rules of `.gitignore`: `*.py` matches at any depth, `src/**/*.ts` from the
    root. A path that exists is not a glob, whatever characters it has.

    Raises:
        PathError: from the constructor, for a path that may not be read or does not exist.
    """

    def __init__(self, files: FileBackend, text: str | None, *, no_ignore: bool = False) -> None:
        self._files = files
        self._no_ignore = no_ignore
        self._folder = "."
        self._glob: GitIgnoreSpec | None = None
        self.single_file: str | None = None
        if text is None or text in {"", ".", "./"}:
            return
        try:
            path = files.resolve(text, no_ignore=no_ignore)
        except MissingPathError:
            if not _MAGIC & set(text):
                raise
            from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

            from foldline.backends.base.bounded_regex import compile_ignore_patterns

            glob = text.replace("\\", "/").removeprefix("./")
            try:
                self._glob = compile_ignore_patterns([GitIgnoreSpecPattern(glob)])
            except (ValueError, re.error, OverflowError) as error:
                raise InvalidArgumentError("glob", f"{text!r} is not a glob: {error}") from error
            return
        if files.is_folder(path):
            self._folder = path
        else:
            self.single_file = path

    def holds(self, path: str) -> bool:
        """Return whether the path, as `walk` gives it, is in this part."""
        if self.single_file is not None:
            return path == self.single_file
        if self._glob is not None:
            return self._glob.match_file(path)
        return self._folder == "." or path.startswith(f"{self._folder}/")

    async def walked(self, walks: Walks, since: float | None = None) -> Walked:
        """The files of this part that a walk lists in time, as of now, or of `since` or later."""
        if self.single_file is not None:
            return Walked(tuple(self.walk()))
        found = await walks.below(self._folder, no_ignore=self._no_ignore, since=since)
        if self._glob is None:
            return found
        matches = self._glob.match_file
        return replace(found, stamps=tuple(stamp for stamp in found.stamps if matches(stamp.path)))

    def walk(self) -> Iterator[FileStamp]:
        """The files of this part, all of them."""
        if self.single_file is not None:
            stamp = self._files.stamp(self.single_file)
            if stamp is not None:
                yield stamp
            return
        for stamp in self._files.walk(self._folder, no_ignore=self._no_ignore):
            if self._glob is None or self._glob.match_file(stamp.path):
                yield stamp
