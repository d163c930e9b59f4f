"""`codeLens/resolve`: the title of a lens, with what a prompt or an opened section costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

from foldline.ide import features
from foldline.ide.structuring import structure
from foldline.records import record
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.ide.features.hover import LensTitle
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

METHOD = types.CODE_LENS_RESOLVE
OPTIONS = None

# The client's commands, which show the preview; the server's only compute it.
CLIENT_PREVIEW = "foldline.preview"
CLIENT_OPEN_SECTION = "foldline.openSection"


@record
class Target:
    """The prompt that a lens is about, or its summarized section: the lens's `data`."""

    uri: str
    name: str
    section_key: str | None = None


async def handle(ls: FoldlineServer, params: types.CodeLens) -> types.CodeLens:
    if params.command is not None:
        # That of an instruction file has its title from the start.
        return params
    target = structure(params.data, Target)

    def query(snapshot: LspSnapshot) -> LensTitle:
        return features.title(snapshot.analysis, snapshot.counter, target.name, target.section_key)

    shown = await with_snapshot(ls, target.uri, query)
    return types.CodeLens(params.range, command_of(target, shown), params.data)


def command_of(target: Target, shown: LensTitle | None) -> types.Command:
    """Return what a click on a lens does."""
    arguments: dict[str, object] = {"uri": target.uri, "name": target.name}
    title, command = "Preview", CLIENT_PREVIEW
    if target.section_key is not None:
        arguments["section_keys"] = [target.section_key]
        title, command = "Open", CLIENT_OPEN_SECTION
    if shown is None:
        return types.Command(title, command, arguments=[arguments])
    return types.Command(shown.text, command, tooltip=shown.tooltip or None, arguments=[arguments])
