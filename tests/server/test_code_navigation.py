"""Code over the wire: search, grep, what is known of a symbol, and starting afresh."""

import asyncio
from pathlib import Path

import psutil
import pytest

from .conftest import Editor, Visit

pytestmark = pytest.mark.real

PATIENCE = 60.0
ABOUT_SYMBOLS = ("definition", "hover", "implementations", "callHierarchy")


async def test_lines_are_found_by_a_pattern(editor: Editor) -> None:
    found = await editor.command("code.grep", pattern=r"def \w+_reset\(", glob="auth/*.py")
    assert found["text"].splitlines()[1] == "auth/service.py"
    assert (found["backend"], found["coverage"]) == ("grep", "complete")
    _, data = await editor.refusal("code.grep", pattern="(x")
    assert (data["kind"], data["argument"]) == ("arguments", "pattern")


async def test_without_arguments_it_is_the_first_symbol_of_the_focused_file(
    editor: Editor,
) -> None:
    editor.open("auth/models.py")
    outline = await editor.command("code.outline")
    assert (outline["data"]["path"], outline["backend"]) == ("auth/models.py", "ast")
    first = outline["data"]["symbols"][0]
    name, line = first["name"], first["name_line"]
    assert (await editor.command("code.searchFiles"))["data"]["query"] == name
    assert (await editor.command("code.grep"))["data"]["pattern"] == rf"\b{name}\b"
    assert (await editor.command("code.findReferences", seconds=0))["data"]["name"] == name
    for command in ABOUT_SYMBOLS:
        answer = await editor.command(f"code.{command}")
        assert answer["text"].startswith(f"auth/models.py:{line} {name}")


async def test_without_a_focus_it_says_what_to_give(editor: Editor) -> None:
    for command, field in (("searchFiles", "query"), ("grep", "pattern"), ("hover", "path")):
        message, data = await editor.refusal(f"code.{command}")
        assert data["kind"] == "no_document"
        assert f"`{field}`" in message


async def test_a_language_server_is_asked_about_a_symbol(editor: Editor) -> None:
    asked = {"path": "auth/service.py", "name": "AuthService.finish_reset", "seconds": PATIENCE}
    calls = await editor.command("code.callHierarchy", **asked)
    assert (calls["backend"], calls["coverage"]) == ("ty", "complete")
    assert "read" in [call["name"] for call in calls["data"]["outgoing"]]
    line = next(
        number
        for number, text in enumerate(_lines(editor, "auth/service.py"), 1)
        if "self._signer.read(" in text
    )
    place = {"path": "auth/service.py", "line": line, "name": "read", "seconds": PATIENCE}
    definition = await editor.command("code.definition", **place)
    [found] = definition["data"]["locations"]
    assert found["path"] == "auth/tokens.py"
    assert "def read(" in definition["text"]
    hover = await editor.command("code.hover", **place)
    assert "def read" in hover["text"] or "bound method" in hover["text"]


async def test_a_position_counts_as_the_client_does(visit: Visit, tmp_path: Path) -> None:
    editor = visit(tmp_path)
    text = "def pay(): ...\n\n\nnote = '\N{GRINNING FACE}{faces}'; pay()\n"
    uri = editor.open("shop.py", text.replace("{faces}", "\N{GRINNING FACE}" * 3))
    # In UTF-16 each of the four counts twice.
    position = {"line": 3, "character": 19}
    found = await editor.command("code.definition", uri=uri, position=position, seconds=PATIENCE)
    assert found["text"].splitlines()[:3] == [
        "shop.py:4 pay: 1 definition",
        "shop.py",
        "  1: def pay(): ...",
    ]
    _, data = await editor.refusal("code.definition", uri=uri, position={"line": 3})
    assert data["fields"] == ["position.character"]


async def test_with_no_seconds_no_server_is_asked(fresh: Editor) -> None:
    for command in ABOUT_SYMBOLS:
        asked = {"path": "auth/tokens.py", "name": "TokenSigner.read", "seconds": 0}
        answer = await fresh.command(f"code.{command}", **asked)
        assert (answer["backend"], answer["coverage"][:7]) == ("ast", "partial")
        assert "no language server was asked" in answer["text"]
    assert (await fresh.command("status"))["languageServers"] == []


async def test_what_a_server_finds_wrong_is_told(visit: Visit, tmp_path: Path) -> None:
    editor = visit(tmp_path)
    editor.open("bad.py", "def f() -> int:\n    return missing_name\n")
    found = await editor.command("code.diagnostics", seconds=PATIENCE)
    assert found["text"].startswith("bad.py: 1 problem\n  2:12 error: ")
    assert found["backend"] == "ty"
    assert found["data"]["diagnostics"][0]["code"] == "unresolved-reference"


@pytest.fixture
def without_servers(visit: Visit, tmp_path: Path) -> Editor:
    """A workspace in which no language server may be used."""
    (tmp_path / "pyproject.toml").write_text(
        "[tool.foldline.lsp]\ndisable = ['ty', 'basedpyright', 'pyrefly']\n", encoding="utf-8"
    )
    (tmp_path / "shop.py").write_text(
        "class Cart:\n    def total(self): ...\n\n\nclass Basket(Cart):\n    def total(self): ...\n"
        "\n\ndef pay(cart):\n    return cart.total()\n",
        encoding="utf-8",
    )
    return visit(tmp_path)


