"""Artefacts from real servers on this machine: allowed explicitly, over https, within limits."""

import datetime
import ipaddress
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from foldline.backends.errors import ArtefactError
from foldline.backends.index import fetching
from foldline.backends.index.fetching import fetched

BODY = b"an artefact" * 1_000
ETAG = '"one"'


class Server(ThreadingHTTPServer):
    """Serves `BODY`; tests say otherwise with `answers`, by path."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.scheme = "http"
        self.asked: list[tuple[str, str]] = []
        self.answers: dict[str, Callable[[Handler], object]] = {}
        self.ends = threading.Event()

    def handle_error(self, *_: object) -> None:
        """Clients that leave are no news."""

    def address(self, path: str = "/app.flindex") -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}{path}"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        known = self.headers.get("If-None-Match", "")
        self.server.asked.append((self.path, known))
        if answer := self.server.answers.get(self.path):
            answer(self)
        elif known == ETAG:
            self.reply(304)
        else:
            self.reply(200, BODY)

    def reply(self, status: int, body: bytes = b"", length: int | None = None, **more: str) -> None:
        self.send_response(status)
        headers = {"Content-Length": str(len(body) if length is None else length), "ETag": ETAG}
        headers |= {"Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT", **more}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running(server: Server) -> Iterator[Server]:
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.ends.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    with running(Server()) as found:
        yield found


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of this machine that signs itself, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("certificate") / "both.pem"
    encoding, none = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, none)
    file.write_bytes(made.public_bytes(encoding) + private)
    return file


@pytest.fixture
def secure(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The same server over TLS, whose certificate is trusted."""
    server = Server()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    # Hands are shaken by the thread of the request.
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    server.scheme = "https"
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with running(server) as found:
        yield found


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


def take(where: str, folder: Path, known: str = "", *, network: bool = True) -> tuple[bytes, str]:
    with fetched(where, folder, lambda _: known, network=network) as found:
        return (b"" if found.file is None else found.file.read()), found.etag


def test_an_artefact_comes_over_https_and_once_by_its_etag(secure: Server, tmp_path: Path) -> None:
    body, etag = take(secure.address(), tmp_path)
    assert (body, etag) == (BODY, ETAG)
    assert take(secure.address(), tmp_path, etag) == (b"", etag)
    assert secure.asked == [("/app.flindex", ""), ("/app.flindex", ETAG)]
    assert [*tmp_path.iterdir()] == []


def test_a_certificate_that_is_not_trusted_is_refused(
    secure: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with pytest.raises(ArtefactError, match=r"127.0.0.1.*certificate verify failed"):
        take(secure.address(), tmp_path)
    assert secure.asked == []


def test_the_network_is_asked_only_if_it_is_allowed(server: Server, tmp_path: Path) -> None:
    for where in (server.address(), "s3://bucket/app.flindex"):
        with pytest.raises(ArtefactError, match=r"isn't allowed: add --network, or set FOLDLINE_"):
            take(where, tmp_path, network=False)
    assert server.asked == []


@pytest.mark.parametrize(
    "where",
    [
        "http://192.0.2.1/app.flindex",
        "http://localhost.example/app.flindex",
        "ftp://127.0.0.1/app.flindex",
        "file:///etc/passwd",
        "data://text/plain,x",
    ],
)
def test_other_addresses_are_refused(where: str, tmp_path: Path) -> None:
    with pytest.raises(ArtefactError, match=r"only https, s3, gs, az and files are taken"):
        take(where, tmp_path)


def test_an_address_is_named_without_what_may_be_secret(tmp_path: Path) -> None:
    with pytest.raises(ArtefactError) as found:
        take("ftp://user:word@host/a.flindex?signature=secret", tmp_path)
    assert "ftp://host/a.flindex" in str(found.value)
    assert not {"word", "secret"} & {*str(found.value).replace("=", " ").split()}


def redirect(to: str) -> Callable[[Handler], object]:
    return lambda handler: handler.reply(302, Location=to)


def test_a_redirection_leads_to_https_alone(secure: Server, server: Server, tmp_path: Path) -> None:
    secure.answers["/moved"] = redirect(secure.address())
    secure.answers["/down"] = redirect(server.address())
    secure.answers["/file"] = redirect("file:///etc/passwd")
    secure.answers["/round"] = redirect("/round")
    assert take(secure.address("/moved"), tmp_path) == (BODY, ETAG)
    for path in ("/down", "/file"):
        with pytest.raises(ArtefactError, match=r"isn't https|not allowed"):
            take(secure.address(path), tmp_path)
    with pytest.raises(ArtefactError, match="302"):
        take(secure.address("/round"), tmp_path)
    assert server.asked == []


def test_what_a_server_refuses_or_cuts_is_said(server: Server, tmp_path: Path) -> None:
    server.answers["/none"] = lambda handler: handler.reply(404)
    server.answers["/same"] = lambda handler: handler.reply(304)
    server.answers["/cut"] = lambda handler: handler.reply(200, BODY, length=len(BODY) + 1)
    server.answers["/junk"] = lambda handler: handler.wfile.write(b"\x1b[31m" * 9 + b"\r\n\r\n")
    for path, reason in (
        ("/none", "the server answered 404"),
        ("/same", "the server answered 304"),
        ("/cut", "the connection ended before the file did"),
        ("/junk", "\\u001b[31m"),
    ):
        with pytest.raises(ArtefactError) as found:
            take(server.address(path), tmp_path)
        assert reason in str(found.value)


def test_an_artefact_without_an_end_is_given_up(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []

    def endless(handler: Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not server.ends.is_set():
            try:
                sent.append(handler.wfile.write(bytes(1 << 16)))
            except OSError:
                return

    server.answers["/endless"] = endless
    monkeypatch.setattr(fetching, "MOST_BYTES", 1 << 20)
    with pytest.raises(ArtefactError, match="more than 1,048,576 bytes"):
        take(server.address("/endless"), tmp_path)


def test_a_server_that_drips_is_given_up(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = threading.Event()

    def drips(handler: Handler) -> None:
        asked.set()
        server.ends.wait(60)

    server.answers["/slow"] = drips
    monkeypatch.setattr(fetching, "_SECONDS", 0.05)
    with pytest.raises(ArtefactError, match="not there after"):
        take(server.address("/slow"), tmp_path)


def test_an_object_comes_from_its_store_and_once_by_its_etag(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "AWS_ENDPOINT": server.address(""),
        "AWS_ALLOW_HTTP": "true",
        "AWS_SKIP_SIGNATURE": "true",
        "AWS_REGION": "somewhere",
    }.items():
        monkeypatch.setenv(name, value)
    where = "s3://bucket/team/app.flindex"
    assert take(where, tmp_path) == (BODY, ETAG)
    assert take(where, tmp_path, ETAG) == (b"", ETAG)
    assert server.asked == [("/bucket/team/app.flindex", known) for known in ("", ETAG)]
    server.answers["/bucket/none"] = lambda handler: handler.reply(404)
    with pytest.raises(ArtefactError, match=r"s3://bucket/none: .*404") as found:
        take("s3://bucket/none", tmp_path)
    assert "Debug source" not in str(found.value)
