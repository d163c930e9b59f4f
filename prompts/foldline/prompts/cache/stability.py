"""Stability of a prompt's values between requests, as declared by their types."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from functools import lru_cache
from typing import Annotated, get_args, get_origin

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.forms.fields import fields_of
from foldline.prompts.specialise import field_names

__all__ = ["PerRequest", "PerSession", "Stability", "Stable", "of_fields", "of_type"]


class Stability(IntEnum):
    """The frequency of a text's changes: smaller values change less often.

    A field declares it in its type, `Annotated[str, PerRequest]`, and a dataclass for all its other
    fields by `__stability__ = PerSession` in its body.
    """

    CONSTANT = 0
    """Never: the template's own text."""
    DEPLOYMENT = 1
    """With a new version or configuration of the program."""
    SESSION = 2
    """With each conversation or user."""
    UNKNOWN = 3
    """Not declared."""
    REQUEST = 4
    """With each request."""


Stable = Stability.DEPLOYMENT
PerSession = Stability.SESSION
PerRequest = Stability.REQUEST


@lru_cache(maxsize=256)
def of_fields(kind: type | None) -> Mapping[str, Stability]:
    """Return the stability of each field of a parameter type; no fields for None."""
    if kind is None:
        return {}
    others = getattr(kind, "__stability__", Stability.UNKNOWN)
    try:
        declared = {field.name: declared_stability(field.hint) for field in fields_of(kind)}
    except PromptValidationError:
        # The section's constructor reports annotations that can't be resolved.
        declared = dict.fromkeys(field_names(kind))
    return {
        name: others if stability is None else stability for name, stability in declared.items()
    }


def of_type(kind: type | None) -> Stability:
    """Return the stability of what is computed from an instance: that of its least stable field.

    Without fields it is unknown, since code that needs no parameters may read a clock.
    """
    return max(of_fields(kind).values(), default=Stability.UNKNOWN)


def declared_stability(hint: object) -> Stability | None:
    """Return the stability in a type such as `Annotated[str, PerRequest]`."""
    metadata = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((marker for marker in metadata if isinstance(marker, Stability)), None)
