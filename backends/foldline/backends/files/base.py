"""The base of file backends: overlays, ignore rules, lines, the tree."""

from __future__ import annotations

import itertools
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from foldline.backends import errors
from foldline.backends.base.extras import require_code_packages
from foldline.backends.base.languages import TEXT
from foldline.backends.base.near_names import near_names
from foldline.backends.files.ignore import IGNORE_FILES, RULE_FILES, IgnoreRules
from foldline.backends.files.limits import SOURCE_BYTES
from foldline.backends.files.listing import (
    FileStamp,
    FileVersions,
    Folder,
    in_order,
    name_of,
    overlay_stamp,
)
from foldline.backends.files.source import Source, check_range, decode, from_text, is_binary
from foldline.backends.files.tree import build_tree
from foldline.backends.formatting.visible import restored
from foldline.backends.models import FileTree

DEFAULT_SIZE_LIMIT = SOURCE_BYTES
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_MOST_WALKED = 20_000


class Entry(NamedTuple):
    """An entry of a folder as the system lists it; links and special files are not listed.

    Except that those with the name of an ignore file are `special`: they have rules, or a reason
    why they have none, and are shown nowhere. A folder has no `stamp`.
    """

    name: str
    stamp: FileStamp | None
    special: bool = False


UNLISTED = Entry("", None, special=True)
"""Stands for the entries of a folder that the system refuses to list."""


