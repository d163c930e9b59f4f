from foldline.plugins.stores.records import EventRecord, SectionOpening, StoredEvent
from foldline.plugins.stores.sqlite_store import SQLiteEventStore
from foldline.plugins.stores.store import (
    DayOpenings,
    EventStore,
    SizeTotals,
    TokenTotals,
    open_event_store,
)

__all__ = [
    "DayOpenings",
    "EventRecord",
    "EventStore",
    "SQLiteEventStore",
    "SectionOpening",
    "SizeTotals",
    "StoredEvent",
    "TokenTotals",
    "open_event_store",
]
__version__: str
