"""The client capabilities of editors."""

from functools import cache

from lsprotocol import types
from pytest_lsp import client_capabilities


@cache
def capabilities_of(editor: str = "visual-studio-code") -> types.ClientCapabilities:
    """The client capabilities of an editor; copy them before you change them.

    Shared, because building them takes longer than most answers.
    """
    return client_capabilities(editor)
