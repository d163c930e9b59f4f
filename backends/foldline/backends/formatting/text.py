"""The lines of answers: few, and the last ones say what comes next.

Names and remarks are on one line each (`visible`); the content of files is unchanged.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby, islice
from typing import TYPE_CHECKING

from foldline.backends.formatting.parts import FOUND, Code, note
from foldline.backends.formatting.visible import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from foldline.backends.formatting.parts import Line
    from foldline.backends.models import (
        FileText,
        FileTree,
        GrepMatch,
        GrepResults,
        Reference,
        SearchHit,
        SearchResults,
        SymbolDetail,
        SymbolDetails,
        SymbolInfo,
        TreeEntry,
    )

_LONGEST_CONTEXT = 160
_FOLDER = "bold blue"
# The words before a name that say its kind.
_KEYWORD = re.compile(
    r"(.*?)\b(class|def|fn|func|function|fun|interface|enum|struct|trait|impl|type|const|let|var|"
    r"val|module|mod|namespace|object|record|union|protocol|package|macro)( +)\Z"
)
_ABOUT_SERVERS = (
    "no language server is installed",
    "no other language server is installed",
    "`foldline doctor` says",
)
# A failure that an earlier answer told in full.
_TOLD = re.compile(r"[\w.-]+: still (?:failing|down|restarting|stopped)")
BY_NAME = note("(by name alone)")
# Languages in which indentation is nesting.
_NESTED = (".py", ".pyi", ".yaml", ".yml")
_UNITS = ("B", "KB", "MB", "GB", "TB")


def tree_lines(tree: FileTree) -> list[Line]:
    """The tree: a header with the totals, then one line an entry, indented by depth.

    A folder that ends in `…` holds more than is shown.
    """
    lines = [tree_header(tree)]
    waiting = [(entry, 0) for entry in reversed(tree.entries)]
    while waiting:
        entry, level = waiting.pop()
        while (only := _only_folder(entry)) is not None:
            # A chain of folders is one line.
            entry = replace(only, name=f"{entry.name}/{only.name}")
        lines.append(tree_line(entry, level))
        waiting.extend((child, level + 1) for child in reversed(entry.children))
    if tree.cursor is not None:
        shown = tree.shown_from + len(tree.entries)
        lines.append(tree_rest(shown, tree.total_entries, tree.cursor))
    return [*lines, *remarks(tree.reason, tree.coverage)]


def _only_folder(entry: TreeEntry) -> TreeEntry | None:
    """The folder that is all of a folder, or all that a query's tree has of it."""
    only = entry.children[0] if len(entry.children) == 1 else None
    # Several folders of one pattern have the path of the one that they're in.
    return only if only and only.folder and only.path != entry.path else None


def tree_header(tree: FileTree) -> Line:
    """The first line of a tree's text: its path and totals."""
    ignored = f", {tree.ignored} ignored" if tree.ignored else ""
    totals = f" {files_text(tree.files)}, {format_size(tree.size)}{ignored}"
    return [(f"{visible(tree.path)}/", _FOLDER), (totals, "dim")]


def tree_line(entry: TreeEntry, level: int) -> Line:
    """The line of one entry."""
    name = f"{'  ' * level}{visible(entry.name)}"
    if not entry.folder:
        lines = f", {entry.lines} {plural('line', entry.lines)}" if entry.lines else ""
        rank = f" #{entry.rank}" if entry.rank else ""
        return [(name, ""), (f" {format_size(entry.size)}{lines}{rank}", "dim")]
    more = " …" if entry.collapsed else ""
    totals = f" {files_text(entry.files)}, {format_size(entry.size)}{more}"
    return [(f"{name}/", _FOLDER), (totals, "dim")]


def tree_rest(shown: int, total: int, cursor: str = "") -> Line:
    """The line with the cursor that continues a tree."""
    return note(f"… {total - shown} more entries: ask with cursor {cursor or f'tree@{shown}'}")


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


