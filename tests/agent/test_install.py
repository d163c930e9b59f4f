"""`foldline install` changes its own entry of a client's configuration, and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.agent import cli
from foldline.agent.install import files, jsonc, toml, verb
from foldline.agent.install.files import UnparsableError
from foldline.ide.clients import known_clients
from foldline.plugins.instructions.clients import all_clients

CLIENTS = known_clients()
JSON_CLIENTS = sorted(CLIENTS.keys() - {"codex"})
PROGRAM = str(Path(sys.executable).with_name("foldline"))
USER_FILES = {
    "opencode": ".config/opencode/opencode.json",
    "opencode2": ".config/opencode/opencode.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
    "claude-code": ".claude.json",
    "cursor": ".cursor/mcp.json",
    "copilot": ".config/Code/User/mcp.json",
    "zed": ".config/zed/settings.json",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def install(*words: object) -> int:
    return cli.main(["install", *map(str, words)])


def values(file: Path, *keys: str) -> Any:
    text = file.read_text(encoding="utf-8")
    table = tomllib.loads(text) if file.suffix == ".toml" else jsonc.read(text)
    return reduce(getitem, keys, table)


def test_a_client_has_one_name_in_every_command() -> None:
    in_stack = {client.name: client.title for client in all_clients()}
    assert in_stack == {name: client.title for name, client in CLIENTS.items()}


@pytest.mark.parametrize("client", CLIENTS)
def test_every_client_gets_the_program_of_this_environment(client: str, home: Path) -> None:
    assert install(client) == 0
    file = home / USER_FILES[client]
    entry = values(file, *CLIENTS[client].table, "foldline")
    command = entry["command"]
    words = command if isinstance(command, list) else [command, *entry["args"]]
    assert words == [PROGRAM, "mcp"]


def test_clients_may_be_several(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert install("gemini,zed", "opencode", "opencode2", "zed") == 0
    for client in ("gemini", "zed", "opencode", "opencode2"):
        assert values(home / USER_FILES[client], *CLIENTS[client].table, "foldline")
    assert install("opencode2", "opencode", "--remove") == 0
    assert not (home / USER_FILES["opencode"]).exists()
    assert install("gemini", "codex", "opencode", "--fold") == 2
    assert "Gemini CLI takes no plugin that folds, only opencode does" in capsys.readouterr().err
    assert not (home / USER_FILES["codex"]).exists()


def test_without_a_name_the_clients_of_the_settings_are_installed(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install("--project", project) == 2
    assert "name a client, or set `clients` in foldline.toml: there are " in capsys.readouterr().err
    (project / "foldline.toml").write_text('clients = ["zed", "copilot"]\n')
    assert install("--project", project) == 0
    assert {file.name for file in project.iterdir()} == {"foldline.toml", ".zed", ".vscode"}
    (project / "foldline.toml").write_text('clients = ["vscode"]\n')
    assert install("--project", project) == 2
    assert "did you mean 'copilot'?" in capsys.readouterr().err
    assert not any(home.iterdir())


@pytest.mark.real
def test_the_program_that_clients_start_is_a_server(tmp_path: Path) -> None:
    started = subprocess.run(
        [PROGRAM, "mcp"], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    assert (started.returncode, started.stderr) == (0, b"")


@pytest.mark.parametrize("client", CLIENTS)
def test_a_projects_file_names_the_program_and_comes_and_goes(
    client: str, project: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = project / CLIENTS[client].project[-1]
    assert install(client, "--project", project, "--trust") == 0
    entry = values(file, *CLIENTS[client].table, "foldline")
    words = [entry["command"], entry.get("args", [])]
    assert words in (
        ["foldline", ["mcp", "--trust"]],
        [["foldline", "mcp", "--trust"], []],
    )
    before = file.read_bytes()
    assert install(client, "--project", project, "--trust") == 0
    assert "foldline is already in " in capsys.readouterr().out
    assert file.read_bytes() == before
    assert install(client, "--project", project, "--remove") == 0
    assert CLIENTS[client].note not in capsys.readouterr().out
    assert not file.exists()
    assert install(client, "--project", project, "--remove") == 0
    assert "foldline isn't in" in capsys.readouterr().out
    assert not any(home.iterdir())


COMMENTED = """\
// Mine.
{
    /* kept */
    "theme": "dark", // by day, too
    "mcp": {
        // The other one.
        "other": {"command": ["x"], "enabled": false}, // last
    },
}
"""


def test_comments_order_and_style_are_kept(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / ".config/opencode/opencode.jsonc"
    file.parent.mkdir(parents=True)
    file.write_text(COMMENTED)
    assert install("opencode", "--dry-run") == 0
    assert file.read_text() == COMMENTED
    shown = capsys.readouterr().out
    assert '+        "foldline": {' in shown
    assert "\n-" not in shown.partition("+++")[2]
    assert install("opencode") == 0
    added = file.read_text()
    lines = added.splitlines(keepends=True)
    assert [line for line in lines if line in COMMENTED.splitlines(keepends=True)]
    assert all(line in lines for line in COMMENTED.splitlines(keepends=True))
    assert install("opencode", "--remove") == 0
    assert file.read_text() == COMMENTED


TOML = """\
# Mine.
model = "gpt-5.5"   # the new one

