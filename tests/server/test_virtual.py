"""Prompts as documents: their addresses, their text, and that a client learns when it is old."""

import asyncio
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from foldline.ide.errors import PathRefused
from foldline.server.virtual_documents import Address

from .conftest import Connect, Editor, served

pytestmark = pytest.mark.real

PROMPT = """
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

first = MarkdownSection[None](title="First", key="first", template="One.")
second = MarkdownSection[None](
    title="Second", key="second", template="Two.", summary="A summary.",
    visibility=SectionVisibility.SUMMARY,
)
both = PromptTemplate(ns="demo", key="both", sections=[first, second])
"""


class Reader:
    """A client that shows such documents, and what it is told of them."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.registered: list[types.Registration] = []
        self.refreshed: asyncio.Queue[str] = asyncio.Queue()
        self._registering = asyncio.Event()
        features = editor.client.protocol.fm

        @features.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams) -> None:
            self.registered += params.registrations
            self._registering.set()

        @features.feature(types.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH)
        def refresh(params: types.TextDocumentContentRefreshParams) -> None:
            self.refreshed.put_nowait(params.uri)

    async def registration(self, method: str) -> types.Registration:
        """Wait until the server registers `method`, and return how."""
        async with asyncio.timeout(20):
            while True:
                for registration in self.registered:
                    if registration.method == method:
                        return registration
                self._registering.clear()
                await self._registering.wait()

    async def text(self, address: str) -> str:
        params = types.TextDocumentContentParams(address)
        answer = await self.editor.client.workspace_text_document_content_async(params)
        return answer.text

    async def refusal(self, address: str) -> JsonRpcException:
        with pytest.raises(JsonRpcException) as caught:
            await self.text(address)
        return caught.value

    async def told(self) -> str:
        """The next document that may have changed."""
        return await asyncio.wait_for(self.refreshed.get(), 30)


async def connect_reader(connect: Connect, root: Path, *, capable: bool) -> Reader:
    readers = []

    def prepare(editor: Editor, capabilities: types.ClientCapabilities) -> None:
        readers.append(Reader(editor))
        content = types.TextDocumentContentClientCapabilities(dynamic_registration=True)
        assert capabilities.workspace is not None
        capabilities.workspace.text_document_content = content if capable else None

    await connect(root, prepare=prepare, trusted=True)
    return readers[0]


def address_of(uri: str, name: str = "both", query: str = "") -> str:
    return f"foldline-prompt:{uri.removeprefix('file://')}/{name}.md{query}"


@served
async def reader(connect: Connect, tmp_path: Path) -> Reader:
    """A trusted folder, and a client that can show virtual documents."""
    return await connect_reader(connect, tmp_path, capable=True)


@pytest.mark.parametrize(
    "address",
    [
        Address("file:///a/p.py", "reviewer"),
        Address("file:///a/p.py", "reviewer", ("docs", "docs.a-b")),
        Address("file:///a/p.py", "reviewer", (), "preview-12"),
        Address("file:///c%3A/with%20space%25/%C3%A9%3F.py", "p"),
    ],
)
def test_an_address_is_read_as_it_is_written(address: Address) -> None:
    assert Address.parse(str(address)) == address


@pytest.mark.parametrize(
    "written",
    [
        "foldline-prompt:/a/p.py/x.md?open%3Da%26open%3Db.c",
        "foldline-prompt:/a/p.py/x.md?open=a,b.c&mine=1",
        "foldline-prompt:///a/p.py/x?open=a&open=b.c#fragment",
    ],
)
def test_an_address_is_read_as_editors_write_it(written: str) -> None:
    assert Address.parse(written) == Address("file:///a/p.py", "x", ("a", "b.c"))


@pytest.mark.parametrize("written", ["foldline-prompt:", "foldline-prompt:/x.md", "file:/a/p.py/x"])
def test_what_is_no_address_is_refused(written: str) -> None:
    with pytest.raises(PathRefused, match="names no prompt"):
        Address.parse(written)


async def test_the_text_is_the_prompts_with_the_sections_that_the_address_opens(
    reader: Reader,
) -> None:
    uri = reader.editor.open("both.py", PROMPT)
    folded = await reader.text(address_of(uri))
    assert folded.startswith("## 1. First\n\nOne.\n\n## 2. Second\n\nA summary.")
    opened = await reader.text(address_of(uri, query="?open=second"))
    assert opened == "## 1. First\n\nOne.\n\n## 2. Second\n\nTwo."


async def test_a_client_is_told_once_of_each_document_that_may_have_changed(
    reader: Reader,
) -> None:
    uri = reader.editor.open("both.py", PROMPT)
    folded, opened = address_of(uri), address_of(uri, query="?open=second")
    await reader.text(folded)
    await reader.text(opened)
    reader.editor.change(uri, PROMPT.replace("Two.", "Zwei."))
    assert [await reader.told(), await reader.told()] == [folded, opened]
    assert "Zwei." in await reader.text(opened)
    # It has not asked for the other again, so it shows that no more.
    reader.editor.change(uri, PROMPT, version=3)
    assert await reader.told() == opened
    assert reader.refreshed.empty()


async def test_a_preview_is_a_document_too(reader: Reader) -> None:
    uri = reader.editor.open("both.py", PROMPT)
    session = (await reader.editor.command("prompt.preview"))["sessionId"]
    address = address_of(uri, query=f"?session={session}")
    assert "A summary." in await reader.text(address)
    await reader.editor.command("prompt.openSections", sessionId=session, section_keys=["second"])
    assert await reader.told() == address
    assert (await reader.text(address)).endswith("Two.")
    earlier = f"{address}&version=1"
    assert "A summary." in await reader.text(earlier)
    await reader.editor.command("prompt.closePreview", sessionId=session)
    assert {await reader.told(), await reader.told()} == {address, earlier}
    assert "There is no preview" in (await reader.refusal(address)).message


async def test_the_last_good_text_stays_while_the_source_is_broken(reader: Reader) -> None:
    uri = reader.editor.open("both.py", PROMPT)
    good = await reader.text(address_of(uri))
    reader.editor.change(uri, f"{PROMPT}\nbroken = (")
    await reader.told()
    assert await reader.text(address_of(uri)) == good
    # Of another there is no good text to show.
    assert "isn't Python" in (await reader.refusal(address_of(uri, query="?open=second"))).message


async def test_nothing_is_executed_without_trust(reader: Reader) -> None:
    uri = reader.editor.open("both.py", f"{PROMPT}\nraise SystemExit")
    reader.editor.client.protocol.notify("foldline/didChangeTrust", {"trusted": False})
    assert (await reader.text(address_of(uri))).startswith("## 1. First\n\nOne.")
    assert "Two." in await reader.text(address_of(uri, query="?open=second"))
    refusal = await reader.refusal(address_of(uri, "bath"))
    assert isinstance(refusal.data, dict)
    assert (refusal.data["kind"], refusal.data["near"]) == ("no_prompt", ["both"])


async def test_what_is_not_there_is_answered_with_what_is(reader: Reader) -> None:
    uri = reader.editor.open("both.py", PROMPT)
    for name, query, words in (
        ("bath", "", "both"),
        ("both", "?open=secand", "second"),
        ("both", "?session=x", "'x'"),
    ):
        assert words in (await reader.refusal(address_of(uri, name, query))).message
    # Such a client is asked to ask for them.
    registration = await reader.registration("workspace/textDocumentContent")
    assert registration.register_options == {"schemes": ["foldline-prompt"]}


async def test_a_client_that_cannot_may_ask_and_is_never_told(
    connect: Connect, tmp_path: Path
) -> None:
    reader = await connect_reader(connect, tmp_path, capable=False)
    uri = reader.editor.open("both.py", PROMPT)
    assert (await reader.text(address_of(uri))).startswith("## 1. First")
    await reader.editor.command("prompt.preview")
    reader.editor.change(uri, PROMPT.replace("One.", "Eins."))
    await reader.editor.update(1)
    assert reader.refreshed.empty()
    assert "workspace/textDocumentContent" not in [item.method for item in reader.registered]
