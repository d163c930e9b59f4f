"""`foldline serve`: the language server."""

from __future__ import annotations

import argparse
import logging
from functools import partial
from ipaddress import ip_address
from typing import TYPE_CHECKING

from foldline import server
from foldline.agent.cli import installed
from foldline.agent.verbs import add_log_level, prepare_server
from foldline.ide.garbage import loading
from foldline.ide.lifecycle import end_process

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldline.agent.verbs import Verbs
    from foldline.server.server import FoldlineServer

LOOPBACK = "127.0.0.1"


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "serve", help="run the language server", description="Run the language server."
    )
    transport = parser.add_mutually_exclusive_group()
    transport.add_argument(
        "--stdio", action="store_true", help="speak over standard input and output (the default)"
    )
    transport.add_argument(
        "--tcp",
        metavar="[HOST:]PORT",
        type=_address,
        help=f"listen on HOST, or on {LOOPBACK}; port 0 takes a free one",
    )
    add_log_level(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    # Imported before the server loads, so that a missing extra is reported at once.
    import lsprotocol
    import pygls

    _ = lsprotocol, pygls
    prepare_server(options.log_level)
    # One line for every message would bury what the prompts print, and what a client was told as
    # the answer to its request is no news to the log.
    logging.getLogger("pygls").setLevel(max(logging.WARNING, logging.root.level))
    logging.getLogger("pygls.protocol.json_rpc").addFilter(_is_unanswered)
    if options.tcp is None:
        return end_process(server.transport.serve_stdio(_create_server))
    host, port = options.tcp
    if not _is_loopback(host):
        logging.warning(
            "%s can be reached from other machines: a client that connects can read the files of a "
            "workspace, and run its code",
            host,
        )
    return server.transport.serve_tcp(_load(), host, port)


def _create_server() -> FoldlineServer:
    return _load()()


def _load() -> Callable[[], FoldlineServer]:
    """Load the server, and return what creates one."""
    with loading():
        _load_types()
        installed()
        return server.app.create_server


def _load_types() -> None:
    """Load the protocol's types without the `__repr__` that attrs makes for each.

    Making them takes a fourth of the import, and no answer needs them. Types with one of their own,
    such as `Position`, keep it.
    """
    import attrs

    define = attrs.define
    attrs.define = partial(define, repr=False)
    try:
        import lsprotocol.types  # noqa: F401
    finally:
        attrs.define = define


def _is_unanswered(record: logging.LogRecord) -> bool:
    from pygls.exceptions import JsonRpcException

    return not (record.exc_info and isinstance(record.exc_info[1], JsonRpcException))


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not [HOST:]PORT, such as {LOOPBACK}:7000")
    return host.strip("[]") or LOOPBACK, int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
