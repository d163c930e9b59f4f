"""`codeLens/resolve`: the title of a lens, with what a prompt or an opened section costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lsprotocol.types import CODE_LENS_RESOLVE, CodeLens, Command

from foldline.ide.structuring import structure
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = CODE_LENS_RESOLVE
OPTIONS = None

# The client's commands, which show the preview; the server's only compute it.
CLIENT_PREVIEW = "foldline.preview"
CLIENT_OPEN_SECTION = "foldline.openSection"


@dataclass(frozen=True, slots=True)
class Target:
    """The prompt that a lens is about, or its folded section: the lens's `data`."""

    uri: str
    name: str
    section_key: str | None = None


async def handle(ls: FoldlineServer, params: CodeLens) -> CodeLens:
    target = structure(params.data, Target)

    def query(snapshot: LspSnapshot) -> str:
        from foldline.ide.features.lenses import title

        return title(snapshot.analysis, snapshot.counter, target.name, target.section_key)

    shown = await with_snapshot(ls, target.uri, query)
    without = "Preview" if target.section_key is None else "Open"
    return CodeLens(params.range, _command(target, shown or without), params.data)


def _command(target: Target, title: str) -> Command:
    prompt: dict[str, object] = {"uri": target.uri, "name": target.name}
    if target.section_key is None:
        return Command(title, CLIENT_PREVIEW, arguments=[prompt])
    arguments = {**prompt, "section_keys": [target.section_key]}
    return Command(title, CLIENT_OPEN_SECTION, arguments=[arguments])
