"""The decorator for parameter, task and result types."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field, dataclasses.Field))
def FrozenDataclass(  # noqa: N802 - The specified name; it reads as a declaration.
    *, kw_only: bool = False, order: bool = False, slots: bool = True
) -> Callable[[type[T]], type[T]]:
    """Decorator that makes a class a frozen dataclass with slots.

    Instances can be bound to prompts, compared, hashed if their fields can, and copied with changes
    by `dataclasses.replace`.

    >>> @FrozenDataclass()
    ... class Tone:
    ...     tone: str = "calm"
    >>> dataclasses.replace(Tone(), tone="brisk").tone
    'brisk'
    """
    return dataclasses.dataclass(frozen=True, kw_only=kw_only, order=order, slots=slots)
