"""Types of fields, as the library sees them at run time.

The classes of a workspace are never made: stand-ins with the same names take their places, so that
the library's own rules tell how a value shows, and which forms make sense.
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
import datetime
import enum
import pathlib
import re
import typing
from dataclasses import dataclass, replace
from functools import lru_cache
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Literal, Union, cast

from foldline import prompts
from foldline.ide.analysis.memo import STEP
from foldline.ide.analysis.syntax import (
    Assign,
    Attribute,
    Call,
    ClassDefinition,
    Expression,
    String,
)
from foldline.ide.analysis.top_level import quoted
from foldline.ide.analysis.values import (
    TYPE_VARIABLE,
    UNKNOWN,
    ClassValue,
    External,
    FieldType,
    FormValue,
    Items,
    Nothing,
    Plain,
    Specialised,
    Text,
    Unknown,
    Value,
)
from foldline.prompts import runtime
from foldline.prompts.cache.stability import PerRequest, PerSession, Stability, Stable
from foldline.prompts.errors import PromptValidationError
from foldline.prompts.forms import forms
from foldline.prompts.forms.annotations import Unresolved
from foldline.prompts.forms.composition import compose
from foldline.prompts.forms.untrusted import unshown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.scopes import Scope

_DEPTH = 20
_MODULES = {
    module.__name__: module
    for module in (builtins, collections, collections.abc, datetime, pathlib, re)
}
_LIBRARY = {"Task": prompts, "Untrusted": prompts, "Image": runtime, "File": runtime}
_TYPING = ("typing", "typing_extensions")
# Qualifiers: the type in them shows as it is.
_OUTER = ("ClassVar", "Final", "InitVar", "Required", "NotRequired", "ReadOnly")
_QUALIFY = (*_TYPING, "dataclasses")
_TEXT_METHODS = ("__str__", "__repr__", "__format__")


def field_type(evaluator: Evaluator, annotation: Expression, scope: Scope) -> FieldType:
    """Return what an annotation tells of the text of a field's values."""
    hints = _Hints(evaluator, annotation, scope)
    hint = hints.read()
    if hints.problem:
        return FieldType(known=False, problem=hints.problem, hint=hint)
    try:
        form = compose(hint)
    except PromptValidationError as error:
        is_sure = hints.certain or hints.known
        return FieldType(known=False, problem=str(error) if is_sure else "", hint=hint)
    except TypeError:
        return FieldType(known=False, hint=hint)  # Such as a subscript that its class refuses.
    shows = form.shows if form is not None and hints.certain else None
    declared = form if form is not None and form.forms else None
    is_certain = hints.known and not (hints.names and declared is None)
    return FieldType(declared, is_certain, shows, hint=hint)


def hint_of(
    evaluator: Evaluator,
    annotation: Expression,
    scope: Scope,
    of_dataclass: Callable[[ClassValue], object] | None = None,
    unknown: object = Unresolved,
) -> tuple[object, bool]:
    """Return the type that an annotation means, and True if all of it is known.

    `of_dataclass` makes the types of the workspace's dataclasses in it; `unknown` stands for what
    isn't known.
    """
    hints = _Hints(evaluator, annotation, scope, of_dataclass, unknown)
    return hints.read(), hints.known and not hints.names


def form_value(evaluator: Evaluator, node: Call, scope: Scope, name: str) -> FormValue:
    """Return the form that a call such as `joined(", ")` makes."""
    make = getattr(forms, name)
    values = [evaluator.value(argument, scope) for argument in node.args]
    keywords, opaque = evaluator.keywords(node, scope)
    named = {key: argument.value for key, argument in keywords.items()}
    if opaque or not all(map(_is_constant, (*values, *named.values()))):
        return FormValue(None)
    try:
        form = make(*map(_constant, values), **{key: _constant(v) for key, v in named.items()})
    except (PromptValidationError, TypeError) as error:
        return FormValue(None, str(error).rstrip("."))
    return FormValue(form)


_MARKERS = {"Stable": Stable, "PerSession": PerSession, "PerRequest": PerRequest} | dict(
    Stability.__members__
)


def as_type(evaluator: Evaluator, node: Expression, value: Value, scope: Scope) -> Value:
    """Return the value of an annotation, or of the one that it quotes."""
    if not (isinstance(node, String) and isinstance(value, Text)):
        return value
    inner = quoted(node, value.known or "")
    return UNKNOWN if inner is None else evaluator.value(inner, scope)


