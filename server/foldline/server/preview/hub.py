"""The previews that somebody looks at: each is rendered again when something changes.

A preview holds what its user opened. It renders at most once at a time; changes that come meanwhile
are answered by one more render. A render that fails keeps the last good blocks and says why they
are stale.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from pygls.exceptions import JsonRpcException

from foldline.server.errors import RequestFailed
from foldline.server.preview import prompts
from foldline.server.targets import find_prompt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from foldline.server.server import FoldlineServer

log = logging.getLogger(__name__)

DID_UPDATE = "foldline/preview/didUpdate"
DEBOUNCE_SECONDS = 0.1


@dataclass(slots=True)
class Preview:
    """One preview: the prompt it shows, what was opened in it, and what the client has."""

    session_id: str
    uri: str
    name: str | None
    overrides: dict[str, str] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    version: int = 0
    document_version: int | None = None
    blocks: dict[str, dict[str, Any]] = field(default_factory=dict)
    tools: Sequence[Mapping[str, Any]] = ()
    stale: Mapping[str, Any] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def state(self, blocks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """What a client is told: `blocks` are those it has not seen as they are now."""
        return {
            "sessionId": self.session_id,
            "uri": self.uri,
            "name": self.name,
            "version": self.version,
            "documentVersion": self.document_version,
            "fidelity": "executed",
            "order": list(self.blocks),
            "blocks": blocks,
            "tools": self.tools,
            "stale": self.stale,
        }


class PreviewHub:
    def __init__(self) -> None:
        self._previews: dict[str, Preview] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ids = count(1)

    @property
    def count(self) -> int:
        return len(self._previews)

    async def open(self, ls: FoldlineServer, uri: str | None, name: str | None) -> dict[str, Any]:
        """Start a preview and return its first state.

        Raises:
            RequestFailed: There is no such prompt, or its first render failed.
        """
        target = await find_prompt(ls, uri, name)
        preview = Preview(f"preview-{next(self._ids)}", target.document.uri, target.name)
        await self._render(ls, preview)
        self._previews[preview.session_id] = preview
        self._tasks[preview.session_id] = asyncio.create_task(self._follow(ls, preview))
        return preview.state(list(preview.blocks.values()))

    async def open_sections(
        self, ls: FoldlineServer, session_id: str, section_keys: Sequence[str], reason: str
    ) -> dict[str, Any]:
        """Open sections as a model would, by the prompt's own tool, and return the new state."""
        preview = self._preview(session_id)
        target = await find_prompt(ls, preview.uri, preview.name)
        answer = await prompts.open_sections(
            ls, target, section_keys=section_keys, reason=reason, overrides=preview.overrides
        )
        preview.overrides.update(answer["requested_overrides"])
        preview.opened.update(answer["requested_overrides"])
        return self._accept(ls, preview, answer["render"])

    async def close_sections(
        self, ls: FoldlineServer, session_id: str | None, section_keys: Sequence[str] | None
    ) -> dict[str, Any]:
        """Close sections that this preview opened, or all of them, and return the new state."""
        preview = self._preview(session_id)
        opened = sorted(preview.opened)
        section_keys = opened if section_keys is None else section_keys
        unknown = [key for key in section_keys if key not in preview.opened]
        if unknown:
            raise RequestFailed(
                "tool",
                f"{', '.join(unknown)}: not opened in this preview; opened are: "
                f"{', '.join(opened) or 'none'}",
                near=opened,
            )
        for key in section_keys:
            preview.opened.discard(key)
            preview.overrides.pop(key, None)
        return await self._render(ls, preview)

    def close(self, session_id: str | None) -> None:
        """End a preview, or the last one. Ending one that is gone does nothing."""
        session_id = session_id or next(reversed(self._previews), None)
        if session_id is not None:
            self._previews.pop(session_id, None)
            if task := self._tasks.pop(session_id, None):
                task.cancel()

    def close_all(self) -> None:
        for session_id in tuple(self._previews):
            self.close(session_id)

    def document_changed(self) -> None:
        """Render what is looked at again: any document may be one that a prompt imports."""
        for preview in self._previews.values():
            preview.changed.set()

    async def _follow(self, ls: FoldlineServer, preview: Preview) -> None:
        """Render `preview` after each change until the preview is closed.

        A change that comes while a render goes on ends that render: nobody needs its answer.
        """
        while True:
            await preview.changed.wait()
            await asyncio.sleep(DEBOUNCE_SECONDS)
            preview.changed.clear()
            refresh = asyncio.create_task(self._refresh(ls, preview))
            changed = asyncio.create_task(preview.changed.wait())
            try:
                await asyncio.wait({refresh, changed}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()
                refresh.cancel()
                await asyncio.gather(refresh, changed, return_exceptions=True)

    async def _refresh(self, ls: FoldlineServer, preview: Preview) -> None:
        """Render `preview` again, or tell the client why what it has is stale."""
        try:
            await self._render(ls, preview)
        except JsonRpcException as error:
            details = error.data if isinstance(error.data, dict) else {}
            preview.version += 1
            preview.stale = {
                "kind": details.get("kind"),
                "message": error.message,
                "file": details.get("file"),
                "line": details.get("line"),
            }
            ls.protocol.notify(DID_UPDATE, preview.state([]))
        except Exception:
            # The preview goes on: the next change may be rendered.
            log.exception("The preview of %s was not rendered", preview.uri)

    async def _render(self, ls: FoldlineServer, preview: Preview) -> dict[str, Any]:
        target = await find_prompt(ls, preview.uri, preview.name)
        render = await prompts.render(ls, target, overrides=preview.overrides)
        return self._accept(ls, preview, render)

    def _accept(
        self, ls: FoldlineServer, preview: Preview, render: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Take a good render for the state of `preview`, and tell the client what changed."""
        blocks = {
            block["id"]: {**block, "opened": block["key"] in preview.opened}
            for block in render["blocks"]
        }
        changed = [block for id_, block in blocks.items() if preview.blocks.get(id_) != block]
        preview.blocks = blocks
        preview.name = render["name"]
        preview.tools = render["tools"]
        preview.document_version = render["version"]
        preview.stale = None
        preview.version += 1
        if preview.session_id in self._previews:
            ls.protocol.notify(DID_UPDATE, preview.state(changed))
        return preview.state(list(blocks.values()))

    def _preview(self, session_id: str | None) -> Preview:
        """The preview of that id, or the last one opened."""
        known = session_id or next(reversed(self._previews), None)
        if known not in self._previews:
            raise RequestFailed(
                "no_preview", f"There is no preview {known or ''!r}: open one with prompt.preview"
            )
        return self._previews[known]