[mcp_servers.other] # last
command = "x"
"""


def test_toml_is_kept_too(home: Path) -> None:
    file = home / ".codex/config.toml"
    file.parent.mkdir()
    file.write_text(TOML)
    assert install("codex") == 0
    assert file.read_text().startswith(TOML)
    assert install("codex", "--remove") == 0
    assert file.read_text().rstrip("\n") == TOML.rstrip("\n")
    file.write_text('mcp_servers = { other = { command = "x" } }\n')
    assert install("codex") == 0
    assert values(file)["mcp_servers"].keys() == {"other", "foldline"}


def test_what_a_user_set_of_the_entry_stays(home: Path) -> None:
    file = home / ".codex/config.toml"
    file.parent.mkdir()
    file.write_text('[mcp_servers.foldline]\ncommand = "old"\nrequired = true # wait\n')
    assert install("codex") == 0
    assert values(file)["mcp_servers"]["foldline"]["required"] is True
    assert "# wait" in file.read_text()
    other = home / ".config/opencode/opencode.json"
    other.parent.mkdir(parents=True)
    other.write_text('{"mcp": {"foldline": {"enabled": false, "timeout": 9}}}')
    assert install("opencode") == 0
    entry = values(other)["mcp"]["foldline"]
    assert entry["enabled"] is False
    assert entry["timeout"] == 9
    assert entry["command"][1:] == ["mcp"]


@pytest.mark.real
@pytest.mark.parametrize("client", ["copilot", "codex"])
def test_line_ends_and_a_byte_order_mark_stay(client: str, home: Path) -> None:
    file = home / USER_FILES[client]
    file.parent.mkdir(parents=True)
    text = 'a = "b"\r\n' if client == "codex" else '\ufeff{\r\n  "inputs": []\r\n}\r\n'
    file.write_bytes(text.encode())
    assert install(client) == 0
    written = file.read_bytes().decode()
    assert written.count("\n") == written.count("\r\n") > text.count("\n")
    assert written.startswith("\ufeff") is text.startswith("\ufeff")
    assert install(client, "--remove") == 0
    assert file.read_bytes().decode().rstrip() == text.rstrip()


BROKEN = {
    '{"a": }': "line 1",
    '{\n  "a": 1\n  "b": 2\n}': "line 3, column 3",
    '{"a": 1,,}': "line 1",
    "{'a': 1}": "line 1",
    '{"a": 1} {"b": 2}': "line 1, column 10",
    "[1]": "not what opencode 1 expects",
    '{"mcp": 3}': "not what opencode 1 expects",
    '{"mcp": [{"foldline": 1}]}': "not what opencode 1 expects",
    "[" * 5_000: "nested too deep",
    '{"a": ' * 2_000 + "1" + "}" * 2_000: "nested too deep",
    '{"a": truthy}': "line 1",
    '{"a": 01}': "line 1",
    '{"a": "\\x"}': "line 1",
}


@pytest.mark.parametrize("text", BROKEN, ids=lambda text: text[:20])
def test_a_file_that_cannot_be_read_stays_and_the_place_is_told(
    text: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / ".config/opencode/opencode.json"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    assert install("opencode") == 2
    error = capsys.readouterr().err
    assert str(file) in error
    assert BROKEN[text] in error
    assert file.read_text() == text


def test_broken_toml_is_told_with_its_line(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = home / ".codex/config.toml"
    file.parent.mkdir()
    for text, place in (("a = 1\nb =\n", "line 2"), ("mcp_servers = 3\n", "expects")):
        file.write_text(text)
        assert install("codex") == 2
        assert place in capsys.readouterr().err
        assert file.read_text() == text


def test_a_projects_links_and_devices_are_refused(
    project: Path, tmp_path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    target = elsewhere / "mcp.json"
    target.write_text("{}")
    (project / ".vscode").symlink_to(elsewhere)
    (project / ".mcp.json").symlink_to(target)
    (project / ".cursor").mkdir()
    os.mkfifo(project / ".cursor/mcp.json")
    (project / "opencode.json").mkdir()
    (project / ".zed").mkdir()
    (project / ".zed/settings.json").symlink_to("/dev/zero")
    (project / ".codex").write_text("a file, no folder")
    for client, said in (
        ("copilot", "is a link"),
        ("claude-code", "is a link"),
        ("cursor", "not a regular file"),
        ("opencode", "is a folder"),
        ("zed", "is a link"),
        ("codex", "can't be written"),
    ):
        assert install(client, "--project", project) == 2, client
        assert said in capsys.readouterr().err
    assert target.read_text() == "{}"
    assert list(elsewhere.iterdir()) == [target]


def test_a_users_own_link_stays_one(home: Path, tmp_path: Path) -> None:
    kept = tmp_path / "dotfiles.json"
    kept.write_text('{"a": 1}')
    kept.chmod(0o600)
    link = home / ".claude.json"
    link.symlink_to(kept)
    assert install("claude-code") == 0
    assert link.is_symlink()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert jsonc.read(kept.read_text())["mcpServers"]["foldline"]
    gone = home / ".cursor"
    gone.mkdir()
    (gone / "mcp.json").symlink_to(tmp_path / "nowhere.json")
    assert install("cursor") == 2


def test_bytes_that_are_no_text_are_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (home / ".claude.json").write_bytes(b'{"a": "\xff"}')
    assert install("claude-code") == 2
    assert "not UTF-8" in capsys.readouterr().err


def test_a_write_that_fails_leaves_the_file_and_nothing_else(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / ".claude.json"
    file.write_text('{"a": 1}')

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert install("claude-code") == 2
    assert "No space left" in capsys.readouterr().err
    assert file.read_text() == '{"a": 1}'
    assert list(home.iterdir()) == [file]


def test_trust_is_for_a_project_alone(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert install("gemini", "--trust") == 2
    assert "--project" in capsys.readouterr().err
    assert not any(home.iterdir())


NAMES = st.sampled_from(["a", "mcp", "foldline", "b c", "ü", ""])
SCALARS = st.none() | st.booleans() | st.integers(-9, 99) | st.text(max_size=4)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, VALUES, max_size=4)
SPACES = st.sampled_from(["", " ", "\n", "\n    ", " /* c */ ", " // d\n", "\n\t"])


@st.composite
def written(draw: st.DrawFn, value: Any) -> str:
    """A value as JSON in any style."""

    def space() -> str:
        return str(draw(SPACES))

    if isinstance(value, dict | list):
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        members = [
            json.dumps(item) + space() + ":" + space() + draw(written(value[item]))
            if isinstance(value, dict)
            else draw(written(item))
            for item in value
        ]
        trailing = draw(st.booleans())
        end = "," + space() if members and trailing else ""
        inside = ",".join(space() + member + space() for member in members)
        return opening + space() + inside + end + closing
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


def comments(text: str) -> int:
    return text.count("/* c */") + text.count("// d")


def test_an_object_goes_with_its_last_member_unless_it_has_a_comment() -> None:
    for text in ('{"a": {}}', '{"a": /* c */ {}}', '{"a": {/* c */}}'):
        added = jsonc.with_value(text, ("a", "b", "c"), 1)
        removed = jsonc.without(added, ("a", "b", "c"))
        assert comments(removed) == comments(text)
        assert jsonc.read(removed) in ({}, {"a": {}})


@given(st.data())
def test_one_member_of_any_json_is_set_and_removed(data: st.DataObject) -> None:
    value = data.draw(OBJECTS)
    text = data.draw(written(value))
    keys = data.draw(st.sampled_from([("mcp", "foldline"), ("x",), ("a", "b c", "ü")]))
    own = {"command": ["foldline", "mcp"]}
    expected = json.loads(json.dumps(value))
    place = expected
    for key in keys[:-1]:
        if not isinstance(place.setdefault(key, {}), dict):
            with pytest.raises(UnparsableError):
                jsonc.with_value(text, keys, own)
            return
        place = place[key]
    replaces = keys[-1] in place
    place[keys[-1]] = own
    changed = jsonc.with_value(text, keys, own)
    assert jsonc.read(text) == value
    assert jsonc.read(changed) == expected
    if not replaces:
        assert comments(changed) == comments(text)
    removed = jsonc.without(changed, keys)
    assert jsonc.without(removed, keys) == removed
    found: Any = jsonc.read(removed)
    rest: Any = expected
    for key in keys:
        if key not in found:
            rest.pop(key)
            break
        found, rest = found[key], rest[key]
    assert jsonc.read(removed) == expected
    if not replaces:
        assert comments(removed) == comments(text)


TOML_VALUES = st.recursive(
    st.booleans() | st.integers(-9, 99) | st.text(st.characters(codec="utf-8"), max_size=4),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["a", "b", "x y"]), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(
    st.dictionaries(st.sampled_from(["a", "mcp_servers", "z"]), TOML_VALUES, max_size=3),
)
def test_one_table_of_any_toml_is_set_and_removed(value: dict[str, Any]) -> None:
    import tomlkit

    text = "# begin\n" + tomlkit.dumps(value) + "# end\n"
    own = {"command": "foldline", "args": ["mcp"]}
    keys = ("mcp_servers", "foldline")
    if not isinstance(value.get("mcp_servers", {}), dict):
        with pytest.raises(UnparsableError):
            toml.with_value(text, keys, own)
        return
    changed = toml.with_value(text, keys, own)
    servers = value.get("mcp_servers", {})
    assert toml.read(changed) == {**value, "mcp_servers": {**servers, "foldline": own}}
    assert changed.count("#") == text.count("#")
    assert toml.without(changed, keys) == text


def test_the_page_names_the_file_of_every_client() -> None:
    page = (Path(__file__).parents[2] / "docs/07-agents.md").read_text(encoding="utf-8")
    for name, client in CLIENTS.items():
        rows = (line for line in page.splitlines() if line.startswith("| `"))
        row = next(line for line in rows if f"`{name}`" in line.split("|")[1])
        assert f"`{client.project[-1]}`" in row
        if name != "copilot":
            assert f"`~/{USER_FILES[name]}`" in row


TOMLS = {
    "nothing": "",
    "no line feed at the end": "a = 1",
    "a comment": "# mine\n",
    "a table": '[mcp_servers.a]\ncommand = "b"\n\n[other]\nx = 1\n',
    "an empty table": "[mcp_servers]\n\n",
    "dotted keys": 'mcp_servers.a.command = "b"\n',
    "no number": 'x = nan\n[mcp_servers]\na.command = "b"\n',
    "lines of Windows": 'a = 1\r\n[mcp_servers.a]\r\ncommand = "b"\r\n',
}


@pytest.mark.parametrize("text", TOMLS.values(), ids=list(TOMLS))
def test_toml_is_given_back_to_the_byte(text: str, home: Path) -> None:
    file = home / ".codex/config.toml"
    file.parent.mkdir()
    file.write_bytes(text.encode())
    assert install("codex") == 0
    servers = tomllib.loads(file.read_bytes().decode())["mcp_servers"]
    assert servers.keys() == {"foldline"} | ({"a"} if "command" in text else set())
    assert install("codex") == 0
    assert install("codex", "--remove") == 0
    assert (file.read_bytes() if file.exists() else b"") == text.encode()


@pytest.mark.parametrize("remove", [False, True])
@pytest.mark.parametrize("text", [None, "{}", '{"a": 1}'])
def test_what_another_program_writes_meanwhile_is_not_lost(
    text: str | None,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    remove: bool,
) -> None:
    file = home / ".claude.json"
    if text is not None:
        file.write_text(text)
    if remove:
        assert install("claude-code") == 0
    read = files.read
    states: list[str | None] = []

    def read_and_change(path: Path, root: Path | None = None) -> str | None:
        states.append(read(path, root))
        if len(states) == 1:
            path.write_text('{"theirs": 2}')
        return states[-1]

    monkeypatch.setattr(verb, "read", read_and_change)
    assert install("claude-code", *(["--remove"] if remove else [])) == 2
    assert f"another program has just changed {file}: run this again" in capsys.readouterr().err
    assert file.read_text() == '{"theirs": 2}'
    assert [path.name for path in home.iterdir()] == [file.name]


@pytest.mark.parametrize("remove", [False, True])
def test_a_file_that_is_protected_or_has_other_names_stays(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, remove: bool
) -> None:
    file = home / ".claude.json"
    if remove:
        assert install("claude-code") == 0
        text = file.read_text()
    else:
        text = '{"a": 1}'
        file.write_text(text)
    words = ["claude-code", *(["--remove"] if remove else [])]
    file.chmod(0o444)
    assert install(*words) == 2
    assert f"{file} is read-only: change it yourself" in capsys.readouterr().err
    file.chmod(0o644)
    (tmp_path / "other.json").hardlink_to(file)
    assert install(*words) == 2
    assert f"{file} has other names, by hard links: change it" in capsys.readouterr().err
    assert file.read_text() == text


def test_a_file_that_is_too_large_is_told_without_advice_for_code(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = home / ".claude.json"
    file.write_text(" " * (files.LARGEST + 1))
    assert install("claude-code") == 2
    error = capsys.readouterr().err
    assert error == f"foldline install: {file}: has 16,777,217 bytes, the limit is 16,777,216\n"


@pytest.mark.parametrize("run", ['\\"', "/*", "/* ", "/", '"\\'])
def test_a_configuration_of_one_long_run_is_refused(run: str) -> None:
    """In time that grows with its square, hours later."""
    with pytest.raises(UnparsableError):
        jsonc.read(f'{{"a": {run * (4_000_000 // len(run))}')


@pytest.mark.parametrize("place", ["user", "project"])
def test_the_plugin_that_folds_is_shown_written_and_removed(
    place: str, home: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--project", project] if place == "project" else []
    folder = project / ".opencode" if place == "project" else home / ".config/opencode"
    plugin = folder / "plugins/foldline.js"
    assert install("opencode", "--fold", "--dry-run", *words) == 0
    assert "+export const FoldlineFold" in capsys.readouterr().out
    assert not plugin.exists()
    assert install("opencode", "--fold", *words) == 0
    written = plugin.read_text(encoding="utf-8")
    (command,) = re.findall(r"^const COMMAND = (.*)$", written, re.MULTILINE)
    (program,) = json.loads(command)
    assert program == "foldline" if place == "project" else Path(program).is_file()
    # Without the option, what is there stays up to date.
    plugin.write_text(written.replace("3000", "1000"), encoding="utf-8")
    assert install("opencode", *words) == 0
    assert plugin.read_text(encoding="utf-8") == written
    assert install("opencode", "--fold", "--remove", *words) == 0
    assert not plugin.exists()
    servers = project if place == "project" else home / ".config/opencode"
    assert "foldline" in values(servers / "opencode.json")["mcp"]
    assert install("opencode", "--fold", *words) == 0
    assert install("opencode", "--remove", *words) == 0
    assert not plugin.exists()
    assert not (servers / "opencode.json").exists()


def test_another_plugin_of_that_name_is_left_alone(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plugin = project / ".opencode/plugins/foldline.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("export const Mine = 1\n", encoding="utf-8")
    for words in (["--fold"], ["--remove"]):
        assert install("opencode", "--project", project, *words) == 2
        assert "isn't foldline's plugin" in capsys.readouterr().err
    assert plugin.read_text(encoding="utf-8") == "export const Mine = 1\n"


@pytest.mark.parametrize("client", sorted(CLIENTS.keys() - {"opencode"}))
def test_clients_without_plugins_are_told_of_skills(
    client: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert install(client, "--fold") == 2
    assert "foldline fold FILE --to-skill NAME" in capsys.readouterr().err
    assert not list(home.iterdir())
