"""Reads the answers of workers; a block that the last answer had too is the same object again."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from typing import Any

from foldline.ide.errors import ArgumentsError, RenderError
from foldline.ide.render.render import AnswerT, Block
from foldline.ide.structuring import structure
from foldline.records import record

# As in RFC 7464. JSON holds none, so that an answer with its records is one line.
RECORD = b"\x1e"
# The modules whose last blocks are kept.
MAX_KEPT = 16


@record
class Identity:
    """The versions that an interpreter has."""

    python: str | None
    foldline: str | None


class AnswerReader:
    """Makes models of answers.

    An answer is a JSON object, and for a render a record for each block. Most keys change one block
    of many: only the records that the last answer about a module didn't have are structured.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._known: OrderedDict[Path, dict[bytes, Block]] = OrderedDict()

    def read(
        self,
        file: Path,
        answer: bytes,
        answers: type[AnswerT],
        finish: Callable[[AnswerT], AnswerT] | None = None,
    ) -> tuple[Identity, AnswerT]:
        """Return the interpreter's identity, and the answer about `file`, as `finish` completes it.

        Raises:
            RenderError: It's a failure.
            ArgumentsError: The user's code made something else of it.
        """
        head, *records = answer.split(RECORD)
        reply = _object(head)
        if "failure" in reply:
            raise _failure(reply["failure"])
        identity = structure(reply.pop("interpreter", None), Identity)
        found = structure(reply, answers)
        if records:
            found = found.with_blocks(self._blocks(file, records))
        return identity, finish(found) if finish is not None else found

    def _blocks(self, file: Path, records: Iterable[bytes]) -> tuple[Block, ...]:
        with self._lock:
            blocks_before = self._known.get(file, {})
        blocks = [(record, blocks_before.get(record) or _block(record)) for record in records]
        with self._lock:
            self._known[file] = dict(blocks)
            self._known.move_to_end(file)
            if len(self._known) > MAX_KEPT:
                self._known.popitem(last=False)
        return tuple(block for _, block in blocks)


def _block(record: bytes) -> Block:
    return structure(_object(record), Block)


def _object(text: bytes) -> dict[str, Any]:
    """Return the JSON object of that text; `ArgumentsError` where the user's code made another."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ArgumentsError({"": "expected one JSON object"}) from error
    if not isinstance(value, dict):
        raise ArgumentsError({"": f"expected one JSON object, got {type(value).__name__}"})
    return value


def _failure(failure: object) -> RenderError:
    """Return the failure that an answer tells; `ArgumentsError` where it tells none."""
    if not isinstance(failure, dict) or not all(
        isinstance(failure.get(key), str) for key in ("kind", "message")
    ):
        raise ArgumentsError({"failure": "expected a kind and a message"})
    return RenderError(failure)
