"""A real server in a process of its own, and a client that speaks as an editor does."""

import asyncio
import contextlib
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCNotification
from pytest_lsp import LanguageClient, make_test_lsp_client

from ..capabilities import capabilities_of

EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
SERVE = (sys.executable, "-m", "foldline.agent", "serve", "--stdio")


class Editor:
    """A client with a workspace open, in the words of these tests."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root
        self.initialized: types.InitializeResult
        self.updates: list[dict[str, Any]] = []
        client.protocol._converter.register_structure_hook(
            JsonRPCNotification, lambda message, kind: kind(**message)
        )
        client.protocol.fm.feature("foldline/preview/didUpdate")(
            lambda update: self.updates.append(update)  # noqa: PLW0108  # pygls marks its handlers.
        )

        published = asyncio.Queue[list[types.Diagnostic]]
        self._published: dict[str, published] = defaultdict(published)
        # Each is kept, as it may come before a test waits for it.
        features = client.protocol.fm.features
        features[types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS] = self._publish

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        self._published[params.uri].put_nowait(list(params.diagnostics))

    def uri(self, path: str) -> str:
        return (self.root / path).resolve().as_uri()

    def open(self, path: str, text: str | None = None) -> str:
        """Open the file at `path`, or `text` in its place, and return its URI."""
        if text is None:
            text = (self.root / path).read_text(encoding="utf-8")
        document = types.TextDocumentItem(self.uri(path), "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        return document.uri

    async def lenses(self, uri: str) -> list[types.CodeLens]:
        """The lenses of a document, each resolved."""
        found = await self.client.text_document_code_lens_async(
            types.CodeLensParams(types.TextDocumentIdentifier(uri))
        )
        return [await self.client.code_lens_resolve_async(lens) for lens in found or ()]

    def change(
        self, uri: str, text: str, place: types.Range | None = None, version: int = 2
    ) -> None:
        """Replace `place`, or everything, by `text`."""
        change: types.TextDocumentContentChangeEvent = (
            types.TextDocumentContentChangeWholeDocument(text)
            if place is None
            else types.TextDocumentContentChangePartial(range=place, text=text)
        )
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version, uri), [change]
            )
        )

    async def command(self, name: str, /, **arguments: object) -> Any:
        """The answer to `foldline.server.<name>` with one object, or without arguments."""
        params = types.ExecuteCommandParams(
            f"foldline.server.{name}", [arguments] if arguments else None
        )
        return await self.client.workspace_execute_command_async(params)

    async def refusal(self, name: str, /, **arguments: object) -> tuple[str, dict[str, Any]]:
        """The message and the data of the error that a command answers."""
        with pytest.raises(JsonRpcException) as caught:
            await self.command(name, **arguments)
        assert isinstance(caught.value.data, dict)
        return caught.value.message, caught.value.data

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """The next diagnostics that the server publishes for a document."""
        return await asyncio.wait_for(self._published[uri].get(), 60)

    async def update(self, count: int) -> dict[str, Any]:
        """The preview notification number `count`, from 1."""
        while len(self.updates) < count:
            await self.client.wait_for_notification("foldline/preview/didUpdate")
        return self.updates[count - 1]


Connect = Callable[..., Awaitable[Editor]]


@contextlib.asynccontextmanager
async def connections() -> AsyncIterator[Connect]:
    """What starts a server and connects: `connect(root, trusted=True, …)` with its options.

    `like` is the editor whose capabilities the client has.
    """
    editors: list[Editor] = []

    async def start(
        root: Path = EXAMPLE,
        *,
        like: str = "visual-studio-code",
        prepare: Callable[[Editor, types.ClientCapabilities], None] | None = None,
        **options: object,
    ) -> Editor:
        client = make_test_lsp_client()
        editor = Editor(client, root)
        capabilities = deepcopy(capabilities_of(like))
        if prepare is not None:
            prepare(editor, capabilities)
        await client.start_io(*SERVE)
        editors.append(editor)
        editor.initialized = await client.initialize_session(
            types.InitializeParams(
                capabilities=capabilities,
                workspace_folders=[types.WorkspaceFolder(root.as_uri(), root.name)],
                initialization_options=options,
            )
        )
        return editor

    yield start
    for editor in editors:
        await editor.client.shutdown_session()
        await editor.client.stop()  # type: ignore[no-untyped-call]  # Untyped in pygls.


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    """What starts servers for one test, as `connections` says."""
    async with connections() as start:
        yield start


@pytest.fixture
async def editor(connect: Connect) -> Editor:
    """The example workspace, trusted."""
    return await connect(trusted=True)
