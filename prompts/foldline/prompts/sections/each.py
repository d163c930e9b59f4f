"""Sections that show each item of a list."""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, Generic, TypeVar, cast, get_args, get_origin

from foldline.prompts import errors, refusals
from foldline.prompts.cache.tokens import estimated_tokens
from foldline.prompts.forms.annotations import parts_of
from foldline.prompts.forms.fields import fields_of, plain, union_members
from foldline.prompts.forms.forms import UNTRUSTED
from foldline.prompts.forms.segments import Segment, SegmentKind
from foldline.prompts.forms.templating import CompiledTemplate
from foldline.prompts.sections.listing import (
    LEFT_OUT,
    NUMBER,
    SEPARATOR,
    TOTAL,
    Listing,
    item_field,
    text_of,
)
from foldline.prompts.sections.markdown import MarkdownSection
from foldline.prompts.sections.section import ParamsT_co
from foldline.prompts.specialise import (
    Argument,
    dataclass_of,
    field_names,
    type_name,
    with_constructor,
)

ItemT_co = TypeVar("ItemT_co", covariant=True)


@with_constructor
class EachSection(MarkdownSection[ParamsT_co], Generic[ParamsT_co, ItemT_co]):
    r"""A section that shows each item of a list with the same template.

    Specialise it with the dataclass of the parameters and with that of an item. The items are a
    field of the parameters, or given with the section.

    >>> from foldline.prompts.dataclasses import FrozenDataclass
    >>> @FrozenDataclass()
    ... class Passage:
    ...     source: str
    ...     text: str
    >>> @FrozenDataclass()
    ... class Found:
    ...     passages: tuple[Passage, ...] = ()
    >>> section = EachSection[Found, Passage](
    ...     title="Passages",
    ...     key="passages",
    ...     items="passages",
    ...     template="[${_number}] ${text} (${source})",
    ...     separator="\n",
    ...     empty="Nothing was found.",
    ... )
    >>> print(section.render(Found((Passage("a.md", "One."), Passage("b.md", "Two.")))))
    [1] One. (a.md)
    [2] Two. (b.md)
    >>> section.render(Found())
    'Nothing was found.'

    The arguments that aren't listed are those of `MarkdownSection`.

    Args:
        items: The name of the field that has the items, a sequence; or the items themselves, which
            are then the same in every render. None in the field counts as no items.
        template: The text of one item. Its placeholders are the item's fields, and `${_number}`,
            counted from 1.
        separator: The text between two items, and before the note; by default a blank line.
        empty: The text if there are no items, by default that of the prompt's `Wording`, `None.`;
            its placeholders are fields of the parameters.
        more: The note after the items if some are left out, by default that of the prompt's
            `Wording`, `… and ${_left_out} more`: say in it how the model can get them. Its
            placeholders are fields of the parameters, `${_left_out}` and `${_total}`.
        max_items: The most items to show; None for all.
        budget: The most tokens that the items and the note may have; items at the end are left out.
            The first item is always shown. None for no limit.
        count_tokens: Counts for the budget; the default is an estimate.
        summary: The text while the section is summarized; its placeholders are fields of the
            parameters.

    Raises:
        PromptValidationError: The section isn't specialised with the dataclass of an item, `items`
            isn't a field that holds a sequence of those, a placeholder isn't a field, or another
            argument can never work.
    """

    has_wording: ClassVar[bool] = True

    derived_item_placeholders: ClassVar[tuple[str, ...]] = (NUMBER,)
    """Placeholders of the template that the section computes; items can't have such fields."""

    item_parameters: ClassVar[str] = "Item"
    """The type arguments after the first, for messages."""

    items: Argument[str | Sequence[ItemT_co], str | tuple[ItemT_co, ...]]
    separator: str = SEPARATOR
    empty: str | None = None
    more: str | None = None
    max_items: int | None = None
    budget: int | None = None
    count_tokens: Callable[[str], int] = estimated_tokens

    def __post_init__(self) -> None:
        super().__post_init__()
        vars(self)["items"] = _checked_items(self, self.items)
        for name, (is_valid, needed) in _RULES.items():
            if not is_valid(value := vars(self)[name]):
                shown = _a(value) if needed == _TEXT else repr(value)
                problem = f"`{name}` must be {needed}, not {shown}."
                raise errors.PromptValidationError.of_section(self.key, problem)
        self._template.check_fences(self.separator)
        self._empty = None if self.empty is None else self._compiled(self.empty, "empty")
        self._more = None if self.more is None else self._compiled(self.more, "more")

    @property
    def item_type(self) -> type:
        """The dataclass of an item."""
        kind = dataclass_of(self.item_hint)
        assert kind is not None
        return kind

    @property
    def item_hint(self) -> object:
        """The dataclass of an item, with its type arguments if it is generic."""
        return self.type_arguments[1] if len(self.type_arguments or ()) > 1 else None  # type: ignore[index]  # Two.

    @property
    def computed_from(self) -> tuple[str, ...]:
        """The field that has the items: numbers and notes depend on it alone."""
        return (self.items,) if isinstance(self.items, str) else ()

    @property
    def other_text(self) -> str:
        """The items given with the section, the texts around items, and the limits."""
        items = self.items
        if not isinstance(items, str):
            items = "\0".join(text_of(self._item(index, item)) for index, item in enumerate(items))
        return repr((items, self.separator, self.empty, self.more, self.max_items, self.budget))

    def all_items(self, params: ParamsT_co) -> tuple[ItemT_co, ...]:  # type: ignore[misc]  # The renderer passes the section's own type only.
        """Return all items for these parameters, in order.

        Raises:
            PromptRenderError: The field doesn't hold a sequence of items.
        """
        if not isinstance(self.items, str):
            return self.items
        value = getattr(params, self.items)
        if value is None:
            return ()
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            raise self._wrong(f"holds {_a(value)}, where a sequence of {{}} is needed")
        for index, item in enumerate(value):
            if not isinstance(item, self.item_type):
                raise self._wrong(f"[{index}] is {_a(item)}, where {{}} is needed")
        return tuple(value)

    def shown_items(self, params: ParamsT_co) -> tuple[ItemT_co, ...]:  # type: ignore[misc]  # As above.
        """Return the items that a render with these parameters shows, in order.

        Raises:
            PromptRenderError: The field doesn't hold a sequence of items, or an item can't be
                turned into text.
        """
        items = self.all_items(params)
        texts = [text_of(self._item(index, item)) for index, item in enumerate(items)]
        total = len(items)
        note = self._noted(params, total)
        return items[: self._listing().shown(texts, lambda left: text_of(note(left)))]

    def item_values(self, item: ItemT_co) -> object:  # type: ignore[misc]  # As above.
        """Return the object whose attributes the template shows; by default the item itself."""
        return item

    def derive_item(self, item: ItemT_co, number: int) -> Mapping[str, str]:  # type: ignore[misc]  # As above.
        """Return the texts of `derived_item_placeholders` for an item."""
        return {NUMBER: str(number)}

    def render_body(self, params: ParamsT_co) -> Sequence[Segment]:  # type: ignore[misc]  # As above.
        """Return the items' texts, and the note if some are left out; `empty` without items."""
        items = self.all_items(params)
        if not items:
            empty = self._empty or _compiled_sentence(self.wording.no_items)
            return empty.substitute(params, self.derive(params))
        texts = [self._item(index, item) for index, item in enumerate(items)]
        return self._listing().joined(texts, self._noted(params, len(items)))

    def _listing(self) -> Listing:
        return Listing(self.separator, self.max_items, self.budget, self.count_tokens)

    def _item(self, index: int, item: ItemT_co) -> list[Segment]:  # type: ignore[misc]  # As above.
        """Return the segments of one item; those of its fields say which item and field."""
        fixed = not isinstance(self.items, str)
        where = "items" if fixed else cast("str", self.items)
        segments = []
        values = self.item_values(item)
        try:
            parts = self._template.substitute(values, self.derive_item(item, index + 1))
        except errors.PromptRenderError as error:
            raise errors.PromptRenderError(
                f"{error} (item {index + 1})",
                section_path=error.section_path,
                placeholder=error.placeholder,
                dataclass_type=error.dataclass_type,
            ) from error.__cause__
        for part in parts:
            if part.kind is SegmentKind.PARAM and part.field is not None:
                # Items that are given with the section are its own text.
                kind = SegmentKind.LITERAL if fixed else part.kind
                segments.append(Segment(kind, part.text, item_field(where, index, part.field)))
            else:
                segments.append(part)
        return segments

    def _noted(self, params: ParamsT_co, total: int) -> Callable[[int], Sequence[Segment]]:  # type: ignore[misc]  # As above.
        more = self._more or _compiled_sentence(self.wording.more_items)

        def note(left_out: int) -> Sequence[Segment]:
            counts = {LEFT_OUT: str(left_out), TOTAL: str(total)}
            return more.substitute(params, {**self.derive(params), **counts})

        return note

    def _names_for(self, what: str) -> tuple[tuple[str, ...], type | None]:
        if what == "template":
            kind = self.item_type
            return (*field_names(kind), *self.derived_item_placeholders), kind
        names, params = super()._names_for(what)
        return ((*names, LEFT_OUT, TOTAL), params) if what == "more" else (names, params)

    def _check_params(self) -> None:
        super()._check_params()
        hint = self.item_hint
        if dataclass_of(hint) is None:
            name = type(self).__qualname__.partition("[")[0]
            raise errors.PromptValidationError.of_section(
                self.key,
                f"{name} needs the dataclass of an item"
                + (f", not {type_name(hint)}" if hint is not None else "")
                + f": write `{name}[Params, {self.item_parameters}](…)`, or "
                f"`{name}[None, {self.item_parameters}](…)` if the items are given with the "
                f"section. {refusals.NO_TEXT_ITEMS}",
                dataclass_type=hint if isinstance(hint, type) else None,
            )
        self._check_computed(self.item_type, type_name(hint), self.derived_item_placeholders)
        if self._has_own("derive_item", "item_values"):
            self._check_sources(self.item_type, None)

    def _wrong(self, what: str) -> errors.PromptRenderError:
        kind = self.params_type
        return errors.PromptRenderError.of_section(
            self.key,
            f"`{type_name(kind)}.{self.items}` {what.format(type_name(self.item_type))}.",
            placeholder=cast("str", self.items),
            dataclass_type=kind,
        )


