"""The reference deployment of docs/09-team.md on the loopback: haproxy, and two replicas."""

from __future__ import annotations

import datetime
import ipaddress
import os
import socket
import ssl
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from .replicas import Replica, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

FILES = Path(__file__).parents[3] / "docs" / "deploy"
NAME = "mcp.example.com"
IDENTITY = ("--identity-header", "X-Foldline-User", "--trusted-proxy", "127.0.0.1/32")


@dataclass(frozen=True)
class Certificates:
    """Files of an authority, of the balancer, and of clients by their names."""

    authority: Path
    balancer: Path
    clients: dict[str, Path]

    def context(self, user: str | None) -> ssl.SSLContext:
        """What a client needs to speak to the balancer, and to say who it is."""
        context = ssl.create_default_context(cafile=self.authority)
        if user is not None:
            context.load_cert_chain(self.clients[user])
        return context


def make_certificates(folder: Path, *users: str) -> Certificates:
    key = ec.generate_private_key(ec.SECP256R1())
    root = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority")])
    now = datetime.datetime.now(datetime.UTC)

    loopback = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))

    def write(name: str, own: ec.EllipticCurvePrivateKey, *, authority: bool = False) -> Path:
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = (
            x509.CertificateBuilder(root, root if authority else subject, own.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(x509.BasicConstraints(authority, None), critical=True)
            .add_extension(
                x509.SubjectAlternativeName([x509.DNSName(name), loopback]), critical=False
            )
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False
            )
            .add_extension(
                x509.SubjectKeyIdentifier.from_public_key(own.public_key()), critical=False
            )
        )
        file = folder / f"{name}.pem"
        private = own.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        signed = builder.sign(key, hashes.SHA256())
        file.write_bytes(signed.public_bytes(serialization.Encoding.PEM) + private)
        return file

    return Certificates(
        write("authority", key, authority=True),
        write(NAME, ec.generate_private_key(ec.SECP256R1())),
        {user: write(user, ec.generate_private_key(ec.SECP256R1())) for user in users},
    )


@dataclass
class Balanced:
    """The deployment; `replicas` are named as in the balancer's file, `log` is the balancer's."""

    certificates: Certificates
    stack: ExitStack
    arguments: tuple[str, ...] = ()
    url: str = ""
    metrics: str = ""
    replicas: dict[str, Replica] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)

    def client(self, user: str = "somebody") -> httpx2.AsyncClient:
        """A client with connections of its own, as many as it needs."""
        return httpx2.AsyncClient(
            verify=self.certificates.context(user),
            headers={"Host": NAME},
            timeout=60,
            limits=httpx2.Limits(max_connections=None),
        )

    def start(self, name: str, port: int = 0) -> Replica:
        """Start a replica, at the port of the one before it or at a free one."""
        at = ("--http", f"127.0.0.1:{port}", "--allowed-host", NAME)
        replica = self.stack.enter_context(serving(*at, *IDENTITY, *self.arguments))
        self.replicas[name] = replica
        return replica

    def balance(self, haproxy: str, *ports: int, file: Path = FILES / "haproxy.cfg") -> None:
        """Start the balancer before the replicas, or what else listens at two ports."""
        ports = ports or (self.replicas["a"].port, self.replicas["b"].port)
        port, metrics = free_port(), free_port()
        self.url = f"https://127.0.0.1:{port}/mcp"
        self.metrics = f"http://127.0.0.1:{metrics}/metrics"
        process = subprocess.Popen(
            [haproxy, "-W", "-f", str(file)],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | environment(self.certificates, port, metrics, *ports),
        )
        assert process.stderr is not None
        reading = threading.Thread(target=self.log.extend, args=(process.stderr,), daemon=True)
        self.stack.callback(_end, process, reading)
        for line in process.stderr:
            if "Loading success" in line:
                break
        else:
            raise AssertionError("haproxy did not start")
        reading.start()


@contextmanager
def balanced(
    haproxy: str, folder: Path, *arguments: str, users: tuple[str, ...] = ("somebody",)
) -> Iterator[Balanced]:
    """Start the deployment; `arguments` are for the replicas."""
    with ExitStack() as stack:
        one = Balanced(make_certificates(folder, *users), stack, arguments)
        with ThreadPoolExecutor() as pool:
            list(pool.map(one.start, ("a", "b")))
        one.balance(haproxy)
        yield one


def environment(
    certificates: Certificates, port: int, metrics: int, first: int, second: int
) -> dict[str, str]:
    """What the balancer's file reads."""
    return {
        "FOLDLINE_BIND": f"127.0.0.1:{port}",
        "FOLDLINE_METRICS_BIND": f"127.0.0.1:{metrics}",
        "FOLDLINE_CERTIFICATE": str(certificates.balancer),
        "FOLDLINE_CLIENT_CA": str(certificates.authority),
        "FOLDLINE_REPLICA_A": f"127.0.0.1:{first}",
        "FOLDLINE_REPLICA_B": f"127.0.0.1:{second}",
    }


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _end(process: subprocess.Popen[str], reading: threading.Thread) -> None:
    process.terminate()
    process.wait(30)
    if reading.ident is not None:
        reading.join(30)
    assert process.stderr is not None
    process.stderr.close()
