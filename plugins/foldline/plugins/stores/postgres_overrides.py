"""Overrides in a team's PostgreSQL. Needs the extra `postgres`."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import EllipsisType
from typing import Any

from foldline.plugins.stores.postgres import Server, psycopg
from foldline.prompts.errors import StoreUnavailableError
from foldline.prompts.forms.tags import LATEST
from foldline.prompts.overrides.overrides import PromptOverride
from foldline.prompts.overrides.overrides_store import (
    check_expected,
    check_texts,
    checked_names,
    read_override,
    text_of,
)
from foldline.prompts.template import PromptTemplate

_log = logging.getLogger(__name__)


class PostgresOverridesStore:
    """An `OverrideStore` in PostgreSQL, in the schema `foldline`, for all machines of a team.

    Each change is a new row: the earlier ones stay, with the role that made them and the time. All
    methods raise a `StoreUnavailableError` if the server can't be reached, or refuses.

    Args:
        url: A `postgresql://` URL, as that of a `PostgresEventStore`.

    Raises:
        ValueError: It isn't such a URL.
    """

    def __init__(self, url: str) -> None:
        self._server = Server(url)
        self._loaded: dict[tuple[str, str, str], PromptOverride | None] = {}

    def tags(self, ns: str, key: str) -> tuple[str, ...]:
        """Return a prompt's tags, sorted."""
        checked_names(ns, key, LATEST)
        with self._server.transaction() as cursor:
            cursor.execute(
                "SELECT DISTINCT ON (tag) tag, body FROM foldline.overrides "
                "WHERE ns = %s AND key = %s ORDER BY tag, version DESC",
                (ns, key),
            )
            return tuple(sorted(tag for tag, body in cursor if body is not None))

    def load(self, ns: str, key: str, tag: str = LATEST) -> PromptOverride | None:
        """Return the overrides of a prompt under a tag; None if there are none.

        While the server can't be reached, those that were loaded last are used, with a warning.

        Raises:
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
    ) -> None:
        """Store the overrides; see `OverrideStore`."""
        check_texts(override, template)
        names = (override.ns, override.key, override.tag)
        with self._changing(names) as (cursor, row):
            if expected is not ...:
                changed = "" if row is None else f"by {row[2]}, at {row[3]:%Y-%m-%d %H:%M:%S} UTC"
                check_expected(_read(row, names), override, expected, changed)
            _append(cursor, names, row, override.content_hash, text_of(override))

    def delete(self, ns: str, key: str, tag: str = LATEST) -> bool:
        """Remove the overrides of a prompt under a tag; returns True if there were any."""
        with self._changing((ns, key, tag)) as (cursor, row):
            existed = row is not None and row[1] is not None
            if existed:
                _append(cursor, (ns, key, tag), row, None, None)
        return existed

    @contextmanager
    def _changing(self, names: tuple[str, str, str]) -> Iterator[tuple[psycopg.Cursor, Any]]:
        """Keep others from changing them, and give the row of the last change."""
        checked_names(*names)
        lock = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
        with self._server.transaction() as cursor:
            cursor.execute(lock, ["/".join(names)])
            yield cursor, _latest(cursor, names)


def _latest(cursor: psycopg.Cursor, names: tuple[str, str, str]) -> Any:
    return cursor.execute(
        "SELECT version, body, author, at FROM foldline.overrides "
        "WHERE ns = %s AND key = %s AND tag = %s ORDER BY version DESC LIMIT 1",
        names,
    ).fetchone()


def _append(
    cursor: psycopg.Cursor, names: tuple[str, str, str], row: Any, *new: str | None
) -> None:
    cursor.execute(
        "INSERT INTO foldline.overrides (ns, key, tag, version, hash, body) "
        "VALUES (%s, %s, %s, %s, %s, %s)",
        (*names, 1 if row is None else row[0] + 1, *new),
    )


def _read(row: Any, names: tuple[str, str, str]) -> PromptOverride | None:
    if row is None or row[1] is None:
        return None
    ns, key, tag = names
    return read_override(row[1], f"The stored override {ns}/{key}, tag {tag!r},", names)
