"""`foldline mcp`: the server for agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foldline.agent.verbs import add_log_level, prepare_server

if TYPE_CHECKING:
    import argparse

    from foldline.agent.verbs import Verbs

MOST_SECONDS = 86_400
DEADLINE = 10.0
HTTP_OPTIONS = (
    "allowed_host",
    "allowed_origin",
    "identity_header",
    "trusted_proxy",
    "secret_file",
    "max_requests",
    "drain",
)
"""What only `--http` takes."""


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
    _add_http_options(parser)
    add_log_level(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from importlib.util import find_spec

    from foldline.agent.mcp.stdio import Options, serve_stdio
    from foldline.agent.refusals import Refused
    from foldline.ide.lifecycle import end_process

    if options.http is None:
        for name in HTTP_OPTIONS:
            if getattr(options, name) is not None:
                raise Refused(f"--{name.replace('_', '-')} needs --http")
    # Loaded after the first answers; a missing extra is told before the client's first message.
    for name in ("mcp", "mcp_types"):
        if find_spec(name) is None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    for root in options.root:
        if not root.is_dir():
            raise Refused(f"--root {root}: no such folder")
    if options.deadline is not None and not 0 < options.deadline < MOST_SECONDS:
        raise Refused(f"--deadline {options.deadline:g}: more than 0 and less than {MOST_SECONDS}")
    roots = tuple(root.resolve() for root in options.root)
    if options.http is not None:
        from foldline.agent.mcp.http.options import read_http_options

        http = read_http_options(options)
        prepare_server(options.log_level)
        from foldline.agent.mcp.http.serving import serve_http

        serve_http(Options(roots=roots, remote=True), http)
        return end_process(0)
    prepare_server(options.log_level)
    serve_stdio(
        Options(
            roots=roots,
            trusted=options.trust,
            interpreter=options.interpreter,
            deadline=options.deadline or DEADLINE,
        )
    )
    return end_process(0)


def _add_http_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--http",
        metavar="HOST:PORT",
        help="serve http://HOST:PORT/mcp behind a balancer, read-only; needs --root",
    )
    add(
        "--allowed-host",
        action="append",
        metavar="HOST",
        help="a name by which clients reach it; needed unless that is the loopback's",
    )
    add(
        "--allowed-origin",
        action="append",
        metavar="ORIGIN",
        help="a web page whose requests are answered, as https://app.example.com (default: none)",
    )
    add(
        "--identity-header",
        metavar="NAME",
        help="the header in which a trusted proxy says who asks; without it, requests are refused",
    )
    add(
        "--trusted-proxy",
        action="append",
        metavar="CIDR",
        help="the addresses of proxies whose identity header is believed",
    )
    add(
        "--secret-file",
        metavar="FILE",
        type=Path,
        help="the secrets that replicas share, by whitespace, the first signs (default: "
        "FOLDLINE_HTTP_SECRET)",
    )
    add(
        "--max-requests",
        type=int,
        metavar="N",
        help="how many requests are answered at a time (default: 64)",
    )
    add(
        "--drain",
        type=float,
        metavar="SECONDS",
        help="how long to go on answering after SIGTERM, for balancers to notice (default: 5)",
    )
