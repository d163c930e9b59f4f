"""`foldline/didChangeTrust`: whether the workspace's code may be executed from now on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from foldline.ide.structuring import structure

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

METHOD = "foldline/didChangeTrust"
OPTIONS = None


@dataclass(frozen=True, slots=True)
class Trust:
    trusted: bool


def handle(ls: FoldlineServer, params: object) -> None:
    trust = structure(params, Trust)
    ls.settings = replace(ls.settings, trusted=trust.trusted)
    ls.files.set_trusted(trusted=trust.trusted)
    if not trust.trusted:
        ls.renderer.close()
    # Each preview tells what it may show from now on.
    ls.show_again()
