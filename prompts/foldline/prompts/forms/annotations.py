"""The types of fields, also where names in their annotations mean nothing at run time."""

from __future__ import annotations

import builtins
import re
import sys
import typing
from collections import ChainMap
from collections.abc import Iterator
from dataclasses import InitVar
from typing import get_args, get_origin

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.forms import forms
from foldline.prompts.forms.fields import bound, declared_fields, type_arguments

_FORMS = rf"\b({'|'.join(forms.NAMES)}|Untrusted)\b"


class Unresolved:
    """A type that isn't known here, such as one imported only `if TYPE_CHECKING`."""


class _Names(type):
    """Lets a name that means nothing be used as types, modules and functions are."""

    def __getattr__(cls, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        return _LENIENT[name]

    def __getitem__(cls, _: object) -> object:
        return cls

    def __call__(cls, *_: object, **__: object) -> object:
        return cls


class _Lenient(dict[str, object]):
    """The library's own names, and an unknown type for any other name."""

    def __missing__(self, name: str) -> object:
        if name.startswith("__"):
            raise KeyError(name)
        return _Names(name, (Unresolved,), {})


# Linters move imports that only annotations use below `if TYPE_CHECKING`.
_LENIENT = _Lenient(
    {
        **{name: getattr(typing, name) for name in ("Annotated", "ClassVar", "Optional", "Union")},
        **{name: getattr(forms, name) for name in forms.NAMES},
        "Untrusted": forms.Untrusted,
    }
)


def declared_hint(kind: type, name: str) -> object:
    """Return the type of a field; of names that mean nothing at run time, an unknown type.

    Raises:
        PromptValidationError: A form in it was given something that it can't be made of.
    """
    fields = getattr(kind, "__dataclass_fields__", None)
    field = (fields or {one.name: one for one in declared_fields(kind)})[name]
    hint = resolved(field.type, _owner(kind, field))
    hint = bound(hint.type if isinstance(hint, InitVar) else hint, type_arguments(kind))
    return resolved(hint, kind)  # Type arguments may be quoted, too.


def resolved(hint: object, owner: type) -> object:
    """Return a type from a class body; of names that mean nothing at run time, an unknown type.

    Raises:
        PromptValidationError: A form in it was given something that it can't be made of.
    """
    if not any(isinstance(part, (str, typing.ForwardRef)) for part in parts_of(hint)):
        return hint
    module = sys.modules.get(owner.__module__)
    namespace = {**vars(owner), owner.__name__: owner}
    # Resolve names as `typing.get_type_hints` does: a field may have the name of its type.
    names = ChainMap({} if module is None else vars(module), namespace, vars(builtins), _LENIENT)
    holder = type("Holder", (), {"__annotations__": {"field": hint}})
    try:
        return typing.get_type_hints(holder, {}, names, include_extras=True)["field"]
    except PromptValidationError:
        raise
    except Exception as error:
        if re.search(_FORMS, str(hint)) is None:
            return Unresolved
        raise PromptValidationError(
            f"its type `{hint}` raises {type(error).__name__}: {error}"
        ) from error


def parts_of(hint: object) -> Iterator[object]:
    """Yield what a type is made of: its members, their arguments and the metadata."""
    yield hint
    alias = get_origin(hint) or hint
    inner = (hint.__supertype__,) if isinstance(hint, typing.NewType) else get_args(hint)
    if type(alias).__name__ == "TypeAliasType":
        inner = (*inner, alias.__value__)  # type: ignore[union-attr]  # New in Python 3.12.
    for part in inner:
        yield from parts_of(part)


def _owner(kind: type, field: object) -> type:
    """Return the class that declares a field."""
    fields = ((base, vars(base).get("__dataclass_fields__", {})) for base in reversed(kind.__mro__))
    return next((base for base, own in fields if field in own.values()), kind)
