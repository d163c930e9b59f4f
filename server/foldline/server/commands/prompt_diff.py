"""`foldline.server.prompt.diff`: the changes between two versions of a prompt.

They are versions of a preview, or what git has of the prompt: with `revision`, `REV` against the
text in the editor, or `REV..REV`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import in_thread
from foldline.ide.render.diff import compare
from foldline.ide.render.render_options import RenderOptions
from foldline.ide.render.revisions import parse_range, revision_side
from foldline.ide.resolve import find_prompt
from foldline.ide.structuring import unstructured

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.diff"


@dataclass(frozen=True, slots=True)
class Arguments:
    """What to compare.

    Attributes:
        before: A version of the preview; the one before `after` if it is left out.
        after: A version of the preview, the newest if it is left out.
        revision: `REV` or `REV..REV`; the prompt is that of the preview, or of `uri` and `name`,
            with the preview's sections and values.
        sessionId: The preview, the last one if it is left out.
    """

    before: int | None = None
    after: int | None = None
    revision: str | None = None
    uri: str | None = None
    name: str | None = None
    sessionId: str | None = None  # noqa: N815  # The name on the wire.


async def handle(ls: FoldlineServer, arguments: Arguments) -> object:
    """Without arguments the last two versions of a preview, or else what was not committed yet."""
    revision = arguments.revision
    of_versions = (arguments.before, arguments.after, arguments.sessionId) != (None, None, None)
    if revision is None and (of_versions or (arguments.uri is None and len(ls.previews.all))):
        preview = ls.previews.find(arguments.sessionId)
        found = await in_thread(
            partial(ls.previews.diff, preview.session_id, arguments.before, arguments.after)
        )
        return {"sessionId": preview.session_id, **unstructured(found)}
    if arguments.sessionId is not None:
        return await ls.previews.compare(arguments.sessionId, revision or "HEAD")
    ls.core.require_trust()
    target = await find_prompt(ls.core, arguments.uri, arguments.name)
    before, after = parse_range(revision or "HEAD")
    one = await revision_side(ls.core, target, before, RenderOptions())
    other = await revision_side(ls.core, target, after, RenderOptions())
    return await in_thread(partial(compare, one, other))
