"""Random answers of a plugin's hooks, of which none breaks an answer of the house."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lsprotocol import types

from foldline.agent.check import _placed
from foldline.agent.check_formats import FORMATS, text_lines
from foldline.ide import plugins as seam
from foldline.ide.analysis.model import SourceSpan, Span
from foldline.ide.checks import Change, Diagnostic, Fix, Related, Severity
from foldline.ide.entry_points import Entry
from foldline.ide.features.completion import Completion, CompletionKind
from foldline.ide.features.hover import Hover
from foldline.ide.plugins import Action, Link, Plugin, Plugins
from foldline.ide.snapshot import Snapshot
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace
from foldline.server.diagnostic_items import lsp_diagnostic
from foldline.server.protocol import message_converter
from foldline.server.snapshots import LspSnapshot

TEXT = """\
from foldline.prompts import MarkdownSection, PromptTemplate

T = PromptTemplate(ns="a", key="b", sections=[
    MarkdownSection[None](title="R\U0001f600", key="rules", template="Use ${tools}."),
])
"""
CODE = "unknown-placeholder"
FILE = "FILE"
"""Stands for the document in places."""

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.just(ZeroDivisionError("an error as a value")),
)


def mostly(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """What fits, or now and then anything."""
    return st.integers(0, 24).flatmap(lambda number: strategy if number else junk)


odd = st.sampled_from(["\ud800", "a\x1b[31m", "\r\n", "]]>", ""])
texts = mostly(st.one_of(st.text(max_size=8), odd))
offsets = mostly(st.integers(0, len(TEXT)))
later = mostly(st.just(len(TEXT)))
spans = mostly(st.builds(Span, offsets, later))
places = mostly(st.builds(SourceSpan, mostly(st.just(FILE)), offsets, later))
changes = mostly(st.lists(mostly(st.builds(Change, places, texts)), max_size=2).map(tuple))
diagnostics = st.builds(
    Diagnostic,
    code=mostly(st.just("team-code")),
    severity=mostly(st.sampled_from(Severity)),
    message=texts,
    place=places,
    fixes=mostly(st.lists(mostly(st.builds(Fix, texts, changes)), max_size=2).map(tuple)),
    related=mostly(st.lists(mostly(st.builds(Related, places, texts)), max_size=2).map(tuple)),
    unnecessary=mostly(st.booleans()),
)
actions = st.builds(
    Action,
    title=texts,
    changes=changes,
    command=texts,
    arguments=mostly(st.dictionaries(texts, junk, max_size=2)),
)
completions = st.builds(
    Completion, label=texts, kind=mostly(st.sampled_from(CompletionKind)), text=texts, place=spans
)
hovers = st.builds(Hover, texts, st.one_of(spans, places))
links = st.builds(Link, spans, mostly(st.just(lambda: 5)))


def answers(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return mostly(st.lists(mostly(items), max_size=3))


class Team(Plugin):
    """Answers what it is told."""

    codes = {"team-code": "A code."}  # noqa: RUF012
    asked: str = ""
    told: Any = None

    def _answer(self, hook: str) -> Any:
        return self.told if hook == self.asked else ()

    def check(self, document: Snapshot) -> Any:
        return self._answer("check")

    def hover(self, document: Snapshot, offset: int) -> Any:
        return self._answer("hover")

    def actions(self, document: Snapshot, start: int, end: int) -> Any:
        return self._answer("actions")

    def completions(self, document: Snapshot, offset: int) -> Any:
        return self._answer("completions")

    def links(self, document: Snapshot) -> Any:
        return self._answer("links")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "review.py").write_text(TEXT, encoding="utf-8")
    opened = Workspace.at(folder)
    yield opened
    opened.close()


def about(answer: Any, file: str) -> Any:
    """An answer whose places are in the file."""
    if type(answer) is SourceSpan:
        return answer._replace(file=file) if answer.file == FILE else answer
    if type(answer) in (list, tuple):
        return type(answer)(about(one, file) for one in answer)
    for name in getattr(type(answer), "__dataclass_fields__", ()):
        object.__setattr__(answer, name, about(getattr(answer, name), file))
    return answer


def sent(value: Any) -> None:
    """Fail where a client can't be sent it."""
    json.dumps(message_converter().unstructure(value), ensure_ascii=False).encode()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_answer_of_a_plugin_breaks_one_of_the_house(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, data: st.DataObject
) -> None:
    (root,) = workspace.roots
    file = root / "review.py"
    module = ModuleType("team_of_tests")
    module.Team = Team  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    hooks = {
        Plugin.check: answers(diagnostics),
        Plugin.hover: mostly(hovers),
        Plugin.actions: answers(actions),
        Plugin.completions: answers(completions),
        Plugin.links: answers(links),
    }
    hook: Any = data.draw(st.sampled_from([Plugin.check, *hooks]))
    monkeypatch.setattr(Team, "asked", hook.__name__)
    monkeypatch.setattr(Team, "told", about(data.draw(hooks[hook]), str(file)))
    loaded = Plugins([Entry("team", "team_of_tests:Team", "team", "1")])
    monkeypatch.setattr(seam, "_plugins", cache(lambda: loaded))

    def query(snapshot: Snapshot) -> None:
        shown = LspSnapshot.wrap(snapshot, types.PositionEncodingKind.Utf16)
        reported = snapshot.source.diagnostics(shown)
        assert CODE in [one.code for one in reported]
        for one in reported:
            sent(lsp_diagnostic(one, shown))
            for fix in one.fixes:
                sent(shown.edit(fix.changes))
        placed = _placed("review.py", TEXT, reported)
        for write in FORMATS.values():
            write(placed, ["review.py"]).encode()
        list(text_lines(placed, ["review.py"], excerpts=True))
        if hook is Plugin.check:
            return
        arguments = {Plugin.actions: (0, 1), Plugin.links: ()}.get(hook, (0,))
        for answer in loaded.ask(hook, shown, *arguments):
            for item in answer if isinstance(answer, list) else [answer]:
                if item is None:
                    continue
                sent(shown.range(item.place) if hook is not Plugin.actions else item.arguments)
                if isinstance(item, Link):
                    assert item.resolve() is None

    workspace.with_snapshot(uri_of(file), query)
