"""Checks of an instruction file in its repository, as shells ask for them."""

from __future__ import annotations

from itertools import chain
from math import inf
from typing import TYPE_CHECKING

from foldline.ide.plugins import REPOSITORY_SECONDS, Plugin, plugins
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.ide.checks import Diagnostic


def check_repository(root: Path, path: str, text: str) -> list[Diagnostic]:
    """The diagnostics of an open document that its repository tells."""
    workspace, uri = Workspace.at(root), uri_of(root / path)
    workspace.open_document(uri, text)
    answers = workspace.with_snapshot(
        uri, lambda one: plugins().ask(Plugin.check_repository, one, REPOSITORY_SECONDS, inf)
    )
    return [*chain.from_iterable(answers or ())]
