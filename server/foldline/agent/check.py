"""`foldline check`: diagnostics of prompts and instruction files, for people and for CI."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from foldline.agent.terminal import complain, console_of, show, show_styled
from foldline.backends.errors import LONGEST_MESSAGE, cut
from foldline.backends.formatting.visible import visible
from foldline.ide.plugins import REPOSITORY_SECONDS, Plugin, plugins
from foldline.links import resolved

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator, Sequence

    from foldline.agent.check_formats import FileDiagnostic
    from foldline.agent.scan import Scan
    from foldline.agent.verbs import Verbs
    from foldline.ide.analysis.model import SourceSpan
    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.values import TemplateValue
    from foldline.ide.checks import Diagnostic

_SECONDS = 60.0
"""How long the names in all instruction files are looked up."""
_CLOSE_SECONDS = 5.0
DESCRIPTION = """\
Finds mistakes in prompts from their source alone, and in the files that instruct agents, such as
AGENTS.md and SKILL.md: nothing is imported or executed. The exit status is 1 if there are
diagnostics, 2 if the check failed, a plugin is left out or a file that was named holds no prompt.
Severities and the token budget are set in foldline.toml or [tool.foldline] of pyproject.toml."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser("check", help="find mistakes in prompts", description=DESCRIPTION)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: .)")
    parser.add_argument(
        "--format",
        choices=("text", "concise", "json", "sarif", "github"),
        default="text",
        help="output format (concise: without source lines; github: workflow annotations)",
    )
    parser.add_argument(
        "--json",
        action="store_const",
        const="json",
        dest="format",
        help="the same as --format json",
    )
    parser.add_argument(
        "--fail-on",
        choices=("error", "warning", "information", "hint"),
        default="warning",
        help="lowest severity that makes the exit status 1 (default: warning)",
    )
    strict = "exit status 2 if not all was looked at, as in a shallow clone"
    parser.add_argument("--strict", action="store_true", help=strict)
    parser.add_argument("--explain", metavar="CODE", help="print the page about a diagnostic")
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    from foldline.agent.scan import scan
    from foldline.ide.checks import Severity

    if options.explain is not None:
        return _explain(options.explain)
    scanned = scan(options.paths)
    reported: list[FileDiagnostic] = []
    prompts: dict[str, tuple[SourceSpan, int]] = {}
    names: set[str | None] = set()
    without: dict[str, str] = {
        scanned.relative(file): "it can't be read as text" for file in scanned.named
    }
    for analysis in scanned.analyses():
        file = scanned.relative(analysis.file)
        without.pop(file, None)
        located = _diagnostics(scanned, analysis, file, prompts)
        reported += located
        names.update(map(_name_of, analysis.templates))
        holds_prompts = any(
            facts.sections or facts.templates or facts.tools or facts.prompts
            for facts in analysis.facts
        )
        if not located and analysis.file in scanned.named and not holds_prompts:
            without[file] = (
                "it holds no prompt, section or tool of foldline.prompts; `foldline adopt "
                f"{visible(file)}` makes a prompt of a string or a template in it"
            )
    is_whole = all(resolved(Path(path)) == scanned.folder.root for path in options.paths or ["."])
    if is_whole and None not in names:
        reported += _of_no_prompt(scanned, names)
    gaps: list[str] = []
    reported += _of_instructions(scanned, gaps, without)
    everything = (*scanned.files, *map(str, scanned.instructions))
    checked = [file for file in map(scanned.relative, everything) if file not in without]
    if checked or options.format not in ("text", "concise"):
        _write(checked, reported, options.format)
    for file, reason in without.items():
        complain(f"foldline check: {visible(file)}: {reason}")
    for gap in gaps:
        complain(f"foldline check: {gap}")
    if not everything:
        complain(
            "foldline check: no file here instructs agents, as AGENTS.md does, or imports "
            "foldline.prompts; `foldline new PATH` writes a prompt to begin with, `foldline adopt "
            "FILE` makes one of a string or a Jinja template"
        )
    ranks = [Severity.ERROR, Severity.WARNING, Severity.INFORMATION, Severity.HINT]
    failing = ranks[: ranks.index(Severity(options.fail_on)) + 1]
    fails = any(one.diagnostic.severity in failing for one in reported)
    missed = bool(without or (options.strict and gaps))
    return 1 if fails and not missed else 2 * bool(missed or plugins().problems)


def _diagnostics(
    scanned: Scan, analysis: ModuleAnalysis, file: str, known: dict[str, tuple[SourceSpan, int]]
) -> list[FileDiagnostic]:
    from foldline.ide.checks import diagnostics
    from foldline.ide.checks.costs import check_costs
    from foldline.ide.checks.plugin_checks import plugin_diagnostics

    options = scanned.options(analysis.file)
    counter = scanned.folder.counter(Path(analysis.file))
    located = [
        *_syntax_errors(scanned, analysis),
        *diagnostics(
            analysis,
            severities=options.severity,
            more=check_costs(analysis, options.token_budget, counter),
            known=known,
            of_plugins=plugin_diagnostics(scanned.snapshot(analysis)),
        ),
    ]
    return _placed(file, analysis.text, located)


def _name_of(template: TemplateValue) -> str | None:
    """Return `ns/key`; None if only running the code would tell."""
    arguments = [template.arguments.get(name) for name in ("ns", "key")]
    parts = [getattr(one.value, "known", None) for one in arguments if one is not None]
    return "/".join(map(str, parts)) if len(parts) == len(arguments) and None not in parts else None


