"""A folder's tree that fits a byte budget by folding: what isn't shown is counted."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import accumulate
from pathlib import PurePath
from typing import TYPE_CHECKING

from foldline.backends.base.path_kinds import TEXT, path_kind
from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.text import remarks, sentences, tree_header, tree_line, tree_rest
from foldline.backends.models import COMPLETE, FileTree, TreeEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from foldline.backends.files.listing import FileStamp

_KIND = "tree"
_SHOWN_PROBLEMS = 2
# Files that the tree for a query shows; siblings of one pattern that are folded.
_MOST_RANKED = 10
_LEAST_FOLDED = 5
# Numbers and digests; also names that begin with a number, as those of migrations.
_VARYING = re.compile(r"(?=[a-f]*[0-9])[0-9a-f]{8,}|^[0-9]{3,}[_-][^.]*|[0-9]+")


@dataclass(slots=True)
class _Folder:
    """A folder while the tree is built; `names` are its files, `kind` the first of their kinds."""

    path: str
    size: int = 0
    count: int = 0
    kind: int = TEXT
    names: list[tuple[str, int]] = field(default_factory=list)
    folders: dict[str, _Folder] = field(default_factory=dict)


def build_tree(
    path: str,
    stamps: Iterable[FileStamp],
    *,
    ignored: int = 0,
    left_out: str = "",
    coverage: str = COMPLETE,
    depth: int | None = None,
    budget: int | None = None,
    cursor: str | None = None,
    problems: Sequence[str] = (),
    refused: Sequence[str] = (),
    ranked: Sequence[str] | None = None,
    lines_of: Callable[[str], int] | None = None,
) -> FileTree:
    """The tree of the folder `path` from all files below it.

    Folders open level by level while the text form fits `budget` bytes: those with code, then those
    with tests, then the others; the last ones may open in part. If not all do, siblings of one
    pattern are one entry. Where not even the first level fits, `cursor` goes on with the rest.
    `left_out` says why there are none, `problems` what was left out of the ignore files, and
    `refused` has the folders that the system doesn't list in full.

    With `ranked`, the paths of files, best first, the tree has the best ten alone, with their
    ranks. With `lines_of`, entries of files have their numbers of lines.
    """
    budgets.check_budget(budget)
    first = budgets.read_cursor(_KIND, cursor)
    root = _collect(path, stamps)
    ranks = {file: rank for rank, file in enumerate((ranked or ())[:_MOST_RANKED], 1)}
    reasons = [] if root.count else [left_out or "the folder has no files"]
    if ranked is not None and not ranks:
        reasons.append("no file is about the query")
    elif ranks and len(ranks) < root.count:
        reasons = [
            f"the best {len(ranks)} of {root.count} files; without a query, the tree has all"
        ]
    unlisted = [f"{one} cannot be listed in full: the system refuses it" for one in refused]
    builder = _Builder(ranks, lines_of, depth)
    full = FileTree(
        path, (), root.count, root.size, ignored, first,
        reason=_reason("; ".join(reasons), [*unlisted, *problems]), coverage=coverage,
    )  # fmt: skip
    tree = builder.build(root, full, budget)
    if builder.closed and budget is not None and not ranks and lines_of is None:
        tree = _Builder(ranks, lines_of, depth, fold=True).build(root, full, budget)
    return tree


@dataclass
class _Builder:
    """Opens folders as far as there is room; `closed` says that not all fit."""

    ranks: Mapping[str, int]
    lines_of: Callable[[str], int] | None
    depth: int | None
    fold: bool = False
    closed: bool = False
    _rows: dict[str, list[TreeEntry]] = field(default_factory=dict)
    # How many rows of each open folder are shown.
    _shown: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # The ranked files and the folders above them.
        every = (one for path in self.ranks for one in (PurePath(path), *PurePath(path).parents))
        self._leading = {one.as_posix() for one in every}

    def build(self, root: _Folder, tree: FileTree, budget: int | None) -> FileTree:
        """The tree with its entries."""
        entries = self.rows(root)
        first, total = tree.shown_from, len(entries)
        last = _fit_first_level(tree, entries, first, budget)
        left = None
        if budget is not None:
            used = sum(budgets.size_of_line(tree_line(entry, 0)) for entry in entries[first:last])
            rest = tree_rest(last, total) if last < total else []
            left = budget - _head_size(tree) - budgets.size_of_line(rest) - 1 - used
        self.closed = last < total
        self._open(root, entries[first:last], left)
        return replace(
            tree,
            entries=tuple(self._entries(root)[first:last]),
            total_entries=total,
            cursor=budgets.make_cursor(_KIND, last) if last < total else None,
        )

    def rows(self, folder: _Folder) -> list[TreeEntry]:
        """The entries of a folder, without children."""
        if (kept_rows := self._rows.get(folder.path)) is not None:
            return kept_rows
        prefix = f"{folder.path}/" if folder.path else ""
        rows = [
            TreeEntry(name, below.path, True, below.size, below.count, collapsed=True)
            for name, below in sorted(folder.folders.items())
        ]
        for name, size in sorted(folder.names):
            path = prefix + name
            lines = self.lines_of(path) if self.lines_of is not None else 0
            rank = self.ranks.get(path, 0)
            rows.append(TreeEntry(name, path, False, size, 1, rank=rank, lines=lines))
        if self._leading:
            rows = [row for row in rows if row.path in self._leading]
        # The names of a folder that is asked for itself are shown.
        elif self.fold and self._rows:
            rows = _folded(folder, rows)
        self._rows[folder.path] = rows
        return rows

    def _open(self, root: _Folder, rows: Sequence[TreeEntry], left: int | None) -> None:
        """Open folders by kind, then level by level, where they fit; then parts of the others."""
        waiting: list[tuple[int, int, int, _Folder]] = []
        too_large: list[tuple[int, _Folder]] = []
        room = left or 0
        number = 0

        def add(folder: _Folder, rows: Iterable[TreeEntry], level: int) -> None:
            nonlocal number
            for row in rows:
                if (below := _below(folder, row)) is not None:
                    number += 1
                    heappush(waiting, (below.kind, level, number, below))

        add(root, rows, 1)
        while waiting:
            kind, level, _, folder = heappop(waiting)
            if self.depth is None or level < self.depth:
                rows = self.rows(folder)
                cost = sum(budgets.size_of_line(tree_line(row, level)) for row in rows)
                if left is None or cost <= left:
                    left = None if left is None else left - cost
                    self._shown[folder.path] = len(rows)
                    add(folder, rows, level + 1)
                else:
                    self.closed = True
                    too_large.append((level, folder))
            if left is not None and (not waiting or waiting[0][0] > kind):
                for level, folder in too_large:
                    if 5 * left > room:
                        left -= self._open_part(folder, level, left)
                too_large.clear()

    def _open_part(self, folder: _Folder, level: int, left: int) -> int:
        """Open a folder with as many entries as fit; the bytes that they take."""
        rows = self.rows(folder)
        cost = budgets.size_of_line(tree_line(_others(folder, rows), level))
        shown = 0
        for row in rows[:-1]:
            size = budgets.size_of_line(tree_line(row, level))
            if cost + size > left:
                break
            cost, shown = cost + size, shown + 1
        if shown:
            self._shown[folder.path] = shown
        return cost if shown else 0

    def _entries(self, root: _Folder) -> list[TreeEntry]:
        """The entries of the root with those of open folders; no recursion, trees may be deep."""
        self._shown[root.path] = len(self.rows(root))
        order = [root]
        for folder in order:
            below = (_below(folder, row) for row in self.rows(folder)[: self._shown[folder.path]])
            order.extend(one for one in below if one is not None and one.path in self._shown)
        by_folder: dict[str, list[TreeEntry]] = {}
        for folder in reversed(order):
            rows, shown = self.rows(folder), self._shown[folder.path]
            # The rest of what a query isn't about is missing below its folders.
            entries = [
                replace(row, children=tuple(by_folder[row.path]), collapsed=bool(self._leading))
                if row.folder and row.path in by_folder
                else row
                for row in rows[:shown]
            ]
            by_folder[folder.path] = entries + (
                [_others(folder, rows[shown:])] if rows[shown:] else []
            )
        return by_folder[root.path]


def _below(folder: _Folder, row: TreeEntry) -> _Folder | None:
    """The folder that an entry stands for; None for a file, and for several folders."""
    below = folder.folders.get(row.name)
    return below if below is not None and below.path == row.path else None


def _others(folder: _Folder, rows: Sequence[TreeEntry]) -> TreeEntry:
    files = sum(row.files for row in rows)
    size = sum(row.size for row in rows)
    return TreeEntry(f"… {files} more files", folder.path, False, size, files, collapsed=True)


def _folded(folder: _Folder, rows: Sequence[TreeEntry]) -> list[TreeEntry]:
    """The entries, those whose names differ in numbers only as one; so are texts among code."""
    groups: dict[tuple[bool, str], list[TreeEntry]] = {}
    among_code = bool(folder.path) and folder.kind != TEXT
    for row in rows:
        is_text = among_code and not row.folder and path_kind(row.path) == TEXT
        key = "" if is_text else _VARYING.sub("0", row.name)
        groups.setdefault((row.folder, key), []).append(row)
    folded: list[TreeEntry] = []
    for (is_folder, key), members in groups.items():
        name = members[0].name
        if len(members) < (_LEAST_FOLDED if key else 2) or key == name:
            folded += members
            continue
        kind = "folders" if is_folder else "files"
        name = (
            f"{len(members)} {kind} like {name}" if key else f"{name} and {len(members) - 1} more"
        )
        size, files = sum(row.size for row in members), sum(row.files for row in members)
        path = folder.path or "."
        folded.append(TreeEntry(name, path, is_folder, size, files, collapsed=True))
    return folded


def _reason(empty: str, problems: Sequence[str]) -> str:
    more = len(problems) - _SHOWN_PROBLEMS
    others = f"{more} more ignore files or folders are like these" if more > 0 else ""
    return sentences(empty, *problems[:_SHOWN_PROBLEMS], others)


def _collect(path: str, stamps: Iterable[FileStamp]) -> _Folder:
    root = _Folder("" if path == "." else path)
    skip = len(root.path) + 1 if root.path else 0
    by_path: dict[str, _Folder] = {"": root}
    for stamp in stamps:
        folder, _, name = stamp.path[skip:].rpartition("/")
        holder = by_path.get(folder)
        if holder is None:
            holder = _add_folder(by_path, folder, root.path)
        holder.names.append((name, stamp.size))
        holder.size += stamp.size
        holder.count += 1
        holder.kind = holder.kind and min(holder.kind, path_kind(stamp.path))
    # Every folder precedes those below it, so that sums travel upwards in one pass.
    for key in reversed(by_path):
        if key:
            above = by_path[key.rpartition("/")[0]]
            above.size += by_path[key].size
            above.count += by_path[key].count
            above.kind = min(above.kind, by_path[key].kind)
    return root


def _add_folder(by_path: dict[str, _Folder], folder: str, root: str) -> _Folder:
    holder = by_path[""]
    for key in accumulate(folder.split("/"), "{}/{}".format):
        if key not in by_path:
            by_path[key] = _Folder(f"{root}/{key}" if root else key)
            holder.folders[key.rpartition("/")[2]] = by_path[key]
        holder = by_path[key]
    return holder


def _head_size(tree: FileTree) -> int:
    """The bytes of the lines besides those of entries and cursor."""
    lines = [tree_header(tree), *remarks(tree.reason, tree.coverage)]
    return budgets.size_of_lines(lines) + 1 - len(lines)


def _fit_first_level(
    tree: FileTree, entries: list[TreeEntry], first: int, budget: int | None
) -> int:
    """The index after the last first-level entry that fits; at least one is shown."""
    if budget is None:
        return len(entries)
    left = budget - _head_size(tree) - 1
    lines = [tree_line(entry, 0) for entry in entries[first:]]
    if budgets.size_of_lines(lines) < left:
        return len(entries)
    left -= budgets.size_of_line(tree_rest(len(entries), len(entries)))
    return first + budgets.how_many_fit(lines, left)
