"""Start, drain and end of `foldline mcp --http`."""

from __future__ import annotations

import asyncio
import logging
import math
import signal
import socket
import sys
from dataclasses import replace
from functools import partial

from foldline.agent.folders import open_folders
from foldline.agent.mcp.server import AgentServer
from foldline.agent.mcp.stdio import Options
from foldline.agent.refusals import Refused
from foldline.backends.base.waiting import in_thread
from foldline.plugins.remote.app import create_app
from foldline.plugins.remote.health import Health
from foldline.plugins.remote.measures import observe
from foldline.plugins.remote.transport import PATH, HttpOptions
from foldline.server.http_server import BoundedConnection, EmbeddedServer

log = logging.getLogger(__name__)

MAX_CONNECTIONS = 1024


class Connection(BoundedConnection):
    """A connection of a balancer, which keeps some open: longer than it does itself, mostly."""

    head_seconds = 65.0
    max_waiting = MAX_CONNECTIONS // 2


def serve_http(options: Options, http: HttpOptions) -> None:
    """Serve clients over HTTP until a signal ends it.

    Raises:
        Refused: It can't listen there.
    """
    try:
        family = socket.AF_INET6 if ":" in http.host else socket.AF_INET
        listening = socket.create_server((http.host, http.port), family=family, backlog=512)
    except OSError as error:
        raise Refused(f"--http {http.host}:{http.port}: {error.strerror or error}") from error
    asyncio.run(_serve(options, http, listening))


async def _serve(options: Options, http: HttpOptions, listening: socket.socket) -> None:
    server = AgentServer(options)
    try:
        await in_thread(partial(open_folders, server.workspace, options.roots))
        observe(server.workspace)
        health = Health(options.roots)
        host, port, *_ = listening.getsockname()
        embedded = EmbeddedServer(
            create_app(server.protocol, replace(http, port=port), health),
            Connection,
            most=MAX_CONNECTIONS,
            close_seconds=math.ceil(http.deadline),
            lifespan="on",
        )
        loop = asyncio.get_running_loop()

        def end() -> None:
            if health.draining:
                # Asked for a second time.
                embedded.should_exit = embedded.force_exit = True
                return
            health.draining = True
            log.info("Draining for %g seconds", http.drain_seconds)
            loop.call_later(http.drain_seconds, setattr, embedded, "should_exit", True)

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(end))
        shown = f"[{host}]" if ":" in host else host
        sys.stderr.write(f"foldline serves http://{shown}:{port}{PATH}\n")
        sys.stderr.flush()
        await embedded.serve(sockets=[listening])
        if embedded.force_exit:
            for task in embedded.server_state.tasks:
                task.cancel()
            await embedded.lifespan.shutdown()
    finally:
        await server.close()
