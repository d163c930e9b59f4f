"""Pages of answers, within their budgets. The cursors of lists notice changed files.

Lines, symbols and outlines come from one file, and their cursors know its lines. A list comes from
many files: its cursor ends with a mark, a hash of their paths and, where that is complete, of what
was counted in them. A page whose mark is another one says that files have changed.
"""

from __future__ import annotations

import base64
import hashlib
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from foldline.backends.formatting.budget import CUT
from foldline.backends.formatting.parts import plain
from foldline.ide.operations.arguments import ListPage
from foldline.ide.operations.operation import budget_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foldline.backends import SmartFileAccess
    from foldline.backends.formatting.parts import Code, Line
    from foldline.ide.operations.operation import Operation

# Parts of the budget to try in turn, while the page is too large.
_SHARES = (1.0, 0.85, 0.6)

# The letters of a mark in a list's cursor, and the bytes that it takes.
_MARK = 4
_MARK_ROOM = _MARK + 1
_LIST_CURSOR = re.compile(rf"@\d+\.([a-z2-7]{{{_MARK}}})\Z")
_OTHERS = "changed since the last page: some may be missing or repeated; ask without a cursor"


async def ask(
    operation: Operation[Any, Any],
    access: SmartFileAccess,
    arguments: Any,
    shown: Callable[[Any], Any] = lambda result: result,
) -> tuple[Any, Sequence[Line | Code]]:
    """Return an operation's result and its lines, which keep to the budget.

    If `shown` makes the result too large, by longer paths, a smaller page is read.
    """
    since, budget = time.monotonic(), budget_of(arguments)
    if budget is None:
        result = _marked(access, shown(await operation.run(access, arguments)), arguments, since)
        return result, operation.lines(result, arguments)
    room = max(budget - _MARK_ROOM, 1) if isinstance(arguments, ListPage) else budget
    for share in _SHARES:
        page = replace(arguments, budget=type(budget)(room * share))
        result = _marked(access, shown(await operation.run(access, page)), arguments, since)
        lines = operation.lines(result, arguments)
        if not plain(lines).endswith(CUT):
            break
    return result, lines


def _marked(access: SmartFileAccess, result: Any, arguments: Any, since: float) -> Any:
    """Return a page of a list with a mark in its cursor, which changes with the files.

    Its reason says if the mark of the cursor that was asked with is another.
    """
    asked = _LIST_CURSOR.search(getattr(arguments, "cursor", None) or "")
    cursor = getattr(result, "cursor", None)
    if not hasattr(result, "reason") or not (asked or cursor):
        return result
    from foldline.backends.base.languages import CODE
    from foldline.backends.models import COMPLETE, TEXT_ALONE

    listed = access.file_backend.walk_folder(".", since=since, kind=CODE)
    marks = [stamp.path for stamp in listed]

    # Later pages have no text.
    if result.coverage == COMPLETE or result.coverage.startswith(TEXT_ALONE):
        totals = (getattr(result, name, 0) for name in ("total", "files", "total_entries"))
        marks += map(str, totals)
    mark = _hash("\n".join(marks))
    reason = result.reason
    if asked and asked[1] != mark:
        reason = "; ".join(filter(None, (_OTHERS, reason)))
    return replace(result, cursor=cursor and f"{cursor}.{mark}", reason=reason)


def _hash(text: str) -> str:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).digest()
    return base64.b32encode(digest).decode()[:_MARK].lower()
