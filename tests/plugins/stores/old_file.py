"""A file of events as foldline first wrote it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

OLD_FILE = """
CREATE TABLE events (number INTEGER PRIMARY KEY, event_id TEXT NOT NULL UNIQUE, at TEXT NOT NULL,
    kind TEXT NOT NULL, ns TEXT NOT NULL, key TEXT NOT NULL, evaluation_id TEXT NOT NULL,
    session_id TEXT, provider TEXT, data TEXT NOT NULL);
CREATE TABLE openings (event INTEGER NOT NULL REFERENCES events (number) ON DELETE CASCADE,
    section TEXT NOT NULL, how TEXT NOT NULL, turn INTEGER NOT NULL, reason TEXT);
PRAGMA user_version = 1;
INSERT INTO events VALUES (1, 'a', '2026-01-02T03:04:05+00:00', 'ModelAnswered', 'ns', 'k', 'e',
    NULL, 'p', '{"characters": 5, "input_tokens": 7, "seconds": NaN, "text": "héllo"}');
INSERT INTO events VALUES (2, 'b', '2026-01-02T03:04:06.5+00:00', 'ToolInvoked', 'ns', 'k', 'e',
    's', NULL, '{"tool": "open_sections", "message_characters": 3}');
INSERT INTO openings VALUES (2, 'docs', 'open_sections', 1, 'nul' || char(0));
"""


def old_file(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as database:
        database.executescript(OLD_FILE)
    return path
