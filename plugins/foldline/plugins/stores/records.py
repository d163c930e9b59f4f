"""Events as stores keep them: as texts that every database takes, with the numbers of reports."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, NamedTuple

from foldline.prompts.disclosure.disclosure import OpenSectionsParams, ReadSectionParams
from foldline.prompts.layout.layout import OPEN_SECTIONS, READ_SECTION
from foldline.prompts.runtime.events import Event, ToolInvoked, repr_of
from foldline.prompts.runtime.redaction import Redact, redacted

NAME_CHARACTERS = 200
"""Names of this length fit an index of every database."""
REASON_CHARACTERS = 10_000
VALUE_CHARACTERS = 16_000_000
MAX_NUMBER = 2**40
"""Larger sizes and counts aren't real, and their sums would overflow."""
# PostgreSQL takes no NUL, and UTF-8 has no surrogates.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One stored event."""

    at: datetime
    kind: str
    """The event's class, such as `ToolInvoked`."""
    prompt_ns: str
    prompt_key: str
    evaluation_id: str
    session_id: str | None
    provider: str | None
    data: Mapping[str, object]
    """Sizes, keys and counts; texts only if the store keeps content."""


@dataclass(frozen=True, slots=True)
class SectionOpening:
    """One section that a model opened or read."""

    at: datetime
    section_key: str
    """The dotted key, as the model wrote it."""
    how: str
    """`open_sections` or `read_section`."""
    turn: int
    """The number of the model's message in the evaluation, from 1."""
    reason: str | None
    evaluation_id: str
    session_id: str | None


class Opening(NamedTuple):
    """An opening in the record of its event."""

    section: str
    how: str
    turn: int
    reason: str | None


class EventRecord(NamedTuple):
    """An event as it goes into a database: its columns, and the openings that it is about."""

    event_id: str
    at: datetime
    kind: str
    ns: str
    key: str
    evaluation_id: str
    session_id: str | None
    provider: str | None
    data: str
    characters: int | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    written_tokens: int | None
    openings: tuple[Opening, ...] = ()


NAMES = ("event_id", "ns", "key", "evaluation_id", "session_id", "provider")
COLUMNS = EventRecord._fields[:-1]
NUMBERS = COLUMNS[COLUMNS.index("characters") :]


def record_of(event: Event, *, content: bool | Redact) -> EventRecord:
    """Return an event's record, with its texts if `content` is true, as a hook leaves them.

    No database refuses it: NUL characters and surrogates in names are replaced, as are values that
    JSON can't represent, and texts of more than 16,000,000 characters.
    """
    texts = event.content() if content else {}
    values = event.facts() | {name: redacted(text, content) for name, text in texts.items()}
    return stored_record(
        (
            event.event_id,
            event.created_at,
            type(event).__name__,
            event.prompt_ns,
            event.prompt_key,
            event.evaluation_id,
            event.session_id,
            event.provider,
            "{"
            + ", ".join(f"{_encode(name)}: {_json(value)}" for name, value in values.items())
            + "}",
            *numbers_of(values),
        ),
        _openings(event, content) if isinstance(event, ToolInvoked) else (),
    )


def stored_record(row: Sequence[Any], openings: Iterable[Sequence[Any]]) -> EventRecord:
    """Return the record of a row with the `COLUMNS`, which an older version may have written."""
    record = EventRecord._make((*row, ()))
    names: dict[str, Any] = {
        name: stored_name(text) for name in NAMES if (text := getattr(record, name)) is not None
    }
    opened = tuple(
        Opening(stored_name(section), how, turn, reason and _clean(reason)[:REASON_CHARACTERS])
        for section, how, turn, reason in openings
    )
    return record._replace(at=time_of(record.at), openings=opened, **names)


def numbers_of(values: Mapping[str, object]) -> tuple[int | None, ...]:
    """Return the `NUMBERS` of an event's data."""
    size = values.get("characters", values.get("message_characters"))
    values_of_run = (size, *(values.get(name) for name in NUMBERS[1:]))
    return tuple(
        number if type(number) is int and 0 <= number <= MAX_NUMBER else None
        for number in values_of_run
    )


def time_of(value: datetime | str) -> datetime:
    """Return a time in UTC, also that of a row."""
    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    try:
        return at.astimezone(UTC)
    except OverflowError:
        # Before the first year, or after the last one.
        return at.replace(tzinfo=UTC)


def _json(value: object) -> str:
    try:
        text = _encode(value)
    except (TypeError, ValueError, RecursionError):
        text = _encode(repr_of(value))
    if len(text) > VALUE_CHARACTERS:
        return _encode(f"<{len(text):,} characters, too many to store>")
    return json.dumps(json.loads(text)) if _UNSTORABLE.search(text) else text


def stored_name(text: str) -> str:
    """Return a name as it is stored: without what no database takes, and short."""
    text = _clean(text)
    if len(text) <= NAME_CHARACTERS:
        return text
    # Long names that differ only at the end stay different.
    return text[: NAME_CHARACTERS - 65] + "…" + sha256(text.encode()).hexdigest()


def _clean(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def _openings(event: ToolInvoked, redact: bool | Redact) -> Iterator[Opening]:
    params = event.params if event.success else None
    if event.name == OPEN_SECTIONS and isinstance(params, OpenSectionsParams):
        for key in params.section_keys:
            yield Opening(key, event.name, event.turn, str(redacted(params.reason, redact)))
    elif event.name == READ_SECTION and isinstance(params, ReadSectionParams):
        yield Opening(params.section_key, event.name, event.turn, None)
