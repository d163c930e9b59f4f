"""`foldline mcp`: the server for agents."""

from __future__ import annotations

import logging
from argparse import Namespace
from pathlib import Path

from foldline.agent.cli import installed
from foldline.agent.mcp.stdio import Options, serve_stdio
from foldline.agent.refusals import Refused, fault_of_plugin
from foldline.agent.verbs import Verbs, add_log_level, prepare_server
from foldline.ide.lifecycle import end_process
from foldline.ide.plugins import Part, plugins

log = logging.getLogger(__name__)

MOST_SECONDS = 86_400
DEADLINE = 10.0


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "mcp",
        help="serve agents over MCP",
        description="Serve one MCP client (Claude Code, Cursor, VS Code …) over standard input and "
        "output, or with --http any number of them.",
    )
    parser.add_argument(
        "--root",
        action="append",
        default=[],
        metavar="DIR",
        type=Path,
        help="the folder to serve, also when the client names others; may be given several times",
    )
    parser.add_argument(
        "--trust",
        action="store_true",
        help="let the code of the workspace run: its prompts and their tools",
    )
    parser.add_argument(
        "--interpreter", metavar="PYTHON", help="the Python that executes prompt modules"
    )
    parser.add_argument(
        "--deadline",
        type=float,
        metavar="SECONDS",
        help="how long a prompt's code may take to render it, or for one call of its tools "
        "(default: 10); with --http, how long any request may take (default: 30)",
    )
    for transport in _transports():
        plugins().use(transport, lambda module: module.add_options(parser))
    add_log_level(parser)
    parser.set_defaults(run=run)


def run(options: Namespace) -> int:
    for root in options.root:
        if not root.is_dir():
            raise Refused(f"--root {root}: no such folder")
    if options.deadline is not None and not 0 < options.deadline < MOST_SECONDS:
        raise Refused(f"--deadline {options.deadline:g}: more than 0 and less than {MOST_SECONDS}")
    prepare_server(options.log_level)
    installed().subscribe(log.warning)
    if any(_serves(transport, options) for transport in _transports()):
        return end_process(0)
    serve_stdio(
        Options(
            roots=tuple(root.resolve() for root in options.root),
            trusted=options.trust,
            interpreter=options.interpreter,
            deadline=options.deadline or DEADLINE,
        )
    )
    return end_process(0)


def _serves(transport: Part, options: Namespace) -> bool:
    """Serve by a plugin if its option is given; that may take any time, so nothing ends it."""
    module = plugins().use(transport, lambda module: module)
    try:
        return module is not None and bool(module.serve(options))
    except Exception as error:
        if (fault := fault_of_plugin(transport, error)) is None:
            raise
        plugins().leave_out(transport.entry, str(fault))
        return False


def _transports() -> list[Part]:
    return plugins().parts(lambda plugin: plugin.transports)
