"""Output formats of `foldline check`; lines and columns are one-based."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from foldline.agent.terminal import json_text
from foldline.backends.formatting.visible import visible
from foldline.ide.checks import Code, Severity, default_severity
from foldline.ide.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from foldline.ide.analysis.model import Position
    from foldline.ide.checks import Diagnostic


@dataclass(frozen=True, slots=True)
class FileDiagnostic:
    """A diagnostic with its file and positions."""

    file: str
    diagnostic: Diagnostic
    start: Position
    end: Position


def _text(diagnostics: Sequence[FileDiagnostic], files: int, out: TextIO) -> None:
    for located in diagnostics:
        line, column = located.start.line + 1, located.start.column + 1
        diagnostic = located.diagnostic
        out.write(
            visible(
                f"{located.file}:{line}:{column}: {diagnostic.severity}: {diagnostic.message} "
                f"[{diagnostic.code}]"
            )
            + "\n"
        )
    what = f"{files} prompt module{'' if files == 1 else 's'}"
    if diagnostics:
        plural = "" if len(diagnostics) == 1 else "s"
        out.write(f"{len(diagnostics)} diagnostic{plural} in {what}\n")
    else:
        out.write(f"{what}: no diagnostics\n")


def _json(diagnostics: Sequence[FileDiagnostic], files: int, out: TextIO) -> None:
    items = [
        {
            "file": located.file,
            "range": {
                "start": {"line": located.start.line + 1, "column": located.start.column + 1},
                "end": {"line": located.end.line + 1, "column": located.end.column + 1},
            },
            "code": located.diagnostic.code,
            "severity": located.diagnostic.severity,
            "message": located.diagnostic.message,
            "fixes": [fix.title for fix in located.diagnostic.fixes],
        }
        for located in diagnostics
    ]
    out.write(f"{json_text({'files': files, 'findings': items})}\n")


_SARIF_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}


def _sarif(diagnostics: Sequence[FileDiagnostic], files: int, out: TextIO) -> None:
    del files
    rules = [
        {
            "id": code,
            "defaultConfiguration": {"level": _SARIF_LEVELS[default_severity(code)]},
            "shortDescription": {"text": code.replace("-", " ")},
        }
        for code in Code
    ]
    results = [
        {
            "ruleId": located.diagnostic.code,
            "ruleIndex": list(Code).index(located.diagnostic.code),
            "level": _SARIF_LEVELS[located.diagnostic.severity],
            "message": {"text": located.diagnostic.message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": located.file, "uriBaseId": "%SRCROOT%"},
                        "region": {
                            "startLine": located.start.line + 1,
                            "startColumn": located.start.column + 1,
                            "endLine": located.end.line + 1,
                            "endColumn": located.end.column + 1,
                        },
                    }
                }
            ],
        }
        for located in diagnostics
    ]
    driver = {"name": "foldline", "version": VERSION, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    out.write(f"{json_text(log)}\n")


_GITHUB_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "notice",
    Severity.HINT: "notice",
}


def _github(diagnostics: Sequence[FileDiagnostic], files: int, out: TextIO) -> None:
    del files
    for located in diagnostics:
        diagnostic = located.diagnostic
        place = {
            "file": located.file,
            "line": located.start.line + 1,
            "col": located.start.column + 1,
            "endLine": located.end.line + 1,
            "endColumn": located.end.column + 1,
            "title": f"foldline {diagnostic.code}",
        }
        properties = ",".join(f"{name}={_property(value)}" for name, value in place.items())
        message = _escaped(diagnostic.message)
        out.write(f"::{_GITHUB_LEVELS[diagnostic.severity]} {properties}::{message}\n")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: object) -> str:
    return _escaped(str(value)).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Sequence[FileDiagnostic], int, TextIO], None]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "github": _github,
}
"""Writers by name, called with the diagnostics, the number of files, and the stream."""
