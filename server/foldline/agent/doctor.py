"""`foldline doctor`: what was found on this machine, what is chosen, and why."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.agent.terminal import complain, show
from foldline.ide.version import VERSION

if TYPE_CHECKING:
    import argparse

    from foldline.agent.verbs import Verbs

PACKAGES = ("pygls", "tree-sitter", "jedi", "mcp", "openai", "anthropic")


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "doctor",
        help="show what was found on this machine, what is chosen, and why",
        description="Show what was found on this machine, what is chosen, and why.",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="the module that previews are of")
    parser.add_argument("--root", default=".", metavar="DIR", help="the workspace (default: .)")
    parser.add_argument("--trust", action="store_true", help="as in a trusted workspace")
    parser.add_argument("--json", action="store_true", help="the whole report, for programs")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report; the exit status is 1 where a setting was not understood."""
    from foldline.backends import BackendError

    try:
        file = Path(options.file).resolve() if options.file else None
        report = examine(Path(options.root), file, trusted=options.trust)
    except BackendError as error:
        complain(f"foldline: {error}")
        return 2
    show(json.dumps(report, indent=2) if options.json else format_report(report))
    return 1 if report["problems"] else 0


def examine(root: Path, file: Path | None = None, *, trusted: bool) -> dict[str, object]:
    """The report on the workspace at `root`, and on previews of `file` in it.

    It asks every server found, and the interpreter of previews, for its version.
    """
    from concurrent.futures import ThreadPoolExecutor
    from functools import partial

    from foldline.backends import LocalFileBackend
    from foldline.backends.lsp import LSPBackend, server_version

    root = root.resolve()
    files = LocalFileBackend(root)
    backend = LSPBackend(files, trusted=trusted)
    try:
        servers = backend.report()
        problems = (*backend.configuration_problems, *files.ignore_problems())
        ignored = backend.ignored_configuration
    finally:
        backend.close()
    with ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(partial(server_version, root=root), servers))
    previews = _previews(file or root / "_", root, trusted=trusted)
    if previews["mismatch"]:
        problems = (*problems, f"previews: {previews['path']}: {previews['mismatch']}")
    return {
        "foldline": VERSION,
        "python": platform.python_version(),
        "executable": sys.executable,
        "root": str(root),
        "trusted": trusted,
        "packages": {name: _version(name) for name in PACKAGES},
        "servers": [
            {
                "name": each.spec.name,
                "languages": list(each.spec.languages),
                "version": number,
                "command": list(each.command),
                "chosen_for": list(each.chosen_for),
                "reason": each.reason,
            }
            for each, number in zip(servers, versions, strict=True)
        ],
        "previews": previews,
        "ignored": ignored,
        "problems": list(problems),
    }


def _previews(file: Path, root: Path, *, trusted: bool) -> dict[str, str | None]:
    """The interpreter of previews, why it is the one, and the foldline that it has."""
    from foldline.agent.scan import root_of
    from foldline.backends.untrusted import (
        empty_folder,
        is_in_project,
        outside_environment,
    )
    from foldline.ide.render.interpreter import ask_identity, find_interpreter, mismatch

    interpreter = find_interpreter(file)
    told: dict[str, str | None] = {
        "path": str(interpreter.path),
        "reason": interpreter.reason,
        "python": None,
        "foldline": None,
        "mismatch": None,
    }
    where: dict[str, Any] = {}
    if not trusted:
        # The file may lie elsewhere, and then it is that project that isn't trusted.
        project = root_of(file)
        if interpreter.found_in or any(
            is_in_project(interpreter.path, one) for one in (root, project)
        ):
            return told
        environment = outside_environment(root, outside_environment(project))
        where = {"cwd": empty_folder(root), "env": environment}
    try:
        told |= ask_identity(interpreter.path, **where)
    except OSError as error:
        return {**told, "mismatch": str(error)}
    return {**told, "mismatch": mismatch(told["foldline"], VERSION)}


def format_report(report: dict[str, object]) -> str:
    """The report for people: a line for each server, the chosen ones marked."""
    trust = "trusted" if report["trusted"] else "not trusted: --trust shows what trust would add"
    packages = report["packages"]
    servers = report["servers"]
    problems = report["problems"]
    assert isinstance(packages, dict)
    assert isinstance(servers, list)
    assert isinstance(problems, list)
    previews = report["previews"]
    assert isinstance(previews, dict)
    lines = [
        f"foldline {report['foldline']}, Python {report['python']} ({report['executable']})",
        f"workspace {report['root']} ({trust})",
        "packages  " + ", ".join(f"{name} {packages[name] or 'missing'}" for name in packages),
        f"previews  {previews['path']}: {previews['reason']}; {_identity(previews)}",
        "",
        "language servers, in the order in which they are tried (* chosen):",
    ]
    for each in servers:
        mark = "*" if each["chosen_for"] else " "
        for_whom = ", ".join(each["chosen_for"] or each["languages"])
        where = f"{each['command'][0]}: " if each["command"] else ""
        number = f" {each['version'].removeprefix(each['name']).strip()}" if each["version"] else ""
        lines.append(f"{mark} {each['name']}{number} for {for_whom}: {where}{each['reason']}")
    jedi = packages["jedi"] or "missing"
    lines.append(f"  Python without any of them: jedi {jedi} in a process of its own")
    if report["ignored"]:
        lines.append(f"not read: {report['ignored']}")
    return "\n".join([*lines, *(f"problem: {problem}" for problem in problems)])


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
