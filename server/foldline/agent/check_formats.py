"""The forms in which `foldline check` writes what it found; lines and columns are from 1."""

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
class Found:
    """A diagnostic with its place as people name it."""

    file: str
    diagnostic: Diagnostic
    start: Position
    end: Position


def _text(found: Sequence[Found], files: int, out: TextIO) -> None:
    for each in found:
        line, column = each.start.line + 1, each.start.column + 1
        diagnostic = each.diagnostic
        out.write(
            visible(
                f"{each.file}:{line}:{column}: {diagnostic.severity}: {diagnostic.message} "
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
            "file": each.file,
            "range": {
                "start": {"line": each.start.line + 1, "column": each.start.column + 1},
                "end": {"line": each.end.line + 1, "column": each.end.column + 1},
            },
            "code": each.diagnostic.code,
            "severity": each.diagnostic.severity,
            "message": each.diagnostic.message,
            "fixes": [fix.title for fix in each.diagnostic.fixes],
        }
        for each in found
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
            "ruleId": each.diagnostic.code,
            "ruleIndex": list(Code).index(each.diagnostic.code),
            "level": _SARIF_LEVELS[each.diagnostic.severity],
            "message": {"text": each.diagnostic.message},
            "locations": [
                {
                    "physicalLocation": {
                        "artifactLocation": {"uri": each.file, "uriBaseId": "%SRCROOT%"},
                        "region": {
                            "startLine": each.start.line + 1,
                            "startColumn": each.start.column + 1,
                            "endLine": each.end.line + 1,
                            "endColumn": each.end.column + 1,
                        },
                    }
                }
            ],
        }
        for each in found
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
    for each in found:
        diagnostic = each.diagnostic
        place = {
            "file": each.file,
            "line": each.start.line + 1,
            "col": each.start.column + 1,
            "endLine": each.end.line + 1,
            "endColumn": each.end.column + 1,
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
