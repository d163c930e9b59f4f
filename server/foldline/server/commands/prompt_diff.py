"""`foldline.server.prompt.diff`: the changes between two versions of a prompt.

They are versions of a preview, or what git has of the prompt: with `revision`, `REV` against the
text in the editor, or `REV..REV`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from foldline.backends.waiting import in_thread
from foldline.ide.render import execution
from foldline.ide.render.diff import Side, compare
from foldline.ide.render.jobs import Circumstances
from foldline.ide.render.render_options import RenderOptions
from foldline.ide.render.revisions import parse_range, texts_at
from foldline.ide.resolve import find_prompt
from foldline.ide.structuring import unstructured

if TYPE_CHECKING:
    from foldline.ide.resolve import PromptTarget
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
    options = RenderOptions()
    uri, name = arguments.uri, arguments.name
    if arguments.sessionId is not None:
        preview = ls.previews.find(arguments.sessionId)
        options, uri, name = preview.options, preview.uri, preview.name
    target = await find_prompt(ls.core, uri, name)
    before, after = parse_range(revision or "HEAD")
    one = await _side(ls, target, before, options)
    other = await _side(ls, target, after, options)
    return await in_thread(partial(compare, one, other))


async def _side(
    ls: FoldlineServer, target: PromptTarget, revision: str | None, options: RenderOptions
) -> Side:
    ls.core.require_trust()
    texts: dict[str, str] = {}
    if revision is not None:
        texts = await in_thread(partial(texts_at, target.document.path, revision))
    render = await execution.render(ls.core, target, options, Circumstances(texts=texts))
    return Side.of(revision or "as it is now", render)