def symbol_lines(detail: SymbolDetail | SymbolDetails) -> list[Line | Code]:
    """The symbol's path and range, then its source as it stands in the file.

    Several follow one another, with an empty line between them, and then what is missing.
    """
    from foldline.backends.models import SymbolDetails

    lines: list[Line | Code] = []
    if isinstance(detail, SymbolDetails):
        for one in detail:
            lines += [*symbol_lines(one), []]
        missing = remarks(detail.reason, "complete")
        return [*lines, *missing] if missing else lines[:-1]
    first, last = detail.body_line or detail.line, detail.line_end
    name = detail.qualified_name or detail.name
    inside = f" in {detail.parent}" if detail.parent and "." not in name else ""
    head = [(visible(detail.path or "?"), "bold"), (f":{line_range(first, last)}", "dim")]
    notes = [note(f"({visible(one)})") for one in detail.notes]
    notes = [*remarks("", detail.coverage), *notes]
    # A body that isn't whole has no lines that follow each other.
    code = Code(detail.path, detail.body, 0 if notes or first >= last else first)
    return [[*head, (visible(f" {name}{inside}"), "bold")], *notes, code]


def file_lines(found: FileText) -> list[Line | Code]:
    """The path and the range, then the unchanged lines."""
    path = visible(found.path)
    if found.end < found.start:
        if found.start == 1 and not found.line_count:
            return [note(f"({path} is empty)")]
        message = f"({path} has {found.line_count} lines, and nothing from line {found.start} on)"
        return [note(message), *remarks(found.note, found.coverage)]
    total = f" of {found.line_count} lines" if found.line_count else ""
    columns = f", {found.columns}" if found.columns else ""
    suffix = f":{line_range(found.start, found.end)}"
    notes = remarks(found.note, found.coverage)
    first = 0 if notes or found.start == found.end else found.start
    lines: list[Line | Code] = [[(path, "bold"), (suffix, "dim"), (total + columns, "dim")]]
    lines += [*notes, Code(found.path, found.text, first)]
    if found.cursor is not None:
        more = "rest of the line" if found.cut else "next lines"
        lines.append(note(f"… ask with cursor {found.cursor} for the {more}"))
    return lines


def search_lines(results: SearchResults) -> list[Line]:
    """The files by rank, each with its definitions or reasons; of a brief answer the paths."""
    if results.brief:
        lines = brief_search_lines([hit.path for hit in results.hits], results.cursor)
    else:
        lines = [*map(search_line, results.hits), *rest(results.cursor)]
    return [*lines, *remarks(results.reason, results.coverage)]


def brief_search_lines(paths: Sequence[str], cursor: str | None) -> list[Line]:
    """The paths, without the folder that all of them are in, which the first line names."""
    folder = _folder_of_all(paths)
    texts = [f"below {visible(folder)}:"] if folder else []
    texts += [visible(path[len(folder) :]) for path in paths]
    lines: list[Line] = [[(text, "")] for text in texts]
    return lines if cursor is None else [*lines, note(f"… cursor {cursor}")]


def _folder_of_all(paths: Sequence[str]) -> str:
    """The longest folder, with its slash, that several paths are in."""
    common = paths[0].rpartition("/")[0] if len(paths) > 1 else ""
    while common and not all(path.startswith(f"{common}/") for path in paths):
        common = common.rpartition("/")[0]
    return common and f"{common}/"


def search_line(hit: SearchHit) -> Line:
    """The line of one hit: its path, and the definitions to read next, or why it's there."""
    places = [f"{one.name} {line_range(one.line, one.line_end)}" for one in hit.symbols]
    if not places:
        return [(visible(hit.path), "bold"), (visible(f" ({'; '.join(hit.why)})"), "dim")]
    return [(visible(hit.path), "bold"), (f": {visible(', '.join(places))}", "")]


def grep_lines(results: GrepResults) -> list[Line]:
    """The totals, then the matching lines grouped by file: `12: match`, `13- line after it`.

    A line names those of the same text: `also 15; shop/b.py:3 and 8 more`.
    """
    count, is_lines = results.total, results.show == "lines"
    shown = len(results.matches if is_lines else results.counts)
    part = "" if shown == (count if is_lines else results.files) else f", {shown} shown"
    literal = f"{results.literal}; as plain text " if results.literal else ""
    where = f"{literal}{count} {plural('line', count)} in {files_text(results.files)}{part}"
    lines: list[Line] = [[(where, "bold")]]
    if is_lines:
        lines += _match_lines(results)
    else:
        numbered = results.show == "counts"
        lines += [
            [(visible(path), "bold"), (f": {number}" if numbered else "", "")]
            for path, number in results.counts
        ]
    return [*lines, *rest(results.cursor), *remarks(results.reason, results.coverage)]


