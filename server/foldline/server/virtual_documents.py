"""Prompts' texts as documents of their own, which an editor opens by their address.

    foldline-prompt:/path/to/reviewer_prompt.py/reviewer.md
    foldline-prompt:/path/to/reviewer_prompt.py/reviewer.md?open=reference-docs&open=workspace.history
    foldline-prompt:/path/to/reviewer_prompt.py/reviewer.md?session=preview-1
    foldline-prompt:/path/to/reviewer_prompt.py/reviewer.md?session=preview-1&version=3
    foldline-prompt:/path/to/reviewer_prompt.py/reviewer.md?session=preview-1&revision=HEAD

The path is that of the module and below it the prompt's variable; `open` are the keys of sections
to open as a model does, and `session` is a preview, whose text it is: now, in an earlier version,
or as git has its prompt at a revision, with the preview's sections and values. Unknown parts of
the query are ignored, so that editors may add their own.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from lsprotocol import types

from foldline.ide.errors import IdeError, PathRefused
from foldline.ide.prompts.actions import Text
from foldline.ide.prompts.perform import perform
from foldline.ide.prompts.request import PromptRef, RenderMode, View
from foldline.records import record

if TYPE_CHECKING:
    from foldline.ide.previews.state import PreviewState
    from foldline.server.server import FoldlineServer

SCHEME = "foldline-prompt"
SUFFIX = ".md"
DEBOUNCE_SECONDS = 0.2
# The last good texts that are kept; the oldest go.
KEPT = 32


@record
class Address:
    """The parts of an address.

    Attributes:
        uri: The module's `file:` URI.
        name: The variable that holds the prompt.
        opened: The sections that are shown open.
        session_id: The preview whose text it is, if it is one's.
        version: The preview's version; None for the newest.
        revision: The revision of git.
    """

    uri: str
    name: str
    opened: tuple[str, ...] = ()
    session_id: str | None = None
    version: int | None = None
    revision: str | None = None

    @classmethod
    def parse(cls, address: str) -> Address:
        """The parts of `address`.

        Raises:
            IdeError: It isn't the address of a prompt.
        """
        try:
            parts = urlsplit(address)
        except ValueError:
            parts = urlsplit("")
        module, _, name = unquote(parts.path).removesuffix(SUFFIX).rpartition("/")
        if parts.scheme != SCHEME or not module or not name:
            raise PathRefused(
                f"{address} names no prompt, as {SCHEME}:/path/to/module.py/prompt.md would",
                uri=address,
            )
        query = parse_qs(unquote(parts.query))
        keys = [key for value in query.get("open", ()) for key in value.split(",") if key]

        def last(key: str) -> str | None:
            return query[key][-1] if key in query else None

        number = last("version")
        version = int(number) if number is not None and re.fullmatch("[0-9]{1,9}", number) else None
        uri = f"file://{quote(module)}"
        return cls(uri, name, tuple(keys), last("session"), version, last("revision"))

    def __str__(self) -> str:
        path = f"{urlsplit(self.uri).path}/{quote(self.name)}{SUFFIX}"
        query = [("open", key) for key in self.opened]
        if self.session_id is not None:
            query.append(("session", self.session_id))
        if self.version is not None:
            query.append(("version", str(self.version)))
        if self.revision is not None:
            query.append(("revision", self.revision))
        return f"{SCHEME}:{path}{'?' if query else ''}{urlencode(query)}"


class VirtualDocuments:
    """The documents that the client has asked for, and is told of when they may have changed.

    A client that is told asks again for what it still shows. So it is told of each document once
    after it has asked for it, and nothing is rendered for a document that was closed.
    """

    def __init__(self) -> None:
        self._asked: dict[str, str | None] = {}
        self._watched: set[str] = set()
        self._changed: set[str] = set()
        self._good: dict[str, str] = {}
        self._telling: asyncio.Task[None] | None = None

    async def text(self, ls: FoldlineServer, address: str) -> str:
        """The text at `address`: executed where the workspace is trusted, else from the source.

        While the code of the prompt fails it is the last good one.

        Raises:
            IdeError: There is no such prompt, or it could never be rendered.
        """
        parsed = Address.parse(address)
        # Before it is rendered: a change in the meantime makes it old.
        self._asked[address] = parsed.session_id
        if parsed.session_id is not None:
            action = Text(version=parsed.version, revision=parsed.revision)
            text = await perform(ls.core, parsed.session_id, action)
            self._watch(ls, parsed.session_id)
            return text
        view, mode = View(opened=parsed.opened), RenderMode(fallback=True)
        try:
            prompt = PromptRef(uri=parsed.uri, name=parsed.name, view=view, mode=mode)
            text = await perform(ls.core, prompt, Text())
        except IdeError as error:
            if not error.mendable or address not in self._good:
                raise
            return self._good[address]
        self._good.pop(address, None)
        self._good[address] = text
        if len(self._good) > KEPT:
            del self._good[next(iter(self._good))]
        return text

    def changed(self, ls: FoldlineServer, session_id: str | None = None) -> None:
        """Tell the client, once things are quiet, that texts it shows may have changed.

        These are the texts of the preview; without one, all that belong to no preview.
        """
        self._changed |= {address for address, of in self._asked.items() if of == session_id}
        if self._changed and _capability(ls) is not None:
            if self._telling is not None:
                self._telling.cancel()
            self._telling = asyncio.create_task(self._tell(ls))

    def close(self) -> None:
        if self._telling is not None:
            self._telling.cancel()

    def _watch(self, ls: FoldlineServer, session_id: str) -> None:
        def changed(state: PreviewState | None) -> None:
            if state is None:
                self._watched.discard(session_id)
            self.changed(ls, session_id)

        if session_id not in self._watched:
            self._watched.add(session_id)
            ls.previews.watch(session_id, changed)

    async def _tell(self, ls: FoldlineServer) -> None:
        await asyncio.sleep(DEBOUNCE_SECONDS)
        changed, self._changed = self._changed, set()
        for address in sorted(changed):
            self._asked.pop(address, None)
            # Its answer says nothing, and a client may take its time.
            ls.workspace_text_document_content_refresh(
                types.TextDocumentContentRefreshParams(address)
            )


async def register(ls: FoldlineServer) -> None:
    """Have the client ask for these documents, where it can."""
    capability = _capability(ls)
    if capability is not None and capability.dynamic_registration:
        registration = types.Registration(
            id="foldline-virtual-documents",
            method=types.WORKSPACE_TEXT_DOCUMENT_CONTENT,
            register_options=types.TextDocumentContentRegistrationOptions([SCHEME]),
        )
        await ls.client_register_capability_async(types.RegistrationParams([registration]))


def _capability(ls: FoldlineServer) -> types.TextDocumentContentClientCapabilities | None:
    workspace = ls.client_capabilities.workspace
    return workspace.text_document_content if workspace is not None else None
