"""A real server in a process of its own, and a client that speaks as an editor does."""

import asyncio
import contextlib
import sys
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any, Union

import pytest
import pytest_asyncio
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import JsonRPCNotification
from pytest_lsp import LanguageClient, make_test_lsp_client

from ..capabilities import capabilities_of

HERE = Path(__file__).parent
EXAMPLE = Path(__file__).parents[2] / "examples" / "code_reviewer"
SERVE = (sys.executable, "-m", "foldline.agent", "serve", "--stdio")


class Editor:
    """A client with a workspace open, in the words of these tests."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        self.client = client
        self.root = root
        self.trusted = False
        self.initialized: types.InitializeResult
        self.opened: set[str] = set()
        self.updates: list[dict[str, Any]] = []
        client.protocol._converter.register_structure_hook(
            JsonRPCNotification, lambda message, kind: kind(**message)
        )
        # Of its own, lsprotocol takes every code action that has a command for a bare command.
        client.protocol._converter.register_structure_hook(
            Union[types.Command, types.CodeAction],  # noqa: UP007 - the key that is looked up
            lambda value, _: client.protocol._converter.structure(value, types.CodeAction),
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
        self.opened.add(document.uri)
        return document.uri

    def close(self, uri: str) -> None:
        self.opened.discard(uri)
        self.client.text_document_did_close(
            types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri))
        )

    def saved(self, *paths: str) -> None:
        """Tell that files have changed on disk."""
        changes = [types.FileEvent(self.uri(path), types.FileChangeType.Changed) for path in paths]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(changes))

    def visit(self, root: Path, *, trusted: bool = False) -> "Editor":
        """Open the folder `root` in place of the one that is open, with what is known of none."""
        before, self.root, self.trusted = self.root, root, trusted
        added, removed = (
            [types.WorkspaceFolder(folder.as_uri(), folder.name)] for folder in (root, before)
        )
        self.client.workspace_did_change_workspace_folders(
            types.DidChangeWorkspaceFoldersParams(
                types.WorkspaceFoldersChangeEvent(added=added, removed=removed)
            )
        )
        self.client.protocol.notify("foldline/didChangeTrust", {"trusted": trusted})
        self.client.messages.clear()
        return self

    @contextlib.contextmanager
    def borrowed(self) -> Iterator["Editor"]:
        """This editor for one of several tests: what it leaves open is closed."""
        yield self
        for uri in [*self.opened]:
            self.close(uri)

    async def actions(self, uri: str, line: int, *only: str) -> list[types.CodeAction]:
        """The code actions at the beginning of a line."""
        place = types.Position(line, 0)
        found = await self.client.text_document_code_action_async(
            types.CodeActionParams(
                types.TextDocumentIdentifier(uri),
                types.Range(place, place),
                types.CodeActionContext([], only=only or None),
            )
        )
        return [action for action in found or () if isinstance(action, types.CodeAction)]

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
Visit = Callable[..., Editor]


@contextlib.asynccontextmanager
async def connections() -> AsyncIterator[Connect]:
    """What starts a server and connects: `connect(root, trusted=True, …)` with its options.

    `like` is the editor whose capabilities the client has, `serve` another command.
    """
    editors: list[Editor] = []

    async def start(
        root: Path = EXAMPLE,
        *,
        like: str = "visual-studio-code",
        kind: Callable[[LanguageClient, Path], Editor] = Editor,
        prepare: Callable[[Editor, types.ClientCapabilities], None] | None = None,
        serve: Sequence[str] = SERVE,
        **options: object,
    ) -> Editor:
        client = make_test_lsp_client()
        editor = kind(client, root)
        editor.trusted = options.get("trusted") is True
        capabilities = deepcopy(capabilities_of(like))
        if prepare is not None:
            prepare(editor, capabilities)
        await client.start_io(*serve)
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests of a module that use a server share a loop, as they may share the server."""
    for item in items:
        if item.path.parent == HERE and {"connect", "example", "here"} & {*item.fixturenames}:  # type: ignore[attr-defined]  # Tests have fixtures.
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


# A fixture that awaits a server, for one test or for all of a module.
served = pytest_asyncio.fixture(loop_scope="module")
served_once = pytest_asyncio.fixture(loop_scope="module", scope="module")


@served
async def connect() -> AsyncIterator[Connect]:
    """What starts servers for one test, as `connections` says."""
    async with connections() as start:
        yield start


@served_once
async def example() -> AsyncIterator[Editor]:
    """One server for a module: the example workspace, trusted, or what the module says."""
    async with connections() as start:
        yield await start(trusted=True)


@pytest.fixture
def editor(example: Editor) -> Iterator[Editor]:
    """The module's server, for tests that only ask."""
    with example.borrowed():
        yield example


@pytest.fixture
def visit(example: Editor) -> Iterator[Visit]:
    """Opens a folder in the module's server, for tests that ask about files of their own."""
    home, trusted = example.root, example.trusted
    with example.borrowed():
        yield example.visit
    example.visit(home, trusted=trusted)


@served
async def fresh(connect: Connect) -> Editor:
    """A server of the example's, for a test that changes what others would see."""
    return await connect(trusted=True)
