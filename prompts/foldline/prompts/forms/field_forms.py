"""The forms of a dataclass's fields, and the warning about fields that need one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from foldline.prompts.errors import PromptValidationError
from foldline.prompts.forms import forms
from foldline.prompts.forms.annotations import declared_hint
from foldline.prompts.forms.fields import plain
from foldline.prompts.specialise import field_names, type_name

if TYPE_CHECKING:
    from foldline.prompts.forms.composition import FieldForm

_TEXTS = (str, int, float, bool)
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
                cached[name] = _composed(declared_hint(kind, name))
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
                shown = form.shows.message(name)
                message = f"Section {key!r}: `${{{name}}}` of `{what}` {shown}."
                warn_author(message, forms.ReprPlaceholderWarning)
            if form.forms:
                field_forms[name] = form
    return field_forms


def _composed(hint: object) -> FieldForm | None:
    if hint in _TEXTS:
        return None
    # Most fields are texts and numbers.
    from foldline.prompts.forms.composition import compose

    return compose(hint)


def warn_of_none(kind: type, name: str, *, key: str, what: str) -> None:
    """Warn of None in a field that is declared as text or a number."""
    if name in field_names(kind) and plain(declared_hint(kind, name)) in _TEXTS:
        no_value = forms.CALLED[forms.or_else]
        shown = f"`${{{name}}}` of `{what}` shows `None`, which isn't of its type"
        cure = f"bind a value, or write `{name}: Annotated[… | None, {no_value}]`"
        warn_author(f"Section {key!r}: {shown}: {cure}.", forms.ReprPlaceholderWarning)


def warn_author(message: str, category: type[Warning]) -> None:
    """Warn at the line outside of the library that led here."""
    level, frame = 1, sys._getframe(0)  # noqa: SLF001 - What `skip_file_prefixes` does in 3.12.
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module == "abc" or f"{module}.".startswith("foldline.prompts.")
