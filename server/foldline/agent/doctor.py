"""`foldline doctor`: the installed tools, which of them are chosen, and why."""

from __future__ import annotations

import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.agent.exit_statuses import FOUND, NOTHING
from foldline.agent.refusals import Refused
from foldline.agent.terminal import json_text, show, show_styled
from foldline.links import resolved
from foldline.version import VERSION

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from foldline.agent.verbs import Verbs
    from foldline.backends.formatting.parts import Line

TRUSTED = "trusted: prompts are run, and servers that may run the workspace's code are used"
NOT_TRUSTED = (
    "not trusted: nothing of the workspace is run. `foldline doctor --trust` shows what trust "
    "would add; `preview` trusts the file that it is given, other verbs take --trust, editors ask"
)
PACKAGES = ("pygls", "tree-sitter", "jedi", "mcp", "openai", "anthropic")


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "doctor",
        help="show what was found on this machine, what is chosen, and why",
        description="Show what was found on this machine, what is chosen, and why.",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="the module to preview")
    parser.add_argument("--root", default=".", metavar="DIR", help="the workspace (default: .)")
    parser.add_argument("--trust", action="store_true", help="as in a trusted workspace")
    parser.add_argument("--json", action="store_true", help="the whole report, for programs")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report; problems are wrong settings."""
    from foldline.backends.errors import PathError

    file = resolved(options.file) if options.file else None
    try:
        report = examine(Path(options.root), file, trusted=options.trust)
    except PathError as error:
        raise Refused(error.summary, kind="path") from error
    if options.json:
        show(json_text(report))
    else:
        show_styled(report_lines(report), wrap=True)
    return NOTHING if report["problems"] else FOUND


def examine(root: Path, file: Path | None = None, *, trusted: bool) -> dict[str, object]:
    """Return the report on the workspace at `root`, and on previews of `file` in it.

    It runs every installed server, and the interpreter of previews, for their versions.
    """
    from concurrent.futures import ThreadPoolExecutor
    from functools import partial

    from foldline.agent.cli import installed
    from foldline.backends import LocalFileBackend
    from foldline.backends.base.languages import language_of
    from foldline.backends.lsp import LSPBackend, server_version

    root = resolved(root)
    files = LocalFileBackend(root)
    backend = LSPBackend(files, trusted=trusted)
    try:
        servers = backend.report()
        problems = (*backend.configuration_problems, *files.ignore_problems())
        languages = {language_of(stamp.path) for stamp in files.walk()}
        ignored = backend.ignored_configuration
    finally:
        backend.close()
    with ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(partial(server_version, root=root), servers))
    previews = _previews(file or root / "_", root, trusted=trusted)
    if previews["mismatch"]:
        problems = (*problems, f"previews: {previews['path']}: {previews['mismatch']}")
    brought = installed()
    return {
        "foldline": VERSION,
        "python": platform.python_version(),
        "executable": sys.executable,
        "root": str(root),
        "trusted": trusted,
        "languages": sorted(languages),
        "packages": {name: _version(name) for name in PACKAGES},
        "servers": [
            {
                "name": server.spec.name,
                "languages": list(server.spec.languages),
                "version": number,
                "command": list(server.command),
                "chosen_for": list(server.chosen_for),
                "reason": server.reason,
            }
            for server, number in zip(servers, versions, strict=True)
        ],
        "previews": previews,
        "plugins": [
            {
                "name": entry.name,
                "distribution": entry.distribution,
                "version": entry.version,
                "used": entry not in brought.left_out,
            }
            for entry in brought.entries
        ],
        "ignored": ignored,
        "problems": [*problems, *brought.problems],
    }


def _previews(file: Path, root: Path, *, trusted: bool) -> dict[str, str | None]:
    """Return the interpreter of previews, the reason for it, and its foldline."""
    from foldline.agent.scan import root_of
    from foldline.backends.base.untrusted import empty_folder, is_in_project, outside_environment
    from foldline.ide.render.interpreter import ask_identity, find_interpreter, mismatch

    interpreter = find_interpreter(file)
    identity: dict[str, str | None] = {
        "path": str(interpreter.path),
        "reason": interpreter.reason,
        "python": None,
        "foldline": None,
        "mismatch": None,
    }
    where: dict[str, Any] = {}
    if not trusted:
        # The file may be in another project, which isn't trusted then.
        project = root_of(file)
        if interpreter.found_in or any(
            is_in_project(interpreter.path, folder) for folder in (root, project)
        ):
            return identity
        environment = outside_environment(root, outside_environment(project))
        where = {"cwd": empty_folder(root), "env": environment}
    try:
        identity |= ask_identity(interpreter.path, **where)
    except OSError as error:
        return {**identity, "mismatch": str(error)}
    return {**identity, "mismatch": mismatch(identity["foldline"], VERSION)}


def report_lines(report: dict[str, Any]) -> Iterator[Line]:
    """Yield the report for people: the verdict, previews, trust, then one line per server.

    The servers of languages without a file in the workspace share a line.
    """
    yield _verdict(report)
    packages, previews = report["packages"], report["previews"]
    rows = {
        "previews": f"{previews['path']}: {previews['reason']}; {_identity(previews)}",
        "trust": TRUSTED if report["trusted"] else NOT_TRUSTED,
        "workspace": report["root"],
        "foldline": f"{report['foldline']}, Python {report['python']} ({report['executable']})",
        "plugins": _plugins(report["plugins"]),
        "packages": ", ".join(f"{name} {packages[name] or 'missing'}" for name in packages),
    }
    for name, text in rows.items():
        yield [(f"{name:9}  ", "bold"), (text, "")]
    yield [("", "")]
    yield [("language servers, in the order in which they are tried (* chosen):", "bold")]
    here = {*report["languages"], "python"}
    others = []
    for server in report["servers"]:
        if here.isdisjoint(server["languages"]):
            others.append(server)
        else:
            yield _server(server)
    yield [(f"  Python without any of them: jedi {packages['jedi'] or 'missing'}", "dim")]
    if others:
        names = ", ".join(f"{'*' if one['chosen_for'] else ''}{one['name']}" for one in others)
        yield [(f"  for languages of which there are no files here: {names}", "dim")]
    if report["ignored"]:
        yield [("not read: ", "yellow"), (report["ignored"], "")]
    for problem in report["problems"]:
        yield [("problem: ", "red"), (problem, "")]


def _verdict(report: dict[str, Any]) -> Line:
    """Return what works, or how many problems there are."""
    count = len(report["problems"])
    if count:
        return [(f"{count} problem{'' if count == 1 else 's'}: see below", "bold red")]
    chosen = [
        f"{server['name']} for {', '.join(languages)}"
        for server in report["servers"]
        if (languages := [one for one in server["chosen_for"] if one in report["languages"]])
    ]
    served = f"; code: {', '.join(chosen)}" if chosen else ""
    can_preview = report["previews"]["python"] is not None
    previews = "prompts can be previewed" if can_preview else "previews need trust"
    return [(f"no problem found: {previews}{served}", "bold green")]


def _server(server: dict[str, Any]) -> Line:
    for_whom = ", ".join(server["chosen_for"] or server["languages"])
    where = f"{server['command'][0]}: " if server["command"] else ""
    version = (server["version"] or "").removeprefix(server["name"]).strip()
    style = "" if server["chosen_for"] else "dim"
    return [
        ("* " if server["chosen_for"] else "  ", "green"),
        (server["name"], "bold" if server["chosen_for"] else "dim"),
        (f"{version and f' {version}'} for {for_whom}: {where}{server['reason']}", style),
    ]


def _plugins(plugins: list[dict[str, Any]]) -> str:
    """Return `adopt, stores of foldline 0.1.0; ours of team 1.2 (left out)`."""
    names: dict[str, list[str]] = {}
    for plugin in plugins:
        left_out = "" if plugin["used"] else " (left out)"
        distribution = f"{plugin['distribution']} {plugin['version']}{left_out}"
        names.setdefault(distribution, []).append(plugin["name"])
    return "; ".join(f"{', '.join(every)} of {one}" for one, every in names.items())


def _identity(previews: dict[str, str | None]) -> str:
    if previews["python"] is None:
        return previews["mismatch"] or "not asked, as it is the workspace's own: --trust asks it"
    return f"Python {previews['python']}, foldline {previews['foldline'] or 'missing'}"


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""
