"""Run-time specialisation: `MarkdownSection[Params]` is a subclass with its type argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar, get_origin

from foldline.prompts.errors import PromptValidationError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Specialised", "dataclass_of", "field_names", "type_name"]


class Specialised:
    """Mix-in for generic classes whose type arguments matter at run time.

    `Class[Argument]` returns a cached subclass with `type_arguments == (Argument,)`; a class that
    inherits from it is specialised, too. Subscription with type variables works as in typing, so
    `class TaskSection(MarkdownSection[TaskT])` is generic again.
    """

    type_arguments: ClassVar[tuple[object, ...] | None] = None
    """The type arguments; None if the class isn't specialised."""

    _slots_of_arguments: ClassVar[tuple[int, ...] | None] = None

    if not TYPE_CHECKING:

        def __class_getitem__(cls, item):
            arguments = item if isinstance(item, tuple) else (item,)
            # Checks that the class is generic, and the number of arguments.
            alias = super().__class_getitem__(item)
            if any(_has_type_variables(argument) for argument in arguments):
                return alias
            cache = cls.__dict__.get("_specialisations")
            if cache is None:
                cache = {}
                cls._specialisations = cache
            found = cache.get(arguments)
            if found is None:
                found = cache.setdefault(arguments, _subclass(cls, arguments))
            return found

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        parameters: tuple[object, ...] = getattr(cls, "__parameters__", ())
        for base in cls.__dict__.get("__orig_bases__", ()):
            origin = get_origin(base)
            if isinstance(origin, type) and issubclass(origin, Specialised):
                # Type variables may be reordered or mixed with the subclass's own.
                given = _own(origin, base.__args__)
                if all(argument in parameters for argument in given):
                    cls._slots_of_arguments = tuple(parameters.index(a) for a in given)


def type_name(kind: object) -> str:
    """Return the name of a type for messages."""
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


def dataclass_of(kind: object) -> type | None:
    """Return the dataclass that `kind` is or specialises; None for anything else."""
    origin = get_origin(kind) or kind
    if isinstance(origin, type) and hasattr(origin, "__dataclass_fields__"):
        return origin
    return None


def field_names(kind: type | None) -> tuple[str, ...]:
    """Return the names of a dataclass's fields, in order; none for None."""
    return () if kind is None else tuple(getattr(kind, "__dataclass_fields__", ()))


def _own(cls: type[Specialised], arguments: tuple[object, ...]) -> tuple[object, ...]:
    slots = cls._slots_of_arguments
    return arguments if slots is None else tuple(arguments[slot] for slot in slots)


def _subclass(cls: type[Specialised], arguments: tuple[object, ...]) -> type[Specialised]:
    given = _own(cls, arguments)
    for argument in given:
        if isinstance(argument, str) or type(argument).__name__ == "ForwardRef":
            raise PromptValidationError(
                f"{cls.__name__}[{argument!r}]: give the class itself, not its name in quotes; "
                "define it above."
            )
    namespace = {
        "type_arguments": given,
        "__module__": cls.__module__,
        "__doc__": cls.__doc__,
        "__qualname__": f"{cls.__qualname__}[{', '.join(map(type_name, given))}]",
    }
    name = f"{cls.__name__}[{', '.join(map(type_name, given))}]"
    # The metaclass of abstract classes isn't `type`.
    metaclass: Callable[..., type[Specialised]] = type(cls)
    return metaclass(name, (cls,), namespace)


def _has_type_variables(argument: object) -> bool:
    # A generic class has `__parameters__`, too, but only an alias lacks arguments.
    return isinstance(argument, TypeVar) or (
        not isinstance(argument, type) and bool(getattr(argument, "__parameters__", ()))
    )
