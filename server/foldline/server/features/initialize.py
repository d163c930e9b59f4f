"""`initialize`: reads the workspace folders, the settings, and the process to exit with."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide.lifecycle import exit_with_process
from foldline.ide.settings import read_settings

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

log = logging.getLogger(__name__)

METHOD = types.INITIALIZE
OPTIONS = None


def handle(ls: FoldlineServer, params: types.InitializeParams) -> None:
    settings, ls.settings_problems = read_settings(params.initialization_options)
    ls.core.set_settings(settings)
    folders = [folder.uri for folder in params.workspace_folders or ()]
    root = ls.documents.root_uri
    ls.core.set_root_uris(folders or ([root] if root else []))
    if params.process_id is not None:
        exit_with_process(params.process_id)
