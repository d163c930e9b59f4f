"""A field's forms as one function of its value, from the field's type."""

from __future__ import annotations

import collections.abc
import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, get_args, get_origin

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.forms.annotations import Unresolved, parts_of
from foldline.prompts.forms.fields import plain, union_members
from foldline.prompts.forms.forms import (
    CALLED,
    FallbackForm,
    FenceForm,
    Form,
    JsonForm,
    LimitForm,
    ListForm,
    TagForm,
    WrapForm,
    or_else,
)
from foldline.prompts.forms.untrusted import (
    all_parts_of,
    guarded,
    guarded_json,
    is_attachment,
    is_untrusted,
)
from foldline.prompts.specialise import is_model

_OUTER = (ClassVar, typing.Final, typing.Required, typing.NotRequired)
_ANYTHING: tuple[object, ...] = (object, typing.Any)
_TEXTS = (str, bytes, bytearray)
_NUMBERS = (int, float, complex)
_COLLECTIONS = ("builtins", "collections", "collections.abc")
_HELD = (
    "untrusted text is shown as `xml`, `fenced` or `as_json` only, and a fence in no tag or list: "
    'write `Annotated[Untrusted[{}], xml("…")]`'
)
_PLAIN_ENUM = (enum.Enum.__str__, enum.Flag.__str__)


class Repr(StrEnum):
    """The kinds of types whose values show as Python writes them."""

    NONE = "none"
    COLLECTION = "collection"
    DATACLASS = "dataclass"
    ENUM = "enum"
    BYTES = "bytes"
    OBJECT = "object"


@dataclass(frozen=True, slots=True, eq=False)
class PlainRepr:
    """A type in a field's type that shows as Python writes it, and the forms around it."""

    hint: object
    kind: Repr
    forms: tuple[Form, ...]
    of_item: bool = False

    def message(self, name: str) -> str:
        """Return what a model reads of the field of this name, and what to do."""
        hint = hint_text(self.hint)

        def declare(before: str = "", after: str = "") -> str:
            forms = (before, *map(str, self.forms), after)
            hinted = f"Annotated[{', '.join([hint, *filter(None, forms)])}]"
            return f"`{hinted}` for the items" if self.of_item else f"`{name}: {hinted}`"

        written = f"shows {hint} as Python writes it"
        match self.kind:
            case Repr.NONE:
                declared = declare(after=CALLED[or_else])
                return f"shows `None` where there is no value: write {declared}"
            case Repr.COLLECTION:
                form = "joined(', ')" if self.of_item else "bullets"
                return f"{written}, such as `('a', 'b')`: write {declare(before=form)}"
            case Repr.DATACLASS:
                return f"{written}, with its name and fields: write {declare(before='as_json')}"
            case Repr.ENUM:
                return f"shows a member's name, such as `{hint}.NAME`: make {hint} a StrEnum"
            case Repr.BYTES:
                return f"{written}, such as `b'a'`: decode it, and make the field a str"
            case Repr.OBJECT:
                return f"{written}, with its address: give its class `__str__`"


@dataclass(frozen=True, slots=True, eq=False)
class FieldForm:
    """The text of a field's values, according to the field's type.

    Attributes:
        hint: The type without its forms.
        forms: The forms, from left to right.
        item: Returns the form of an item by its place; for lists.
        shows: What shows as Python writes it; None if nothing does.
        untrusted: The values, or parts of them, are `Untrusted`.
        bare: They come to the forms as they are, so that the first one around them has to guard.
        exposed: An untrusted value could be taken for the text around it.
        alone: An untrusted text is in a fence, which needs its lines for itself.
    """

    hint: object
    forms: tuple[Form, ...]
    item: Callable[[int], FieldForm | None]
    shows: PlainRepr | None
    untrusted: bool = False
    bare: bool = False
    exposed: bool = False
    alone: bool = False

    def text(self, value: object) -> str:
        """Return the text of a value.

        Raises:
            Exception: The value or one in it raised, or isn't what the type says.
        """
        forms = self.forms
        if value is None or (isinstance(value, collections.abc.Collection) and not len(value)):
            for index, form in enumerate(forms):
                if isinstance(form, FallbackForm):
                    return _applied(forms[index + 1 :], form.text)
        first = forms[0] if forms else None
        if isinstance(first, JsonForm):
            text = guarded_json(first.write(value)) if self.untrusted else first.write(value)
        elif isinstance(first, ListForm) and value is not None:
            text = first.join(self._items(value))
        else:
            text = text_of(value)
        return _applied(forms, text, guard=self.bare)

    def _items(self, value: object) -> Sequence[str]:
        if isinstance(value, str):
            return [self._item(0, value)]
        if isinstance(value, collections.abc.Mapping):
            return [f"{text_of(key)}: {self._item(0, item)}" for key, item in value.items()]
        if not isinstance(value, collections.abc.Iterable):
            raise TypeError(f"{self.forms[0]} takes a collection, not {type(value).__name__}")
        texts = [self._item(index, item) for index, item in enumerate(value)]
        return sorted(texts) if isinstance(value, collections.abc.Set) else texts

    def _item(self, place: int, value: object) -> str:
        form = self.item(place)
        return text_of(value) if form is None else form.text(value)


