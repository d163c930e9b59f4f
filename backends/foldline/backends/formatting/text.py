"""The text forms of answers: small, and each says what comes next.

Names and remarks are on one line each (`visible`); the content of files is unchanged.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from foldline.backends.formatting.contexts import column_in
from foldline.backends.formatting.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from foldline.backends.models import (
        FileOutline,
        FileText,
        FileTree,
        GrepMatch,
        GrepResults,
        Reference,
        References,
        SearchHit,
        SearchResults,
        SymbolDetail,
        SymbolDetails,
        SymbolInfo,
        TreeEntry,
    )

_LONGEST_CONTEXT = 160
_MOST_QUERY = 80
_UNITS = ("B", "KB", "MB", "GB", "TB")


def format_tree(tree: FileTree) -> str:
    """The tree: a header with the totals, then one line an entry, indented by depth.

    A folder that ends in `…` holds more than is shown.
    """
    lines = [tree_header(tree)]
    waiting = [(entry, 0) for entry in reversed(tree.entries)]
    while waiting:
        entry, level = waiting.pop()
        lines.append(tree_line(entry, level))
        waiting.extend((child, level + 1) for child in reversed(entry.children))
    if tree.cursor is not None:
        lines.append(tree_rest(tree.shown_from + len(tree.entries), tree.total_entries))
    return "\n".join([*lines, *remarks(tree.reason, tree.coverage)])


def tree_header(tree: FileTree) -> str:
    """The first line of a tree's text: its path and totals."""
    ignored = f", {tree.ignored} ignored" if tree.ignored else ""
    return f"{visible(tree.path)}/ {files_text(tree.files)}, {format_size(tree.size)}{ignored}"


def tree_line(entry: TreeEntry, level: int) -> str:
    """The line of one entry."""
    indent = "  " * level
    name = visible(entry.name)
    if not entry.folder:
        rank = f" #{entry.rank}" if entry.rank else ""
        return f"{indent}{name} {format_size(entry.size)}{rank}"
    more = " …" if entry.collapsed else ""
    return f"{indent}{name}/ {files_text(entry.files)}, {format_size(entry.size)}{more}"


def tree_rest(shown: int, total: int) -> str:
    """The line with the cursor that continues a tree."""
    return f"… {total - shown} more entries: ask with cursor tree@{shown}"


def format_size(size: int) -> str:
    """A size as people read it: `812 B`, `3.1 KB`, `24 MB`."""
    amount = float(size)
    for unit in _UNITS:
        if amount < 1000 or unit == _UNITS[-1]:
            break
        amount /= 1000
    if unit == "B" or amount >= 10:
        return f"{amount:.0f} {unit}"
    return f"{amount:.1f} {unit}"


def format_outline(outline: FileOutline, budget: int | None = None) -> str:
    """The outline: path, language and lines, imports, then one line a symbol with its range.

    Over `budget` bytes, docstrings go first, then private names, then the deepest levels; the last
    line says what was dropped.
    """
    from foldline.backends.formatting.outline_text import outline_lines

    return "\n".join(outline_lines(outline, budget))


def format_symbol(detail: SymbolDetail | SymbolDetails) -> str:
    """The symbol's path and range, then its source as it stands in the file.

    Several follow one another, with an empty line between them, and then what is missing.
    """
    from foldline.backends.models import SymbolDetails

    if isinstance(detail, SymbolDetails):
        texts = [format_symbol(one) for one in detail.symbols]
        return "\n\n".join([*texts, *remarks(detail.reason, "complete")])
    where = detail.path or "?"
    name = detail.qualified_name or detail.name
    header = f"{where}:{line_range(detail.body_line or detail.line, detail.line_end)} {name}"
    inside = f" in {detail.parent}" if detail.parent and "." not in name else ""
    notes = [f"({visible(note)})" for note in detail.notes]
    return "\n".join([visible(header + inside), *remarks("", detail.coverage), *notes, detail.body])


def format_references(references: References, budget: int | None = None) -> str:
    """The totals, then the lines grouped by file, each with its kind and enclosing symbol.

    Within `budget` bytes, by default those of the page, the first files have their lines, and the
    others line numbers.
    """
    from foldline.backends.formatting.reference_text import reference_lines

    return "\n".join(reference_lines(references, budget))


def format_file_text(found: FileText) -> str:
    """The path and the range, then the unchanged lines."""
    if found.end < found.start:
        path = visible(found.path)
        if found.start == 1 and not found.line_count:
            return f"({path} is empty)"
        return f"({path} has {found.line_count} lines, and nothing from line {found.start} on)"
    total = f" of {found.line_count} lines" if found.line_count else ""
    columns = f", {found.columns}" if found.columns else ""
    header = f"{visible(found.path)}:{line_range(found.start, found.end)}{total}{columns}"
    lines = [header, *remarks(found.note, found.coverage), found.text]
    if found.cursor is not None:
        more = "rest of the line" if found.cut else "next lines"
        lines.append(f"… ask with cursor {found.cursor} for the {more}")
    return "\n".join(lines)