def _match_lines(results: GrepResults) -> Iterator[Line]:
    """Yield the lines of each file, and how many more it has."""
    heads: dict[str, GrepMatch] = {}
    for match in results.matches:
        text = match.text.strip()
        if match.equal > (heads[text].equal if text in heads else 0):
            heads[text] = match
    by_file: dict[str, dict[int, list[Line]]] = {}
    folded: dict[int, list[GrepMatch]] = {}
    indents: dict[str, int] = {}
    nested = {match.path for match in results.matches if match.around}
    for match in results.matches:
        if match.path.endswith(_NESTED) or match.path in nested:
            texts = [match.text, *(line for _, line in match.around)]
            indent = min(len(text) - len(text.lstrip()) for text in texts)
            indents[match.path] = min(indent, indents.get(match.path, indent))
    for match in results.matches:
        head = heads.get(match.text.strip(), match)
        if head is not match:
            folded.setdefault(id(head), []).append(match)
            continue
        lines = by_file.setdefault(match.path, {})
        around = [*enumerate(match.before, match.line - len(match.before))]
        for number, line in [*around, *enumerate(match.after, match.line + 1)]:
            shown: Line = [(f"  {number}-", "dim"), (f" {cut_line(line, 0)}", FOUND)]
            lines.setdefault(number, [shown])
        for number, line in match.around:
            shown = [
                (f"  {number}-", "dim"),
                (f" {cut_line(line[indents[match.path] :], 0)}", FOUND),
            ]
            lines.setdefault(number, [shown])
        lines[match.line] = [_match_line(match, indents.get(match.path))]
    for head in heads.values():
        same = _same_line(head, folded.get(id(head), ()))
        by_file[head.path][head.line].append(same)
    left = dict(results.counts)
    for path, lines in by_file.items():
        yield [(visible(path), "bold")]
        for number in sorted(lines):
            yield from lines[number]
        if path in left:
            yield note(f"  … {left[path]} more in this file")


def _match_line(match: GrepMatch, indent: int | None) -> Line:
    """A line, a long one cut around the match; one that stands alone loses its indentation.

    Where that is nesting, it loses the first `indent` columns, which all lines of the file have.
    """
    text = match.text
    if not (match.before or match.after):
        text = text.lstrip() if indent is None else text[indent:]
    at = match.column - match.text_column - len(match.text) + len(text)
    shown = cut_line(text, at)
    if match.text_column > 1 and not shown.startswith("…"):
        shown = f"…{shown}"
    return [(f"  {match.line}:", "dim"), (f" {shown}", FOUND)]


def _same_line(head: GrepMatch, others: Sequence[GrepMatch]) -> Line:
    """The line's other places on the page, and its number on later ones."""
    places = []
    for path, matches in groupby(others, key=lambda match: match.path):
        numbers = ", ".join(str(match.line) for match in matches)
        places.append(numbers if path == head.path else f"{visible(path)}:{numbers}")
    more = head.equal - len(others)
    places += [f"{more} more"] if more else []
    return note(f"    also {'; '.join(places)}")


def reference_line(reference: Reference) -> Line:
    """The line of one use: number, kind, enclosing symbol, and the source line, shortened."""
    kind = f" {reference.kind}" if reference.kind else ""
    inside = f" in {visible(reference.enclosing)}" if reference.enclosing else ""
    stripped = reference.context.strip()
    indent = len(reference.context) - len(reference.context.lstrip())
    column = column_in(reference.context, reference.column - 1)
    context = cut_line(stripped, column - indent)
    return [(f"  {reference.line}", "dim"), (kind, "cyan"), (inside, "dim"), (f": {context}", "")]


