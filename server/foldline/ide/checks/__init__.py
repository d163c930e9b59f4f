"""Diagnostics of prompts, found without running anything.

No diagnostic is ever based on a guess: code that has to run to be known isn't reported.
"""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "codes": ("Code", "Severity", "default_severity"),
        "diagnostic": ("Change", "Diagnostic", "Fix", "LazyDiagnostic", "Related"),
        "run": ("diagnostics",),
    },
)
