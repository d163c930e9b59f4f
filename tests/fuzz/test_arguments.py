"""Hostile values in every field of every request: each is answered once, and never by a crash."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import sys
import typing
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from lsprotocol import types
from tests.repositories import git

from foldline.server.app import COMMANDS, FEATURES
from foldline.server.features.notifications import NOTIFICATIONS

from .conftest import TIME_LIMIT, seeds
from .session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.real

SERVE = (sys.executable, "-m", "foldline.agent", "serve", "--stdio")
MCP = (sys.executable, "-m", "foldline.agent", "mcp", "--root")
INTERNAL_ERROR = -32603
MODULE = """
from dataclasses import dataclass
from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility

@dataclass(frozen=True)
class Params:
    name: str = "n"

p = PromptTemplate(ns="n", key="k", sections=[
    MarkdownSection[Params](title="T", key="t", template="hello ${name}"),
    MarkdownSection[Params](title="U", key="u", template="and ${name}", summary="s",
        visibility=SectionVisibility.SUMMARY)])
"""
# They are not commands' business: other tests end, open and configure servers.
APART = {"initialize", "initialized", "shutdown"}
LONG = 1 << 20
PER_FIELD = int(os.environ.get("FOLDLINE_FUZZ_VALUES", "12"))

Params = Any


def deep(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def hostile(root: Path) -> tuple[object, ...]:
    """What no field expects, of every kind."""
    uris = [
        "", "x", "file:", "file:///", "file:///%00", "file://[", "file://host/share", "file:m.py",
        "file:///%ff%fe", "file:///\ud800", "untitled:Untitled-1", "http://example.org/a.py",
        "foldline-prompt:/m.py/p.md", "foldline-prompt:%00/p.md", "data:,x", root.as_uri(),
        f"{root.as_uri()}/missing.py", f"{root.as_uri()}/m.py/below", "file:///" + "a" * 5_000,
        f"{root.as_uri()}/m.py", f"{root.as_uri()}/" + "a/" * 3_000, "file:///dev/zero", "://", "%",
    ]  # fmt: skip
    texts = [
        "\0", "a\0b", "\ud800", "\udc00\ud83d", "\r\n", "../../etc/passwd", "/etc/passwd", "m.py",
        "~", ".", "(" * 500, "(?P<", "[z-a]", "a{1000}{1000}", "*" * 300, "\\", "-", "--output=x",
        "HEAD", "HEAD..", "..", "HEAD^{/", "p", "n/k", "t", "none", "executed", "static", "1e9",
        "\u202e", "\x1b[2J", " ", "{}", "null", "9" * 5_000, "é" * 1_000, "x" * 60_000,
        "a." * 2_000, "{a," * 2_000, "[!" * 500, "?" * 5_000, "**/" * 500, "m.py:" + "9" * 30,
        "p[" + "9" * 30 + "]", "refs@1.aaaa", "search@" + "9" * 30, "n.ipynb:q", "~A::B",
        "Vec<" * 500, "٣", "\ufeff",
    ]  # fmt: skip
    numbers = [
        0, -1, 1, 1 << 31, -(1 << 31), (1 << 31) - 1, 1 << 63, 1 << 64, 10**30, -(10**30), 0.5,
        -0.0, 1e308, float("nan"), float("inf"), float("-inf"), 10**400,
    ]  # fmt: skip
    others: list[object] = [
        None, True, False, [], {}, [None], [[]], {"": ""}, {"a": {"b": []}}, [1, "a", None],
        deep(60), deep(600), {"line": -1, "character": -1}, {"line": 1 << 40, "character": 0},
        {"line": 0, "character": 1 << 31}, {"line": 0.5, "character": None},
        {"start": 1, "end": 2}, ["t", "\0", "\ud800"], {"t": "FULL"}, {"t": {"x": "\ud800"}},
        {"Params": {"name": float("nan")}}, {"Params": {"nome": 1}}, {"\ud800": {}}, {"t": "\0"},
        {"jsonrpc": "2.0", "id": 1, "method": "shutdown"},
    ]  # fmt: skip
    return (*uris, *texts, *numbers, *others)


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The place of each value within a value."""
    yield path
    inner: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    for key, item in inner:
        yield from places(item, (*path, key))


