"""Output formats of `foldline check`; lines and columns are one-based."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from foldline.agent.terminal import json_text
from foldline.backends.formatting.parts import Line, counted
from foldline.backends.formatting.visible import visible
from foldline.ide.analysis.model import Position
from foldline.ide.checks import Code, Diagnostic, Severity, default_severity
from foldline.ide.plugins import plugins
from foldline.records import record
from foldline.version import VERSION


@record
class FileDiagnostic:
    """A diagnostic with its file, positions, and the line of the file that it begins in."""

    file: str
    diagnostic: Diagnostic
    start: Position
    end: Position
    source: str


_STYLES = {
    Severity.ERROR: "bold red",
    Severity.WARNING: "bold yellow",
    Severity.INFORMATION: "bold blue",
    Severity.HINT: "bold green",
}
WIDEST = 120
"""The most characters of a line of source that are shown."""
GUTTER = len("12345 | ")
_LEAST = 20
_CUT = "…"


def text_lines(
    diagnostics: Sequence[FileDiagnostic],
    files: Sequence[str],
    *,
    excerpts: bool,
    width: int = WIDEST,
) -> Iterator[Line]:
    """Yield the lines for people: a line for each diagnostic, its source, and a summary.

    Source lines are cut to `width` characters around what is underlined.
    """
    for located in diagnostics:
        line, column = located.start.line + 1, located.start.column + 1
        diagnostic = located.diagnostic
        yield [
            (visible(located.file), "bold"),
            (f":{line}:{column}: ", ""),
            (diagnostic.severity, _STYLES[diagnostic.severity]),
            (visible(f": {diagnostic.message} "), ""),
            (f"[{diagnostic.code}]", "dim"),
        ]
        if excerpts:
            yield from _excerpt(located, width)
    what = counted(len(files), "file")
    if not diagnostics:
        left_out = ", but a plugin is left out" * bool(plugins().problems)
        yield [(f"{what}: no diagnostics{left_out}", "")]
        return
    counts = Counter(located.diagnostic.severity for located in diagnostics)
    nouns = {severity: str(severity) for severity in _STYLES} | {Severity.INFORMATION: "remark"}
    summary = ", ".join(counted(counts[one], noun) for one, noun in nouns.items() if counts[one])
    yield [(f"{summary} in {what}", "bold")]


def _excerpt(located: FileDiagnostic, width: int) -> Iterator[Line]:
    """Yield the source line of a diagnostic, and a line that underlines its range."""
    number = f"{located.start.line + 1:5}"
    source, start = located.source, located.start.column
    end = located.end.column if located.end.line == located.start.line else len(source)
    room = max(_LEAST, min(WIDEST, width - GUTTER))
    most = room + 1  # What is cut below isn't made visible first.
    end = max(start, min(end, start + most))
    parts = source[max(0, start - most) : start], source[start:end], source[end : end + most]
    before, marked, after = (visible(part.replace("\t", "    ")) for part in parts)
    if len(before) + len(marked) + len(after) > room:
        # At least a third of the line is for the text before the mark.
        kept = max(room // 3, room - len(marked) - len(after) - len(_CUT))
        if len(before) > kept:
            before = _CUT + before[len(before) - kept + len(_CUT) :]
        marked = _cut(marked, room - len(before))
        after = _cut(after, room - len(before) - len(marked))
    style = _STYLES[located.diagnostic.severity]
    yield [(f"{number} | ", "dim"), (f"{before}{marked}{after}".rstrip(), "")]
    yield [
        (" " * len(number) + " | ", "dim"),
        (" " * len(before), ""),
        ("^" * max(1, len(marked.rstrip())), style),
    ]


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(0, room - len(_CUT))] + _CUT[: max(0, room)]


def _json(diagnostics: Sequence[FileDiagnostic], files: Sequence[str]) -> str:
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
    return f"{json_text({'files': len(files), 'findings': items})}\n"


def _level(severity: Severity, lowest: str) -> str:
    """Return the level of a format that has one level below warnings."""
    return severity if severity in (Severity.ERROR, Severity.WARNING) else lowest


def _sarif(diagnostics: Sequence[FileDiagnostic], _: Sequence[str]) -> str:
    rules = [
        {
            "id": code,
            "defaultConfiguration": {"level": _level(default_severity(code), "note")},
            "shortDescription": {"text": code.replace("-", " ")},
        }
        for code in Code
    ]
    rules += [
        {"id": code, "shortDescription": {"text": about}}
        for code, (_, about) in plugins().codes.items()
    ]
    numbers = {str(rule["id"]): number for number, rule in enumerate(rules)}
    results = [
        {
            "ruleId": located.diagnostic.code,
            "ruleIndex": numbers[located.diagnostic.code],
            "level": _level(located.diagnostic.severity, "note"),
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
    return f"{json_text(log)}\n"


def _github(diagnostics: Sequence[FileDiagnostic], _: Sequence[str]) -> str:
    lines = []
    for located in diagnostics:
        diagnostic = located.diagnostic
        location = {
            "file": located.file,
            "line": located.start.line + 1,
            "col": located.start.column + 1,
            "endLine": located.end.line + 1,
            "endColumn": located.end.column + 1,
            "title": f"foldline {diagnostic.code}",
        }
        properties = ",".join(f"{name}={_property(value)}" for name, value in location.items())
        message = _escaped(diagnostic.message)
        lines.append(f"::{_level(diagnostic.severity, 'notice')} {properties}::{message}\n")
    return "".join(lines)


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: object) -> str:
    return _escaped(str(value)).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Sequence[FileDiagnostic], Sequence[str]], str]] = {
    "json": _json,
    "sarif": _sarif,
    "github": _github,
}
"""Formats for programs by name; each formats diagnostics and files as a text."""
