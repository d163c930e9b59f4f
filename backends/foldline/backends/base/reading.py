"""Reads dataclasses from JSON and TOML.

A problem says where it is, what is expected, and what is there instead; an unknown name comes with
near ones. `read` is for requests, which have to fit as a whole; `read_table` is for configuration,
of which everything that fits is taken. It's no converter of cattrs: that takes longer to load than
most verbs of the command line run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import MISSING, fields, is_dataclass, replace
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from foldline.backends.base.near_names import did_you_mean, near_names
from foldline.backends.errors import MOST_PROBLEMS, PathError, cut, first_few, shown
from foldline.records import record

if TYPE_CHECKING:
    from pathlib import Path

    from _typeshed import DataclassInstance

    TableT = TypeVar("TableT", bound=DataclassInstance)

T = TypeVar("T")

_WRONG = object()
_PHRASES = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}
_BOUNDARY = re.compile(r"(?<=[a-z])(?=[A-Z])|-")


@record
class Between:
    """The bounds of a number, both included, in the annotation of a field."""

    least: float
    most: float | None = None

    def refusal(self, value: float) -> str | None:
        """Return the reason why `value` is out of bounds; None if it isn't."""
        if value >= self.least and (self.most is None or value <= self.most):
            return None
        number = shown(value).removesuffix(".0")
        if self.most is None:
            return f"must be {self.least:g} or more, not {number}"
        return f"must be from {self.least:g} to {self.most:g}, not {number}"


@record
class OneOf:
    """The names that a table takes, in the annotation of its keys.

    Attributes:
        more: Asked where there is another name; True if it may be there.
    """

    names: tuple[str, ...]
    more: Callable[[], bool]


PROJECT_FILES = ("foldline.toml", "pyproject.toml")
"""The files of a folder's settings; the first that is there counts."""
_SHARED = ("tool", "foldline")

OMITTED = {"omitted": True}
"""Metadata of a dataclass field that JSON lacks where it has its default."""


def renamed(name: str) -> dict[str, str]:
    """Metadata of a dataclass field that JSON has under another name."""
    return {"renamed": name}


def read(value: object, kind: type[T]) -> tuple[T | None, dict[str, str]]:
    """Return a `kind` from parsed JSON, and the problems by path; None if there are any."""
    reading = _Reading()
    value_read: Any = reading.value(kind, value, "")
    return (None if reading.problems else value_read), reading.problems


def read_table(
    values: object, base: TableT, where: str = "", *, others: Iterable[str] = ()
) -> tuple[TableT, tuple[str, ...]]:
    """Return `base` with the values of a table that fit, and a sentence for each other one.

    Names may be written as `token_budget`, `token-budget` or `tokenBudget`; null is no value.

    Args:
        values: The table; None is an empty one.
        base: The values that the table doesn't set. Tables in it are merged.
        where: The table's path, for the sentences.
        others: Names in the table that other code reads.
    """
    reading = _Reading(lenient=True, others=others)
    changed = reading.members(type(base), {} if values is None else values, where)
    for name, value in changed.items():
        if isinstance(value, Mapping):
            changed[name] = {**getattr(base, name), **value}
    problems = (f"{path}: {problem}" for path, problem in reading.problems.items())
    return replace(base, **changed), first_few(problems)


def read_project(
    folder: Path, root: Path, base: TableT, *names: str, others: Iterable[str] = ()
) -> tuple[TableT, tuple[str, ...], str] | None:
    """Read a folder's settings, or a table in them, like `read_table`; also returns their place.

    They are `foldline.toml`, or else `[tool.foldline]` of `pyproject.toml`.

    Returns:
        None where there is no such table.

    Raises:
        PathError: The file can't be read.
    """
    own, shared = (folder / name for name in PROJECT_FILES)
    is_own = os.path.lexists(own)
    file, keys = (own, names) if is_own else (shared, (*_SHARED, *names))
    if (values := _table(file, root, keys)) is None:
        return None
    where = f"{file}: {'.'.join(keys)}"
    read, problems = read_table(values, base, ".".join(keys), others=others)
    if is_own and isinstance(values, Mapping) and "tool" in values:
        problems = ("leave the line [tool.foldline] out, here its keys stand alone",)
    problems = tuple(f"{file}: {problem}" for problem in problems)
    with suppress(PathError):
        if is_own and not names and _table(shared, root, _SHARED) is not None:
            problems = (f"{shared}: move [tool.foldline] into {own}: only that is read", *problems)
    return read, problems, where


def _table(file: Path, root: Path, keys: Iterable[str]) -> object:
    from foldline.backends.files.reader import read_toml

    try:
        values: object = read_toml(file, root=root)
    except FileNotFoundError:
        return None
    for key in keys:
        values = values.get(key) if isinstance(values, Mapping) else None
    return values


def unknown(name: str, known: Iterable[str], what: str) -> str:
    """Return the message for a name that isn't one of those `known`."""
    known = list(known)
    listed = f"; there are {', '.join(known)}"
    return f"unknown {what}{did_you_mean(near_names(name, known)[:1], listed)}"


