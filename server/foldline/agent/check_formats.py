"""The forms in which `foldline check` writes what it found; lines and columns are from 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from foldline.agent.terminal import json_text
from foldline.backends.visible import visible
from foldline.ide.checks import Code, Severity, default_severity
from foldline.ide.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from foldline.ide.analysis.model import Position
    from foldline.ide.checks import Diagnostic


@dataclass(frozen=True, slots=True)
class Found:
    """A diagnostic with its place as people name it."""

    file: str
    diagnostic: Diagnostic
    start: Position
    end: Position


def _text(found: Sequence[Found], files: int, out: TextIO) -> None:
    for reported in found:
        line, column = reported.start.line + 1, reported.start.column + 1
        diagnostic = reported.diagnostic
        out.write(
            visible(
                f"{reported.file}:{line}:{column}: {diagnostic.severity}: {diagnostic.message} "
                f"[{diagnostic.code}]"
            )
            + "\n"
        )
    what = f"{files} prompt module{'' if files == 1 else 's'}"
    if found:
        out.write(f"{len(found)} finding{'' if len(found) == 1 else 's'} in {what}\n")
    else:
        out.write(f"{what}: nothing found\n")


def _json(found: Sequence[Found], files: int, out: TextIO) -> None:
    findings = [
        {
            "file": reported.file,
            "range": {
                "start": {"line": reported.start.line + 1, "column": reported.start.column + 1},
                "end": {"line": reported.end.line + 1, "column": reported.end.column + 1},
            },
            "code": reported.diagnostic.code,
            "severity": reported.diagnostic.severity,
            "message": reported.diagnostic.message,
            "fixes": [fix.title for fix in reported.diagnostic.fixes],
        }
        for reported in found
    ]
    out.write(f"{json_text({'files': files, 'findings': findings})}\n")


_SARIF_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFORMATION: "note",
    Severity.HINT: "note",
}


def _sarif(found: Sequence[Found], files: int, out: TextIO) -> None:
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
            "ruleId": reported.diagnostic.code,
            "ruleIndex": list(Code).index(reported.diagnostic.code),
            "level": _SARIF_LEVELS[reported.diagnostic.severity],
            "message": {"text": reported.diagnostic.message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": reported.file, "uriBaseId": "%SRCROOT%"},
                        "region": {
                            "startLine": reported.start.line + 1,
                            "startColumn": reported.start.column + 1,
                            "endLine": reported.end.line + 1,
                            "endColumn": reported.end.column + 1,
                        },
                    }
                }
            ],
        }
        for reported in found
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


def _github(found: Sequence[Found], files: int, out: TextIO) -> None:
    del files
    for reported in found:
        diagnostic = reported.diagnostic
        place = {
            "file": reported.file,
            "line": reported.start.line + 1,
            "col": reported.start.column + 1,
            "endLine": reported.end.line + 1,
            "endColumn": reported.end.column + 1,
            "title": f"foldline {diagnostic.code}",
        }
        properties = ",".join(f"{name}={_property(value)}" for name, value in place.items())
        message = _escaped(diagnostic.message)
        out.write(f"::{_GITHUB_LEVELS[diagnostic.severity]} {properties}::{message}\n")


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: object) -> str:
    return _escaped(str(value)).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Sequence[Found], int, TextIO], None]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "github": _github,
}
"""The writers by name: findings, the number of files, where to write."""
