"""`initialize` is answered before pygls is loaded, and as pygls answers it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from importlib.resources import files
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.server.app import create_server
from foldline.server.features import initialize as initialize_feature
from foldline.server.handshake import FACTS, LONGEST_BODY, LONGEST_MESSAGE, fits, greet

from .conftest import SERVE
from .test_protocol import EXIT, LONGEST, frame, initialize, notification, parse, request, talk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAKER = Path(__file__).parents[2] / "server" / "make_handshake.py"
CLIENTS = sorted(files("pytest_lsp.clients").iterdir(), key=lambda file: file.name)
CAPABILITIES = {
    file.name: json.loads(file.read_text(encoding="utf-8"))["capabilities"]
    for file in CLIENTS
    # In 0.9 one capability is an array of the object that it should be, which is left to pygls.
    if file.name.endswith(".json") and file.name != "neovim_v0.9.1.json"
}
REQUEST = json.loads(FACTS.read_bytes())["request"]


@pytest.fixture(scope="module")
def maker() -> Any:
    spec = spec_from_file_location("make_handshake", MAKER)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def of_pygls(maker: Any) -> Iterator[Callable[[object], str]]:
    """The answer of pygls to these params."""
    server = create_server()
    with pytest.MonkeyPatch.context() as patch:
        # It would end this process with one of any number.
        patch.setattr(initialize_feature, "exit_with_process", lambda _: None)
        yield lambda params: json.dumps([maker.pygls_answer(server, params)])
    server.close()


def greeted(stream: bytes) -> tuple[list[Any], int | str | None]:
    """What is answered at once to this input, and the id that it was answered under."""
    written = io.BytesIO()
    greeting = greet(io.BytesIO(stream), written)
    return parse(written.getvalue()), greeting.answered


def test_the_file_is_as_fresh_as_what_it_tells(maker: Any) -> None:
    assert json.loads(FACTS.read_bytes()) == maker.facts(), "run `python server/make_handshake.py`"


@pytest.mark.parametrize("client", CAPABILITIES)
def test_editors_get_the_answer_of_pygls_at_once(
    client: str, of_pygls: Callable[[object], str]
) -> None:
    params = {"processId": None, "rootUri": None, "capabilities": CAPABILITIES[client]}
    messages, answered = greeted(request(1, "initialize", params))
    assert answered == 1
    assert json.dumps(messages) == of_pygls(params)


def of_type(kind: Any) -> st.SearchStrategy[Any]:
    """JSON of a type as `fits` reads it."""
    if isinstance(kind, dict):
        required = {name[:-1]: of_type(of) for name, of in kind.items() if name.endswith("!")}
        optional = {name: of_type(of) for name, of in kind.items() if not name.endswith("!")}
        return st.fixed_dictionaries(required, optional=optional)
    if isinstance(kind, list):
        form, *kinds = kind
        if form == "list":
            return st.lists(of_type(kinds[0]), max_size=3)
        return st.sampled_from(kinds) if form == "of" else st.one_of(*map(of_type, kinds))
    return {
        "bool": st.booleans(),
        "int": st.integers(-(1 << 31), (1 << 31) - 1),
        "uint": st.integers(0, (1 << 31) - 1),
        "str": TEXT,
        "any": JSON,
    }[kind]


# Half a character too.
TEXT = st.sampled_from(["file:///tmp", "file:///\ud800", "off"]) | st.text(
    st.characters(), max_size=5
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner),
    max_leaves=5,
)
ENCODINGS = st.lists(st.sampled_from(["utf-8", "utf-16", "utf-32", "utf-7", "UTF-8"]))


@given(
    of_type(REQUEST["params!"]),
    ENCODINGS | st.none(),
    st.none() | st.fixed_dictionaries({}, optional={"prepareSupport": st.booleans() | st.none()}),
    st.none() | st.fixed_dictionaries({}, optional={"willSave": st.booleans() | st.none()}),
)
def test_the_answer_to_every_client_is_the_one_of_pygls(
    of_pygls: Callable[[object], str],
    params: dict[str, Any],
    encodings: object,
    rename: object,
    saving: object,
) -> None:
    # What the answer depends on, more often than by chance.
    capabilities = params["capabilities"]
    of_general = {"positionEncodings": encodings}
    of_documents = {"rename": rename, "synchronization": saving}
    capabilities["general"] = {**(capabilities.get("general") or {}), **of_general}
    capabilities["textDocument"] = {**(capabilities.get("textDocument") or {}), **of_documents}
    messages, answered = greeted(request(1, "initialize", params))
    assert answered == 1
    assert json.dumps(messages) == of_pygls(params)


@given(st.data())
def test_what_is_answered_at_once_is_nothing_that_pygls_refuses(
    of_pygls: Callable[[object], str], data: st.DataObject
) -> None:
    params = data.draw(of_type(REQUEST["params!"]))
    # One value, at any depth, becomes any other.
    place: Any = params
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            break
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], (dict, list)) or data.draw(st.booleans()):
            place[key] = data.draw(JSON)
            break
        place = place[key]
    messages, answered = greeted(request(1, "initialize", params))
    if answered is not None:
        assert json.dumps(messages) == of_pygls(params)


PARAMS: dict[str, object] = {"processId": None, "rootUri": None, "capabilities": {}}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": PARAMS}
BODY = json.dumps(INITIALIZE).encode()
NESTED = b"[" * 700 + b"]" * 700
LENGTH = b"Content-Length: %d\r\n" % len(BODY)

ODD: dict[str, bytes] = {
    "nothing": b"",
    "a length of nothing": b"Content-Length: 0\r\n\r\n" + frame(BODY),
    "a body that is too long": frame(BODY + b" " * LONGEST_BODY),
    "no JSON": frame(b"{nonsense"),
    "no object": frame(b"[1]"),
    "deep nesting": frame(b"[" * 100_000),
    "nesting that some parsers read": frame(
        BODY.replace(b'"capabilities": {}', b'"capabilities": {"experimental": %b}' % NESTED)
    ),
    "another method": request(1, "shutdown"),
    "a notification": notification("initialize", PARAMS),
    "another version": frame({**INITIALIZE, "jsonrpc": "1.0"}),
    "no id": frame({**INITIALIZE, "id": None}),
    "a truth value as the id": frame({**INITIALIZE, "id": True}),
    "a fraction as the id": frame({**INITIALIZE, "id": 1.0}),
    "no params": request(1, "initialize"),
    "no capabilities": request(1, "initialize", {"processId": None}),
    "capabilities that are a text": request(1, "initialize", {**PARAMS, "capabilities": "all"}),
    "a process out of range": request(1, "initialize", {**PARAMS, "processId": 1 << 40}),
    "a folder without a name": request(
        1, "initialize", {**PARAMS, "workspaceFolders": [{"uri": "file:///a"}]}
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_whatever_is_odd_is_left_to_pygls(case: str) -> None:
    assert greeted(ODD[case]) == ([], None)


BROKEN: dict[str, bytes] = {
    "no header": b"garbage\r\n\r\n",
    "another header alone": b"Content-Type: x\r\n\r\n" + frame(BODY),
    "a name with a slip": frame(BODY).replace(b"Length", b"Lenght"),
    "half a header": b"Content-Le",
    "half a body": frame(BODY)[:-5],
    "a length that is no number": b"Content-Length: five\r\n\r\n" + BODY,
    "a length that no message has": b"Content-Length: %d\r\n\r\n" % (LONGEST_MESSAGE + 1) + BODY,
    "a line that is too long": b"x" * 100_000,
    "lines that are no headers": b"text\n" * 20_000 + frame(BODY),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_stream_whose_messages_cannot_be_told_apart_is_an_error(case: str) -> None:
    with pytest.raises(ValueError, match=r"Content-Length|header|bytes"):
        greeted(BROKEN[case])


HEADERS: dict[str, bytes] = {
    "small letters": LENGTH.lower(),
    "capital letters": LENGTH.upper(),
    "no blank": LENGTH.replace(b": ", b":"),
    "blanks and a tab": LENGTH.replace(b": ", b" : \t ").replace(b"\r", b"  \r"),
    "another header": b"X-Y: z\r\n" + LENGTH + b"Content-Type: x\r\n",
    "two lengths": LENGTH * 2,
    "empty lines before": b"\r\n\r\n" + LENGTH,
}


@pytest.mark.parametrize("ending", [b"\r\n", b"\n"])
@pytest.mark.parametrize("case", HEADERS)
def test_headers_are_read_as_those_of_http(case: str, ending: bytes) -> None:
    head = (HEADERS[case] + b"\r\n").replace(b"\r\n", ending)
    messages, answered = greeted(head + BODY)
    assert answered == 1
    assert [message["id"] for message in messages] == [1]
    # Those behind the first message, too.
    shutdown = request(2, "shutdown").partition(b"\r\n\r\n")[2]
    behind = head.replace(str(len(BODY)).encode(), str(len(shutdown)).encode()) + shutdown
    messages, done = talk(initialize(), behind, behind, notification("exit"))
    assert [message["id"] for message in messages] == [1, 2, 2]
    assert done.returncode == 0


def test_a_header_without_a_length_is_told_and_ends_the_server() -> None:
    server = subprocess.Popen(
        SERVE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    with server:
        assert server.stdin is not None
        assert server.stderr is not None
        server.stdin.write(initialize() + b"Content-Lenght: 2\r\n\r\n{}")
        server.stdin.flush()
        # Though its input has not ended.
        assert server.wait(LONGEST) == 1
        assert b"it begins with b'Content-Lenght: 2'" in server.stderr.read()


def loaded_before_the_answer() -> set[str]:
    """The modules of a server that has answered, and loads now what it needs for the rest."""
    program = (
        "import sys\n"
        "from foldline.agent import cli, serve\n"
        "def load():\n"
        "    print(*sys.modules, file=sys.stderr)\n"
        "    sys.exit(0)\n"
        "serve._load = load\n"
        "cli.main(['serve', '--stdio'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=frame(BODY),
        capture_output=True,
        timeout=LONGEST,
        check=True,
    )
    assert [message["id"] for message in parse(done.stdout)] == [1]
    return set(done.stderr.decode().split())


def test_the_answer_waits_for_none_of_the_libraries() -> None:
    loaded = loaded_before_the_answer()
    libraries = {
        "asyncio",
        "attrs",
        "attr",
        "cattrs",
        "lsprotocol.types",
        "pygls.protocol",
        "psutil",
    }
    assert not loaded & libraries
    own = {name for name in loaded if name.startswith("foldline.")}
    assert own == {
        "foldline.agent",
        "foldline.agent.cli",
        "foldline.agent.serve",
        "foldline.backends",
        "foldline.backends.base",
        "foldline.backends.base.headers",
        "foldline.ide",
        "foldline.ide.lifecycle",
        "foldline.ide.standard_streams",
        "foldline.lazy",
        "foldline.version",
        "foldline.server",
        "foldline.server.handshake",
        "foldline.server.transport",
    }


def ids(messages: Iterable[Any]) -> list[object]:
    return [message.get("id") for message in messages]


def test_an_answer_that_came_at_once_is_the_only_one() -> None:
    messages, done = talk(initialize(), request(1, "foldline/nonsense"), *EXIT)
    assert ids(messages) == [1, 1, 99]
    assert "result" in messages[0]
    assert messages[1]["error"]["code"] == -32601
    assert done.returncode == 0


def test_a_refused_beginning_is_answered_once_and_can_be_repeated() -> None:
    refused = request(1, "initialize", {**PARAMS, "capabilities": 3})
    messages, done = talk(refused, initialize(), *EXIT)
    assert ids(messages) == [1, 1, 99]
    assert messages[0]["error"]["code"] == -32602
    assert "result" in messages[1]
    assert done.returncode == 0


def test_types_are_read_as_they_are_written() -> None:
    kind = {"a!": "uint", "b": ["list", ["one", "bool", ["of", "x", 1]]]}
    assert fits({"a": 0, "b": [True, "x", 1], "c": 5}, kind)
    assert fits({"a": 0, "b": None}, kind)
    wrong: list[Any] = [{}, {"a": -1}, {"a": None}, {"a": 0, "b": [2]}, {"a": 0, "b": ["1"]}, []]
    for value in [*wrong, None]:
        assert not fits(value, kind), value
