from foldline.ide.checks.codes import Code, Severity, default_severity
from foldline.ide.checks.diagnostic import Change, Diagnostic, Fix, LazyDiagnostic, Related
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
__version__: str