class FileBackend(ABC):
    """The files below one root, with open editor buffers above those of the disk.

    Paths are relative to the root with `/`; absolute paths below it are accepted. All methods may
    be called from several threads.

    Attributes:
        root: The real path of the workspace root.
        size_limit: The bytes above which a file is not read whole.
        no_ignore: Ignore files never hide anything.
    """

    versions: FileVersions | None = None
    """The list of all files that aren't ignored, where one is kept."""

    def __init__(
        self, root: Path, *, size_limit: int = DEFAULT_SIZE_LIMIT, no_ignore: bool = False
    ) -> None:
        require_code_packages()
        self.root = root
        self.no_ignore = no_ignore
        self.size_limit = size_limit
        self._overlays: dict[str, tuple[int, str]] = {}
        self._overlay_numbers = itertools.count(1)
        self._lock = threading.Lock()

    # Overlays

    def set_overlay(self, path: str, text: str) -> None:
        """Let `text` stand for the content of `path`, whether or not the file exists."""
        key = self._locate(path)
        with self._lock:
            self._overlays[key] = (next(self._overlay_numbers), text)

    def remove_overlay(self, path: str) -> None:
        """Let the disk speak for `path` again."""
        key = self._locate(path)
        with self._lock:
            self._overlays.pop(key, None)

    def overlay_paths(self) -> list[str]:
        """The paths with an overlay."""
        with self._lock:
            return sorted(self._overlays)

    # Reading

    def resolve(
        self,
        path: str,
        *,
        no_ignore: bool = False,
        exact: bool = False,
        rules: IgnoreRules | None = None,
    ) -> str:
        """The path as answers name it; raises `PathError` for what may not be read.

        A path with an overlay is never ignored: its text came from the editor, not from the disk.
        What doesn't exist costs a walk, to find the file that is meant and near names, unless the
        path must be `exact`. Many paths take the same `rules`.
        """
        key = self._locate(path)
        if key in self._overlays or key == ".":
            return key
        kind = self._kind(key)
        if kind is None and not self._is_overlay_folder(key):
            meant = [] if exact else self._written_otherwise(key)
            if len(meant) != 1:
                raise errors.MissingPathError(path, [] if exact else self._near(key))
            key = meant[0]
        if not (no_ignore or self.no_ignore):
            hidden = (rules or self.rules()).for_path(key, is_folder=kind == "folder")
            if hidden is not None:
                raise errors.IgnoredPathError(path, hidden.pattern, hidden.source, hidden.cure)
        return key

    def exists(self, path: str) -> bool:
        """Return whether the path exists, ignored or not; raises `PathError` as `resolve` does."""
        key = self._locate(path)
        is_there = key in self._overlays or self._kind(key) is not None
        return is_there or self._is_overlay_folder(key)

    def is_ignored(self, path: str) -> bool:
        """Return whether ignore files hide the path."""
        try:
            self.resolve(path, exact=True)
        except errors.IgnoredPathError:
            return True
        return False

    def resolve_unsaved(self, path: str) -> str:
        """The path as answers name it, of a text that is given and may not be on the disk yet."""
        return self._locate(path)

    def resolve_folder(self, path: str, *, no_ignore: bool = False) -> str:
        """The same for a folder to be listed."""
        start = self.resolve(path, no_ignore=no_ignore)
        if self._kind(start) == "file" or (start in self._overlays and start != "."):
            raise errors.NotAFolderError(
                start, "is a file; read its outline or list the folder above it"
            )
        return start

    def read_source(self, path: str, *, no_ignore: bool = False) -> Source:
        """The decoded content of a text file."""
        return self.load(self.resolve(path, no_ignore=no_ignore))

    def load(self, path: str) -> Source:
        """The decoded content of a path that `resolve` or `walk` gave."""
        overlay = self._overlays.get(path)
        if overlay is not None:
            return from_text(path, overlay[1])
        return self.load_from_disk(path)

    def text_of(self, path: str) -> str | None:
        """The text of such a path; None where it can't be read any more."""
        try:
            return self.load(path).text
        except errors.PathError:
            return None

    def load_from_disk(self, path: str) -> Source:
        """The same without regard to overlays."""
        try:
            raw = self._read_bytes(path, self.size_limit)
        except (errors.MissingPathError, errors.NotAFileError):
            if self._kind(path) == "folder":
                raise errors.NotAFileError(path, "is a folder", "list it with get_tree") from None
            raise
        if is_binary(raw):
            raise errors.BinaryFileError(path, len(raw))
        return decode(path, raw)

    def read_file(self, path: str, *, no_ignore: bool = False) -> str:
        """The whole text, line endings as they are."""
        return self.read_source(path, no_ignore=no_ignore).text

    def read_lines(self, path: str, start: int, end: int, *, no_ignore: bool = False) -> str:
        """The lines `start` to `end`, joined by newlines, as far as the file has them.

        Works on files over the size limit too, as long as the lines themselves are below it.
        """
        check_range(start, end)
        key = self.resolve(path, no_ignore=no_ignore)
        try:
            lines = self.load(key).lines
        except errors.FileTooLargeError:
            return self._stream_lines(key, start, end)
        if start > max(len(lines), 1):
            raise errors.InvalidArgumentError(
                "start", f"{key} has {len(lines)} lines, none from {start} on"
            )
        return "\n".join(lines[start - 1 : end])

    # Listing

    def walk(self, path: str = ".", *, no_ignore: bool = False) -> Iterator[FileStamp]:
        """Every file below `path`, folder by folder in the order of names."""
        start = self.resolve(path, no_ignore=no_ignore)
        if self._kind(start) == "file" or start in self._overlays:
            if (stamp := self.stamp(start)) is not None:
                yield stamp
            return
        yield from self.walk_folder(start, no_ignore=no_ignore)

    def get_tree(
        self,
        path: str = ".",
        *,
        depth: int | None = None,
        budget: int | None = None,
        cursor: str | None = None,
        no_ignore: bool = False,
    ) -> FileTree:
        """The folder's files and folders with sizes, collapsed until the text fits `budget`."""
        start = self.resolve_folder(path, no_ignore=no_ignore)
        hidden: list[str] = []
        problems: list[str] = []
        refused: list[str] = []
        walked = self.walk_folder(
            start, no_ignore=no_ignore, hidden=hidden, problems=problems, refused=refused
        )
        stamps = list(walked)
        return build_tree(
            start,
            stamps,
            ignored=len(hidden),
            left_out=f"all {len(hidden)} entries are ignored" if hidden else "",
            depth=depth,
            budget=budget,
            cursor=cursor,
            problems=problems,
            refused=refused,
        )

    def stamp(self, path: str) -> FileStamp | None:
        """The file's present version; None if it doesn't exist."""
        overlay = self._overlays.get(path)
        if overlay is not None:
            number, text = overlay
            return overlay_stamp(path, text, number)
        return self._stat(path)

    def is_folder(self, path: str) -> bool:
        """Return whether a path that `resolve` gave is a folder."""
        if path in self._overlays:
            return False
        return path == "." or self._kind(path) == "folder" or self._is_overlay_folder(path)

    def ignore_problems(self) -> tuple[str, ...]:
        """One sentence for each thing left out of the ignore files of the root and above."""
        rules = self._rules_unless(no_ignore=False)
        if rules is None:
            return ()
        rules.enter("", IGNORE_FILES)
        return tuple(rules.problems)

    # What a subclass knows

    @abstractmethod
    def _real(self, path: str) -> str | None:
        """The path relative to the root, links resolved; None where it leads out of the root."""

    @abstractmethod
    def _kind(self, path: str) -> str | None:
        """`file`, `folder`, `special`, or None where there is nothing."""

    @abstractmethod
    def _stat(self, path: str) -> FileStamp | None: ...

    @abstractmethod
    def _read_bytes(self, path: str, limit: int) -> bytes: ...

    @abstractmethod
    def _read_chunks(self, path: str) -> Iterator[bytes]: ...

    @abstractmethod
    def _list(
        self, folder: str, goes_on: Callable[[], bool] = lambda: True, kind: int = TEXT
    ) -> list[Entry]:
        """A folder's entries while `goes_on` says so; for `CODE`, other files may have no times."""

    @abstractmethod
    def rules(self) -> IgnoreRules:
        """The ignore files as they are when they're first asked."""

    # Helpers

    def _locate(self, path: str) -> str:
        """The canonical relative path of anything a caller may write."""
        if "\0" in path:
            raise errors.PathError(path.replace("\0", "\\0"), "holds a NUL byte and names no file")
        located = self._real(path)
        if located is None and _DRIVE.match(path) is None and path.startswith("/"):
            raise errors.OutsideWorkspaceError(path)
        if "\\" in path and (located is None or self._kind(located) is None):
            # Written on Windows, or by a model that thinks so.
            if _DRIVE.match(path):
                raise errors.OutsideWorkspaceError(path)
            located = self._real(path.replace("\\", "/"))
            written = self._real(restored(path)) if "\0" not in restored(path) else None
            if written is not None and self._kind(written) is not None:
                # Accept a name with control characters as answers show it.
                located = written
        if located is None or (_DRIVE.match(path) and self._kind(located) is None):
            raise errors.OutsideWorkspaceError(path)
        return located

    def walk_folder(
        self,
        start: str,
        *,
        no_ignore: bool = False,
        hidden: list[str] | None = None,
        problems: list[str] | None = None,
        refused: list[str] | None = None,
        check: Callable[[], None] | None = None,
        by_level: bool = False,
        since: float | None = None,
        kind: int = TEXT,
    ) -> Iterator[FileStamp]:
        """Every file below a folder that `resolve` gave; open buffers are never hidden.

        They are as of now, or of `since`, a time of `time.monotonic`, or later. `hidden` gathers
        what is ignored, `problems` what was left out of ignore files, and `refused` the folders
        that the system doesn't list in full. `check` is called for each folder and for each slice
        of a large one that the disk is asked about; what it raises ends the walk. `by_level`, all
        folders of a level come before those below. For `CODE`, sizes and times of other files may
        be older.
        """
        start = "" if start == "." else start
        hidden = [] if hidden is None else hidden
        problems = [] if problems is None else problems
        refused = [] if refused is None else refused
        with self._lock:
            overlays = dict(self._overlays)
        seen: set[str] = set()
        since = time.monotonic() if since is None else since
        kept = None if no_ignore or self.no_ignore else self.versions
        listing = None if kept is None else kept.known(since, kind)
        left_out: Sequence[str]
        if listing is not None and start in listing.folders:
            folders, left_out = listing.below(start, by_level=by_level), listing.problems
        else:
            rules = self._rules_unless(no_ignore=no_ignore)
            left_out = () if rules is None else rules.problems
            looked_at = TEXT if kept is None else kind
            folders = self._folders(start, rules, check=check, by_level=by_level, kind=looked_at)
            if kept is not None and rules is not None and not start:
                folders = kept.keeping(folders, rules, kind)
        try:
            for folder in folders:
                files: Iterable[FileStamp] = folder.files
                if folder.is_refused:
                    refused.append(folder.shown)
                if overlays and (shown := overlays.keys() & folder.hidden):
                    files = sorted((*files, *(FileStamp(path, 0, 0) for path in shown)))
                hidden.extend(path for path in folder.hidden if path not in overlays)
                for stamp in files:
                    if (overlay := overlays.get(stamp.path)) is not None:
                        seen.add(stamp.path)
                        yield overlay_stamp(stamp.path, overlay[1], overlay[0])
                    else:
                        yield stamp
        finally:
            problems.extend(left_out)
        below = f"{start}/" if start else ""
        for path in sorted(path for path in overlays.keys() - seen if path.startswith(below)):
            yield overlay_stamp(path, overlays[path][1], overlays[path][0])

    def _folders(
        self,
        start: str,
        rules: IgnoreRules | None,
        *,
        check: Callable[[], None] | None = None,
        by_level: bool = False,
        kind: int = TEXT,
    ) -> Iterator[Folder]:
        """The folders below `start` as they are now; `check` ends it as in `walk_folder`."""
        ended: list[Exception] = []

        def goes_on() -> bool:
            try:
                if check is not None:
                    check()
            except Exception as error:
                # What was listed until then is still told.
                ended.append(error)
            return not ended

        def listed(path: str) -> Folder:
            if not goes_on():
                raise ended[0]
            return self._folder(path, rules, goes_on, kind)

        yield from in_order(start, listed, by_level=by_level)
        if ended:
            raise ended[0]

    def _folder(
        self,
        path: str,
        rules: IgnoreRules | None,
        goes_on: Callable[[], bool] = lambda: True,
        kind: int = TEXT,
    ) -> Folder:
        """One folder as it is now."""
        changed_at = self._folder_time(path)
        entries = self._list(path, goes_on, kind)
        if entries[:1] == [UNLISTED]:
            # Its time doesn't tell when it can be listed in full.
            changed_at = 0
        rule_files = tuple(entry.name for entry in entries if entry.name in RULE_FILES)
        entries = [entry for entry in entries if not entry.special]
        hidden: set[str] = set()
        if rules is not None:
            rules.enter(path, rule_files)
            hidden = rules.hidden(path, [(name, stamp is None) for name, stamp, _ in entries])
        if hidden:
            entries = [entry for entry in entries if entry.name not in hidden]
        prefix = f"{path}/" if path else ""
        return Folder(
            path,
            changed_at,
            tuple(stamp for _, stamp, _ in entries if stamp is not None),
            tuple(prefix + name for name, stamp, _ in entries if stamp is None),
            tuple(prefix + name for name in sorted(hidden)),
            rule_files,
        )

    def _rules_unless(self, *, no_ignore: bool) -> IgnoreRules | None:
        return None if no_ignore or self.no_ignore else self.rules()

    def _folder_time(self, folder: str) -> int:
        """The time at which an entry was last added, removed or renamed; 0 if it is refused."""
        del folder
        return 1

    def _is_overlay_folder(self, path: str) -> bool:
        return any(key.startswith(f"{path}/") for key in list(self._overlays))

    def _written_otherwise(self, path: str) -> list[str]:
        """The files that a path means in another case, or as a dotted module: `pkg.http`."""
        folded, module = path.casefold(), f"/{path.replace('.', '/')}"
        dotted = "." in path and "/" not in path
        return [
            indexed_path
            for stamp in itertools.islice(self.walk_folder("."), _MOST_WALKED)
            if (indexed_path := stamp.path).casefold() == folded
            or (
                dotted
                and f"/{indexed_path.rpartition('.')[0]}".removesuffix("/__init__").endswith(module)
            )
        ]

    def _near(self, path: str) -> list[str]:
        """Existing paths that `path` may have meant: neighbours, else the same name elsewhere."""
        folder, _, name = path.rpartition("/")
        prefix = f"{folder}/" if folder else ""
        if not folder or self._kind(folder) == "folder":
            names = [entry.name for entry in self._list(folder) if not entry.special]
            if close := near_names(name, names):
                return [prefix + match for match in close]
        walked = itertools.islice(self.walk_folder("."), _MOST_WALKED)
        same = (stamp.path for stamp in walked if name_of(stamp.path) == name)
        return [*itertools.islice(same, 3)]

    def _stream_lines(self, path: str, start: int, end: int) -> str:
        """Some lines of a file too large to hold; lone carriage returns end no line here."""
        kept: list[bytes] = []
        size = 0
        line = 1
        rest = b""
        for number, chunk in enumerate(self._read_chunks(path)):
            if number == 0 and is_binary(chunk):
                raise errors.BinaryFileError(path, self.size_limit)
            pieces = (rest + chunk).split(b"\n")
            rest = pieces.pop()
            if len(rest) > self.size_limit:
                raise errors.FileTooLargeError(path, len(rest), self.size_limit)
            first = max(start - line, 0)
            wanted = pieces[first : max(end - line + 1, 0)]
            kept.extend(wanted)
            size += sum(map(len, wanted))
            line += len(pieces)
            if line > end:
                rest = b""
                break
            if size > self.size_limit:
                raise errors.FileTooLargeError(path, size, self.size_limit)
        if rest and start <= line <= end:
            kept.append(rest)
        return decode(path, b"\n".join(piece.removesuffix(b"\r") for piece in kept)).text
