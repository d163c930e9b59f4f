"""Edits of a document: its text is what LSP says, and answers are those of a fresh start."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test
from lsprotocol import types

from foldline.ide.analysis import top_level as statements
from foldline.ide.analysis.modules import with_line_feeds
from foldline.ide.workspace import Workspace
from foldline.server.commands import prompt_list
from foldline.server.convert import LineIndex
from foldline.server.documents import Documents
from foldline.server.features import (
    code_lens,
    code_lens_resolve,
    diagnostic,
    document_link,
    document_symbol,
    folding_range,
    inlay_hint,
    semantic_tokens,
)

from ..capabilities import capabilities_of
from .conftest import TIME_LIMIT, seeds

if TYPE_CHECKING:
    from collections.abc import Awaitable

FIXED_SEEDS = 5
HEAD = """\
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

@dataclass(frozen=True)
class Params:
    name: str
    task: str = "tidy"

"""
TEMPLATE = '''\
reviewer = PromptTemplate(ns="n", key="reviewer", sections=[
    MarkdownSection[Params](title="Task", key="task", template="""
        Review ${name}: ${task}, $$5.
        """),
    MarkdownSection[Params](title="Notes", key="notes", template="for ${name}",
        summary="Notes.", visibility=SectionVisibility.SUMMARY),
])
'''
SHARED = """\
STYLE = "in the style of ${name}"
style = MarkdownSection[Params](title="Style", key="style", template=STYLE)
other = PromptTemplate(ns="n", key="other", sections=[style])
"""
LOOSE = """\
if True:
    parts = [MarkdownSection[Params](title="A", key="a", template="${missing}")]
    parts.append(MarkdownSection[Params](title="B", key="b", template="b"))
made = PromptTemplate(ns="n", key="made", sections=[*parts])
"""
SOUND = ("", HEAD, HEAD + TEMPLATE, HEAD + SHARED + TEMPLATE, HEAD + LOOSE, SHARED + HEAD + LOOSE)
BREAKS = ("\n", "\r\n", "\r", "\f", "\v", "\x1c", "\u0085", "\u2028", "\0", "\ufeff", "\t", "    ")
WIDE = ("é", "日本", "😀", "\ud83d", "\ude00")
SIGNS = ('"', '"""', "'", "(", ")", "[", "]", ",", ":", "; ", "\\", "#", "@", "$", "${", "}")
WORDS = ("", "x = 1", "task", "name", "${name}", "MarkdownSection", "class Params:", "sections=[")
LINES = ("\nSTYLE = 'other'\n", "\rSTYLE = 'mac'\r", "def f():\n    pass\n", SHARED, TEMPLATE)
PIECES = (*BREAKS, *WIDE, *SIGNS, *WORDS, *LINES)


