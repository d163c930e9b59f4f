"""`foldline tree`, `outline`, `symbol`, `refs`, `lines`, `read`, `search` and `grep`.

They work in any folder with no set-up. Text is what models and people read; `--json` is the whole
answer for programs. Exit status: 0 with an answer, 1 when nothing was found, 2 when the question
could not be asked.
"""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from foldline.agent.code_verb import (
    Answer,
    add_budget,
    add_servers,
    add_verb,
    budget_of,
    count,
    found,
)

if TYPE_CHECKING:
    from foldline.agent.verbs import Verbs
    from foldline.backends import SmartFileAccess

_RANGE = re.compile(r"(\d+)(?:-(\d+))?\Z")


def register(verbs: Verbs) -> None:
    tree = add_verb(verbs, "tree", _tree, "list files and folders, folded to fit", paged=True)
    tree.add_argument("path", nargs="?", default=".", help="a folder")
    tree.add_argument("--depth", type=count, help="how many levels to open")

    outline = add_verb(verbs, "outline", _outline, "list what files define, without bodies")
    outline.add_argument("path", nargs="+", help="a file")
    add_budget(outline)

    symbol = add_verb(verbs, "symbol", _symbol, "show one definition", paged=True)
    symbol.add_argument("path", help="a file")
    symbol.add_argument("name", help="NAME, Class.method, or NAME[2] for the second of them")
    add_servers(symbol)

    refs = add_verb(verbs, "refs", _refs, "list the uses of a name", paged=True)
    refs.add_argument("name", help="an identifier")
    refs.add_argument("scope", nargs="?", help="a file, a folder or a glob")
    add_servers(refs)

    lines = add_verb(verbs, "lines", _lines, "show some lines of a file", paged=True)
    lines.add_argument("path", help="a file")
    lines.add_argument("range", type=_line_range, metavar="START[-END]", help="lines, from 1")

    read = add_verb(verbs, "read", _read, "show a whole file: the last resort", paged=True)
    read.add_argument("path", help="a file")

    search = add_verb(
        verbs, "search", _search, "find files by words of paths and symbols", paged=True
    )
    search.add_argument("word", nargs="+", help="words to look for")

    grep = add_verb(verbs, "grep", _grep, "find lines by a regular expression", paged=True)
    grep.add_argument("pattern", help="a pattern in RE2's syntax")
    grep.add_argument("glob", nargs="?", help="a file, a folder or a glob")
    grep.add_argument("-i", "--ignore-case", action="store_true", help="letters in any case")
    grep.add_argument(
        "-C", "--context", type=count, default=0, metavar="LINES", help="lines around each match"
    )


def _tree(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    tree = access.get_tree(
        options.path,
        depth=options.depth,
        budget=budget_of(options, budget.TREE_BUDGET),
        cursor=options.cursor,
    )
    return Answer(text.format_tree(tree), tree, found(tree.files))


def _outline(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    outlines = [access.get_outline(path) for path in options.path]
    limit = budget_of(options, budget.OUTLINE_BUDGET)
    shown = "\n\n".join(text.format_outline(each, limit) for each in outlines)
    return Answer(
        shown, outlines[0] if len(outlines) == 1 else outlines, found(any(map(len, outlines)))
    )


def _symbol(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    detail = access.read_symbol(
        options.path,
        options.name,
        budget=budget_of(options, budget.SYMBOL_BUDGET),
        cursor=options.cursor,
        seconds=options.seconds,
    )
    return Answer(text.format_symbol(detail), detail)


def _refs(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    uses = access.find_references(
        options.name,
        options.scope,
        budget=budget_of(options, budget.REFERENCES_BUDGET),
        cursor=options.cursor,
        seconds=options.seconds,
    )
    return Answer(text.format_references(uses), uses, found(uses.total))


def _lines(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    start, end = options.range
    return _text(access, options, start, end)


def _read(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    return _text(access, options, 1, None)


def _text(
    access: SmartFileAccess, options: argparse.Namespace, start: int, end: int | None
) -> Answer:
    from foldline.backends import budget, text

    page = access.read_text(
        options.path,
        start,
        end,
        budget=budget_of(options, budget.FILE_BUDGET),
        cursor=options.cursor,
    )
    return Answer(text.format_file_text(page), page, found(page.end >= page.start))


def _search(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    results = access.search_files(
        " ".join(options.word),
        budget=budget_of(options, budget.SEARCH_BUDGET),
        cursor=options.cursor,
    )
    return Answer(text.format_search(results), results, found(results.total))


def _grep(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    results = access.grep(
        options.pattern,
        options.glob,
        context=options.context,
        ignore_case=options.ignore_case,
        budget=budget_of(options, budget.GREP_BUDGET),
        cursor=options.cursor,
    )
    return Answer(text.format_grep(results), results, found(results.total))


def _line_range(text: str) -> tuple[int, int]:
    match = _RANGE.match(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not START or START-END, such as 10-20")
    start = int(match.group(1))
    return start, int(match.group(2) or start)