Each = EachSection[object, object]


@lru_cache(maxsize=64)
def _compiled_sentence(sentence: str) -> CompiledTemplate:
    """Return a sentence of a wording as a template; a wording has checked its placeholders."""
    return CompiledTemplate(sentence, key="wording")


def _checked_items(section: Each, items: object) -> object:
    """Return the name of a field, or the items as a tuple."""
    kind = section.params_type
    if isinstance(items, str):
        if items not in field_names(kind):
            near = errors.near_names(items, field_names(kind))
            raise errors.PromptValidationError.of_section(
                section.key,
                f"`items` is {items!r}, "
                + (
                    f"which isn't a field of {type_name(kind)}{errors.did_you_mean(near, '.')}"
                    if kind is not None
                    else "but the section takes no parameters: specialise it with the dataclass "
                    "that has this field, or give the items themselves."
                ),
                placeholder=items,
                dataclass_type=kind,
                near=near,
            )
        _check_hint(section, items)
        return items
    if isinstance(items, bytes) or not isinstance(items, Sequence):
        raise errors.PromptValidationError.of_section(
            section.key,
            f"`items` is {_a(items)}; give the name of a field that has the items, or a list or "
            f"tuple of {type_name(section.item_type)}.",
        )
    for index, item in enumerate(items):
        if not isinstance(item, section.item_type):
            needed = type_name(section.item_type)
            raise errors.PromptValidationError.of_section(
                section.key,
                f"`items[{index}]` is {_a(item)}, where {needed} is needed.",
                dataclass_type=section.item_type,
            )
    return tuple(items)


