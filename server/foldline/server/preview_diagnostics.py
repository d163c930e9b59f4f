"""Diagnostics of failures that previews met when they ran a prompt."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline import server
from foldline.ide import checks
from foldline.ide.errors import PathRefused
from foldline.ide.uris import file_of, uri_of_file
from foldline.records import record
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from foldline.ide.previews.state import Stale
    from foldline.ide.render.render import Block
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

SOURCE = "foldline preview"


@record
class Problem:
    """One failure of the user's code.

    Attributes:
        file: The deepest file of the user's that it came from.
        line: The line there, counted from 1.
        message: The failure in words.
        kind: One of the kinds of `foldline.server.errors`, or the type of the exception.
    """

    file: str
    line: int
    message: str
    kind: str


class Problems:
    """The failures that the open previews show now; `version` grows when they change."""

    def __init__(self) -> None:
        self.version = 0
        self._found: tuple[Problem, ...] = ()

    def set(self, found: Iterable[Problem]) -> bool:
        """Replace the failures; returns True if that changes them."""
        new = tuple(dict.fromkeys(found))
        if new == self._found:
            return False
        self._found = new
        self.version += 1
        return True

    def by_uri(self, open_documents: Mapping[str, str]) -> dict[str, tuple[Problem, ...]]:
        """The failures by document, under the URI that an editor opened it by, if one did."""
        problems: dict[str, tuple[Problem, ...]] = {}
        for problem in self._found:
            uri = open_documents.get(problem.file) or uri_of_file(problem.file)
            problems[uri] = (*problems.get(uri, ()), problem)
        return problems


def problems_in(stale: Stale | None, blocks: Iterable[Block]) -> Iterator[Problem]:
    """The failures of which a preview can say where they are."""
    if stale is not None:
        if stale.file and stale.line:
            yield Problem(stale.file, stale.line, stale.message, stale.kind)
        return
    for block in blocks:
        error, location = block.error, block.location
        if error is None:
            continue
        if error.file and error.line:
            yield Problem(error.file, error.line, error.message, error.type)
        elif location is not None:
            line = location.range.start.line + 1
            yield Problem(file_of(location.uri), line, error.message, error.type)


async def problem_diagnostics(
    ls: FoldlineServer, uri: str, problems: tuple[Problem, ...]
) -> list[types.Diagnostic]:
    """The problems of one document, as the client takes them.

    Without those of a line, or a call that begins there, in which the checks have found an error.
    """

    def query(snapshot: LspSnapshot) -> list[types.Range | None]:
        from foldline.ide.analysis.section_tree import span_of

        analysis = snapshot.analysis
        errors = [
            one.place
            for one in server.diagnostic_items.found_in(ls, snapshot)
            if one.severity is checks.Severity.ERROR
        ]
        nodes = [one.node for one in analysis.sections] + [one.node for one in analysis.templates]
        calls = [call for call in map(span_of, nodes) if call.file == analysis.file]
        around = [call for call in calls if any(call.span.holds(one.start) for one in errors)]
        wrong = {snapshot.range(span).start.line for span in (*errors, *around)}
        lines = (problem.line - 1 for problem in problems)
        return [None if line in wrong else snapshot.index.line(line) for line in lines]

    ranges: list[types.Range | None] | None = None
    # Where no folder of the workspace holds it, its text is not ours to read.
    with suppress(PathRefused):
        ranges = await with_snapshot(ls, uri, query)
    if ranges is None:
        ranges = [
            types.Range(types.Position(item.line - 1, 0), types.Position(item.line, 0))
            for item in problems
        ]
    return [
        types.Diagnostic(
            range=shown,
            # Without its place, at which an editor shows it.
            message=problem.message.removeprefix(f"{Path(problem.file).name}:{problem.line}: "),
            severity=types.DiagnosticSeverity.Error,
            code=problem.kind,
            source=SOURCE,
        )
        for shown, problem in zip(ranges, problems, strict=True)
        if shown is not None
    ]