def replaced(value: Any, path: tuple[str | int, ...], new: object) -> Any:
    """A copy of `value` with another one at a place."""
    if not path:
        return new
    copy: Any = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], new) if path[1:] else new
    return copy


def sound(kind: Any, root: Path, name: str = "") -> Any:
    """Parameters of a type, as JSON, that mean the document and its first place."""
    uri = f"{root.as_uri()}/m.py"
    if attrs.has(kind):
        attrs.resolve_types(kind)
        fields = attrs.fields(kind)
        converted = {
            field.name: sound(field.type, root, field.name)
            for field in fields
            if field.default is attrs.NOTHING or field.name in ("context", "range", "only")
        }
        return {_camel(key): value for key, value in converted.items()}
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, getattr(__import__("types"), "UnionType", None)):
        return sound(
            next(argument for argument in arguments if argument is not type(None)), root, name
        )
    if origin is not None and issubclass(origin, Sequence):
        return [sound(arguments[0], root, name)]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind)).value
    known = {str: uri if name == "uri" else "p", int: 0, bool: True, float: 1.0}
    return known.get(kind, {})


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


def requests(root: Path) -> dict[str, tuple[str, Params]]:
    """Each request that the server knows, with parameters that fit."""
    found: dict[str, tuple[str, Params]] = {}
    for feature in FEATURES:
        kinds = types.METHOD_TO_TYPES.get(feature.METHOD)
        if feature.METHOD not in APART and kinds is not None and kinds[1] is not None:
            found[feature.METHOD] = (feature.METHOD, sound(kinds[2], root))
    for command in COMMANDS:
        arguments = dict.fromkeys(
            (field.name for field in dataclasses.fields(command.Arguments)), None
        )
        # Nothing waits for a language server, and nothing is restarted a thousand times.
        fitting: dict[str, Any] = {"seconds": 0, "uri": f"{root.as_uri()}/m.py", "server": "ty"}
        given = {name: fitting[name] for name in arguments if name in fitting}
        found[command.COMMAND] = (
            "workspace/executeCommand",
            {"command": command.COMMAND, "arguments": [given]},
        )
    return found


def cases(
    root: Path, chooser: random.Random, *, each_field: bool
) -> Iterator[tuple[str, str, Params]]:
    """Each field by itself with some hostile values, or some fields at once."""
    values = hostile(root)
    for name, (method, params) in requests(root).items():
        names = [path for path in places(params) if path and path != ("command",)]
        if method == "workspace/executeCommand":
            [arguments] = [command.Arguments for command in COMMANDS if name == command.COMMAND]
            names = [("arguments", 0, field.name) for field in dataclasses.fields(arguments)]
            names += [("arguments",), ("arguments", 0)]
        if each_field:
            for path in names:
                for value in chooser.sample(values, PER_FIELD):
                    yield name, method, replaced(params, path, value)
            continue
        for _ in range(30):
            mutated = params
            for path in chooser.sample(names, min(len(names), chooser.randrange(1, 5))):
                try:
                    mutated = replaced(mutated, path, chooser.choice([*values, "x" * LONG]))
                except (TypeError, KeyError, IndexError):
                    continue  # What was around it has been replaced.
            yield name, method, mutated


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("fuzz").resolve()
    (root / "m.py").write_text(MODULE, encoding="utf-8")
    (root / "pyproject.toml").write_text(
        '[tool.foldline.lsp]\ndisable = ["ty", "basedpyright", "pyrefly", "jedi"]\n'
    )
    for arguments in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        git(root, *arguments)
    return root


def started(root: Path, *, trusted: bool) -> Session:
    session = Session(SERVE)
    folders = [{"uri": root.as_uri(), "name": "fuzz"}]
    options = {"trusted": trusted, "render_deadline": 20}
    params = {"capabilities": {}, "workspaceFolders": folders, "initializationOptions": options}
    assert "result" in session.ask("initialize", params)
    document = {"uri": f"{root.as_uri()}/m.py", "languageId": "python", "version": 1}
    session.notify("initialized", {})
    session.notify("textDocument/didOpen", {"textDocument": {**document, "text": MODULE}})
    return session


