"""Overrides in a team's PostgreSQL. Needs the extra `postgres`."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from foldline.prompts.errors import StoreUnavailableError
from foldline.prompts.forms.tags import LATEST
from foldline.prompts.overrides.overrides_store import (
    check_expected,
    check_texts,
    checked_names,
    read_override,
    text_of,
)
from foldline.prompts.stores.postgres import Server, author

if TYPE_CHECKING:
    from types import EllipsisType

    import psycopg

    from foldline.prompts.overrides.overrides import PromptOverride
    from foldline.prompts.template import PromptTemplate

_log = logging.getLogger(__name__)


class PostgresOverridesStore:
    """An `OverrideStore` in PostgreSQL, for all machines of a team, in the schema `foldline`.

    Each change is a new row: the earlier ones stay, with who made them and when.

    Args:
        url: A `postgresql://` URL, as that of a `PostgresEventStore`.
        author: Who makes the changes, for others to read; by default the user and the machine.

    Raises:
        ValueError: It isn't such a URL.
    """

    def __init__(self, url: str, *, author: str | None = None) -> None:
        self._server = Server(url)
        self._author = author
        self._loaded: dict[tuple[str, str, str], PromptOverride | None] = {}

    def tags(self, ns: str, key: str) -> tuple[str, ...]:
        """Return a prompt's tags, sorted."""
        with self._server.transaction() as cursor:
            cursor.execute(
                "SELECT DISTINCT ON (tag) tag, body FROM foldline.overrides "
                "WHERE ns = %s AND key = %s ORDER BY tag, version DESC",
                (ns, key),
            )
            return tuple(sorted(tag for tag, body in cursor if body is not None))

    def load(self, ns: str, key: str, tag: str = LATEST) -> PromptOverride | None:
        """Return the overrides of a prompt under a tag; None if there are none.

        While the server can't be reached, those are used that were loaded last, with a warning.

        Raises:
            StoreUnavailableError: The server can't be reached, and they haven't been loaded yet.
            PromptValidationError: What is stored isn't the prompt's overrides.
        """
        names = (ns, key, tag)
        checked_names(*names)
        try:
            with self._server.transaction() as cursor:
                self._loaded[names] = _read(_latest(cursor, names), names)
        except StoreUnavailableError as error:
            if names not in self._loaded:
                raise
            _log.warning("The overrides of %s/%s are those loaded before: %s", ns, key, error)
        return self._loaded[names]

    def save(
        self,
        override: PromptOverride,
        *,
        template: PromptTemplate[object] | None = None,
        expected: str | EllipsisType | None = ...,
    ) -> int:
        """Store the overrides, and return the number of their version; see `OverrideStore`.

        Raises:
            PromptValidationError: `template` is given, and refuses one of the texts.
            OverrideConflictError: What is stored isn't what was `expected`.
            StoreUnavailableError: The server can't be reached, or refuses.
        """
        check_texts(override, template)
        names = (override.ns, override.key, override.tag)
        checked_names(*names)
        body = text_of(override)
        with self._server.transaction() as cursor:
            row = _latest(cursor, names, lock=True)
            if expected is not ...:
                changed = "" if row is None else f"by {row[2]}, at {row[3]:%Y-%m-%d %H:%M:%S} UTC"
                check_expected(_read(row, names), override, expected, changed)
            return self._insert(cursor, names, row, (override.content_hash, body))

    def delete(self, ns: str, key: str, tag: str = LATEST) -> bool:
        """Remove the overrides of a prompt under a tag; returns True if there were any."""
        names = (ns, key, tag)
        with self._server.transaction() as cursor:
            row = _latest(cursor, names, lock=True)
            if row is None or row[1] is None:
                return False
            self._insert(cursor, names, row, (None, None))
            return True

    def _insert(
        self,
        cursor: psycopg.Cursor,
        names: tuple[str, str, str],
        before: tuple[Any, ...] | None,
        content: tuple[str | None, str | None],
    ) -> int:
        version: int = 1 if before is None else before[0] + 1
        cursor.execute(
            "INSERT INTO foldline.overrides (ns, key, tag, version, hash, body, author) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s)",
            (*names, version, *content, self._author or author()),
        )
        return version


def _latest(
    cursor: psycopg.Cursor, names: tuple[str, str, str], *, lock: bool = False
) -> tuple[Any, ...] | None:
    """Return version, body, author and time of the last change; may lock out other writers."""
    if lock:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", ["\n".join(names)])
    cursor.execute(
        "SELECT version, body, author, at FROM foldline.overrides "
        "WHERE ns = %s AND key = %s AND tag = %s ORDER BY version DESC LIMIT 1",
        names,
    )
    return cursor.fetchone()


def _read(row: tuple[Any, ...] | None, names: tuple[str, str, str]) -> PromptOverride | None:
    if row is None or row[1] is None:
        return None
    ns, key, tag = names
    return read_override(row[1], f"The stored override {ns}/{key}, tag {tag!r},", names)
