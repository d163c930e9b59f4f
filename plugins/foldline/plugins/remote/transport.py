"""`foldline mcp --http`: the options of the command line, and what serves in place of stdio.

`foldline mcp` imports this for its parser: what serves is imported when `--http` is given.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.agent.verbs import prepare_server

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

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
"""What only `--http` takes: the placeholder, the help, and the type; None for repeated texts."""


def add_options(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--http",
        metavar="HOST:PORT",
        help="serve http://HOST:PORT/mcp behind a balancer, read-only; needs --root",
    )
    for name, (placeholder, about, kind) in HTTP_OPTIONS.items():
        form: dict[str, Any] = {"action": "append"} if kind is None else {"type": kind}
        parser.add_argument(f"--{name}", metavar=placeholder, help=about, **form)


def serve(options: Namespace) -> bool:
    """Serve until a signal ends it; False without `--http`.

    Raises:
        Refused: The options don't go together, or it can't listen there.
    """
    from foldline.agent.refusals import Refused

    if options.http is None:
        for name in HTTP_OPTIONS:
            if getattr(options, name.replace("-", "_")) is not None:
                raise Refused(f"--{name} needs --http")
        return False
    from foldline.agent.mcp.stdio import Options
    from foldline.plugins.remote.options import read_http_options

    http = read_http_options(options)
    prepare_server(options.log_level)
    from foldline.plugins.remote.serving import serve_http

    roots = tuple(root.resolve() for root in options.root)
    serve_http(Options(roots=roots, remote=True), http)
    return True