def symbol_line(symbol: SymbolInfo, level: int, *, docstring: bool) -> Line:
    """`12-40 class Foo(Bar)  # what it is`, indented by depth."""
    marks = "".join(
        f"{name} " if name.startswith("#[") else f"@{name} " for name in symbol.decorators
    )
    summary = f"  # {symbol.docstring}" if docstring and symbol.docstring else ""
    where = f"{'  ' * level}{line_range(symbol.line, symbol.line_end)}"
    leaf = symbol.name.rpartition(".")[2] or symbol.name or " "
    before, name, after = symbol.signature.partition(leaf)
    if set(before) <= {"#", " "}:
        # That of a heading.
        name, before = before + name, ""
    keyword = _KEYWORD.match(before)
    ahead, kind, between = keyword.groups() if keyword else (before, "", "")
    signature = ((kind, "cyan"), (between, ""), (name, "bold"), (after, ""))
    line = ((where, "dim"), (f" {marks}{ahead}", ""), *signature, (summary, "dim"))
    return [(visible(text), style) for text, style in line]


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


def rest(cursor: str | None) -> list[Line]:
    """The line with the cursor that continues an answer, where there is one."""
    return [] if cursor is None else [note(f"… cursor {cursor}")]


def remarks(reason: str, coverage: str) -> list[Line]:
    """The lines with an answer's reason and coverage, where it has any.

    They don't say which language server is missing, or fails still: `foldline doctor` does.
    """
    from foldline.backends.models import COMPLETE

    reason = "; ".join(_about_the_answer(reason))
    lines = [note(f"({visible(reason)})")] if reason else []
    gaps = "; ".join(_about_the_answer(coverage.removeprefix("partial: ")))
    if coverage and not gaps:
        lines.append(BY_NAME)
    elif coverage != COMPLETE:
        kind = "partial" if coverage.startswith("partial: ") else "coverage"
        lines.append(note(f"({kind}: {visible(gaps)})"))
    return lines


def _about_the_answer(said: str) -> Iterator[str]:
    """Yield the parts of a remark but for those about servers that aren't there."""
    for part in said.split("; "):
        if not part.startswith(_ABOUT_SERVERS) and not _TOLD.fullmatch(part):
            yield part


def files_text(count: int) -> str:
    """`1 file`, `3 files`."""
    return f"{count} {plural('file', count)}"


def sentences(*parts: str) -> str:
    """The parts of a remark that aren't empty, as one."""
    return "; ".join(filter(None, parts))


def first_of(names: Collection[str], most: int) -> str:
    """The first of some names, and `…` where there are more."""
    return ", ".join([*islice(names, most), *["…"] * (len(names) > most)])


def plural(noun: str, count: int) -> str:
    """The noun for that many."""
    return noun if count == 1 else f"{noun}s"


LONGEST = 200
"""Characters of a line that are kept; `…` stands for the rest."""

_BEFORE = LONGEST // 2
# No character has more bytes in UTF-8.
_WIDEST = 4


def cut_context(line: str, column: int) -> str:
    """A line around `column`, from 0: all of it, or up to `LONGEST` characters."""
    if len(line) <= LONGEST:
        return line
    start = max(min(column, len(line)) - _BEFORE, 0)
    return _marked(line[start : start + LONGEST], start, start + LONGEST < len(line))


def cut_bytes(data: bytes, begin: int, at: int, column: int) -> str:
    """`cut_context` of the line of UTF-8 `data` that starts at byte `begin`, around byte `at`."""
    end = data.find(b"\n", at, at + _WIDEST * LONGEST)
    cut = end < 0 and at + _WIDEST * LONGEST < len(data)
    end = end if end >= 0 else min(at + _WIDEST * LONGEST, len(data))
    if column <= LONGEST and not cut:
        line = data[begin:end].removesuffix(b"\r").decode("utf-8", "replace")
        return cut_context(line, column)
    low = max(at - _WIDEST * _BEFORE, begin)
    before = data[low:at].decode("utf-8", "replace")
    after = data[at:end].removesuffix(b"\r").decode("utf-8", "replace")
    start = max(column - _BEFORE, 0)
    kept = before[len(before) - (column - start) :] if column > start else ""
    room = LONGEST - len(kept)
    return _marked(kept + after[:room], start, cut or len(after) > room)


def column_in(context: str, column: int) -> int:
    """The index in a context of the character at `column`, from 0, of its line."""
    return _BEFORE + 1 if column > _BEFORE and context.startswith("…") else column


def _marked(text: str, start: int, more: bool) -> str:
    return f"{'…' if start else ''}{text}{'…' if more else ''}"
