"""Builds the server: the one list of its features and the one list of its commands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from foldline.backends.errors import BackendError
from foldline.ide.version import VERSION
from foldline.server.commands import (
    code_call_hierarchy,
    code_definition,
    code_diagnostics,
    code_find_references,
    code_grep,
    code_hover,
    code_implementations,
    code_outline,
    code_read_file,
    code_read_lines,
    code_read_symbol,
    code_search_files,
    code_tree,
    prompt_close_preview,
    prompt_close_sections,
    prompt_diff,
    prompt_history,
    prompt_list,
    prompt_open_sections,
    prompt_preview,
    prompt_read_section,
    prompt_render,
    prompt_reset,
    prompt_serve,
    prompt_set_params,
    prompt_summary,
    prompt_tokens,
    prompt_undo,
    restart,
    show,
    status,
)
from foldline.server.convert import ArgumentsError, structure
from foldline.server.errors import InvalidArguments, backend_failure
from foldline.server.features import (
    code_action,
    code_lens,
    completion,
    definition,
    diagnostic,
    did_change,
    did_change_configuration,
    did_change_trust,
    did_change_watched_files,
    did_change_workspace_folders,
    did_close,
    did_open,
    document_highlight,
    document_link,
    document_symbol,
    folding_range,
    hover,
    initialize,
    initialized,
    inlay_hint,
    prepare_rename,
    references,
    rename,
    selection_range,
    semantic_tokens,
    shutdown,
    text_document_content,
    workspace_symbol,
)
from foldline.server.server import FoldlineServer

if TYPE_CHECKING:
    from types import ModuleType

FEATURES = (
    code_action,
    code_lens,
    completion,
    definition,
    diagnostic,
    did_change,
    did_change_configuration,
    did_change_trust,
    did_change_watched_files,
    did_change_workspace_folders,
    did_close,
    did_open,
    document_highlight,
    document_link,
    document_symbol,
    folding_range,
    hover,
    initialize,
    initialized,
    inlay_hint,
    prepare_rename,
    references,
    rename,
    selection_range,
    semantic_tokens,
    shutdown,
    text_document_content,
    workspace_symbol,
)

COMMANDS = (
    code_call_hierarchy,
    code_definition,
    code_diagnostics,
    code_find_references,
    code_grep,
    code_hover,
    code_implementations,
    code_outline,
    code_read_file,
    code_read_lines,
    code_read_symbol,
    code_search_files,
    code_tree,
    prompt_close_preview,
    prompt_close_sections,
    prompt_diff,
    prompt_history,
    prompt_list,
    prompt_open_sections,
    prompt_preview,
    prompt_read_section,
    prompt_render,
    prompt_reset,
    prompt_serve,
    prompt_set_params,
    prompt_summary,
    prompt_tokens,
    prompt_undo,
    restart,
    show,
    status,
)


def create_server() -> FoldlineServer:
    """A server for one client, with every feature and command."""
    server = FoldlineServer(VERSION)
    for feature in FEATURES:
        server.feature(feature.METHOD, feature.OPTIONS)(feature.handle)
    for command in COMMANDS:
        _register_command(server, command)
    return server


def _register_command(server: FoldlineServer, command: ModuleType) -> None:
    # Under the name `ls` the server is passed in; the rest is as the client sent it.
    async def execute(ls: FoldlineServer, *arguments: Any) -> Any:
        if len(arguments) > 1:
            message = f"{command.COMMAND} takes one object, not {len(arguments)} arguments"
            raise InvalidArguments(message, ())
        try:
            value = arguments[0] if arguments and arguments[0] is not None else {}
            structured = structure(value, command.Arguments)
        except ArgumentsError as error:
            raise InvalidArguments(f"{command.COMMAND}: {error}", error.fields) from error
        try:
            return await command.handle(ls, structured)
        except BackendError as error:
            raise backend_failure(error) from error
        except UnicodeEncodeError as error:
            message = f"{command.COMMAND}: half a character (a lone surrogate) isn't text: {error}"
            raise InvalidArguments(message, ()) from error

    server.command(command.COMMAND)(execute)
