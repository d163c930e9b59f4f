"""The command line of `foldline mcp --http`: what doesn't go together is refused before it runs."""

import argparse
import ipaddress
from pathlib import Path

import pytest

from foldline.agent.cli import main
from foldline.agent.mcp.stdio import Options
from foldline.plugins.remote.transport import SECRET, HttpOptions, read_http_options

from ...agent.mcp_process import EXAMPLE
from .replicas import SECRET as GOOD

HERE = ("--root", str(EXAMPLE))
AT = ("--http", "127.0.0.1:0")
REFUSED = {
    "trust": ((*AT, *HERE, "--trust"), "--trust and --interpreter"),
    "interpreter": ((*AT, *HERE, "--interpreter", "python3"), "--trust and --interpreter"),
    "no root": (AT, "needs --root DIR"),
    "no port": (("--http", "127.0.0.1", *HERE), "expected HOST:PORT"),
    "a path": (("--http", "127.0.0.1:80/mcp", *HERE), "expected HOST:PORT"),
    "a user": (("--http", "me@127.0.0.1:80", *HERE), "expected HOST:PORT"),
    "a large port": (("--http", "127.0.0.1:99999", *HERE), "expected HOST:PORT"),
    "no host": (("--http", "0.0.0.0:8000", *HERE), "--allowed-host"),
    "any host": ((*AT, *HERE, "--allowed-host", "*"), "expected one name"),
    "hosts below one": ((*AT, *HERE, "--allowed-host", "*.example.com"), "expected one name"),
    "a host and any port": ((*AT, *HERE, "--allowed-host", "a.example:*"), "expected one name"),
    "an address as a host": ((*AT, *HERE, "--allowed-host", "http://a"), "as in mcp.example.com"),
    "no proxy": ((*AT, *HERE, "--identity-header", "X-User"), "need each other"),
    "no header": ((*AT, *HERE, "--trusted-proxy", "10.0.0.0/8"), "need each other"),
    "half a header": (
        (*AT, *HERE, "--identity-header", "X User", "--trusted-proxy", "::1/128"),
        "not the name of a header",
    ),
    "a network with a host": (
        (*AT, *HERE, "--identity-header", "X-User", "--trusted-proxy", "10.0.0.1/8"),
        "has host bits set",
    ),
    "any origin": ((*AT, *HERE, "--allowed-origin", "*"), "https://app.example.com"),
    "any port": ((*AT, *HERE, "--allowed-origin", "https://a.example:*"), "as in https"),
    "an address": ((*AT, *HERE, "--allowed-origin", "https://a.example/x"), "as in https"),
    "no requests": ((*AT, *HERE, "--max-requests", "0"), "at least 1"),
    "a long drain": ((*AT, *HERE, "--drain", "nan"), "between 0 and 3600"),
    "a missing file": (
        (*AT, *HERE, "--secret-file", "/nowhere"),
        "/nowhere: no such file or folder",
    ),
    "without http": ((*HERE, "--allowed-host", "x"), "--allowed-host needs --http"),
    "drain without http": ((*HERE, "--drain", "1"), "--drain needs --http"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_go_together_is_refused(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(SECRET, raising=False)
    arguments, why = REFUSED[name]
    assert main(["mcp", *arguments]) == 2
    assert why in capsys.readouterr().err


def read(**options: object) -> HttpOptions:
    names = "allowed_host allowed_origin identity_header trusted_proxy secret_file"
    given = dict.fromkeys(f"{names} max_requests drain interpreter deadline".split())
    return read_http_options(
        argparse.Namespace(**{**given, "trust": False, "root": [EXAMPLE], **options})
    )


def test_the_options_are_read(tmp_path: Path) -> None:
    file = tmp_path / "secrets"
    file.write_text(f"{GOOD}\n{GOOD}2\n")
    options = read(
        http="[::1]:8000",
        secret_file=file,
        identity_header="X-User",
        trusted_proxy=["10.0.0.0/8"],
        deadline=3.0,
    )
    assert (options.host, options.port) == ("::1", 8000)
    assert options.secrets == (GOOD, f"{GOOD}2")
    assert options.trusted_proxies == (ipaddress.ip_network("10.0.0.0/8"),)
    assert options.deadline == 3.0


def test_a_short_secret_and_the_same_twice_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for given, why in (("short", "at least 32 bytes"), (f"{GOOD} {GOOD}", "there twice")):
        monkeypatch.setenv(SECRET, given)
        with pytest.raises(Exception, match=why) as refused:
            read(http="127.0.0.1:0")
        assert given not in str(refused.value)


def test_no_secret_is_needed_and_an_empty_file_of_secrets_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(SECRET, raising=False)
    assert not read(http="0.0.0.0:0", allowed_host=["mcp.example.com"]).secrets
    (tmp_path / "secrets").write_text("\n")
    with pytest.raises(Exception, match="holds no secret"):
        read(http="localhost:0", secret_file=tmp_path / "secrets")


def test_hosts_are_read_in_lower_case_with_or_without_a_port() -> None:
    hosts = read(http="localhost:0", allowed_host=["MCP.example.com:8443", "[::1]", "a_b"])
    assert hosts.allowed_hosts == ("mcp.example.com:8443", "[::1]", "a_b")


def test_remote_clients_never_get_trust_nor_choose_folders() -> None:
    for given in ({"trusted": True, "roots": (EXAMPLE,)}, {}):
        with pytest.raises(ValueError, match="remote clients"):
            Options(remote=True, **given)  # type: ignore[arg-type]  # One of each kind.
