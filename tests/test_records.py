"""Records are what `dataclass(frozen=True, slots=True)` makes, but that a field can be set."""

import copy
import pickle
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.records import record


@record
class Point:
    x: object
    y: object = field(default=0)
    note: str = field(default="", compare=False, repr=False)


def _as_dataclass() -> type[Any]:
    @dataclass(frozen=True, slots=True)
    class Point:
        x: object
        y: object = field(default=0)
        note: str = field(default="", compare=False, repr=False)

    Point.__qualname__ = "Point"
    return Point


FROZEN = _as_dataclass()
VALUES = st.one_of(st.integers(-1, 1), st.text(max_size=1), st.none(), st.tuples(st.booleans()))
ARGUMENTS = st.tuples(VALUES, VALUES, st.text(max_size=1))


@given(ARGUMENTS, ARGUMENTS)
def test_records_are_equal_hashed_and_shown_as_frozen_dataclasses(
    one: tuple[Any, ...], other: tuple[Any, ...]
) -> None:
    assert (Point(*one) == Point(*other)) is (FROZEN(*one) == FROZEN(*other))
    assert hash(Point(*one)) == hash(FROZEN(*one))
    assert repr(Point(*one)) == repr(FROZEN(*one))
    assert replace(Point(*one), y=other[1]) == Point(one[0], other[1])


def test_a_record_is_a_dataclass_with_slots() -> None:
    point = Point([1], note="here")
    assert is_dataclass(Point)
    assert [one.name for one in fields(Point)] == ["x", "y", "note"]
    assert asdict(point) == {"x": [1], "y": 0, "note": "here"}
    assert not hasattr(point, "__dict__")
    for copied in (copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert (copied, copied.note) == (point, "here")


def test_fields_are_patterns() -> None:
    match Point([1]):
        case Point([1], 0):
            pass
        case _:
            pytest.fail("they are not")


def test_other_classes_are_never_equal() -> None:
    @record
    class Other(Point):
        pass

    assert Point(1) != Other(1)
    pair: object = (1, 0)
    assert Point(1) != pair
    assert Other(1) == Other(1)


@record(eq=False)
class Same:
    x: int


@record(kw_only=True, slots=False)
class Cached:
    x: int

    @cached_property
    def twice(self) -> int:
        return 2 * self.x


@record
class Nothing:
    pass


@record
class Own:
    x: int

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 7

    def __repr__(self) -> str:
        return "own"


def test_what_a_record_can_be() -> None:
    one = Same(1)
    assert one == one  # noqa: PLR0124
    assert one != Same(1)
    assert len({one, Same(1)}) == 2
    assert (Cached(x=2).twice, Cached(x=2)) == (4, Cached(x=2))
    with pytest.raises(TypeError):
        Cached(2)  # type: ignore[call-arg]
    assert Nothing() == Nothing()
    assert len({Nothing(), Nothing()}) == 1
    assert (Own(1) == 3, hash(Own(1)), repr(Own(1))) == (True, 7, "own")


def test_a_record_within_itself_is_shown() -> None:
    inner: list[object] = []
    outer = Point(inner)
    inner.append(outer)
    assert repr(outer) == "Point(x=[...], y=0)"
