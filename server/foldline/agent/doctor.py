"""`foldline doctor`: the installed tools, which of them are chosen, and why."""

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
    parser.add_argument("file", nargs="?", metavar="FILE", help="the module to preview")
    parser.add_argument("--root", default=".", metavar="DIR", help="the workspace (default: .)")
    parser.add_argument("--trust", action="store_true", help="as in a trusted workspace")
    parser.add_argument("--json", action="store_true", help="the whole report, for programs")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report; the exit status is 1 if a setting is wrong."""
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
    """Return the report on the workspace at `root`, and on previews of `file` in it.

    It runs every installed server, and the interpreter of previews, for their versions.
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
        "ignored": ignored,
        "problems": list(problems),
    }


def _previews(file: Path, root: Path, *, trusted: bool) -> dict[str, str | None]:
    """Return the interpreter of previews, the reason for it, and its foldline."""
    from foldline.agent.scan import root_of
    from foldline.backends.untrusted import (
        empty_folder,
        is_in_project,
        outside_environment,
    )
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


def format_report(report: dict[str, object]) -> str:
    """Format the report for people, one line per server."""
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
    for server in servers:
        mark = "*" if server["chosen_for"] else " "
        for_whom = ", ".join(server["chosen_for"] or server["languages"])
        where = f"{server['command'][0]}: " if server["command"] else ""
        number = (
            f" {server['version'].removeprefix(server['name']).strip()}"
            if server["version"]
            else ""
        )
        lines.append(f"{mark} {server['name']}{number} for {for_whom}: {where}{server['reason']}")
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