def joined(text: str) -> str:
    """The text with halves of a character that stand side by side as one character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


# JSON knows no two halves side by side: they are a character to it.
texts = st.builds(
    lambda text, end: joined(text.replace("\n", end)),
    st.sampled_from(SOUND) | st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.sampled_from(["\n", "\r\n", "\r", "\f\n"]),
)
pieces = st.lists(st.sampled_from(PIECES), max_size=3).map("".join).map(joined)
places = st.tuples(
    st.integers(0, 25) | st.just((1 << 31) - 1), st.integers(0, 60) | st.just((1 << 31) - 1)
)


class Client:
    """As much of a server as answers about one document."""

    def __init__(self, root: Path, text: str, encoding: types.PositionEncodingKind) -> None:
        self.uri = (root / "prompts.py").as_uri()
        self.documents = Documents(None, position_encoding=encoding)
        self.core = Workspace.at(root)
        self.client_capabilities = capabilities_of()
        self.late_checks = SimpleNamespace(known=lambda _: ())
        self._version = 1
        item = types.TextDocumentItem(self.uri, "python", 1, text)
        self.documents.put_text_document(item)
        self._take()

    @property
    def text(self) -> str:
        document = self.documents.document(self.uri)
        assert document is not None
        return document.source

    def change(self, *changes: types.TextDocumentContentChangeEvent) -> None:
        self._version += 1
        identifier = types.VersionedTextDocumentIdentifier(self._version, self.uri)
        for change in changes:
            self.documents.update_text_document(identifier, change)
        self._take()

    def _take(self) -> None:
        document = self.documents.document(self.uri)
        assert document is not None
        self.core.open_document(self.uri, document.source, document.version)

    async def answers(self) -> dict[str, Any]:
        """All that is said of the document without executing it."""
        ls: Any = self
        document = types.TextDocumentIdentifier(self.uri)
        everything = types.Range(types.Position(0, 0), types.Position(1 << 30, 0))
        questions: dict[str, Awaitable[Any]] = {
            "symbols": document_symbol.handle(ls, types.DocumentSymbolParams(document)),
            "lenses": self._lenses(document),
            "diagnostics": diagnostic.handle(ls, types.DocumentDiagnosticParams(document)),
            "foldings": folding_range.handle(ls, types.FoldingRangeParams(document)),
            "tokens": semantic_tokens.handle(ls, types.SemanticTokensParams(document)),
            "hints": inlay_hint.handle(ls, types.InlayHintParams(document, everything)),
            "links": document_link.handle(ls, types.DocumentLinkParams(document)),
            "prompts": prompt_list.handle(ls, prompt_list.Arguments(self.uri)),
        }
        return {name: await question for name, question in questions.items()}

    async def _lenses(self, document: types.TextDocumentIdentifier) -> list[types.CodeLens]:
        ls: Any = self
        found = await code_lens.handle(ls, types.CodeLensParams(document))
        return [await code_lens_resolve.handle(ls, lens) for lens in found or ()]


class Edits(RuleBasedStateMachine):
    """One document in one client, edited."""

    root: ClassVar[Path]
    runner: ClassVar[asyncio.Runner]

    @initialize(text=texts, encoding=st.sampled_from(types.PositionEncodingKind))
    def opened(self, text: str, encoding: types.PositionEncodingKind) -> None:
        self.encoding = encoding
        self.client = Client(self.root, text, encoding)
        self.model = text
        self.check()

    @rule(text=texts)
    def replaced(self, text: str) -> None:
        self.client.change(types.TextDocumentContentChangeWholeDocument(text))
        self.model = text
        self.check()

    @rule(start=places, end=places, text=pieces)
    def edited(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        self._edit(min(start, end), max(start, end), text)
        self.check()

    @rule(place=places, text=pieces)
    def typed(self, place: tuple[int, int], text: str) -> None:
        self._edit(place, place, text)
        self.check()

    @rule(place=places, text=pieces)
    def typed_and_taken_back(self, place: tuple[int, int], text: str) -> None:
        before = self.model
        self._edit(place, place, text)
        self.check()
        start = offset_at(before, place, self.encoding)
        end = start + len(self.model) - len(before)
        where = LineIndex.of(self.model, self.encoding).range(start, end)
        low, high = ((item.line, item.character) for item in (where.start, where.end))
        if offset_at(self.model, low, self.encoding) == start:
            self._edit(low, high, "")
            self.check()

    def _edit(self, start: tuple[int, int], end: tuple[int, int], text: str) -> None:
        place = types.Range(types.Position(*start), types.Position(*end))
        self.client.change(types.TextDocumentContentChangePartial(range=place, text=text))
        low, high = (offset_at(self.model, item, self.encoding) for item in (start, end))
        self.model = joined(self.model[:low] + text + self.model[high:])

    def check(self) -> None:
        """Compare the text with the model, and the answers with those of a fresh start."""
        assert self.client.text == self.model
        answers = self.runner.run(self.client.answers())
        fresh = Client(self.root, self.model, self.encoding)
        # A broken statement borrows what its last good text said.
        if is_sound(with_line_feeds(self.model)):
            assert answers == self.runner.run(fresh.answers())


def is_sound(text: str) -> bool:
    """Whether no statement is broken: by our parser, which forgives more, and by Python's."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        ast.parse(text)
        return not statements.parse(text, "").broken
    return False


def offset_at(text: str, place: tuple[int, int], encoding: str) -> int:
    """The offset of a position, worked out from LSP's text alone, one unit at a time."""
    line, column = place
    offset = 0
    while line and offset < len(text):
        if text[offset] == "\r" and text[offset + 1 : offset + 2] == "\n":
            offset += 1
        line -= text[offset] in "\r\n"
        offset += 1
    while not line and offset < len(text) and text[offset] not in "\r\n":
        units = len(text[offset].encode(encoding + "-le" * (encoding != "utf-8"), "surrogatepass"))
        column -= units // {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
        if column < 0:
            break
        offset += 1
    return offset


@pytest.mark.timeout(TIME_LIMIT)
def test_after_any_edits_the_text_and_the_answers_are_those_of_a_fresh_start() -> None:
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        for number in seeds(FIXED_SEEDS):
            machine = type(f"Edits{number}", (Edits,), {"root": Path(folder), "runner": runner})
            run_state_machine_as_test(
                seed(number)(machine),
                settings=settings(
                    max_examples=4,
                    stateful_step_count=25,
                    deadline=None,
                    database=None,
                    suppress_health_check=list(HealthCheck),
                    phases=[Phase.generate, Phase.shrink],
                ),
            )
