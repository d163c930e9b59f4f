"""A PostgreSQL server of the tests' own, on a socket in a folder of its own."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import psycopg

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PASSWORD = "correct horse"
ADMIN, TEAM = "postgres", "team"


@dataclass
class PostgresServer:
    """A server that can be stopped, killed and started again."""

    folder: Path
    programs: Path
    account: dict[str, Any]

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def initialize(self) -> None:
        password = self.folder / "password"
        password.write_text(PASSWORD, encoding="utf-8")
        if self.account:
            shutil.chown(password, self.account["user"], self.account["group"])
        self._run(
            "initdb", "--no-sync", f"--username={ADMIN}", f"--pwfile={password}",
            "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", f"--pgdata={self.data}",
        )  # fmt: skip
        self.start()
        self.execute(f"CREATE ROLE {TEAM} LOGIN PASSWORD '{PASSWORD}'")
        self.execute(f"CREATE DATABASE runs OWNER {TEAM}")

    def start(self, *, fsync: bool = False) -> None:
        options = (
            f"-c listen_addresses= -c unix_socket_directories={self.folder} -c max_connections=50 "
            f"-c fsync={'on' if fsync else 'off'}"
        )
        log = self.folder / "log"
        self._run("pg_ctl", "start", "-w", f"-D{self.data}", f"-l{log}", "-t60", f"-o{options}")

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "-w", f"-D{self.data}", "-mimmediate", "-t60")

    def kill(self) -> None:
        """End all its processes, as a crash of the machine would."""
        psutil.wait_procs(self.signal(signal.SIGKILL), timeout=60)

    def signal(self, number: int) -> list[psutil.Process]:
        """Send a signal to all its processes: stopped ones are like a network that hangs."""
        process = psutil.Process(int((self.data / "postmaster.pid").read_text("utf-8").split()[0]))
        processes = [process, *process.children(recursive=True)]
        for one in processes:
            with suppress(psutil.NoSuchProcess):
                one.send_signal(number)
        return processes

    def database(self) -> str:
        """Return the URL of a database without the schema `foldline`, which a plain user owns."""
        url = self.url(TEAM, "runs")
        with psycopg.connect(url, autocommit=True) as connection:
            # Quicker than a database for each test: that is a thousand files.
            connection.execute("DROP SCHEMA IF EXISTS foldline CASCADE")
        return url

    def url(self, user: str, database: str) -> str:
        return f"postgresql://{user}:{PASSWORD.replace(' ', '%20')}@/{database}?host={self.folder}"

    def execute(self, query: str, database: str = "postgres") -> None:
        with psycopg.connect(self.url(ADMIN, database), autocommit=True) as connection:
            connection.execute(query.encode())

    def _run(self, program: str, *arguments: str) -> None:
        # A server that inherits a pipe would keep it open.
        with (self.folder / "output").open("wb") as output:
            done = subprocess.run(
                [str(self.programs / program), *arguments],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
                **self.account,
            )
        if done.returncode:
            log = self.folder / "log"
            said = log.read_text("utf-8")[-2000:] if log.exists() else ""
            printed = (self.folder / "output").read_text("utf-8")
            raise AssertionError(f"{program} failed:\n{printed}\n{said}")


def running_server(program: Callable[..., str]) -> Iterator[PostgresServer]:
    """Run a server until the caller goes on."""
    programs = Path(program("initdb")).parent
    # The server refuses to run as root, and can't enter root's folders of temporary files.
    account: dict[str, Any] = {}
    if os.geteuid() == 0:
        entry = pwd.getpwnam("postgres")
        account = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
    folder = Path(tempfile.mkdtemp(prefix="foldline-pg-"))
    server = PostgresServer(folder, programs, account)
    try:
        if account:
            shutil.chown(folder, account["user"], account["group"])
        server.initialize()
        yield server
    finally:
        if (server.data / "postmaster.pid").exists():
            server.kill()
        shutil.rmtree(folder)
