"""`code.diagnostics`: a language server's diagnostics of a file."""

from __future__ import annotations

from foldline.backends.fallback import DEFAULT_SECONDS
from foldline.backends.formatting.budget import NAVIGATION_BUDGET
from foldline.backends.formatting.navigation import diagnostic_lines
from foldline.ide.operations.arguments import Budget, FileArguments, Paged, Seconds
from foldline.ide.operations.operation import Operation, method_of_access
from foldline.records import record


@record(kw_only=True, slots=False)
class Arguments(FileArguments, Paged):
    """One file."""

    budget: Budget = NAVIGATION_BUDGET
    seconds: Seconds = DEFAULT_SECONDS


OPERATION = Operation(
    "code.diagnostics",
    "list the diagnostics of a file",
    Arguments,
    method_of_access(lambda access: access.diagnostics),
    lambda diagnostics, _: diagnostic_lines(diagnostics),
    verb="diagnostics",
    # Without a server, it is unknown whether the file has diagnostics.
    found=lambda found: not found if found or found.coverage == "complete" else None,
)
