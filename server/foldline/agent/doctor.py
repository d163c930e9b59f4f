"""`foldline doctor`: what was found on this machine, what is chosen, and why."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.server.version import VERSION

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
    parser.add_argument("--root", default=".", metavar="DIR", help="the workspace (default: .)")
    parser.add_argument("--trust", action="store_true", help="as in a trusted workspace")
    parser.add_argument("--json", action="store_true", help="the whole report, for programs")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the report; the exit status is 1 where a setting was not understood."""
    from foldline.backends import BackendError

    try:
        report = examine(Path(options.root), trusted=options.trust)
    except BackendError as error:
        print(f"foldline: {error}", file=sys.stderr)  # noqa: T201
        return 2
    print(json.dumps(report, indent=2) if options.json else format_report(report))  # noqa: T201
    return 1 if report["problems"] else 0


def examine(root: Path, *, trusted: bool) -> dict[str, object]:
    """The report on the workspace at `root`; asks every server found for its version."""
    from concurrent.futures import ThreadPoolExecutor

    from foldline.backends import LocalFileBackend
    from foldline.backends.lsp import LSPBackend, server_version

    backend = LSPBackend(LocalFileBackend(root), trusted=trusted)
    try:
        servers = backend.report()
        problems = backend.configuration_problems
    finally:
        backend.close()
    with ThreadPoolExecutor(4) as pool:
        versions = list(pool.map(server_version, servers))
    return {
        "foldline": VERSION,
        "python": platform.python_version(),
        "executable": sys.executable,
        "root": str(root.resolve()),
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
        "problems": list(problems),
    }


def format_report(report: dict[str, object]) -> str:
    """The report for people: a line for each server, the chosen ones marked."""
    trust = "trusted" if report["trusted"] else "not trusted: --trust shows what trust would add"
    packages = report["packages"]
    servers = report["servers"]
    problems = report["problems"]
    assert isinstance(packages, dict)
    assert isinstance(servers, list)
    assert isinstance(problems, list)
    lines = [
        f"foldline {report['foldline']}, Python {report['python']} ({report['executable']})",
        f"workspace {report['root']} ({trust})",
        "packages  " + ", ".join(f"{name} {packages[name] or 'missing'}" for name in packages),
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
    return "\n".join([*lines, *(f"problem: {problem}" for problem in problems)])


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""