def faults(session: Session, sent: dict[int, tuple[str, Params]]) -> list[str]:
    """What is wrong with the answers to what was sent, as one can repeat it."""
    found: dict[tuple[str, str], str] = {}
    for number, (name, params) in sent.items():
        answers = session.answers[number]
        error = answers[0].get("error") or {}
        shown = f"{name} {json.dumps(params)[:300]}"
        if len(answers) != 1:
            found.setdefault((name, "count"), f"{shown}: answered {len(answers)} times")
        if error.get("code") == INTERNAL_ERROR:
            where = (error.get("data") or {}).get("traceback", ["?"])[-1]
            found.setdefault((str(where), ""), f"{shown}: {error['message']}\n{where}")
    return list(found.values())


def check(session: Session, mutated: Iterator[tuple[str, str, Params]], seed: int) -> None:
    """Send all of it, and require one answer to each that isn't an internal error."""
    sent: dict[int, tuple[str, Params]] = {}
    for name, method, params in mutated:
        sent[session.request(method, params)] = (name, params)
        if len(sent) % 200 == 0:
            session.wait(sent)
    session.wait(sent)
    found = faults(session, sent)
    assert not found, f"seed {seed}:\n" + "\n".join(found)
    session.answers.clear()


@pytest.mark.timeout(TIME_LIMIT)
def test_every_field_of_every_request_takes_hostile_values(workspace: Path) -> None:
    with started(workspace, trusted=False) as session:
        for seed in seeds(2):
            chooser = random.Random(seed)
            check(session, cases(workspace, chooser, each_field=seed % 2 == 0), seed)
        assert session.ask("shutdown", None).get("result", 1) is None


NO_FOLDERS = (
    "file://[", "file:///%00", "file:///\ud800", "file://host", "file:", "", "x", "http://[::1",
    "vscode-vfs://github/a/b", "file:///" + "a" * LONG, "%", "{root}/m.py", "{root}/missing",
    "file:///%ff",
)  # fmt: skip
ROOTS = {
    "rootUri": ("file://[", "file:///%00", "http://[::1", "file:///" + "a" * LONG, "{root}/m.py"),
    "rootPath": ("//x", "\ud800\0", "{root}/missing"),
}


def initialized(session: Session, **params: object) -> None:
    """Begin a session, and require that questions are answered."""
    answer = session.ask("initialize", {"capabilities": {}, **params})
    assert "capabilities" in answer.get("result", {}), f"{str(params)[:200]}: {answer}"
    session.notify("initialized", {})
    for command in ("code.tree", "prompt.list", "status"):
        asked = {"command": f"foldline.server.{command}", "arguments": []}
        answer = session.ask("workspace/executeCommand", asked)
        code = answer.get("error", {}).get("code")
        assert code != INTERNAL_ERROR, f"{str(params)[:200]}: {answer}"


@pytest.mark.timeout(TIME_LIMIT)
@pytest.mark.parametrize("field", ROOTS)
@pytest.mark.slow
def test_a_root_that_is_no_folder_leaves_a_server_that_answers(workspace: Path, field: str) -> None:
    root = workspace.as_uri() if field == "rootUri" else str(workspace)
    for value in ROOTS[field]:
        with Session(SERVE) as session:
            initialized(session, **{field: value.replace("{root}", root)})
            assert session.ask("shutdown", None).get("result", 1) is None


@pytest.mark.timeout(TIME_LIMIT)
def test_folders_that_cannot_be_meant_hide_no_other(workspace: Path) -> None:
    root = workspace.as_uri()
    uris = [*(uri.replace("{root}", root) for uri in NO_FOLDERS), root]
    with Session(SERVE) as session:
        initialized(session, workspaceFolders=[{"uri": uri, "name": "x"} for uri in uris])
        asked = {"command": "foldline.server.prompt.list", "arguments": []}
        prompts = session.ask("workspace/executeCommand", asked)["result"]
        assert [prompt["name"] for prompt in prompts] == ["p"]
        assert session.ask("shutdown", None).get("result", 1) is None


