"""`foldline check`: diagnostics of a project's prompts, for people and for CI."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from foldline.agent.terminal import buffered_output, complain

if TYPE_CHECKING:
    from argparse import Namespace

    from foldline.agent.verbs import Verbs

DESCRIPTION = """\
Finds mistakes in prompts from their source alone: nothing is imported or executed. The exit status
is 1 if there are diagnostics, 2 if the check failed. Severities and the token budget are set in
[tool.foldline] of pyproject.toml."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser("check", help="find mistakes in prompts", description=DESCRIPTION)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: .)")
    parser.add_argument(
        "--format",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="output format (github: workflow annotations)",
    )
    parser.add_argument("--json", action="store_const", const="json", dest="format")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "information", "hint"),
        default="warning",
        help="lowest severity that makes the exit status 1 (default: warning)",
    )
    parser.add_argument("--explain", metavar="CODE", help="print the page about a diagnostic")
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.agent.check_formats import FORMATS, FileDiagnostic
    from foldline.agent.scan import ScanError, scan
    from foldline.ide.analysis.model import LineTable
    from foldline.ide.checks import Severity, diagnostics
    from foldline.ide.checks.costs import check_costs
    from foldline.ide.token_counter import token_counter

    if options.explain is not None:
        return _explain(options.explain)
    try:
        scanned = scan(options.paths)
    except ScanError as error:
        complain(f"foldline check: {error}")
        return 2
    budget = scanned.options.token_budget
    found: list[FileDiagnostic] = []
    for analysis in scanned.analyses():
        counter = token_counter(scanned.options.tokens, exact=scanned.options.exact_tokens)
        lines = LineTable(analysis.text)
        file = scanned.relative(analysis.file)
        found += [
            FileDiagnostic(
                file,
                diagnostic,
                lines.position(diagnostic.place.start),
                lines.position(diagnostic.place.end),
            )
            for diagnostic in diagnostics(
                analysis,
                severities=scanned.options.severity,
                more=check_costs(analysis, budget, counter),
            )
        ]
    with buffered_output() as out:
        FORMATS[options.format](found, len(scanned.files), out)
    ranks = [Severity.ERROR, Severity.WARNING, Severity.INFORMATION, Severity.HINT]
    failing = ranks[: ranks.index(Severity(options.fail_on)) + 1]
    return (
        1 if any(file_diagnostic.diagnostic.severity in failing for file_diagnostic in found) else 0
    )


def _explain(code: str) -> int:
    from pathlib import Path

    from foldline.ide import checks
    from foldline.prompts.errors import near_names

    if code not in set(checks.Code):
        near = near_names(code, checks.Code) or tuple(checks.Code)
        complain(f"foldline check: there is no diagnostic {code!r}; there are {', '.join(near)}")
        return 2
    page = Path(checks.__file__).parent / "pages" / f"{code}.md"
    sys.stdout.write(page.read_text(encoding="utf-8"))
    return 0
