"""Run-time specialisation: `MarkdownSection[Params]` is a subclass with its type argument."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, ClassVar, TypeVar, get_origin

from foldline.prompts import refusals
from foldline.prompts.errors import PromptValidationError, did_you_mean, near_names

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


class Specialised:
    """Mix-in for generic classes whose type arguments matter at run time.

    `Class[Argument]` returns a cached subclass with `type_arguments == (Argument,)`; a class that
    inherits from it is specialised, too. Subscription with type variables works as in typing, so
    `class TaskSection(MarkdownSection[TaskT])` is generic again.
    """

    type_arguments: ClassVar[tuple[object, ...] | None] = None
    """The type arguments of the base class, then those that a subclass adds; None if the class
    isn't specialised."""

    _pattern: ClassVar[tuple[object, ...] | None] = None

    if not TYPE_CHECKING:

        def __class_getitem__(cls, item):
            arguments = item if isinstance(item, tuple) else (item,)
            cache = cls.__dict__.get("_specialisations")
            if cache is None:
                cache = {}
                cls._specialisations = cache
            specialised = cache.get(arguments)
            if specialised is not None:
                return specialised
            # Checks that the class is generic, and the number of arguments.
            try:
                alias = super().__class_getitem__(item)
            except TypeError as error:
                names = ", ".join(p.__name__.partition("T_")[0] for p in cls.__parameters__)
                raise TypeError(f"{error}: write `{cls.__name__}[{names}](…)`.") from None
            if any(_variables(argument) for argument in arguments):
                return alias
            return cache.setdefault(arguments, _subclass(cls, arguments))

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "__init__" in cls.__dict__ and cls.__module__.startswith("foldline.prompts."):
            setattr(cls, "__init__", _explaining(cls.__dict__["__init__"]))  # noqa: B010 - For mypy.
        parameters: tuple[object, ...] = getattr(cls, "__parameters__", ())
        for base in cls.__dict__.get("__orig_bases__", ()):
            origin = get_origin(base)
            if isinstance(origin, type) and issubclass(origin, Specialised):
                # Type variables may be reordered, fixed, or mixed with the subclass's own.
                bindings = _own(origin, base.__args__)
                used = {variable for argument in bindings for variable in _variables(argument)}
                cls._pattern = (*bindings, *(p for p in parameters if p not in used))


def _explaining(init: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that says of arguments that it can't have what to write instead."""

    @functools.wraps(init)
    def explaining(self: object, *args: object, **keywords: object) -> None:
        try:
            init(self, *args, **keywords)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # It got its arguments.
            parameters = inspect.signature(init).parameters
            near = [
                name
                for key in keywords
                if key not in parameters
                for name in near_names(key, parameters)
            ]
            required = (p for p in parameters.values() if p.kind is p.KEYWORD_ONLY)
            needed = ", ".join(f"{p.name}=…" for p in required if p.default is p.empty)
            call = f": write `{init.__qualname__.partition('.')[0]}({needed})`."
            raise TypeError(f"{error}{did_you_mean(near, call)}") from None

    return explaining


def given(names: Iterable[str], values: Mapping[str, object]) -> dict[str, object]:
    """Return the constructor arguments of these names among the local variables of `__init__`."""
    return {name: values[name] for name in names if name in values}


def type_name(kind: object) -> str:
    """Return the name of a type for messages."""
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


def dataclass_of(kind: object) -> type | None:
    """Return the dataclass or model that `kind` is or specialises; None for anything else."""
    origin = get_origin(kind) or kind
    if isinstance(origin, type) and (hasattr(origin, "__dataclass_fields__") or is_model(origin)):
        return origin
    return None


def is_model(kind: object) -> bool:
    """Return True for a Pydantic model, known by what it offers: none is imported here."""
    # A root model has a value in place of fields.
    no_fields = getattr(kind, "__pydantic_root_model__", True)
    return isinstance(kind, type) and not no_fields and hasattr(kind, "model_validate_json")


def field_names(kind: type | None) -> tuple[str, ...]:
    """Return the names of a dataclass's fields, in order; none for None."""
    fields = getattr(kind, "__dataclass_fields__", ()) or getattr(kind, "model_fields", ())
    return tuple(fields)


def _own(cls: type[Specialised], arguments: tuple[object, ...]) -> tuple[object, ...]:
    """Return `type_arguments` of `cls[arguments]`."""
    if cls._pattern is None:
        return arguments
    parameters: tuple[object, ...] = getattr(cls, "__parameters__", ())
    bindings = dict(zip(parameters, arguments, strict=True))
    return tuple(_substituted(argument, bindings) for argument in cls._pattern)


def _substituted(argument: object, given: Mapping[object, object]) -> object:
    if isinstance(argument, TypeVar):
        return given.get(argument, argument)
    variables = _variables(argument)
    if not variables:
        return argument
    return argument[tuple(_substituted(v, given) for v in variables)]  # type: ignore[index]  # An alias.


def _variables(argument: object) -> tuple[object, ...]:
    """Return the type variables that an argument still has."""
    if isinstance(argument, TypeVar):
        return (argument,)
    # A generic class has `__parameters__`, too, but only an alias lacks arguments.
    return () if isinstance(argument, type) else tuple(getattr(argument, "__parameters__", ()))


def _subclass(cls: type[Specialised], arguments: tuple[object, ...]) -> type[Specialised]:
    bindings = _own(cls, arguments)
    for argument in bindings:
        if isinstance(argument, str) or type(argument).__name__ == "ForwardRef":
            raise PromptValidationError(f"{cls.__name__}[{argument!r}]: {refusals.QUOTED_TYPE}")
    namespace = {
        "type_arguments": bindings,
        "__module__": cls.__module__,
        "__doc__": cls.__doc__,
        "__qualname__": f"{cls.__qualname__}[{', '.join(map(type_name, arguments))}]",
    }
    name = f"{cls.__name__}[{', '.join(map(type_name, arguments))}]"
    # The metaclass of abstract classes isn't `type`.
    metaclass: Callable[..., type[Specialised]] = type(cls)
    return metaclass(name, (cls,), namespace)
