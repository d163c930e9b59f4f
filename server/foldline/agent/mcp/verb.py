"""`foldline mcp`: the server for agents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.agent.verbs import add_log_level, prepare_server

if TYPE_CHECKING:
    import argparse

    from foldline.agent.verbs import Verbs

MOST_SECONDS = 86_400
DEADLINE = 10.0
# What only `--http` takes: the placeholder, the help, and the type; texts may be repeated.
HTTP_OPTIONS: dict[str, tuple[str, str, type | None]] = {
    "allowed-host": ("HOST", "a name by which clients reach it, unless it's the loopback's", None),
    "allowed-origin": (
        "ORIGIN",
        "a web page whose requests are answered, as https://app.example.com (default: none)",
        None,
    ),
    "identity-header": (
        "NAME",
        "the header in which a trusted proxy says who asks; requests without it are refused",
        str,
    ),
    "trusted-proxy": ("CIDR", "the addresses of proxies whose header is believed", None),
    "secret-file": (
        "FILE",
        "the secrets that replicas share, of which the first signs (default: FOLDLINE_HTTP_SECRET)",
        Path,
    ),
    "max-requests": ("N", "how many requests are answered at a time (default: 64)", int),
    "drain": (
        "SECONDS",
        "how long to go on answering after SIGTERM, for balancers to notice (default: 8)",
        float,
    ),
}


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
    parser.add_argument(
        "--http",
        metavar="HOST:PORT",
        help="serve http://HOST:PORT/mcp behind a balancer, read-only; needs --root",
    )
    for name, (placeholder, about, kind) in HTTP_OPTIONS.items():
        form: dict[str, Any] = {"action": "append"} if kind is None else {"type": kind}
        parser.add_argument(f"--{name}", metavar=placeholder, help=about, **form)
    add_log_level(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from foldline.agent.mcp.stdio import Options, serve_stdio
    from foldline.agent.refusals import Refused
    from foldline.ide.lifecycle import end_process

    if options.http is None:
        for name in HTTP_OPTIONS:
            if getattr(options, name.replace("-", "_")) is not None:
                raise Refused(f"--{name} needs --http")
    for root in options.root:
        if not root.is_dir():
            raise Refused(f"--root {root}: no such folder")
    if options.deadline is not None and not 0 < options.deadline < MOST_SECONDS:
        raise Refused(f"--deadline {options.deadline:g}: more than 0 and less than {MOST_SECONDS}")
    roots = tuple(root.resolve() for root in options.root)
    if options.http is not None:
        from foldline.plugins.remote.options import read_http_options

        http = read_http_options(options)
        prepare_server(options.log_level)
        from foldline.plugins.remote.serving import serve_http

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
