"""`foldline/didChangeTrust`: whether the workspace's code may be executed from now on."""

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