def unquoted(evaluator: Evaluator, value: Specialised, scope: Scope) -> Specialised:
    """Return it with the types that its strings name."""
    dotted = value.origin.dotted if isinstance(value.origin, External) else ""
    count = {"Literal": 0, "Annotated": 1}.get(dotted.rpartition(".")[2], len(value.nodes))
    pairs = zip(value.nodes[:count], value.arguments, strict=False)
    types = [as_type(evaluator, node, argument, scope) for node, argument in pairs]
    return replace(value, arguments=(*types, *value.arguments[count:]))


def marker_of(value: Value) -> Stability | None:
    """Return the stability that a value is, such as `PerRequest`."""
    return _MARKERS.get(value.library_name) if isinstance(value, External) else None


def _is_constant(value: Value) -> bool:
    return isinstance(value, Plain | Nothing) or (
        isinstance(value, Text) and value.known is not None
    )


def _constant(value: Value) -> object:
    if isinstance(value, Text):
        return value.known
    return value.value if isinstance(value, Plain) else None


class _Hints:
    """Makes the library's types of values; afterwards it tells how much of them was known.

    Attributes:
        known: All parts are known.
        certain: The forms are known, and the types that they are for; types of items may not be.
        names: It has an enum whose members show something else than their values.
        problem: The first form that can't be made.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        annotation: Expression,
        scope: Scope,
        of_dataclass: Callable[[ClassValue], object] | None = None,
        unknown: object = Unresolved,
    ) -> None:
        self.known = self.certain = True
        self._of_dataclass = of_dataclass
        self._other = unknown
        self.names = False
        self.problem = ""
        self.seen, self.depth = set[int](), 0
        self._evaluator = evaluator
        self._annotation = annotation
        self._scope = scope

    def read(self) -> object:
        """Return the type that the annotation means."""
        node, scope = self._annotation, self._scope
        value = as_type(self._evaluator, node, self._evaluator.value(node, scope), scope)
        if isinstance(node, String):
            self._annotation, self.certain = node.quoted or node, False
        return self.type_of(value)

    def type_of(self, value: Value, depth: int = 0) -> object:
        """Return the type; an unknown one for what isn't known. The depth counts item types."""
        if depth > _DEPTH or not self._evaluator.affords(STEP):
            return self._unknown(0)
        match value:
            case Nothing():
                return None
            case External():
                return self._external(value.dotted, depth)
            case ClassValue():
                return self._class(value)
            case Specialised():
                return self._specialised(value, depth)
        return self._unknown(depth)

    def _unknown(self, depth: int) -> object:
        self.known = False
        self.certain = self.certain and depth > 0
        return self._other

    def _external(self, dotted: str, depth: int) -> object:
        module, _, name = dotted.rpartition(".")
        if dotted == TYPE_VARIABLE:
            return self._other
        if module in _TYPING:
            kind = getattr(typing, name, None)
            return self._unknown(depth) if kind is None else kind
        if module in _MODULES:
            kind = getattr(_MODULES[module], name, None)
            return kind if isinstance(kind, type) else self._unknown(depth)
        library_name = External(dotted).library_name
        if library_name in _LIBRARY:
            return cast("object", getattr(_LIBRARY[library_name], library_name))
        # Other libraries have no aliases with our forms.
        return self._unknown(depth) if dotted.startswith("foldline.") else self._other

    def _specialised(self, value: Specialised, depth: int) -> object:
        value = unquoted(self._evaluator, value, self._scope)
        origin, arguments = value.origin, value.arguments
        if not isinstance(origin, External):
            kind = self.type_of(origin, depth)
            if self._of_dataclass is not None:
                return kind
            return GenericAlias(cast("type", kind), self._inner(value, depth))
        module, _, name = origin.dotted.rpartition(".")
        if module in _QUALIFY and name in _OUTER and len(arguments) == 1:
            return self.type_of(arguments[0], depth)
        if module in _TYPING:
            if name == "Annotated" and arguments:
                return self._annotated(value, depth)
            if name == "Optional" and len(arguments) == 1:
                return self._union((arguments[0], Nothing()), depth)
            if name == "Union":
                return self._union(arguments, depth)
            if name == "Literal":
                if not all(map(_is_constant, arguments)):
                    return self._other
                return Literal[tuple(map(_constant, arguments))]
        generic, inner = self._external(origin.dotted, depth), self._inner(value, depth)
        if generic is self._other or not inner:
            return generic
        try:
            return cast("typing.Any", generic)[inner]
        except TypeError:
            return self._unknown(depth)

    def _inner(self, value: Specialised, depth: int) -> tuple[object, ...]:
        return tuple(
            ...
            if isinstance(argument, Unknown) and node.source == "..."
            else [self.type_of(item.value, depth + 1) for item in argument.items]
            if isinstance(argument, Items)
            else self.type_of(argument, depth + 1)
            for argument, node in zip(value.arguments, value.nodes, strict=False)
        )

    def _annotated(self, value: Specialised, depth: int) -> object:
        hint = self.type_of(value.arguments[0], depth)
        metadata: list[object] = []
        for argument, node in zip(value.arguments[1:], value.nodes[1:], strict=False):
            match argument:
                case FormValue(form=form, problem=problem):
                    self.problem = self.problem or problem
                    if form is None:
                        self._unknown(0)
                    metadata.append(form)
                case External() if argument.library_name in forms.NAMES:
                    metadata.append(getattr(forms, argument.library_name))
                case External() if (marker := marker_of(argument)) is not None:
                    metadata.append(marker)
                case Unknown() if not self._is_of_others(node):
                    self._unknown(0)
        return Annotated[(hint, *metadata)] if metadata else hint

    def _is_of_others(self, node: Expression) -> bool:
        """Return True for metadata that isn't known, but isn't a form either: `Doc("…")`."""
        if not isinstance(node, Call) or node.anchor is not self._annotation.anchor:
            return False
        if not self._annotation.start <= node.start < self._annotation.end:
            return False  # In an alias, whose names may be others.
        made_by = self._evaluator.value(node.func, self._scope)
        return isinstance(made_by, External) and not made_by.library_name

    def _union(self, arguments: Sequence[Value], depth: int) -> object:
        members = tuple(self.type_of(argument, depth) for argument in arguments)
        try:
            return Union[members]  # noqa: UP007 - Built at run time.
        except TypeError:
            return self._unknown(depth)

    # Classes of the workspace

    def _class(self, value: ClassValue) -> object:
        kind = enum_of(self._evaluator, value)
        name = value.definition.name.id
        if kind:
            self.names = self.names or kind != TEXT_ENUM
            self.known = self.known and kind != OWN_ENUM
            return _stand_in(name, kind)
        shape = self._shape(value, 0)
        if shape in _DATACLASSES and self._of_dataclass is not None:
            return self._of_dataclass(value)
        held = () if self._of_dataclass else self._held(value)
        return self._other if not (shape or held) else _stand_in(name, shape, held)

    def _held(self, value: ClassValue) -> tuple[object, ...]:
        """Return what the annotations of a class, and of all in it, have that no text shows."""
        definition = value.definition
        if id(definition) in self.seen or self.depth > _DEPTH:
            return ()
        self.seen.add(id(definition))
        nodes: list[Expression] = [*definition.bases]
        nodes += (x.annotation for x in definition.body if isinstance(x, Assign) and x.annotation)
        held = dict[object, None]()
        for node in nodes:
            inner = _Hints(self._evaluator, node, value.scope)
            inner.seen, inner.depth = self.seen, self.depth + 1
            held |= dict.fromkeys(unshown(inner.read()))
        return tuple(held)

    def _shape(self, value: ClassValue, depth: int) -> str:
        """Return what shows of a class's instances; empty if that isn't known.

        It is `dataclass`, `object`, the builtin type that the class extends, or `text object` and
        `text dataclass` for one that says itself how it shows.
        """
        definition, scope = value.definition, value.scope
        names = self._evaluator.body(definition, scope).names
        if depth > _DEPTH:
            return ""
        shape = "object"
        for base in definition.bases:
            above = self._evaluator.value(base, scope)
            above = above.origin if isinstance(above, Specialised) else above
            if isinstance(above, ClassValue):
                inherited = self._shape(above, depth + 1)
            elif isinstance(above, External):
                inherited = _SHAPES.get(above.dotted, "")
            else:
                inherited = ""
            if not inherited:
                return ""
            shape = inherited if shape == "object" else shape
        decorated = is_decorated(self._evaluator, definition, scope)
        if decorated is None or "__iter__" in names:
            return ""
        if decorated:
            shape = {"object": "dataclass", "text object": "text dataclass"}.get(shape, shape)
        if any(name in names for name in _TEXT_METHODS):
            return f"text {shape}" if shape in ("dataclass", "object") else ""
        return shape


