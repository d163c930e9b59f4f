"""The HTTP application of any MCP server: the SDK's transport, behind what keeps others out."""

from __future__ import annotations

from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware

from foldline.plugins.remote.gate import Gate
from foldline.plugins.remote.health import Health
from foldline.plugins.remote.measures import HttpMeasures, McpMeasures
from foldline.plugins.remote.signed import seals
from foldline.plugins.remote.transport import PATH, HttpOptions


def create_app(
    protocol: Server[Any], options: HttpOptions, health: Health, *, json_response: bool = True
) -> Starlette:
    """Return the app that serves `protocol`, without sessions, to clients of every version.

    With `json_response`, an answer is one JSON object, which a balancer can ask for again as long
    as nothing of it has come; otherwise it may be a stream.
    """
    protocol.middleware += [
        McpMeasures(protocol, options.deadline),
        *seals(options.secrets, protocol.name),
    ]
    app = protocol.streamable_http_app(
        streamable_http_path=PATH,
        json_response=json_response,
        stateless_http=True,
        # The SDK's own check takes hosts that begin as an allowed one does; the gate's is exact.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        custom_starlette_routes=health.routes(),
    )
    # It would lead to whatever host the request names.
    app.router.redirect_slashes = False
    app.add_middleware(Gate, options=options, health=health, measures=HttpMeasures())
    if options.allowed_origins:
        # A browser asks first, without anybody's identity.
        app.add_middleware(
            CORSMiddleware,
            allow_origins=options.allowed_origins,
            allow_methods=["POST"],
            allow_headers=["*"],
        )
    return app
