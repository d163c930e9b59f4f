"""Diagnostics as a client gets them that does not ask: from a real server, as things change."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from lsprotocol import types

from foldline.ide.workspace import Workspace
from foldline.server.client_configuration import configure
from foldline.server.diagnostics_publisher import DiagnosticsPublisher

from .conftest import Editor, served

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from pytest_lsp import LanguageClient

    from foldline.server.server import FoldlineServer

    from .conftest import Connect

    Watch = Callable[..., Awaitable["Watching"]]

pytestmark = pytest.mark.real

RIGHT = """\
from foldline.prompts import MarkdownSection, PromptTemplate
from shared import Shared

T = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[Shared](title="🎉", key="one", template="é ${topic}"),
])
"""
WRONG = RIGHT.replace("${topic}", "${topik}")
SHORT = RIGHT.replace("é ${topic}", 'Short.", summary="Longer than that, by far.')
SHARED = "from dataclasses import dataclass\n@dataclass\nclass Shared:\n    topic: str = 'x'\n"


class Watching(Editor):
    """A client that keeps what it is told."""

    def __init__(self, client: LanguageClient, root: Path) -> None:
        super().__init__(client, root)
        self.news = asyncio.Event()
        self.published: list[types.PublishDiagnosticsParams] = []
        self.shown: list[str] = []
        client.protocol.fm.features[types.WINDOW_SHOW_MESSAGE] = self._show

    def _publish(self, params: types.PublishDiagnosticsParams) -> None:
        self.published.append(params)
        self.news.set()

    def _show(self, params: types.ShowMessageParams) -> None:
        self.shown.append(params.message)
        self.news.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                self.news.clear()
                await self.news.wait()

    async def next(self, count: int) -> tuple[str, int | None, list[str]]:
        """The file, version and codes of the publication number `count`, from 1."""
        await self.until(lambda: len(self.published) >= count)
        found = self.published[count - 1]
        codes: list[str] = []
        for diagnostic in found.diagnostics:
            assert diagnostic.severity is not None
            codes.append(f"{diagnostic.code} {diagnostic.severity.name}")
        return found.uri.rpartition("/")[2], found.version, codes

    async def settled(self) -> None:
        """Some rounds later: whatever was under way has come."""
        for uri in [self.uri("prompt.py")] * 3:
            await self.client.text_document_code_lens_async(
                types.CodeLensParams(types.TextDocumentIdentifier(uri))
            )


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "prompt.py").write_text(RIGHT, encoding="utf-8")
    (tmp_path / "shared.py").write_text(SHARED, encoding="utf-8")
    return tmp_path


@served
async def watching(connect: Connect, root: Path) -> Watch:
    """Connects a client that pulls diagnostics or not, and answers for its configuration or not."""

    async def start(
        *, pulls: bool = False, asks: bool = False, settings: object = None
    ) -> Watching:
        def prepare(editor: Editor, capabilities: types.ClientCapabilities) -> None:
            if settings is not None:
                editor.client.set_configuration(settings, section="foldline")
            capabilities.text_document = types.TextDocumentClientCapabilities(
                diagnostic=types.DiagnosticClientCapabilities() if pulls else None,
                publish_diagnostics=types.PublishDiagnosticsClientCapabilities(),
            )
            capabilities.workspace = types.WorkspaceClientCapabilities(configuration=asks)

        editor = await connect(root, kind=Watching, prepare=prepare)
        assert isinstance(editor, Watching)
        return editor

    return start


async def test_what_is_wrong_is_pushed_with_its_version_and_cleared(watching: Watch) -> None:
    editor = await watching()
    uri = editor.open("prompt.py", WRONG)
    assert await editor.next(1) == ("prompt.py", 1, ["unknown-placeholder Error"])
    (found,) = editor.published[0].diagnostics
    assert found.range.start == types.Position(4, 63)
    assert found.range.end.character - found.range.start.character == len("${topik}")
    editor.change(uri, RIGHT, version=2)
    assert await editor.next(2) == ("prompt.py", 2, [])
    editor.change(uri, WRONG, version=7)
    assert await editor.next(3) == ("prompt.py", 7, ["unknown-placeholder Error"])
    editor.close(uri)
    assert await editor.next(4) == ("prompt.py", None, [])
    editor.open("prompt.py", WRONG)
    assert await editor.next(5) == ("prompt.py", 1, ["unknown-placeholder Error"])


async def test_what_is_pushed_has_the_version_of_the_text_that_was_checked(root: Path) -> None:
    uri = (root / "prompt.py").as_uri()
    pushed: list[types.PublishDiagnosticsParams] = []
    codec = SimpleNamespace(encoding=types.PositionEncodingKind.Utf16)
    server = SimpleNamespace(
        core=Workspace.at(root),
        # The editor sends version 2 between the two: while the text waits to be checked.
        documents=SimpleNamespace(
            position_codec=codec, document=lambda _: SimpleNamespace(version=1)
        ),
        client_capabilities=types.ClientCapabilities(),
        late_checks=SimpleNamespace(known=lambda _: ()),
        text_document_publish_diagnostics=pushed.append,
    )
    server.core.open_document(uri, WRONG, 2)
    await DiagnosticsPublisher(cast("FoldlineServer", server))._publish(uri, ())
    assert [item.version for item in pushed] == [2]


async def test_nothing_is_pushed_of_what_is_right_or_did_not_change(watching: Watch) -> None:
    editor = await watching()
    uri = editor.open("prompt.py", RIGHT)
    editor.change(uri, RIGHT + "\nx = 1\n", version=2)
    await editor.settled()
    assert editor.published == []
    editor.change(uri, WRONG, version=3)
    await editor.next(1)
    editor.change(uri, WRONG + "\nx = 1\n", version=4)
    await editor.settled()
    assert len(editor.published) == 1


async def test_a_file_that_changes_elsewhere_is_taken_into_account(
    watching: Watch, root: Path
) -> None:
    editor = await watching()
    editor.open("prompt.py", RIGHT)
    await editor.settled()
    (root / "shared.py").write_text(SHARED.replace("topic", "subject"))
    editor.saved("shared.py")
    assert await editor.next(1) == ("prompt.py", 1, ["unknown-placeholder Error"])
    other = editor.open("shared.py", SHARED)
    assert await editor.next(2) == ("prompt.py", 1, [])
    editor.change(other, SHARED.replace("topic", "theme"))
    assert await editor.next(3) == ("prompt.py", 1, ["unknown-placeholder Error"])
    editor.change(other, SHARED, version=3)
    assert await editor.next(4) == ("prompt.py", 1, [])
    editor.close(other)
    assert await editor.next(5) == ("prompt.py", 1, ["unknown-placeholder Error"])


async def test_a_client_that_pulls_gets_nothing_pushed(watching: Watch) -> None:
    editor = await watching(pulls=True)
    uri = editor.open("prompt.py", WRONG)
    params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
    for _ in range(2):
        report = await editor.client.text_document_diagnostic_async(params)
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        assert len(report.items) == 1
        editor.change(uri, WRONG + "\n")
        editor.saved("shared.py")
        await editor.settled()
    assert editor.published == []


async def test_severities_come_from_the_project_and_follow_it(watching: Watch, root: Path) -> None:
    (root / "pyproject.toml").write_text("[tool.foldline.severity]\nlong-summary = 'hint'\n")
    editor = await watching()
    editor.open("prompt.py", SHORT)
    assert await editor.next(1) == ("prompt.py", 1, ["long-summary Hint"])
    (root / "pyproject.toml").write_text("[tool.foldline.severity]\nlong-summary = 'off'\n")
    editor.saved("pyproject.toml")
    assert await editor.next(2) == ("prompt.py", 1, [])
    (root / "pyproject.toml").unlink()
    (root / "foldline.toml").write_text("token-budget = 3\n")
    editor.saved("foldline.toml")
    assert await editor.next(3) == (
        "prompt.py", 1, ["token-budget Warning", "long-summary Warning"],
    )  # fmt: skip


async def test_the_clients_settings_win_and_what_is_wrong_is_said_once(
    watching: Watch, root: Path
) -> None:
    (root / "pyproject.toml").write_text(
        "[tool.foldline]\ntoken-budget = 'many'\n[tool.foldline.severity]\nlong-summary = 'error'\n"
    )
    settings = {"severity": {"long-summary": "information", "no-such": "off"}, "codeLens": 3}
    editor = await watching(asks=True, settings=settings)
    editor.open("prompt.py", SHORT)
    await editor.until(lambda: bool(editor.shown))
    # Those before the answer came have the project's severity.
    count = 1
    while (await editor.next(count))[2] != ["long-summary Information"]:
        count += 1
    (message,) = editor.shown
    for path in (
        "foldline.severity.no-such",
        "foldline.codeLens",
        "tool.foldline.token-budget",
    ):
        assert path in message
    settings = {"severity": {"long-summary": "off"}, "codeLens": 3}
    editor.client.set_configuration(settings, section="foldline")
    editor.client.workspace_did_change_configuration(types.DidChangeConfigurationParams(None))
    assert await editor.next(count + 1) == ("prompt.py", 1, [])
    assert len(editor.shown) == 1


async def test_what_a_client_pushed_holds_when_the_server_is_initialized_later(root: Path) -> None:
    server = SimpleNamespace(
        core=Workspace.at(root),
        client_capabilities=types.ClientCapabilities(),
        reported=set(),
        diagnostics=SimpleNamespace(schedule=lambda: None),
    )
    ls = cast("FoldlineServer", server)
    await configure(ls, {"foldline": {"tokenBudget": 7}})
    await configure(ls)
    assert ls.core.folder(root / "prompt.py").options().token_budget == 7


async def test_a_client_that_is_not_asked_sends_its_settings(watching: Watch) -> None:
    editor = await watching()
    editor.open("prompt.py", SHORT)
    assert await editor.next(1) == ("prompt.py", 1, ["long-summary Warning"])
    changed = types.DidChangeConfigurationParams(
        {"foldline": {"severity": {"long-summary": "error"}, "tokens": "cl900k"}}
    )
    editor.client.workspace_did_change_configuration(changed)
    assert await editor.next(2) == ("prompt.py", 1, ["long-summary Error"])
    await editor.until(lambda: bool(editor.shown))
    editor.client.workspace_did_change_configuration(changed)
    await editor.settled()
    assert len(editor.shown) == 1
    assert "foldline.tokens: expected one of" in editor.shown[0]
