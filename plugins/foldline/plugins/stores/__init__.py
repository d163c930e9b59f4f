"""Where events of evaluations are kept and counted: SQLite files and PostgreSQL servers."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "records": ("EventRecord", "SectionOpening", "StoredEvent"),
        "sqlite_store": ("SQLiteEventStore",),
        "store": ("DayOpenings", "EventStore", "SizeTotals", "TokenTotals", "open_event_store"),
    },
)