def compose(hint: object, *, is_item: bool = False) -> FieldForm | None:
    """Return the text form of a type; None for one that shows with `str`, as text and numbers do.

    What is around an item may hold its untrusted text.

    Raises:
        PromptValidationError: The forms don't go together, or with the type, or no text shows it.
    """
    inner, forms = _split(hint)
    members = union_members(inner)
    _check_order(forms)
    if forms:
        _check_type(forms, inner, members)
    item: Callable[[int], FieldForm | None] = _no_item
    if forms and isinstance(forms[0], ListForm):
        item = _items_of(members)
        _check_tags(forms, item(0))
    shows = _shows(inner, forms, members)
    is_json = bool(forms) and isinstance(forms[0], JsonForm)
    shows_fields = is_json or (shows is not None and shows.kind is Repr.DATACLASS)
    for part in filter(is_attachment, (all_parts_of if shows_fields else parts_of)(hint)):
        raise PromptValidationError(
            f"{hint_text(part)} isn't text: say it in a turn of the user, `conversation.user(…)`"
        )
    untrusted = is_untrusted(hint)
    if not forms and shows is None and not untrusted:
        return None
    bare = untrusted and not is_json
    first = item(0)
    if bare and first is not None and first.untrusted and not first.exposed:
        # A list of items in tags; a mapping or a limit shows more than whole items.
        kinds = [kind for member in members for kind in get_args(member) if kind is not Ellipsis]
        bare = len(kinds) > 1 or any(isinstance(form, LimitForm) for form in forms)
    fences = [isinstance(form, FenceForm) for form in forms if isinstance(form, WrapForm)]
    # Markdown doesn't see a fence in a tag.
    exposed = untrusted and (any(fences[:-1]) or (bare and not fences))
    if (exposed and not is_item) or (first is not None and first.alone):
        raise PromptValidationError(_HELD.format(hint_text(inner)))
    alone = untrusted and fences[-1:] == [True]
    return FieldForm(inner, forms, item, shows, untrusted, bare, exposed, alone)


def text_of(value: object) -> str:
    """Return the text of a value that has no form of its own: an enum's is that of its value."""
    if isinstance(value, enum.Enum) and type(value).__str__ in _PLAIN_ENUM:
        return str(value.value)
    return str(value)


def hint_text(hint: object) -> str:
    """Return a type as its author wrote it, without modules and forms."""
    hint = _split(hint)[0] if get_origin(hint) is Annotated else hint
    if hint is None or hint is type(None):
        return "None"
    if hint is Ellipsis:
        return "..."
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(map(hint_text, arguments))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, arguments))}]"
    named = hint if origin is None else origin
    name = str(getattr(named, "__name__", None) or getattr(named, "__forward_arg__", named))
    name = name.rpartition(".")[2]
    return f"{name}[{', '.join(map(hint_text, arguments))}]" if arguments else name


def _applied(forms: Sequence[Form], text: str, *, guard: bool = False) -> str:
    for form in forms:
        if isinstance(form, WrapForm) and guard:
            text, guard = guarded(text, form), False
        if isinstance(form, (LimitForm, WrapForm)):
            text = form.apply(text)
    return text


def _no_item(_: int) -> None:
    return None


# Types


