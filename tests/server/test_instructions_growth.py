"""A key in an instruction file costs one parse and the section it is in, no walk, no stack."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

from lsprotocol import types

from foldline.backends.files.base import FileBackend
from foldline.backends.parsers.markdown import read_markdown
from foldline.ide.token_counter import TokenCounter
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace
from foldline.plugins.instructions.stack import _Stack
from foldline.server.features import code_lens, diagnostic, document_symbol, folding_range

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from foldline.backends.parsers.markdown import Markdown
    from foldline.server.server import FoldlineServer

LINES = 400


def text_with(typed: str) -> str:
    lines = [f"Line {line} says what `thing_{line}` is for." for line in range(LINES)]
    lines[::10] = [f"## Section {line}" for line in range(0, LINES, 10)]
    lines[201] += typed
    return "\n".join(lines)


def test_a_key_costs_one_parse_and_the_tokens_of_its_section(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    counted: list[str] = []
    walked: list[str] = []
    built: list[str] = []
    count, walk = TokenCounter.count, FileBackend.walk_folder

    def read_noted(text: str) -> Markdown:
        parsed.append(text)
        return read_markdown(text)

    def count_new(counter: TokenCounter, text: str) -> int:
        if counter.encoding and text not in counter._known:
            counted.append(text)
        return count(counter, text)

    def walk_noted(*arguments: object, **options: object) -> object:
        walked.append("walked")
        return walk(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("foldline.ide.instructions.document.read_markdown", read_noted)
    monkeypatch.setattr(TokenCounter, "count", count_new)
    monkeypatch.setattr(FileBackend, "walk_folder", walk_noted)
    monkeypatch.setattr(_Stack, "build", lambda stack: built.append(stack.client.name))
    workspace = Workspace.at(tmp_path)
    codec = SimpleNamespace(encoding=types.PositionEncodingKind.Utf16)
    server = SimpleNamespace(
        core=workspace,
        client_capabilities=types.ClientCapabilities(),
        documents=SimpleNamespace(position_codec=codec),
        late_checks=SimpleNamespace(known=lambda _: (), read=lambda _: None),
    )
    ls = cast("FoldlineServer", server)
    uri = uri_of(tmp_path / "AGENTS.md")
    identifier = types.TextDocumentIdentifier(uri)

    async def answer(version: int) -> None:
        workspace.open_document(uri, text_with("x" * version), version)
        await code_lens.handle(ls, types.CodeLensParams(identifier))
        await diagnostic.handle(ls, types.DocumentDiagnosticParams(identifier))
        await document_symbol.handle(ls, types.DocumentSymbolParams(identifier))
        await folding_range.handle(ls, types.FoldingRangeParams(identifier))

    asyncio.run(answer(0))
    assert len(counted) == LINES // 10
    for version in range(1, 4):
        parsed.clear()
        counted.clear()
        asyncio.run(answer(version))
        assert len(parsed) == 1
        assert len(counted) == 1
        assert counted[0].startswith("## Section 200\n")
    assert walked == []
    assert built == []
