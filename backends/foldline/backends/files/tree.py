"""A folder's tree that fits a byte budget by collapsing folders, never by leaving files out."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from foldline.backends.formatting import budget as budgets
from foldline.backends.formatting.text import remarks, tree_header, tree_line, tree_rest
from foldline.backends.models import COMPLETE, FileTree, TreeEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from foldline.backends.files.listing import FileStamp

_KIND = "tree"
_SHOWN_PROBLEMS = 2
# Files whose ranks are shown, and whose folders open.
_MOST_RANKED = 20


@dataclass(slots=True)
class _Folder:
    """A folder while the tree is built; `names` are its files."""

    path: str
    size: int = 0
    count: int = 0
    names: list[tuple[str, int]] = field(default_factory=list)
    folders: dict[str, _Folder] = field(default_factory=dict)
    opened: bool = False


def build_tree(
    path: str,
    stamps: Iterable[FileStamp],
    *,
    ignored: int = 0,
    coverage: str = COMPLETE,
    depth: int | None = None,
    budget: int | None = None,
    cursor: str | None = None,
    problems: Sequence[str] = (),
    ranked: Sequence[str] | None = None,
) -> FileTree:
    """The tree of the folder `path` from all files below it.

    Folders open level by level while the text form fits `budget` bytes; those that do not open say
    how many files they hold. Where not even the first level fits, `cursor` goes on with the rest.
    `problems` says what was left out of the ignore files.

    With `ranked`, the paths of files, best first, only folders open that lead to one of them, those
    of the best first, and the entries of the best have their ranks.
    """
    budgets.check_budget(budget)
    first = budgets.read_cursor(_KIND, cursor)
    root = _collect(path, stamps)
    ranks = {file: rank for rank, file in enumerate((ranked or ())[:_MOST_RANKED], 1)}
    entries = _entries(root, ranks)
    whole = FileTree(
        path,
        tuple(entries),
        root.count,
        root.size,
        ignored,
        total_entries=len(entries),
        shown_from=first,
        reason=_reason("" if root.count else _why_empty(ignored), problems),
    )
    last = _fit_first_level(whole, entries, first, budget)
    left = None
    if budget is not None:
        used = sum(budgets.size_of_line(tree_line(entry, 0)) for entry in entries[first:last])
        rest = tree_rest(last, len(entries)) if last < len(entries) else []
        left = budget - _head_size(whole) - budgets.size_of_line(rest) - 1 - used
    shown_folders = [entry.name for entry in entries[first:last] if entry.folder]
    if ranked is None:
        _open_folders(root, shown_folders, depth, left)
    else:
        _open_ranked(root, shown_folders, depth, left, ranks)
    return replace(
        whole,
        entries=tuple(_entries(root, ranks)[first:last]),
        cursor=budgets.make_cursor(_KIND, last) if last < len(entries) else None,
        coverage=coverage,
    )


def _reason(empty: str, problems: Sequence[str]) -> str:
    said = [empty] if empty else []
    said.extend(problems[:_SHOWN_PROBLEMS])
    if len(problems) > _SHOWN_PROBLEMS:
        said.append(
            f"{len(problems) - _SHOWN_PROBLEMS} more ignore files are not as they should be"
        )
    return "; ".join(said)


def _why_empty(ignored: int) -> str:
    return f"all {ignored} entries are ignored" if ignored else "the folder has no files"


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
    # Every folder precedes those below it, so that sums travel upwards in one pass.
    for key in reversed(by_path):
        if key:
            above = by_path[key.rpartition("/")[0]]
            above.size += by_path[key].size
            above.count += by_path[key].count
    return root


def _add_folder(by_path: dict[str, _Folder], folder: str, root: str) -> _Folder:
    holder = by_path[""]
    key = ""
    for name in folder.split("/"):
        key = f"{key}/{name}" if key else name
        below = by_path.get(key)
        if below is None:
            below = by_path[key] = _Folder(f"{root}/{key}" if root else key)
            holder.folders[name] = below
        holder = below
    return holder


def _entries(folder: _Folder, ranks: Mapping[str, int]) -> list[TreeEntry]:
    """The entries of an opened folder, folders first; no recursion, trees may be deep."""
    order: list[_Folder] = [folder]
    for holder in order:
        if holder is folder or holder.opened:
            order.extend(holder.folders.values())
    made: dict[int, list[TreeEntry]] = {}
    for holder in reversed(order):
        if holder is not folder and not holder.opened:
            continue
        prefix = f"{holder.path}/" if holder.path else ""
        entries: list[TreeEntry] = []
        for name, below in sorted(holder.folders.items()):
            children = tuple(made.get(id(below), ()))
            entries.append(
                TreeEntry(
                    name, below.path, True, below.size, below.count, children, not below.opened
                )
            )
        entries.extend(
            TreeEntry(name, prefix + name, False, size, 1, rank=ranks.get(prefix + name, 0))
            for name, size in sorted(holder.names)
        )
        made[id(holder)] = entries
    return made[id(folder)]


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
    sizes = [budgets.size_of_line(tree_line(entry, 0)) for entry in entries[first:]]
    if sum(sizes) <= left:
        return len(entries)
    left -= budgets.size_of_line(tree_rest(len(entries), len(entries)))
    last = first
    for size in sizes:
        if size > left and last > first:
            break
        left -= size
        last += 1
    return last


def _open_folders(root: _Folder, names: list[str], depth: int | None, left: int | None) -> None:
    """Open folders level by level, each where its entries fit into what is left of the budget."""
    waiting = deque((root.folders[name], 1) for name in names)
    while waiting:
        folder, level = waiting.popleft()
        if depth is not None and level >= depth:
            continue
        if left is not None:
            cost = _cost(folder, level, {})
            if cost > left:
                continue
            left -= cost
        folder.opened = True
        waiting.extend((below, level + 1) for below in folder.folders.values())


def _open_ranked(
    root: _Folder,
    names: list[str],
    depth: int | None,
    left: int | None,
    ranks: Mapping[str, int],
) -> None:
    """Open the folders above each ranked file, the best first, where all of them fit."""
    skip = len(root.path) + 1 if root.path else 0
    for path in ranks:
        closed: list[_Folder] = []
        cost = 0
        folder = root
        parts = path[skip:].split("/")[:-1]
        if not parts or parts[0] not in names or (depth is not None and len(parts) >= depth):
            continue
        for level, name in enumerate(parts, 1):
            folder = folder.folders[name]
            if not folder.opened:
                closed.append(folder)
                cost += _cost(folder, level, ranks)
        if left is not None:
            if cost > left:
                continue
            left -= cost
        for folder in closed:
            folder.opened = True


def _cost(folder: _Folder, level: int, ranks: Mapping[str, int]) -> int:
    """The bytes of the lines of a folder's entries."""
    lines = [
        tree_line(TreeEntry(name, below.path, True, below.size, below.count, (), True), level)
        for name, below in folder.folders.items()
    ]
    lines += [
        tree_line(
            TreeEntry(name, name, False, size, 1, rank=ranks.get(f"{folder.path}/{name}", 0)), level
        )
        for name, size in folder.names
    ]
    return sum(map(budgets.size_of_line, lines))