async def test_without_a_server_answers_are_by_name_and_say_what_to_do(
    without_servers: Editor,
) -> None:
    expected = {
        "definition": "  2: def total(self): ...",
        "hover": "shop.py:2 def total(self)",
        "implementations": "  6: def total(self): ...",
        "callHierarchy": "  pay shop.py:9, on line 10",
    }
    for command in ABOUT_SYMBOLS:
        answer = await without_servers.command(f"code.{command}", path="shop.py", name="Cart.total")
        assert expected[command] in answer["text"].splitlines()
        assert answer["backend"] == "ast"
        assert answer["coverage"].startswith("partial: by name alone, from syntax trees")
        assert "language server" not in answer["text"]
    problems = await without_servers.command("code.diagnostics", path="shop.py")
    assert problems["coverage"] == "partial: no language server answered"
    assert "`foldline doctor`" in problems["text"]


async def test_a_name_that_is_none_lists_the_near_ones(editor: Editor) -> None:
    for command in ABOUT_SYMBOLS:
        _, data = await editor.refusal(
            f"code.{command}", path="auth/tokens.py", name="TokenSigner.raed"
        )
        assert data["kind"] == "symbol"
        assert data["near"][0] == "TokenSigner.read"


async def test_the_status_of_a_server_is_that_of_its_process(fresh: Editor) -> None:
    assert (await fresh.command("status"))["languageServers"] == []
    asked = {"path": "auth/tokens.py", "name": "TokenSigner", "seconds": PATIENCE}
    await fresh.command("code.hover", **asked)
    [server] = (await fresh.command("status"))["languageServers"]
    process = psutil.Process(server["pid"])
    assert Path(process.cmdline()[0]).name == Path(server["command"][0]).name == "ty"
    assert (server["name"], server["state"], server["root"]) == ("ty", "ready", str(fresh.root))
    # Where it runs by a launcher, the memory is that of both.
    assert server["memory"] >= process.memory_info().rss // 2 > 0
    assert 0 < server["latency"] < PATIENCE
    assert server["requests"] >= 1
    assert (server["pending"], server["restarts"], server["problem"]) == (0, 0, "")
    assert server["open_documents"] == 1

    process.kill()
    await asyncio.to_thread(process.wait, PATIENCE)
    async with asyncio.timeout(PATIENCE):
        while (await fresh.command("status"))["languageServers"][0]["pid"] is not None:
            pass
    [server] = (await fresh.command("status"))["languageServers"]
    assert (server["memory"], server["latency"], server["open_documents"]) == (0, None, 0)
    # How long it is left alone depends on how long it was up.
    assert server["state"] in {"stopped", "restarting"}
    assert "ended" in server["problem"]
    async with asyncio.timeout(PATIENCE):
        while (await fresh.command("code.hover", **asked))["backend"] != "ty":
            pass
    [server] = (await fresh.command("status"))["languageServers"]
    assert (server["state"], server["restarts"]) == ("ready", 1)
    assert server["pid"] != process.pid


async def test_a_restart_says_what_it_restarted_and_everything_answers_again(
    fresh: Editor,
) -> None:
    assert "Nothing was running" in (await fresh.command("restart"))["text"]
    fresh.open("reviewer_prompt.py")
    preview = await fresh.command("prompt.preview")
    asked = {"name": "TokenSigner.read", "seconds": PATIENCE}
    before = await fresh.command("code.findReferences", **asked)
    [running] = (await fresh.command("status"))["languageServers"]

    answer = await fresh.command("restart")
    assert answer["text"] == f"Restarted ty in {fresh.root}, 1 preview worker"
    assert [languageserver["pid"] for languageserver in answer["languageServers"]] == [
        running["pid"]
    ]
    assert answer["previewWorkers"] == 1
    assert not psutil.pid_exists(running["pid"])
    assert (await fresh.command("status"))["languageServers"] == []
    # The preview is rendered again, by a new worker.
    update = await asyncio.wait_for(fresh.update(1), PATIENCE)
    assert (update["sessionId"], update["stale"]) == (preview["sessionId"], None)

    again = await fresh.command("code.findReferences", **asked)
    assert again["data"] == before["data"]


async def test_one_server_is_restarted_by_its_name(fresh: Editor) -> None:
    _, data = await fresh.refusal("restart", server="ty")
    assert (data["kind"], data["near"]) == ("no_server", [])
    await fresh.command("code.hover", path="auth/tokens.py", seconds=PATIENCE)
    _, data = await fresh.refusal("restart", server="pylsp")
    assert data["near"] == ["ty"]
    answer = await fresh.command("restart", server="ty")
    assert [languageserver["name"] for languageserver in answer["languageServers"]] == ["ty"]
    await fresh.command("code.hover", path="auth/tokens.py", seconds=PATIENCE)
    [server] = (await fresh.command("status"))["languageServers"]
    assert (server["state"], server["restarts"]) == ("ready", 1)


async def test_every_request_in_flight_at_a_restart_is_answered_once(fresh: Editor) -> None:
    fresh.open("reviewer_prompt.py")
    asked = {"name": "TokenSigner.read", "seconds": PATIENCE}
    requests = [fresh.command("code.findReferences", **asked) for _ in range(10)]
    requests += [
        fresh.command("code.hover", path="auth/tokens.py", name="TokenSigner", seconds=PATIENCE)
        for _ in range(10)
    ]
    requests += [fresh.command("prompt.render") for _ in range(4)]
    requests += [fresh.command("restart") for _ in range(3)]
    answers = await asyncio.wait_for(asyncio.gather(*requests), PATIENCE * 2)
    assert all(answer["data"]["total"] >= 3 for answer in answers[:10])
    assert all("TokenSigner" in answer["text"] for answer in answers[10:20])
    assert len({answer["text"] for answer in answers[20:24]}) == 1


def _lines(editor: Editor, path: str) -> list[str]:
    return (editor.root / path).read_text(encoding="utf-8").splitlines()
