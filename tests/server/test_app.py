"""What the server offers is exactly what is listed in it."""

import threading
from contextlib import nullcontext
from inspect import ismodule
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from foldline.ide.operations import OPERATIONS
from foldline.server import app
from foldline.server.app import COMMANDS, FEATURES, create_server
from foldline.server.features.notifications import NOTIFICATIONS
from foldline.server.operation_commands import OperationCommand

from .conftest import Editor

COMMAND_NAMES = {
    *(command.COMMAND for command in COMMANDS),
    *(OperationCommand(operation).name for operation in OPERATIONS),
    "foldline.server.instructions.stack",
    "foldline.server.prompt.adopt",
}
"""Those of the house, and of the plugins that stand beside it."""


def test_every_module_follows_the_form() -> None:
    for feature in FEATURES:
        assert isinstance(feature.METHOD, str)
        assert hasattr(feature, "OPTIONS")
        assert callable(feature.handle)
    for command in COMMANDS:
        assert command.COMMAND.startswith("foldline.server.")
        # Every command works without arguments.
        assert command.Arguments() is not None


def test_the_features_are_those_that_are_listed() -> None:
    server = create_server()
    methods = {feature.METHOD for feature in FEATURES} | NOTIFICATIONS.keys()
    assert set(server.protocol.fm.features) == methods
    assert set(server.protocol.fm.commands) == COMMAND_NAMES


def test_no_module_is_left_out() -> None:
    server = Path(app.__file__).parent
    listed = {module.__name__.rpartition(".")[2] for module in FEATURES}
    listed |= {command.__name__.rpartition(".")[2] for command in COMMANDS if ismodule(command)}
    others = {"__init__", "notifications", "prompt_command"}
    modules = {path.stem for room in ("features", "commands") for path in (server / room).iterdir()}
    assert listed == {name for name in modules if name != "__pycache__"} - others


# The capability by which each feature that has one is advertised.
CAPABILITIES = {
    types.TEXT_DOCUMENT_CODE_ACTION: "code_action_provider",
    types.TEXT_DOCUMENT_CODE_LENS: "code_lens_provider",
    types.TEXT_DOCUMENT_COMPLETION: "completion_provider",
    types.TEXT_DOCUMENT_DEFINITION: "definition_provider",
    types.TEXT_DOCUMENT_DIAGNOSTIC: "diagnostic_provider",
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: "document_highlight_provider",
    types.TEXT_DOCUMENT_DOCUMENT_LINK: "document_link_provider",
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: "document_symbol_provider",
    types.TEXT_DOCUMENT_FOLDING_RANGE: "folding_range_provider",
    types.TEXT_DOCUMENT_HOVER: "hover_provider",
    types.TEXT_DOCUMENT_INLAY_HINT: "inlay_hint_provider",
    types.TEXT_DOCUMENT_REFERENCES: "references_provider",
    types.TEXT_DOCUMENT_RENAME: "rename_provider",
    types.TEXT_DOCUMENT_SELECTION_RANGE: "selection_range_provider",
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: "semantic_tokens_provider",
    types.WORKSPACE_SYMBOL: "workspace_symbol_provider",
}


@pytest.mark.real
async def test_the_advertised_capabilities_are_the_features(editor: Editor) -> None:
    capabilities = editor.initialized.capabilities
    offered = {method for method, name in CAPABILITIES.items() if getattr(capabilities, name)}
    assert offered == {feature.METHOD for feature in FEATURES} & CAPABILITIES.keys()
    assert capabilities.execute_command_provider is not None
    assert set(capabilities.execute_command_provider.commands) == COMMAND_NAMES
    sync = capabilities.text_document_sync
    assert isinstance(sync, types.TextDocumentSyncOptions)
    assert capabilities.code_lens_provider is not None
    assert capabilities.code_lens_provider.resolve_provider
    assert sync.change is types.TextDocumentSyncKind.Incremental


@pytest.mark.real
async def test_every_command_without_arguments_is_answered(fresh: Editor) -> None:
    fresh.open("reviewer_prompt.py")
    for command in sorted(COMMAND_NAMES):
        name = command.removeprefix("foldline.server.")
        await fresh.command("prompt.preview")
        # A module of prompts has no text to adopt.
        refused = pytest.raises(JsonRpcException, match="name a variable")
        with refused if name == "prompt.adopt" else nullcontext():
            await fresh.command(name)


async def test_an_answer_is_made_plain_beside_the_event_loop() -> None:
    threads: list[str] = []

    class Protocol:
        def plain(self, result: object) -> object:
            threads.append(threading.current_thread().name)
            return [result]

    async def handle(ls: Any, params: object) -> object:
        return params

    answer = app._refusing(handle)
    ls = SimpleNamespace(protocol=Protocol())
    assert await answer(ls, "symbols") == ["symbols"]
    assert await answer(ls, None) is None
    assert [name.rpartition("-")[0] for name in threads] == ["foldline-quick"]
