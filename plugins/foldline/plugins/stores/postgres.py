"""Connections to a team's PostgreSQL, and the schema `foldline` there; the extra `postgres`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, LiteralString

from foldline.prompts.errors import StoreUnavailableError

try:
    import psycopg
    from psycopg import errors, sql
    from psycopg.conninfo import conninfo_to_dict
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "A store in PostgreSQL needs 'psycopg': install foldline[postgres]", name=error.name
    ) from None

# Other modules have them from here, where a missing extra is named.
__all__ = ["errors", "psycopg", "sql"]

CONNECT_SECONDS, STATEMENT_SECONDS, LOCK_SECONDS = 5, 30, 5
# Locks by which the processes of all machines do one thing at a time; "fold" in ASCII.
SCHEMA_LOCK, PARTITION_LOCK = (0x666F6C64, 1), (0x666F6C64, 2)

# What says which database it is, and the variables of libpq for what a URL leaves out.
_PLACE = {
    "host": "PGHOST",
    "hostaddr": "PGHOSTADDR",
    "port": "PGPORT",
    "dbname": "PGDATABASE",
    "user": "PGUSER",
    "service": "PGSERVICE",
}

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
    -- Of the long values of events: `events.texts` is JSON, their hashes by their names in `data`.
    CREATE TABLE foldline.texts (hash text PRIMARY KEY, text text NOT NULL, last_day date NOT NULL);
    """,
    """
    -- A deletion is a version without a body.
    CREATE TABLE foldline.overrides (
        ns text NOT NULL, key text NOT NULL, tag text NOT NULL, version integer NOT NULL, hash text,
        body text, author text NOT NULL DEFAULT session_user,
        at timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (ns, key, tag, version)
    )
    """,
)


class Server:
    """A PostgreSQL server, and connections to it that wait for a bounded time.

    Args:
        url: A `postgresql://` URL. What it leaves out comes from libpq's variables and files.

    Attributes:
        name: The URL without a password, for messages.
        database: Which database it is, by the URL and libpq's variables.

    Raises:
        ValueError: It isn't such a URL.
    """

    def __init__(self, url: str) -> None:
        # No message of a parser may get out: it could quote the password.
        try:
            parameters = {name: str(value) for name, value in conninfo_to_dict(url).items()}
        except psycopg.Error:
            parameters = {"host": "@"}
        user, host, port, database = (
            parameters.get(n, "") for n in ("user", "host", "port", "dbname")
        )
        if "@" in host + database or not re.fullmatch(r"[0-9,]*", port):
            raise ValueError(
                "The store is neither a path nor a valid postgresql:// URL. That has the form "
                "postgresql://user:password@host:port/database; in a password, `@`, `:`, `/`, `#` "
                "and `%` are written as %40, %3A, %2F, %23 and %25."
            )
        self._secrets = [parameters[n] for n in ("password", "sslpassword") if parameters.get(n)]
        self.name = f"postgresql://{user and user + '@'}{host}{port and ':' + port}/{database}"
        self.database = repr(
            [parameters.get(n) or os.environ.get(v, "") for n, v in _PLACE.items()]
        )
        # TCP notices a dead peer, for which a statement would wait beyond its time.
        self._parameters: dict[str, str | int] = {
            "connect_timeout": CONNECT_SECONDS,
            "keepalives_idle": STATEMENT_SECONDS,
            "tcp_user_timeout": STATEMENT_SECONDS * 1000,
            "application_name": "foldline",
            **parameters,
        }
        self._exists = False

    def connect(self) -> psycopg.Connection:
        """Return a new connection in autocommit mode; the first one makes a missing schema."""
        options: Any = self._parameters
        # Nothing is prepared there: a pooler may change the server between transactions.
        connection = psycopg.connect(**options, autocommit=True, prepare_threshold=None)
        try:
            if not self._exists:
                # To extend one would wait for all who read.
                if one(connection.cursor(), "SELECT to_regclass('foldline.events') IS NULL"):
                    migrate(connection)
                self._exists = True
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection]:
        """Run a block with a new connection; errors become a `StoreUnavailableError`."""
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
        text = f"The store {self.name} can't be used: {' '.join(str(error).split())}"
        if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn):
            text += " Its owner has to run `foldline runs migrate`."
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
    with connection.cursor() as cursor:
        if _version(cursor) >= len(migrations):
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
        for number in range(_version(cursor) + 1, len(migrations) + 1):
            cursor.execute(migrations[number - 1])
            cursor.execute("INSERT INTO foldline.migrations (version) VALUES (%s)", (number,))


def one(cursor: psycopg.Cursor, query: LiteralString | sql.Composed) -> Any:
    """Return the one value of a query."""
    row = cursor.execute(query).fetchone()
    return row and row[0]


def _version(cursor: psycopg.Cursor) -> int:
    if not one(cursor, "SELECT to_regclass('foldline.migrations') IS NOT NULL"):
        return 0
    return int(one(cursor, "SELECT coalesce(max(version), 0) FROM foldline.migrations"))