def format_search(results: SearchResults) -> str:
    """The files by rank, each with its reasons; of a brief answer the paths alone."""
    if results.brief:
        paths = [hit.path for hit in results.hits]
        lines = brief_search_lines(paths, results.total, results.cursor)
    else:
        lines = [f"{_cut_query(results.query)}: {files_text(results.total)}"]
        lines.extend(search_line(hit) for hit in results.hits)
        if results.cursor is not None:
            lines.append(f"… more: ask with cursor {results.cursor}")
    return "\n".join([*lines, *remarks(results.reason, results.coverage)])


def brief_search_lines(paths: Sequence[str], total: int, cursor: str | None) -> list[str]:
    """The paths, without the folder that all of them are in, which the first line names."""
    folder = _folder_of_all(paths)
    where = f", the best below {visible(folder)}:" if folder else ""
    lines = [f"{files_text(total)}{where}", *(visible(path[len(folder) :]) for path in paths)]
    return lines if cursor is None else [*lines, f"… cursor {cursor}"]


def _folder_of_all(paths: Sequence[str]) -> str:
    """The longest folder, with its slash, that several paths are in."""
    common = paths[0].rpartition("/")[0] if len(paths) > 1 else ""
    while common and not all(path.startswith(f"{common}/") for path in paths):
        common = common.rpartition("/")[0]
    return common and f"{common}/"


def search_line(hit: SearchHit) -> str:
    """The line of one hit: where, and why it ranks there."""
    where = f"{hit.path}:{hit.line}" if hit.line else hit.path
    return visible(f"{where} ({' · '.join(hit.why)})")


def search_room(query: str) -> int:
    """The bytes of a search's text besides its hits."""
    return len(_cut_query(query).encode("utf-8", "replace")) + 70


def _cut_query(query: str) -> str:
    """The beginning of a question, which may be a whole report."""
    text = visible(" ".join(query.split()))
    return text if len(text) <= _MOST_QUERY else f"{text[: _MOST_QUERY - 1]}…"


def format_grep(results: GrepResults) -> str:
    """The totals, then the matching lines grouped by file: `12: match`, `13- line after it`."""
    count = results.total
    shown = len(results.matches)
    part = "" if shown == count else f", {shown} shown"
    where = f"{count} {plural('line', count)} in {files_text(results.files)}{part}"
    lines = [f"{visible(results.pattern)}: {where}"]
    for path, found in groupby(results.matches, key=lambda match: match.path):
        lines.append(visible(path))
        for match in found:
            lines.extend(grep_lines(match))
    if results.cursor is not None:
        lines.append(f"… more: ask with cursor {results.cursor}")
    return "\n".join([*lines, *remarks(results.reason, results.coverage)])


def grep_lines(match: GrepMatch) -> list[str]:
    """The lines of one match, long ones cut around the match."""
    first = match.line - len(match.before)
    before = [f"  {first + n}- {cut_line(line, 0)}" for n, line in enumerate(match.before)]
    after = [f"  {match.line + 1 + n}- {cut_line(line, 0)}" for n, line in enumerate(match.after)]
    text, at = match.text, match.column - match.text_column
    shown = cut_line(text, at)
    if match.text_column > 1 and not shown.startswith("…"):
        shown = f"…{shown}"
    return [*before, f"  {match.line}: {shown}", *after]


def grep_room(pattern: str) -> int:
    """The bytes of a grep's text besides its matches."""
    return len(pattern.encode("utf-8", "replace")) + 100


def reference_line(reference: Reference) -> str:
    """The line of one use: number, kind, enclosing symbol, and the source line, shortened."""
    kind = f" {reference.kind}" if reference.kind else ""
    inside = f" in {visible(reference.enclosing)}" if reference.enclosing else ""
    stripped = reference.context.strip()
    indent = len(reference.context) - len(reference.context.lstrip())
    column = column_in(reference.context, reference.column - 1)
    context = cut_line(stripped, column - indent)
    return f"  {reference.line}{kind}{inside}: {context}"


def symbol_line(symbol: SymbolInfo, level: int, *, docstring: bool) -> str:
    """`12-40 class Foo(Bar)  # what it is`, indented by depth."""
    marks = "".join(f"@{name} " for name in symbol.decorators)
    note = f"  # {symbol.docstring}" if docstring and symbol.docstring else ""
    where = line_range(symbol.line, symbol.line_end)
    return visible(f"{'  ' * level}{where} {marks}{symbol.signature}{note}")


def line_range(first: int, last: int) -> str:
    """`12-40`, or `12` for a single line."""
    return f"{first}-{last}" if last > first else f"{first}"


def cut_line(line: str, column: int) -> str:
    """A long line's part around `column`."""
    if len(line) <= _LONGEST_CONTEXT:
        return line
    start = max(min(column - _LONGEST_CONTEXT // 3, len(line) - _LONGEST_CONTEXT), 0)
    end = start + _LONGEST_CONTEXT
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def remarks(reason: str, coverage: str) -> list[str]:
    """The lines with an answer's reason and coverage, where it has any."""
    from foldline.backends.models import COMPLETE

    said = [f"({visible(reason)})"] if reason else []
    if coverage != COMPLETE:
        said.append(f"(coverage: {visible(coverage)})")
    return said


def files_text(count: int) -> str:
    """`1 file`, `3 files`."""
    return f"{count} {plural('file', count)}"


def plural(noun: str, count: int) -> str:
    """The noun for that many."""
    return noun if count == 1 else f"{noun}s"
