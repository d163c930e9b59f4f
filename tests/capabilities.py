"""What editors tell of themselves."""

from functools import cache

from lsprotocol import types
from pytest_lsp import client_capabilities


@cache
def capabilities_of(editor: str = "visual-studio-code") -> types.ClientCapabilities:
    """The capabilities of an editor, to be copied before a change.

    Made once, as that takes longer than most answers.
    """
    return client_capabilities(editor)