def _split(hint: object) -> tuple[object, tuple[Form, ...]]:
    """Return a type without its forms, and the forms."""
    forms: tuple[Form, ...] = ()
    while True:
        origin = get_origin(hint)
        if isinstance(hint, typing.NewType):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__  # type: ignore[attr-defined]  # New in Python 3.12.
        elif type(origin).__name__ == "TypeAliasType":
            hint = origin.__value__[get_args(hint)]  # type: ignore[union-attr]  # As above.
        elif origin is Annotated:
            forms = (*_forms_in(get_args(hint)[1:]), *forms)
            hint = get_args(hint)[0]
        elif origin in _OUTER:
            hint = get_args(hint)[0]
        elif origin in (typing.Union, types.UnionType):
            inner = [_split(member) for member in get_args(hint)]
            dataclasses_inside = [pair for pair in inner if pair[1]]
            if dataclasses_inside:
                others = [pair for pair in inner if pair[0] not in (None, type(None))]
                if len(others) > 1:
                    raise PromptValidationError(
                        f"the forms are around one type of {hint_text(hint)} alone; put them "
                        "around the whole type"
                    )
                forms = (*dataclasses_inside[0][1], *forms)
                hint = typing.Optional[dataclasses_inside[0][0]]  # noqa: UP045 - Built at run time.
            return hint, forms
        else:
            return hint, forms


def _forms_in(metadata: Sequence[object]) -> Iterator[Form]:
    for form in metadata:
        if isinstance(form, Form):
            yield form
        elif isinstance(form, types.FunctionType) and form in CALLED:
            raise PromptValidationError(
                f"`{form.__name__}` is a function; call it: `{CALLED[form]}`"
            )


def _items_of(members: Sequence[object]) -> Callable[[int], FieldForm | None]:
    """Return the form of each item of the collection among the members of a type."""
    likely = [member for member in members if get_args(member) and _may_be_collection(member)]
    if len(likely) != 1:
        return _no_item
    arguments = get_args(likely[0])
    origin = get_origin(likely[0])
    if origin is tuple and arguments[-1] is not Ellipsis:
        each = tuple(compose(argument, is_item=True) for argument in arguments)
        return lambda place: each[place] if place < len(each) else None
    is_mapping = isinstance(origin, type) and issubclass(origin, collections.abc.Mapping)
    item = compose(arguments[is_mapping and len(arguments) > 1], is_item=True)
    return lambda _: item


def _shows(hint: object, forms: tuple[Form, ...], members: Sequence[object]) -> PlainRepr | None:
    """Return what shows as Python writes it, though the forms are applied."""
    first = forms[0] if forms else None
    if isinstance(first, JsonForm):
        return None
    falls_back = any(isinstance(form, FallbackForm) for form in forms)
    for member in members:
        kind = repr_kind(member)
        if kind is None or (kind is Repr.NONE and falls_back) or (kind is Repr.ENUM and forms):
            continue
        if kind is not Repr.COLLECTION or not isinstance(first, ListForm):
            return PlainRepr(hint, kind, forms)
        for argument in get_args(member):
            item = None if argument is Ellipsis else compose(argument, is_item=True)
            shows = None if item is None else item.shows
            if shows is not None and shows.kind is not Repr.ENUM:
                return replace(shows, of_item=True)
    return None


def repr_kind(hint: object) -> Repr | None:
    """Return how values of a type show as Python writes them; None if they don't."""
    hint = plain(hint)
    if hint is None or hint is type(None):
        return Repr.NONE
    origin = get_origin(hint)
    if origin is Literal:
        kinds = (repr_kind(type(value)) for value in get_args(hint))
        return next((kind for kind in kinds if kind is not None), None)
    kind = origin if origin is not None else hint
    return _kind_of_class(kind) if isinstance(kind, type) else None


def _kind_of_class(kind: type) -> Repr | None:
    if kind in _ANYTHING or issubclass(kind, Unresolved):
        return None
    to_text = kind.__str__
    if is_model(kind):
        return Repr.DATACLASS if to_text.__module__.startswith("pydantic.") else None
    if issubclass(kind, enum.Enum):
        return Repr.ENUM if to_text in _PLAIN_ENUM else None
    if issubclass(kind, (bytes, bytearray)):
        return Repr.BYTES if to_text in (bytes.__str__, bytearray.__str__) else None
    if to_text is not object.__str__ or issubclass(kind, _NUMBERS):
        return None
    if hasattr(kind, "__dataclass_fields__"):
        return Repr.DATACLASS
    if issubclass(kind, (tuple, list, set, frozenset, dict)):
        return Repr.COLLECTION
    if kind.__module__ in _COLLECTIONS and issubclass(kind, collections.abc.Iterable):
        return Repr.COLLECTION
    if inspect.isabstract(kind) and kind.__name__ != "Callable":
        return None
    protocol = getattr(kind, "_is_protocol", False)
    return Repr.OBJECT if kind.__repr__ is object.__repr__ and not protocol else None


