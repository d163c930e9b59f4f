"""A script that climbs from the tree to references, and what the model must have got of it."""

from __future__ import annotations

from typing import Any

from foldline.ide.operations import OPERATIONS

TOOLS = {operation.tool for operation in OPERATIONS if operation.tool}
STEPS: list[dict[str, Any]] = [
    {"call": "get_tree", "arguments": {}},
    {"call": "get_file_outline", "arguments": {"path": "auth/service.py"}},
    {
        "call": "read_symbol",
        "arguments": {"path": "auth/service.py", "name": "AuthService.finish_reset"},
    },
    {"call": "find_references", "arguments": {"name": "TokenSigner.read"}},
    {"call": "read_symbol", "arguments": {"path": "auth/service.py", "name": "no_such"}},
    {"text": "The script is played."},
]


def check_ladder(results: list[str]) -> None:
    """Check the answers of these steps, as the model got them."""
    tree, outline, symbol, references, wrong = results
    assert "auth/" in tree
    assert "finish_reset(self, token: str, password: str)" in outline
    assert "self._signer.read(token)" in symbol
    assert "auth/service.py" in references
    assert "AuthService.finish_reset" in references
    assert "no_such" in wrong
    assert "def " not in wrong
