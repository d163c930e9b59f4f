"""Run-time specialisation: `MarkdownSection[Params]` is a subclass with its type argument."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar, dataclass_transform, get_origin

from foldline.prompts import refusals
from foldline.prompts.errors import PromptValidationError, did_you_mean, near_names

T = TypeVar("T")
Given = TypeVar("Given")
Kept = TypeVar("Kept")

if TYPE_CHECKING:

    class Argument(Any, Generic[Given, Kept]):  # type: ignore[misc]  # Some checks of protocols see no `__get__`.
        """The type of an argument that is kept as another type than it is given."""

        def __get__(self, instance: object, owner: object = None) -> Kept: ...
        def __set__(self, instance: object, value: Given) -> None: ...

    def argument(*, default: Any = ..., init: bool = True) -> Any:
        """Declare an argument that is an `Argument`, or isn't one of the constructor's."""
else:
    # Annotations aren't evaluated.
    Argument, argument = object, dataclasses.field


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
            specialisation = cache.get(arguments)
            if specialisation is not None:
                return specialisation
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
                arguments = _arguments_of(origin, base.__args__)
                used = {variable for argument in arguments for variable in _variables(argument)}
                cls._pattern = (*arguments, *(p for p in parameters if p not in used))


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
            unknown = [key for key in keywords if key not in parameters]
            near = [name for key in unknown for name in near_names(key, parameters)]
            required = (p for p in parameters.values() if p.kind is p.KEYWORD_ONLY)
            needed = ", ".join(f"{p.name}=…" for p in required if p.default is p.empty)
            call = f": write `{init.__qualname__.partition('.')[0]}({needed})`."
            raise TypeError(f"{error}{did_you_mean(near, call)}") from None

    return explaining


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(argument,))
def with_constructor(cls: type[T]) -> type[T]:
    """Give a class a constructor that takes its fields, and those of its bases, as keywords."""
    constructed: Any = dataclasses.dataclass(kw_only=True, eq=False, repr=False)(cls)
    constructed.__init__ = _explaining(constructed.__init__)
    constructed.constructor_arguments = tuple(
        field.name for field in dataclasses.fields(constructed)
    )
    return cls


def type_name(kind: object) -> str:
    """Return the name of a type for messages."""
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


def dataclass_of(kind: object) -> type | None:
    """Return the dataclass or model that `kind` is or specialises; None for anything else."""
    origin = get_origin(kind) or kind
    if not isinstance(origin, type) or issubclass(origin, Specialised):
        return None
    return origin if hasattr(origin, "__dataclass_fields__") or is_model(origin) else None


def is_model(kind: object) -> bool:
    """Return True for a Pydantic model, known by what it offers: none is imported here."""
    # A root model has a value in place of fields.
    no_fields = getattr(kind, "__pydantic_root_model__", True)
    return isinstance(kind, type) and not no_fields and hasattr(kind, "model_validate_json")


def field_names(kind: type | None) -> tuple[str, ...]:
    """Return the names of a dataclass's fields, in order; none for None."""
    fields = getattr(kind, "__dataclass_fields__", ()) or getattr(kind, "model_fields", ())
    return tuple(fields)


def _arguments_of(cls: type[Specialised], arguments: tuple[object, ...]) -> tuple[object, ...]:
    """Return `type_arguments` of `cls[arguments]`."""
    if cls._pattern is None:
        return arguments
    parameters: tuple[object, ...] = getattr(cls, "__parameters__", ())
    values = dict(zip(parameters, arguments, strict=True))
    return tuple(_substituted(argument, values) for argument in cls._pattern)


def _substituted(argument: object, values: Mapping[object, object]) -> object:
    if isinstance(argument, TypeVar):
        return values.get(argument, argument)
    variables = _variables(argument)
    if not variables:
        return argument
    return argument[tuple(_substituted(v, values) for v in variables)]  # type: ignore[index]  # An alias.


def _variables(argument: object) -> tuple[object, ...]:
    """Return the type variables that an argument still has."""
    if isinstance(argument, TypeVar):
        return (argument,)
    # A generic class has `__parameters__`, too, but only an alias lacks arguments.
    return () if isinstance(argument, type) else tuple(getattr(argument, "__parameters__", ()))


def _subclass(cls: type[Specialised], arguments: tuple[object, ...]) -> type[Specialised]:
    type_arguments = _arguments_of(cls, arguments)
    for argument in type_arguments:
        if isinstance(argument, str) or type(argument).__name__ == "ForwardRef":
            raise PromptValidationError(f"{cls.__name__}[{argument!r}]: {refusals.QUOTED_TYPE}")
    namespace = {
        "type_arguments": type_arguments,
        "__module__": cls.__module__,
        "__doc__": cls.__doc__,
        "__qualname__": f"{cls.__qualname__}[{', '.join(map(type_name, arguments))}]",
    }
    name = f"{cls.__name__}[{', '.join(map(type_name, arguments))}]"
    # The metaclass of abstract classes isn't `type`.
    metaclass: Callable[..., type[Specialised]] = type(cls)
    return metaclass(name, (cls,), namespace)
