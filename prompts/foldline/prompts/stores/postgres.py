"""Connections to a team's PostgreSQL, and the schema `foldline` there; the extra `postgres`."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from foldline.prompts.errors import StoreUnavailableError

try:
    import psycopg
    from psycopg import sql
    from psycopg.conninfo import conninfo_to_dict
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "A store in PostgreSQL needs 'psycopg': install foldline[postgres]", name=error.name
    ) from None

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import LiteralString

CONNECT_SECONDS = 5
STATEMENT_SECONDS = 30
LOCK_SECONDS = 5
# Locks by which the processes of all machines do one thing at a time; "fold" in ASCII.
SCHEMA_LOCK, PARTITION_LOCK = (0x666F6C64, 1), (0x666F6C64, 2)

# Only ever extended, by what an older foldline needn't know of: tables, and columns that may be
# NULL. It goes on beside a newer schema, and a newer one extends an older schema.
MIGRATIONS: tuple[LiteralString, ...] = (
    """
    CREATE TABLE foldline.events (
        number bigint GENERATED ALWAYS AS IDENTITY, day date NOT NULL, event_id text NOT NULL,
        at timestamptz NOT NULL, kind text NOT NULL, ns text NOT NULL, key text NOT NULL,
        evaluation_id text NOT NULL, session_id text, provider text, data text NOT NULL, texts text,
        characters bigint, input_tokens bigint, output_tokens bigint, cached_tokens bigint,
        written_tokens bigint, PRIMARY KEY (day, event_id)
    ) PARTITION BY RANGE (day);
    CREATE INDEX ON foldline.events (ns, key, number);
    CREATE TABLE foldline.events_other PARTITION OF foldline.events DEFAULT;
    CREATE TABLE foldline.openings (
        number bigint GENERATED ALWAYS AS IDENTITY, day date NOT NULL, event_id text NOT NULL,
        position integer NOT NULL, at timestamptz NOT NULL, ns text NOT NULL, key text NOT NULL,
        evaluation_id text NOT NULL, session_id text, section text NOT NULL, how text NOT NULL,
        turn integer NOT NULL, reason text, PRIMARY KEY (day, event_id, position)
    ) PARTITION BY RANGE (day);
    CREATE TABLE foldline.openings_other PARTITION OF foldline.openings DEFAULT;
    CREATE TABLE foldline.texts (hash text PRIMARY KEY, text text NOT NULL, last_day date NOT NULL);
    COMMENT ON COLUMN foldline.events.texts IS 'JSON: hashes by the names that they have in data';
    COMMENT ON COLUMN foldline.texts.last_day IS 'The last day with an event that has the text';
    """,
    """
    CREATE TABLE foldline.overrides (
        ns text NOT NULL, key text NOT NULL, tag text NOT NULL, version integer NOT NULL, hash text,
        body text, author text NOT NULL, at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (ns, key, tag, version)
    );
    COMMENT ON COLUMN foldline.overrides.body IS 'JSON; NULL where the overrides were deleted';
    """,
)


class Server:
    """A PostgreSQL server: opens connections with limits, on a schema that is up to date.

    Args:
        url: A `postgresql://` URL. What it leaves out comes from libpq's environment variables and
            files, such as `PGPASSWORD` and `~/.pgpass`.

    Attributes:
        name: The URL without a password, for messages.

    Raises:
        ValueError: It isn't such a URL.
    """

    def __init__(self, url: str) -> None:
        # No message of a parser may get out: it could quote the password.
        try:
            given = conninfo_to_dict(url)
        except psycopg.Error:
            given = {}
        host, port, database = (str(given.get(name) or "") for name in ("host", "port", "dbname"))
        if not given or "@" in host + database or not re.fullmatch(r"[0-9,]*", port):
            raise ValueError(
                "The store isn't a valid postgresql:// URL. It has the form "
                "postgresql://user:password@host:port/database; in a password, `@`, `:`, `/`, `#` "
                "and `%` are written as %40, %3A, %2F, %23 and %25."
            )
        self._secrets = [
            str(given[name]) for name in ("password", "sslpassword") if given.get(name)
        ]
        user = f"{given['user']}@" if "user" in given else ""
        self.name = f"postgresql://{user}{host}{port and ':' + port}/{database}"
        # Dead peers are noticed by TCP, so that a statement waits no longer than its timeout.
        self._parameters: dict[str, str | int] = {
            "connect_timeout": CONNECT_SECONDS,
            "keepalives_idle": 10,
            "keepalives_interval": 5,
            "keepalives_count": 3,
            "tcp_user_timeout": STATEMENT_SECONDS * 1000,
            "application_name": "foldline",
            **{name: str(value) for name, value in given.items()},
        }
        self._migrated = False

    def connect(self) -> psycopg.Connection:
        """Return a new connection to a schema that is up to date, in autocommit mode.

        Raises:
            psycopg.Error: The server can't be reached, or refuses.
        """
        # Nothing is prepared on the server: a pooler in front may change it between transactions.
        connection = psycopg.connect(
            **self._parameters,  # type: ignore[arg-type]  # Any of libpq's.
            autocommit=True,
            prepare_threshold=None,
        )
        try:
            if not self._migrated:
                migrate(connection)
                self._migrated = True
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection]:
        """Run a block with a new connection.

        Raises:
            StoreUnavailableError: The server can't be reached, or refuses.
        """
        try:
            with self.connect() as connection:
                yield connection
        except psycopg.Error as error:
            raise StoreUnavailableError(self.describe(error)) from None

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Cursor]:
        """Run a block in one transaction of a new connection, like `connection`."""
        with self.connection() as connection, limited(connection) as cursor:
            yield cursor

    def describe(self, error: Exception) -> str:
        """Return a sentence about an error, without passwords."""
        reason = " ".join(str(error).split()) or type(error).__name__
        return self._redacted(f"The store {self.name} can't be used: {reason}")

    def _redacted(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


@contextmanager
def limited(
    connection: psycopg.Connection, *, statement_seconds: int = STATEMENT_SECONDS
) -> Iterator[psycopg.Cursor]:
    """Run a block in a transaction whose statements and locks wait for a bounded time, in UTC."""
    with connection.transaction(), connection.cursor() as cursor:
        # Not when the connection starts, where a pooler refuses it.
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, true), "
            "set_config('lock_timeout', %s, true), set_config('TimeZone', 'UTC', true)",
            (f"{statement_seconds}s", f"{LOCK_SECONDS}s"),
        )
        yield cursor


def migrate(
    connection: psycopg.Connection, migrations: Sequence[LiteralString] = MIGRATIONS
) -> None:
    """Extend the schema by the migrations that it lacks; those of a newer foldline stay."""
    if _version(connection) >= len(migrations):
        return
    with limited(connection) as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", SCHEMA_LOCK)
        # `IF NOT EXISTS` needs the right to create one, even where an administrator made it.
        if not one(cursor, "SELECT to_regnamespace('foldline') IS NOT NULL"):
            cursor.execute("CREATE SCHEMA foldline")
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS foldline.migrations "
            "(version integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
        )
        for number in range(_version(connection) + 1, len(migrations) + 1):
            cursor.execute(migrations[number - 1])
            cursor.execute("INSERT INTO foldline.migrations (version) VALUES (%s)", (number,))


def author() -> str:
    """Return who writes, for others to read: the user and the machine."""
    import getpass
    import socket

    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
    return f"{user}@{socket.gethostname()}"


def one(cursor: psycopg.Cursor, query: LiteralString | sql.Composed) -> object:
    """Return the one value of a query."""
    row = cursor.execute(query).fetchone()
    return row and row[0]


def _version(connection: psycopg.Connection) -> int:
    with connection.cursor() as cursor:
        if not one(cursor, "SELECT to_regclass('foldline.migrations') IS NOT NULL"):
            return 0
        return int(str(one(cursor, "SELECT coalesce(max(version), 0) FROM foldline.migrations")))
