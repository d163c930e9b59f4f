"""`foldline check`: what is wrong with the prompts of a project, for people and for CI."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from foldline.agent.terminal import complain, shown

if TYPE_CHECKING:
    from argparse import Namespace

    from foldline.agent.verbs import Verbs

DESCRIPTION = """\
Finds what is wrong with prompts by their source alone: nothing is imported or executed. The exit
status is 1 when something is found, 2 when the check could not be made. Severities and the token
budget are set in [tool.foldline] of pyproject.toml."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser("check", help="find mistakes in prompts", description=DESCRIPTION)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: .)")
    parser.add_argument(
        "--format",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="how findings are written (github: annotations of a workflow)",
    )
    parser.add_argument("--json", action="store_const", const="json", dest="format")
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "information", "hint"),
        default="warning",
        help="the least severity that makes the exit status 1 (default: warning)",
    )
    parser.add_argument("--explain", metavar="CODE", help="print the page of a diagnostic")
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.agent.check_formats import FORMATS, Found
    from foldline.agent.scan import ScanError, scan
    from foldline.ide.analysis.model import LineTable
    from foldline.ide.checks import Severity, diagnostics
    from foldline.ide.checks.budget import check_budget
    from foldline.ide.token_counter import token_counter

    if options.explain is not None:
        return _explain(options.explain)
    try:
        found_in = scan(options.paths)
    except ScanError as error:
        complain(f"foldline check: {error}")
        return 2
    budget = found_in.options.token_budget
    found: list[Found] = []
    for analysis in found_in.analyses():
        counter = token_counter(
            found_in.options.tokens, exact=budget is not None and found_in.options.exact_tokens
        )
        lines = LineTable(analysis.text)
        file = found_in.shown(analysis.file)
        found += [
            Found(
                file,
                diagnostic,
                lines.position(diagnostic.place.start),
                lines.position(diagnostic.place.end),
            )
            for diagnostic in diagnostics(
                analysis,
                severities=found_in.options.severity,
                more=check_budget(analysis, budget, counter),
            )
        ]
    with shown() as out:
        FORMATS[options.format](found, len(found_in.files), out)
    ranks = [Severity.ERROR, Severity.WARNING, Severity.INFORMATION, Severity.HINT]
    failing = ranks[: ranks.index(Severity(options.fail_on)) + 1]
    return 1 if any(reported.diagnostic.severity in failing for reported in found) else 0


def _explain(code: str) -> int:
    from difflib import get_close_matches
    from pathlib import Path

    from foldline.ide import checks

    if code not in set(checks.Code):
        near = get_close_matches(code, list(checks.Code), n=3, cutoff=0.4) or list(checks.Code)
        complain(f"foldline check: there is no diagnostic {code!r}; there are {', '.join(near)}")
        return 2
    page = Path(checks.__file__).parent / "pages" / f"{code}.md"
    sys.stdout.write(page.read_text(encoding="utf-8"))
    return 0
