"""Diagnostics of prompts, found without running anything.

No diagnostic is ever based on a guess: code that has to run to be known isn't reported.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.ide.checks.diagnostic import (
        Change,
        Code,
        Diagnostic,
        Fix,
        LazyDiagnostic,
        Related,
        Severity,
        default_severity,
    )
    from foldline.ide.checks.run import diagnostics

__all__ = [
    "Change",
    "Code",
    "Diagnostic",
    "Fix",
    "LazyDiagnostic",
    "Related",
    "Severity",
    "default_severity",
    "diagnostics",
]

_LATER = {
    "diagnostic": (
        "Change",
        "Code",
        "Diagnostic",
        "Fix",
        "LazyDiagnostic",
        "Related",
        "Severity",
        "default_severity",
    ),
    "run": ("diagnostics",),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from foldline.backends.references.exports import load

        return load(__name__, _LATER, name)
