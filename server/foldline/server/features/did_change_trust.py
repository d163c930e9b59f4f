"""`foldline/didChangeTrust`: the user trusts the workspace, or no longer does."""

from __future__ import annotations

from dataclasses import dataclass
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
    ls.core.set_trusted(trusted=trust.trusted)