_DATACLASSES = ("dataclass", "text dataclass")
_SHAPES = {
    "builtins.object": "object",
    "typing.Generic": "object",
    "typing_extensions.Generic": "object",
    "typing.NamedTuple": "tuple",
    "pydantic.BaseModel": "dataclass",
    **{f"builtins.{name}": name for name in ("tuple", "list", "dict", "set", "frozenset")},
}


@lru_cache(maxsize=4096)
def _stand_in(name: str, shape: str, held: tuple[object, ...] = ()) -> object:
    # Metadata of any type is a part of it, too.
    body = {"__annotations__": {"held": Annotated[(object, *held)]}} if held else {}
    match shape:
        case "dataclass":
            return dataclass(type(name, (), body))
        case "text object" | "text dataclass":
            return type(name, (), {"__str__": repr, **body})
        case "text":
            return enum.StrEnum(name, {})
        case "own":
            return cast("typing.Any", _Own)(name, {})
        case "plain" | "mixed":
            return enum.Enum(name, {})
    return type(name, (getattr(builtins, shape) if shape else Unresolved,), body)


# Stands for an enum whose own `__str__` only running the code knows.
class _Own(enum.Enum):
    def __str__(self) -> str:
        raise NotImplementedError


def is_decorated(evaluator: Evaluator, definition: ClassDefinition, scope: Scope) -> bool | None:
    """Return True if a decorator makes the class a dataclass; None if a decorator is unknown."""
    unknown = False
    for decorator in definition.decorators:
        func = decorator.func if isinstance(decorator, Call) else decorator
        value = evaluator.value(func, scope)
        if isinstance(value, External):
            if value.dotted == "dataclasses.dataclass" or value.library_name == "FrozenDataclass":
                return True
            if value.dotted.startswith(("typing.", "typing_extensions.", "functools.", "enum.")):
                continue
        unknown = True
    return None if unknown else False


