"""Receipts: an excerpt that the caller still holds isn't sent again.

An excerpt is a text that a file's content decides: lines, a symbol, an outline. Its receipt is a
hash of the text as it was shown, and known in any process. A caller that asks again, with `held`,
gets `(unchanged RECEIPT: …)` and nothing else if the present excerpt is what it holds. Otherwise it
gets the excerpt, whose last line is `(receipt NEW: changed since RECEIPT)`. Of a page, the last
letters are a hash of the text around it: if only that has changed, the answer names the page.
"""

from __future__ import annotations

import base64
import hashlib
import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from foldline.backends.formatting.budget import CUT, RECEIPT, size_of
from foldline.backends.formatting.parts import Code, note, plain, text_of
from foldline.ide.operations.operation import budget_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foldline.backends import SmartFileAccess
    from foldline.backends.formatting.parts import Line
    from foldline.ide.operations.operation import Operation

_LENGTH = 12
# The letters that are about the excerpt itself, where a page has a rest.
_OWN = 8
_AGAIN = "ask without held to see it"
# Parts of the budget to try in turn, while the page is too large.
_SHARES = (1.0, 0.85, 0.6)

# The letters of a mark in a list's cursor, and the bytes that it takes.
_MARK = 4
_MARK_ROOM = _MARK + 1
_LIST_CURSOR = re.compile(rf"@\d+\.([a-z2-7]{{{_MARK}}})\Z")
_OTHERS = "changed since the last page: some may be missing or repeated; ask without a cursor"
# What is about the text around a page: a cursor such as `text@294.k3f9ab2c9`, the lines in all, and
# what the rest costs.
_MARKS = re.compile(r"@[0-9:]+\.[a-z2-7]{9}\b| of \d+ lines\b| \((?:\d+ lines?, )?budget \d+\)")
_RECEIPT = re.compile(rf"[a-z2-7]{{{_LENGTH}}}\Z")
_LAST_LINE = re.compile(
    r"\(receipt [a-z2-7]+(?:: changed since [a-z2-7]+|: held isn't a receipt)?\)\Z"
)


def receipt_of(shown: str | Sequence[Line | Code]) -> str:
    """Return the receipt of an excerpt as it was shown: 60 bits of a hash.

    In lines, what they say of the text around them is the last 20 bits.
    """
    if isinstance(shown, str):
        return _hash(shown)
    own: list[Line | Code] = []
    marks = ""
    for one in shown:
        text = "" if isinstance(one, Code) else text_of(one)
        marks += "".join(_MARKS.findall(text))
        own.append(note(_MARKS.sub("", text)) if text else one)
    receipt = _hash(plain(own))
    return receipt[:_OWN] + _hash(marks)[_OWN:] if marks else receipt


def _hash(text: str) -> str:
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=10).digest()
    return base64.b32encode(digest).decode()[:_LENGTH].lower()


async def ask(
    operation: Operation[Any, Any],
    access: SmartFileAccess,
    arguments: Any,
    shown: Callable[[Any], Any] = lambda result: result,
) -> tuple[Any, Sequence[Line | Code]]:
    """Return an operation's result and its lines, which keep to the budget.

    The budget has room for the receipt of an excerpt. If `shown` makes the result too large, by
    longer paths, a smaller page is read.
    """
    since, budget = time.monotonic(), budget_of(arguments)
    if budget is None:
        result = _marked(access, shown(await operation.run(access, arguments)), arguments, since)
        return result, operation.lines(result, arguments)
    room = max(budget - (RECEIPT if operation.excerpt else _MARK_ROOM), 1)
    whole = replace(arguments, budget=type(budget)(room)) if operation.excerpt else arguments
    for share in _SHARES:
        page = replace(whole, budget=type(budget)(room * share))
        result = _marked(access, shown(await operation.run(access, page)), arguments, since)
        lines = operation.lines(result, whole)
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
    known = [stamp.path for stamp in listed]

    # Later pages have no text.
    if result.coverage == COMPLETE or result.coverage.startswith(TEXT_ALONE):
        totals = (getattr(result, name, 0) for name in ("total", "files", "total_entries"))
        known += map(str, totals)
    mark = _hash("\n".join(known))[:_MARK]
    reason = result.reason
    if asked and asked[1] != mark:
        reason = "; ".join(filter(None, (_OTHERS, reason)))
    return replace(result, cursor=cursor and f"{cursor}.{mark}", reason=reason)


def with_receipt(
    operation: Operation[Any, Any], lines: Sequence[Line | Code], arguments: Any
) -> Sequence[Line | Code]:
    """Return the lines of an excerpt with its receipt, or only that it is unchanged."""
    if not operation.excerpt:
        return lines
    text = plain(lines)
    receipt, held = receipt_of(lines), arguments.held
    if held == receipt:
        return [note(f"(unchanged {receipt}: {_AGAIN})")]
    if held is not None and held[:_OWN] == receipt[:_OWN] and _RECEIPT.match(held):
        said = f"(receipt {receipt}: what you hold is unchanged, the rest isn't; {_AGAIN})"
        named = [*(line for line in lines if not isinstance(line, Code)), note(said)]
        if arguments.budget is None or size_of(plain(named)) <= arguments.budget:
            return named
    notes = [f"(receipt {receipt})"]
    if held is not None:
        why = f"changed since {held}" if _RECEIPT.match(held) else "held isn't a receipt"
        notes.insert(0, f"(receipt {receipt}: {why})")
    room = None if arguments.budget is None else arguments.budget - size_of(text) - 1
    with_room = (said for said in notes if room is None or size_of(said) <= room)
    # A receipt is needed below content that looks like one, which would be taken for it.
    needed = notes[-1] if _LAST_LINE.match(text.rpartition("\n")[2]) else ""
    last = next(with_room, needed)
    return [*lines, note(last)] if last else lines