def _check_hint(section: Each, name: str) -> None:
    """Check that the field's type is a sequence of items."""
    kind = section.type_arguments[0]  # type: ignore[index]  # There is a field, so a dataclass.
    try:
        hints = [field.hint for field in fields_of(kind) if field.name == name]
    except errors.PromptValidationError:
        return  # A name defined further down can be resolved later.
    for hint in hints:
        if not may_hold(hint, section.item_type):
            shown = type_name(hint) if isinstance(hint, type) else str(hint)
            item = type_name(section.item_type)
            raise errors.PromptValidationError.of_section(
                section.key,
                f"`{type_name(section.params_type)}.{name}` is declared as `{shown}`; `items` "
                f"needs a field with a sequence of {item}, such as `tuple[{item}, ...]`.",
                placeholder=name,
                dataclass_type=section.params_type,
            )


def may_hold(hint: object, item: type) -> bool:
    """Return True if a value of the type may be a sequence of items, or None."""
    members = union_members(hint)
    return UNTRUSTED not in parts_of(hint) and all(_holds(member, item) for member in members)


def _holds(hint: object, item: type) -> bool:
    hint = plain(hint)
    if hint in (None, type(None)) or _is_open(hint):
        return True
    origin = get_origin(hint) or hint
    if not isinstance(origin, type) or not issubclass(origin, collections.abc.Sequence):
        return False
    if issubclass(origin, (str, bytes)):
        return False
    members = [argument for argument in get_args(hint) if argument is not Ellipsis]
    return all(
        _is_item(plain(member), item) for inner in members for member in union_members(inner)
    )


def _is_item(hint: object, item: type) -> bool:
    if hint is not None and _is_open(hint):
        return True
    kind = get_origin(hint) or hint
    return isinstance(kind, type) and issubclass(kind, item)


def _is_open(hint: object) -> bool:
    """Return True for a type that says nothing: `object`, `Any`, a type variable."""
    return hint in (object, Any) or not (isinstance(hint, type) or get_origin(hint) is not None)


def _is_limit(value: object) -> bool:
    return value is None or (type(value) is int and value > 0)


_TEXT, _LIMIT = "a string", "a number above zero, or None for no limit"
_RULES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "separator": (lambda value: isinstance(value, str), _TEXT),
    "empty": (lambda value: isinstance(value, str | None), _TEXT),
    "more": (lambda value: isinstance(value, str | None), _TEXT),
    "max_items": (_is_limit, _LIMIT),
    "budget": (_is_limit, _LIMIT),
    "count_tokens": (callable, "a callable that returns the number of tokens of a text"),
}


def _a(value: object) -> str:
    name = "None" if value is None else type_name(type(value))
    article = "an" if name[0] in "AEIOaeio" else "a"
    return name if value is None else f"{article} {name}"