def _of_no_prompt(scanned: Scan, names: set[str | None]) -> Iterator[FileDiagnostic]:
    """Yield the overrides of prompts that the project doesn't have."""
    from foldline.ide.analysis.model import SourceSpan
    from foldline.ide.checks import Code
    from foldline.ide.checks.diagnostic import as_wanted, report
    from foldline.prompts import OverridesStore
    from foldline.prompts.files import read_text_file
    from foldline.prompts.overrides.overrides_store import MAX_BYTES

    store = OverridesStore(scanned.folder.root).directory
    for path in sorted(store.rglob("*.json")):
        name = path.parent.relative_to(store).as_posix()
        if name not in names:
            message = (
                f"No prompt here is `{name}`, so nothing reads this override: move it to the "
                "folder of the prompt's `ns` and `key`, or delete it."
            )
            found = report(Code.INVALID_OVERRIDE, message, SourceSpan(str(path), 0, 0))
            text, severities = "", scanned.options(str(path)).severity
            with suppress(OSError):
                text = read_text_file(path, MAX_BYTES)
            yield from _placed(scanned.relative(str(path)), text, as_wanted([found], severities))


def _of_instructions(
    scanned: Scan, gaps: list[str], without: dict[str, str]
) -> Iterator[FileDiagnostic]:
    """Yield what is wrong with instruction files; `gaps` get what wasn't looked at."""
    from foldline.ide.checks import Code, Severity
    from foldline.ide.checks.diagnostic import as_wanted
    from foldline.ide.render.revisions import lacking

    begun = monotonic()
    end, unreached, wants_history = begun + _SECONDS, list[str](), False
    for document, _ in scanned.instruction_files(without):
        started = monotonic()
        left = max(0.0, min(REPOSITORY_SECONDS, end - started))
        late = plugins().ask(Plugin.check_repository, document, left, begun)
        severities, file = document.options.severity, scanned.relative(document.analysis.file)
        problems = as_wanted(chain(document.source.diagnostics(document), *late), severities)
        yield from _placed(file, document.text, problems)
        wants_history |= severities.get(Code.STALE_REFERENCE) is not Severity.OFF
        unreached += [visible(file)] if monotonic() - started >= left else []
    # What was found out is kept for the next check.
    scanned.workspace.close_files(_CLOSE_SECONDS)
    if wants_history and (clone := lacking(scanned.folder.root)):
        gaps.append(f"{clone} clone: stale names aren't looked for (fetch-depth: 0)")
    if unreached:
        files = cut(", ".join(unreached), LONGEST_MESSAGE)
        gaps.append(f"no time to look up all names of {files}: name fewer files to check the rest")


def _placed(file: str, text: str, found: Iterable[Diagnostic]) -> list[FileDiagnostic]:
    from foldline.agent.check_formats import FileDiagnostic
    from foldline.ide.analysis.model import LineTable

    lines = LineTable(text)
    line_of = cache(lines.line)  # One line may have thousands, and be as long as the file.
    placed = [
        (lines.position(one.place.start), lines.position(one.place.end), one) for one in found
    ]
    return [
        FileDiagnostic(file, one, start, end, line_of(start.line)) for start, end, one in placed
    ]


def _syntax_errors(scanned: Scan, analysis: ModuleAnalysis) -> Iterator[Diagnostic]:
    """Yield the first syntax error of a module: its broken statements have no diagnostics.

    Editors have it from their Python server.
    """
    from foldline.agent.python_syntax import syntax_fault
    from foldline.ide.analysis.model import LineTable, SourceSpan
    from foldline.ide.checks import Code, Diagnostic, Severity, default_severity

    code = Code.SYNTAX_ERROR
    severity = scanned.options(analysis.file).severity.get(code, default_severity(code))
    broken = next((one.start for one in analysis.statements if one.broken), None)
    if broken is None or severity is Severity.OFF:
        return
    lines = LineTable(analysis.text)
    fault = syntax_fault(analysis.text, lines.position(broken))
    if fault is not None:
        span = SourceSpan(analysis.file, lines.offset(*fault.start), lines.offset(*fault.end))
        end = "" if fault.message.endswith(("?", ".", "!")) else "."
        yield Diagnostic(code, severity, f"This isn't Python: {fault.message}{end}", span)


def _write(files: Sequence[str], found: Sequence[FileDiagnostic], name: str) -> None:
    from foldline.agent.check_formats import FORMATS, WIDEST, text_lines

    if name in FORMATS:
        show(FORMATS[name](found, files), end="")
        return
    width = console_of(sys.stdout).width if sys.stdout.isatty() else WIDEST
    show_styled(text_lines(found, files, excerpts=name == "text", width=width), wrap=True)


def _explain(code: str) -> int:
    from foldline.backends.base.near_names import near_names
    from foldline.ide import checks

    if code not in set(checks.Code):
        codes = plugins().codes
        if code in codes:
            entry, about = codes[code]
            show(f"{code}: {about}\n\n{entry.shown} reports it.")
            return 0
        every = (*checks.Code, *codes)
        near = near_names(code, every) or every
        complain(f"foldline check: there is no diagnostic {code!r}; there are {', '.join(near)}")
        return 2
    page = Path(checks.__file__).parent / "pages" / f"{code}.md"
    sys.stdout.write(page.read_text(encoding="utf-8"))
    return 0