@cache
def _layout(kind: type[Any]) -> dict[str, tuple[str, Any, bool]]:
    """Return the names, types and requiredness of a dataclass' fields by their names in JSON."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        one.metadata.get("renamed", one.name): (
            one.name,
            hints[one.name],
            one.default is MISSING and one.default_factory is MISSING,
        )
        for one in fields(kind)
    }


@cache
def _parts(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    return get_origin(hint), get_args(hint)


class _Reading:
    """One reading; `problems` has what was wrong so far, by path."""

    __slots__ = ("_lenient", "_others", "problems")

    def __init__(self, *, lenient: bool = False, others: Iterable[str] = ()) -> None:
        self.problems: dict[str, str] = {}
        self._lenient = lenient
        self._others = frozenset(others)

    def value(self, hint: Any, value: object, path: str) -> object:
        """Return the value as that type; `_WRONG` after a problem that leaves nothing of it."""
        if type(value) is hint:
            return value
        origin, inner = _parts(hint)
        if origin is Annotated:
            return self._bounded(inner, self.value(inner[0], value, path), path)
        if origin in (Union, UnionType):
            (member,) = (one for one in inner if one is not NoneType)
            return None if value is None else self.value(member, value, path)
        if hint in _PHRASES:
            return self._scalar(hint, value, path)
        if origin is tuple:
            return self._array(inner, value, path)
        if origin in (dict, Mapping):
            return self._mapping(inner, value, path)
        if is_dataclass(hint):
            return self._dataclass(hint, value, path)
        if origin is Literal or (isinstance(hint, type) and issubclass(hint, StrEnum)):
            choices = inner or tuple(hint)
            if isinstance(value, str) and value in choices:
                return value if inner else hint(value)
            return self._wrong(path, f"one of {', '.join(choices)}", value)
        return value

    def members(self, kind: Any, value: object, path: str) -> dict[str, Any]:
        """Return the values of a dataclass' fields that are there and fit."""
        layout = _layout(kind)
        items: dict[str, Any] = {}
        for key, item in self._items(value, path):
            name, inner = key, f"{path}.{key}" if path else key
            if self._lenient and name not in layout:
                name = _BOUNDARY.sub("_", name).lower()
            if name in layout:
                field_name, hint, _ = layout[name]
                if item is None and self._lenient:
                    continue
                converted = item if type(item) is hint else self.value(hint, item, inner)
                if converted is not _WRONG:
                    items[field_name] = converted
            elif key not in self._others:
                self._unknown(
                    _below(path, cut(key)), name, layout, "option" if self._lenient else "argument"
                )
        return items

    def _dataclass(self, kind: Any, value: object, path: str) -> object:
        members = self.members(kind, value, path)
        if not isinstance(value, Mapping):
            return _WRONG
        layout = _layout(kind)
        if len(members) < len(layout):
            missing = [
                name
                for name, (argument, _, required) in layout.items()
                if required and argument not in members
            ]
            for name in missing:
                self.problems.setdefault(_below(path, name), "is required")
            if missing:
                return _WRONG
        try:
            return kind(**members)
        except (TypeError, ValueError) as error:
            self.problems.setdefault(path, str(error))
            return _WRONG

    def _mapping(self, kinds: tuple[Any, ...], value: object, path: str) -> object:
        key, item = kinds
        origin, notes = _parts(key)
        names = notes[1] if origin is Annotated else None
        mapping: dict[object, object] = {}
        for name, entry in self._items(value, path):
            inner = _below(path, cut(name))
            if names is not None and name not in names.names and not names.more():
                self._unknown(inner, name, names.names, "name")
            elif (converted := self.value(item, entry, inner)) is not _WRONG:
                mapping[name] = converted
        return mapping if isinstance(value, Mapping) else _WRONG

    def _items(self, value: object, path: str) -> Iterable[tuple[str, object]]:
        if not isinstance(value, Mapping):
            self._wrong(path, "a table" if self._lenient else "an object", value)
            return ()
        return value.items()

    def _array(self, kinds: tuple[Any, ...], value: object, path: str) -> object:
        repeated = kinds[1:] == (...,)
        if not isinstance(value, (list, tuple)) or not (repeated or len(value) == len(kinds)):
            texts = " of texts" if kinds[0] is str else ""
            return self._wrong(path, f"a list{texts if repeated else f' of {len(kinds)}'}", value)
        items = [
            self.value(kinds[0 if repeated else index], item, f"{path}[{index}]")
            for index, item in enumerate(value)
        ]
        return _WRONG if any(item is _WRONG for item in items) else tuple(items)

    def _scalar(self, kind: Any, value: object, path: str) -> object:
        # A truth value isn't a number.
        if isinstance(value, kind) and (kind is bool or not isinstance(value, bool)):
            return value
        if kind is float and type(value) is int and value.bit_length() < 1_000:
            return float(value)
        return self._wrong(path, _PHRASES[kind], value)

    def _bounded(self, notes: tuple[object, ...], value: object, path: str) -> object:
        for note in () if value is None or value is _WRONG else notes:
            # `Between`, and what has a check of its own.
            if hasattr(note, "refusal") and (refusal := note.refusal(value)):
                self.problems[path] = refusal
                return _WRONG
        return value

    def _wrong(self, path: str, expected: str, value: object) -> object:
        self.problems[path] = f"expected {expected}, got {shown(value)}"
        return _WRONG

    def _unknown(self, path: str, name: str, known: Iterable[str], what: str) -> None:
        # Near names are looked for in what is shown.
        is_shown = len(self.problems) <= MOST_PROBLEMS
        if self._lenient:
            name, *known = (one.replace("_", "-") for one in (name, *known))
        self.problems[path] = unknown(name, known, what) if is_shown else what


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
