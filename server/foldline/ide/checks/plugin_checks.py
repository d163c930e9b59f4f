"""The checks of plugins, with the severities that the project wants."""

from itertools import chain

from foldline.ide.checks.diagnostic import Diagnostic, as_wanted
from foldline.ide.plugins import Plugin, plugins
from foldline.ide.snapshot import Snapshot


def plugin_diagnostics(document: Snapshot) -> tuple[Diagnostic, ...]:
    """Return what plugins report of a document, in the order of its text."""
    reported = chain.from_iterable(plugins().ask(Plugin.check, document))
    return as_wanted(reported, document.options.severity)
