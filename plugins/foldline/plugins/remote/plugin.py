"""The plugin of serving over HTTP: a transport of `foldline mcp`."""

from foldline.ide.plugins import Plugin


class Remote(Plugin):
    """Agents over HTTP, behind any balancer."""

    transports = {"http": "foldline.plugins.remote.transport"}
