"""`foldline tree`, `outline`, `symbol`, `refs`, `lines`, `read`, `search` and `grep`.

They work in any folder with no set-up. Text is what models and people read; `--json` is the whole
answer for programs. Exit status: 0 with an answer, 1 when nothing was found, 2 when the question
could not be asked.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldline.agent.verbs import Verbs
    from foldline.backends import SmartFileAccess

FOUND, NOTHING, NOT_ASKED = 0, 1, 2
_RANGE = re.compile(r"(\d+)(?:-(\d+))?\Z")


class Answer(NamedTuple):
    """The text form, the models behind it, and whether anything was found."""

    text: str
    data: object
    found: bool = True


def register(verbs: Verbs) -> None:
    tree = _add(verbs, "tree", _tree, "list files and folders, folded to fit", "budget")
    tree.add_argument("path", nargs="?", default=".", help="a folder")
    tree.add_argument("--depth", type=_count, help="how many levels to open")

    outline = _add(verbs, "outline", _outline, "list what files define, without bodies")
    outline.add_argument("path", nargs="+", help="a file")
    _add_budget(outline)

    symbol = _add(verbs, "symbol", _symbol, "show one definition", "budget")
    symbol.add_argument("path", help="a file")
    symbol.add_argument("name", help="NAME, Class.method, or NAME[2] for the second of them")

    refs = _add(verbs, "refs", _refs, "list the uses of a name", "budget")
    refs.add_argument("name", help="an identifier")
    refs.add_argument("scope", nargs="?", help="a file, a folder or a glob")
    refs.add_argument(
        "--seconds",
        type=float,
        default=20.0,
        help="how long a language server may take to confirm them; 0: do not ask it (default: 20)",
    )
    refs.add_argument(
        "--trust", action="store_true", help="also use servers that may run the workspace's code"
    )

    lines = _add(verbs, "lines", _lines, "show some lines of a file", "budget")
    lines.add_argument("path", help="a file")
    lines.add_argument("range", type=_line_range, metavar="START[-END]", help="lines, from 1")

    read = _add(verbs, "read", _read, "show a whole file: the last resort", "budget")
    read.add_argument("path", help="a file")

    search = _add(verbs, "search", _search, "find files by words of paths and symbols", "budget")
    search.add_argument("word", nargs="+", help="words to look for")

    grep = _add(verbs, "grep", _grep, "find lines by a regular expression", "budget")
    grep.add_argument("pattern", help="a pattern in RE2's syntax")
    grep.add_argument("glob", nargs="?", help="a file, a folder or a glob")
    grep.add_argument("-i", "--ignore-case", action="store_true", help="letters in any case")
    grep.add_argument(
        "-C", "--context", type=_count, default=0, metavar="LINES", help="lines around each match"
    )


def _add(
    verbs: Verbs,
    name: str,
    ask: Callable[[SmartFileAccess, argparse.Namespace], Answer],
    description: str,
    paged: str = "",
) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=description, description=f"{description.capitalize()}.")
    parser.add_argument("--root", default=".", metavar="DIR", help="the workspace (default: .)")
    parser.add_argument("--json", action="store_true", help="the whole answer, for programs")
    parser.add_argument("--no-ignore", action="store_true", help="ignored files too")
    if paged:
        _add_budget(parser)
        parser.add_argument("--cursor", help="go on where an answer ended")
    parser.set_defaults(run=lambda options: run(ask, options))
    return parser


def _add_budget(parser: argparse.ArgumentParser) -> None:
    limits = parser.add_mutually_exclusive_group()
    limits.add_argument("--budget", type=_count, metavar="BYTES", help="how long the text may be")
    limits.add_argument("--all", action="store_true", help="no limit")


def run(
    ask: Callable[[SmartFileAccess, argparse.Namespace], Answer], options: argparse.Namespace
) -> int:
    """Ask, print the answer, and return the exit status."""
    from foldline.backends import BackendError, SmartFileAccess
    from foldline.backends.errors import SymbolError

    try:
        access = SmartFileAccess.for_workspace(
            options.root,
            no_ignore=options.no_ignore,
            patience=None,
            language_servers=getattr(options, "seconds", 0) > 0,
            trusted=getattr(options, "trust", False),
        )
        try:
            answer = ask(access, options)
        finally:
            access.close()
    except SymbolError as error:
        print(f"foldline: {error}", file=sys.stderr)  # noqa: T201
        return NOTHING
    except BackendError as error:
        print(f"foldline: {error}", file=sys.stderr)  # noqa: T201
        return NOT_ASKED
    _show(_as_json(answer.data) if options.json else answer.text)
    return FOUND if answer.found else NOTHING


def _tree(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    tree = access.get_tree(
        options.path,
        depth=options.depth,
        budget=_budget(options, budget.TREE_BUDGET),
        cursor=options.cursor,
    )
    return Answer(text.format_tree(tree), tree, tree.files > 0)


def _outline(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    outlines = [access.get_outline(path) for path in options.path]
    limit = _budget(options, budget.OUTLINE_BUDGET)
    shown = "\n\n".join(text.format_outline(each, limit) for each in outlines)
    return Answer(shown, outlines[0] if len(outlines) == 1 else outlines, any(map(len, outlines)))


def _symbol(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    detail = access.read_symbol(
        options.path,
        options.name,
        budget=_budget(options, budget.SYMBOL_BUDGET),
        cursor=options.cursor,
    )
    return Answer(text.format_symbol(detail), detail)


def _refs(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    found = access.find_references(
        options.name,
        options.scope,
        budget=_budget(options, budget.REFERENCES_BUDGET),
        cursor=options.cursor,
        seconds=options.seconds,
    )
    return Answer(text.format_references(found), found, found.total > 0)


def _lines(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    start, end = options.range
    return _text(access, options, start, end)


def _read(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    return _text(access, options, 1, None)


def _text(
    access: SmartFileAccess, options: argparse.Namespace, start: int, end: int | None
) -> Answer:
    from foldline.backends import budget, text

    found = access.read_text(
        options.path,
        start,
        end,
        budget=_budget(options, budget.FILE_BUDGET),
        cursor=options.cursor,
    )
    return Answer(text.format_file_text(found), found, found.end >= found.start)


def _search(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    results = access.search_files(
        " ".join(options.word),
        budget=_budget(options, budget.SEARCH_BUDGET),
        cursor=options.cursor,
    )
    return Answer(text.format_search(results), results, results.total > 0)


def _grep(access: SmartFileAccess, options: argparse.Namespace) -> Answer:
    from foldline.backends import budget, text

    results = access.grep(
        options.pattern,
        options.glob,
        context=options.context,
        ignore_case=options.ignore_case,
        budget=_budget(options, budget.GREP_BUDGET),
        cursor=options.cursor,
    )
    return Answer(text.format_grep(results), results, results.total > 0)


def _budget(options: argparse.Namespace, default: int) -> int | None:
    if options.all:
        return None
    return default if options.budget is None else int(options.budget)


def _as_json(data: object) -> str:
    from cattrs import Converter

    return json.dumps(Converter().unstructure(data), ensure_ascii=False, indent=2)


def _show(text: str) -> None:
    """Print text of any file on a terminal of any encoding."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding))  # noqa: T201


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 up")
    return int(text)


def _line_range(text: str) -> tuple[int, int]:
    match = _RANGE.match(text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not START or START-END, such as 10-20")
    start = int(match.group(1))
    return start, int(match.group(2) or start)
