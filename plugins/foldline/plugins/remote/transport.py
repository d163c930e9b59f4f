"""`foldline mcp --http`: its options, checked before anything listens, and the way to the server.

`foldline mcp` imports this for its parser, also where it serves over standard input and output.
"""

from __future__ import annotations

import ipaddress
import os
import re
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from foldline.agent.mcp.stdio import Options
from foldline.agent.refusals import Refused
from foldline.backends.errors import BackendError
from foldline.backends.files.reader import read_text
from foldline.records import record

PATH = "/mcp"
SECRET = "FOLDLINE_HTTP_SECRET"
"""The environment variable with the secrets that replicas share, separated by spaces."""
SECRET_BYTES = 32
MAX_SECRETS_BYTES = 1 << 14
DEADLINE = 30.0
MAX_REQUESTS = 64
# Longer than docs/deploy/haproxy.cfg takes to notice: three checks, every two seconds.
DRAIN_SECONDS = 8.0
MOST_DRAIN_SECONDS = 3600
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?")
"""A host with or without its port, in lower case."""
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}")
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
"""Options that need `--http`: the placeholder, the help, and the type; None for repeated texts."""


@record
class HttpOptions:
    """The server's address, and for whom it listens.

    Attributes:
        host: The address, an IP or a name of this machine.
        port: Its port; 0 for a free one.
        allowed_hosts: The names by which clients reach it, in lower case; without a port it holds
            for all, and those of the loopback are known.
        allowed_origins: The web pages whose requests are answered; other programs name none.
        identity_header: The header in which a proxy says who asks; None if none does.
        trusted_proxies: The networks of these proxies.
        secrets: What signs state: the first signs, all are believed; none if there is one replica.
        deadline: Seconds that a request may take.
        max_requests: How many requests are answered at a time.
        drain_seconds: How long requests are still answered after a signal to end.
    """

    host: str
    port: int
    secrets: tuple[str, ...]
    allowed_hosts: tuple[str, ...] = ()
    allowed_origins: tuple[str, ...] = ()
    identity_header: str | None = None
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    deadline: float = DEADLINE
    max_requests: int = MAX_REQUESTS
    drain_seconds: float = DRAIN_SECONDS


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
    if options.http is None:
        for name in HTTP_OPTIONS:
            if getattr(options, name.replace("-", "_")) is not None:
                raise Refused(f"--{name} needs --http")
        return False
    http = read_http_options(options)
    from foldline.plugins.remote.serving import serve_http

    serve_http(Options(roots=tuple(root.resolve() for root in options.root), remote=True), http)
    return True


def read_http_options(options: Namespace) -> HttpOptions:
    """Return the options of a command line.

    Raises:
        Refused: They don't go together, or would serve more than is meant.
    """
    if options.trust or options.interpreter:
        raise Refused(
            "--trust and --interpreter run code of the workspace, which --http never does: leave "
            "them out"
        )
    if not options.root:
        raise Refused("--http needs --root DIR: clients over HTTP can't choose folders")
    host, port = _address(options.http)
    if not _is_loopback(host) and not options.allowed_host:
        raise Refused(
            f"--http {options.http} can be reached from other machines: name the hosts by which "
            "clients reach it, as in --allowed-host mcp.example.com"
        )
    header = options.identity_header
    if (header is None) != (options.trusted_proxy is None):
        raise Refused("--identity-header and --trusted-proxy need each other")
    if header is not None and _HEADER.fullmatch(header) is None:
        raise Refused(f"--identity-header {header!r}: not the name of a header")
    most = MAX_REQUESTS if options.max_requests is None else options.max_requests
    if most < 1:
        raise Refused(f"--max-requests {most}: at least 1")
    drain = DRAIN_SECONDS if options.drain is None else options.drain
    if not 0 <= drain <= MOST_DRAIN_SECONDS:
        raise Refused(f"--drain {drain:g}: between 0 and {MOST_DRAIN_SECONDS} seconds")
    return HttpOptions(
        host=host,
        port=port,
        secrets=_secrets(options.secret_file),
        allowed_hosts=tuple(map(_host, options.allowed_host or ())),
        allowed_origins=tuple(map(_origin, options.allowed_origin or ())),
        identity_header=header,
        trusted_proxies=tuple(map(_network, options.trusted_proxy or ())),
        deadline=options.deadline or DEADLINE,
        max_requests=most,
        drain_seconds=drain,
    )


def _address(text: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if not host or port is None or parts.netloc != text or "@" in text:
        raise Refused(f"--http {text!r}: expected HOST:PORT, as in 127.0.0.1:8000 or [::1]:8000")
    return host, port


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _host(text: str) -> str:
    if HOST.fullmatch(text.lower()) is None:
        raise Refused(f"--allowed-host {text!r}: expected one name, as in mcp.example.com")
    return text.lower()


def _origin(text: str) -> str:
    scheme, _, host = text.partition("://")
    if scheme not in ("http", "https") or HOST.fullmatch(host) is None:
        raise Refused(f"--allowed-origin {text!r}: expected one as in https://app.example.com")
    return text


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise Refused(f"--trusted-proxy {text!r}: {error}") from error


def _secrets(file: Path | None) -> tuple[str, ...]:
    secrets: Sequence[str] = os.environ.get(SECRET, "").split()
    if file is not None:
        try:
            secrets = read_text(file, MAX_SECRETS_BYTES).split()
        except BackendError as error:
            raise Refused(f"--secret-file {file}: {error}") from error
    where = SECRET if file is None else f"--secret-file {file}"
    if not secrets and file is not None:
        raise Refused(
            f"{where} holds no secret: make one by "
            '`python -c "import secrets; print(secrets.token_urlsafe(48))"`'
        )
    if any(len(secret.encode()) < SECRET_BYTES for secret in secrets):
        raise Refused(f"{where}: each secret, between spaces, has at least {SECRET_BYTES} bytes")
    if len(set(secrets)) < len(secrets):
        raise Refused(f"{where}: a secret is there twice")
    return tuple(secrets)