@pytest.mark.timeout(TIME_LIMIT)
@pytest.mark.slow
def test_prompts_that_are_executed_take_hostile_values(workspace: Path) -> None:
    with started(workspace, trusted=True) as session:
        uri = f"{workspace.as_uri()}/m.py"
        preview = {"command": "foldline.server.prompt.preview", "arguments": [{"uri": uri}]}
        assert "result" in session.ask("workspace/executeCommand", preview)
        for seed in seeds(1):
            chooser = random.Random(seed)
            mutated = (
                case
                for case in cases(workspace, chooser, each_field=True)
                if case[0].startswith("foldline.server.prompt.") and chooser.random() < 0.15
            )
            check(session, mutated, seed)
        assert session.ask("shutdown", None).get("result", 1) is None


@pytest.mark.timeout(TIME_LIMIT)
def test_notifications_of_every_kind_leave_a_server_that_answers(workspace: Path) -> None:
    notifications = {
        method: sound(kinds[2], workspace)
        for method in (*NOTIFICATIONS, *(feature.METHOD for feature in FEATURES))
        if (kinds := types.METHOD_TO_TYPES.get(method)) and kinds[1] is None
        if method not in APART
    }
    notifications["foldline/didChangeTrust"] = {"trusted": False}
    notifications["$/setTrace"] = {"value": "off"}
    notifications["window/workDoneProgress/cancel"] = {"token": "t"}
    notifications["textDocument/didSave"] = {"textDocument": {"uri": workspace.as_uri()}}
    values = hostile(workspace)
    with started(workspace, trusted=False) as session:
        for seed in seeds(1):
            chooser = random.Random(seed)
            for method, params in notifications.items():
                for path in places(params):
                    for value in chooser.sample(values, PER_FIELD):
                        session.notify(method, replaced(params, path, value))
            document = {"uri": f"{workspace.as_uri()}/m.py", "languageId": "p", "version": 1}
            session.notify("textDocument/didOpen", {"textDocument": {**document, "text": MODULE}})
            listed = {"command": "foldline.server.prompt.list", "arguments": []}
            answer = session.ask("workspace/executeCommand", listed)
            assert answer.get("error", {}).get("code") != INTERNAL_ERROR, f"seed {seed}: {answer}"
        assert session.ask("shutdown", None).get("result", 1) is None


@pytest.mark.timeout(TIME_LIMIT)
@pytest.mark.slow
def test_every_argument_of_every_tool_takes_hostile_values(workspace: Path) -> None:
    with Session((*MCP, str(workspace)), framed=False) as session:
        client = {"protocolVersion": "2025-06-18", "capabilities": {}}
        client["clientInfo"] = {"name": "fuzz", "version": "0"}
        assert "result" in session.ask("initialize", client)
        session.notify("notifications/initialized", {})
        tools = session.ask("tools/list", {})["result"]["tools"]
        values = hostile(workspace)
        fitting: dict[str, object] = {"path": "m.py", "paths": ["m.py"], "start": 1, "end": 2}
        fitting |= dict.fromkeys(("name", "pattern", "query"), "p")
        fitting |= dict.fromkeys(("prompt", "section_key", "reason", "tool"), "n/k")
        fitting["section_keys"] = ["n/k"]
        for seed in seeds(1):
            chooser = random.Random(seed)
            sent = {}
            for tool in tools:
                fields = tool["inputSchema"]["properties"]
                required = tool["inputSchema"].get("required", ())
                given = {name: fitting[name] for name in required}
                for field in fields:
                    for value in chooser.sample(values, PER_FIELD):
                        call = {"name": tool["name"], "arguments": {**given, field: value}}
                        sent[session.request("tools/call", call)] = (tool["name"], call)
            for field in ("name", "arguments"):
                for value in chooser.sample(values, PER_FIELD):
                    asked = {"name": "n/k", "arguments": {}, field: value}
                    sent[session.request("prompts/get", asked)] = ("prompts/get", asked)
            session.wait(sent)
            found = faults(session, sent) + [
                f"{name} {json.dumps(params)[:300]}: {answer['result']['content'][0]['text'][:300]}"
                for number, (name, params) in sent.items()
                for answer in session.answers[number]
                if "failed inside foldline" in json.dumps(answer.get("result", ""))
            ]
            assert not found, f"seed {seed}:\n" + "\n".join(found)
            session.answers.clear()
