"""The forms of a dataclass's fields, and the warning about fields that need one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from weakref import WeakKeyDictionary

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.forms import forms
from foldline.prompts.forms.annotations import declared_hint
from foldline.prompts.forms.composition import FieldForm, PlainRepr, Repr, compose, hint_text
from foldline.prompts.forms.fields import plain
from foldline.prompts.specialise import field_names, type_name

_TEXTS = (str, int, float, bool)
NO_VALUE = "or_else('unknown')"
_known: WeakKeyDictionary[type, dict[str, FieldForm | None]] = WeakKeyDictionary()


def forms_for(
    kind: type, placeholders: Iterable[str], *, key: str, what: str, gated: bool = False
) -> Mapping[str, FieldForm]:
    """Return the forms of the fields that a text shows, by field.

    Warns about a field whose values the text would show as Python writes them.

    Args:
        kind: The dataclass.
        placeholders: The names in the text; those that aren't fields are ignored.
        key: The section, for errors and warnings.
        what: The text: `template` or `summary`.
        gated: True if `enabled` may keep values away that are None.

    Raises:
        PromptValidationError: The forms of a field make no sense.
    """
    cached = _known.setdefault(kind, {})
    field_forms: dict[str, FieldForm] = {}
    for name in placeholders:
        if name not in cached:
            if name not in field_names(kind):
                continue
            try:
                hint = declared_hint(kind, name)
                cached[name] = None if hint in _TEXTS else compose(hint)
            except PromptValidationError as error:
                why = f"can't be shown: {str(error).rstrip('.')}."
                raise PromptValidationError.of_section(
                    key,
                    f"the field {name!r} of {type_name(kind)} {why}",
                    placeholder=name,
                    dataclass_type=kind,
                ) from None
        form = cached[name]
        if form is not None:
            if form.shows is not None and not (gated and form.shows.kind == "none"):
                shown = repr_message(form.shows, name)
                message = f"Section {key!r}: `${{{name}}}` of `{what}` {shown}."
                warn_author(message, forms.ReprPlaceholderWarning)
            if form.forms:
                field_forms[name] = form
    return field_forms


def repr_message(shows: PlainRepr, name: str) -> str:
    """Return what a model reads of a field that shows as Python writes it, and what to do."""
    hint = hint_text(shows.hint)

    def declare(before: str = "", after: str = "") -> str:
        forms = (before, *map(str, shows.forms), after)
        hinted = f"Annotated[{', '.join([hint, *filter(None, forms)])}]"
        return f"`{hinted}` for the items" if shows.of_item else f"`{name}: {hinted}`"

    written = f"shows {hint} as Python writes it"
    match shows.kind:
        case Repr.NONE:
            return f"shows `None` where there is no value: write {declare(after=NO_VALUE)}"
        case Repr.COLLECTION:
            form = "joined(', ')" if shows.of_item else "bullets"
            return f"{written}, such as `('a', 'b')`: write {declare(before=form)}"
        case Repr.DATACLASS:
            return f"{written}, with its name and fields: write {declare(before='as_json')}"
        case Repr.ENUM:
            return f"shows a member's name, such as `{hint}.NAME`: make {hint} a StrEnum"
        case Repr.BYTES:
            return f"{written}, such as `b'a'`: decode it, and make the field a str"
        case Repr.OBJECT:
            return f"{written}, with its address: give its class `__str__`"


def warn_of_none(kind: type, name: str, *, key: str, what: str) -> None:
    """Warn of None in a field that is declared as text or a number."""
    if name in field_names(kind) and plain(declared_hint(kind, name)) in _TEXTS:
        shown = f"`${{{name}}}` of `{what}` shows `None`, which isn't of its type"
        cure = f"bind a value, or write `{name}: Annotated[… | None, {NO_VALUE}]`"
        warn_author(f"Section {key!r}: {shown}: {cure}.", forms.ReprPlaceholderWarning)


def warn_author(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of the library that led here."""
    level, frame = 1, sys._getframe(0)  # noqa: SLF001 - What `skip_file_prefixes` does in 3.12.
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module == "abc" or f"{module}.".startswith("foldline.prompts.")