def _may_be_collection(hint: object) -> bool:
    kind = get_origin(hint) or hint
    if not isinstance(kind, type) or kind in _ANYTHING:
        return True
    if issubclass(kind, Unresolved) or getattr(kind, "_is_protocol", False):
        return True
    if issubclass(kind, (*_TEXTS, *_NUMBERS, enum.Enum, type(None))):
        return False
    return hasattr(kind, "__iter__") or inspect.isabstract(kind)


# What goes together


def _check_order(forms: Sequence[Form]) -> None:
    seen: list[Form] = []
    for form in forms:
        for earlier in seen:
            problem = _clash(earlier, form)
            if problem:
                raise PromptValidationError(problem)
        seen.append(form)


def _check_tags(forms: Sequence[Form], item: FieldForm | None) -> None:
    inner = () if item is None else item.forms
    for form in forms:
        for other in inner:
            if isinstance(form, TagForm) and isinstance(other, TagForm):
                problem = _clash(other, form)
                if problem:
                    raise PromptValidationError(f"{problem}; the items have it")


def _clash(first: Form, second: Form) -> str | None:
    """Return the problem of a form to the left of another; None if the order is right."""
    if isinstance(second, (ListForm, JsonForm)):
        if isinstance(first, (ListForm, JsonForm)):
            return (
                f"`{first}` makes a text, so `{second}` has no items; for the items, put a form "
                "into their own type"
                if isinstance(second, ListForm)
                else f"`{first}` makes a text, so `{second}` would write a JSON string; take one "
                "of them"
            )
        return f"`{second}` makes the text that `{first}` needs: write `{second}, {first}`"
    if isinstance(second, LimitForm):
        if isinstance(first, LimitForm):
            return f"`{first}` and `{second}` limit the same text; take one of them"
        if isinstance(first, WrapForm):
            return f"`{second}` would cut off the end of `{first}`: write `{second}, {first}`"
    if isinstance(first, FallbackForm) and isinstance(second, FallbackForm):
        return f"after `{first}` there is always a text, so `{second}` has no effect"
    if isinstance(first, TagForm) and isinstance(second, TagForm):
        if first.name.lower() == second.name.lower():
            return f"`{second}` would escape the tags of `{first}`; take another tag"
    elif type(first) is type(second) and isinstance(second, WrapForm):
        return f"`{first}` and `{second}` put the same around a text twice; take one of them"
    return None


def _check_type(forms: Sequence[Form], hint: object, members: Sequence[object]) -> None:
    first, written = forms[0], hint_text(hint)
    present = [member for member in members if member not in (None, type(None))]
    if isinstance(first, ListForm):
        if not any(map(_may_be_collection, present)):
            raise PromptValidationError(
                f"`{first}` takes the items of a collection, and {written} has none"
            )
        return
    if isinstance(first, JsonForm):
        return
    kinds = [repr_kind(member) for member in present]
    needed = next((form for form in forms if isinstance(form, (LimitForm, WrapForm))), None)
    if needed is not None and present and set(kinds) <= {Repr.COLLECTION, Repr.DATACLASS}:
        shape = "`as_json`" if Repr.COLLECTION not in kinds else "`bullets`, `numbered`, `joined`"
        raise PromptValidationError(
            f"`{needed}` takes a text, which {written} isn't: write "
            + (f"{shape} before it" if shape == "`as_json`" else f"{shape} or `as_json` before it")
        )
    fallback = next((form for form in forms if isinstance(form, FallbackForm)), None)
    if fallback is not None and len(present) == len(members) and all(map(_always_is, present)):
        raise PromptValidationError(
            f"`{fallback}` is for a value that may be None or empty, and {written} never is"
        )


def _always_is(hint: object) -> bool:
    """Return True for a type whose values are neither None nor empty."""
    hint = plain(hint)
    if get_origin(hint) is Literal:
        return all(value is not None and value != "" for value in get_args(hint))
    return isinstance(hint, type) and issubclass(hint, (*_NUMBERS, enum.Enum))