PLAIN_ENUM = "plain"
MIXED_ENUM = "mixed"
TEXT_ENUM = "text"
OWN_ENUM = "own"

_ENUMS = {
    "enum.Enum": PLAIN_ENUM,
    "enum.Flag": PLAIN_ENUM,
    "enum.StrEnum": TEXT_ENUM,
    "enum.IntEnum": TEXT_ENUM,
    "enum.IntFlag": TEXT_ENUM,
    "enum.ReprEnum": OWN_ENUM,
}
_DEEPEST_ENUM = 20


def enum_of(evaluator: Evaluator, value: ClassValue, depth: int = 0) -> str:
    """Return which kind of enum a class is; empty if it isn't one.

    The members of a `TEXT_ENUM` show their values, those of a `PLAIN_ENUM` their names. So do those
    of a `MIXED_ENUM` (`class Mixed(str, Enum)`), though they are their values, too. An `OWN_ENUM`
    has its own `__str__`.
    """
    kind, mixed = "", False
    for base in value.definition.bases:
        above = evaluator.value(base, value.scope)
        if isinstance(above, External):
            kind = kind or _ENUMS.get(above.dotted, "")
            mixed = mixed or above.dotted in ("builtins.str", "builtins.int")
        elif isinstance(above, ClassValue) and depth < _DEEPEST_ENUM:
            kind = kind or enum_of(evaluator, above, depth + 1)
    if not kind:
        return ""
    if "__str__" in evaluator.body(value.definition, value.scope).names:
        return OWN_ENUM
    return MIXED_ENUM if mixed and kind == PLAIN_ENUM else kind


def shows_name(evaluator: Evaluator, node: Expression, scope: Scope) -> bool:
    """Return True for a member of an enum that is a text or number, but shows another text."""
    if not isinstance(node, Attribute):
        return False
    owner = evaluator.value(node.value, scope)
    return isinstance(owner, ClassValue) and enum_of(evaluator, owner) in (MIXED_ENUM, OWN_ENUM)
