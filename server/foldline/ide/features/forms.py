"""Forms of fields: what a hover says of them, and those that complete a type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from foldline.ide.analysis.values import External
from foldline.prompts import Form
from foldline.prompts.forms import forms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foldline.ide.analysis.module_analysis import ModuleAnalysis
    from foldline.ide.analysis.values import Field

_TYPED = re.compile(r"(?:[A-Za-z_]\w*)?\Z")
_ANNOTATED = re.compile(r"\bAnnotated\Z")
_FARTHEST = 2_000
"""How far before a form, in characters, its `Annotated[` may be."""


def description_of(field: Field) -> str:
    """Return the forms of a field, or why they make no sense, as a sentence; empty without any."""
    kind = field.type
    if kind.problem:
        return f"*Can't be shown: {kind.problem}.*"
    if kind.form is None:
        return ""
    return f"Shown {', '.join(form.description for form in kind.form.forms)}."


def typed_form(text: str, offset: int) -> str | None:
    """Return what is typed of a form at an offset, after `Annotated[…, `; None elsewhere."""
    typed = _TYPED.search(text, max(0, offset - _FARTHEST), offset)
    if typed is None:
        return None
    depth, comma = 0, False
    for at in range(typed.start() - 1, max(-1, offset - _FARTHEST), -1):
        character = text[at]
        if character in ")]}":
            depth += 1
        elif character in "([{" and depth:
            depth -= 1
        elif character in "([{":
            after = character == "[" and _ANNOTATED.search(text, 0, at) is not None
            return typed[0] if after and comma else None
        elif character == "," and not depth:
            comma = True
    return None


def forms_in(analysis: ModuleAnalysis) -> Iterator[tuple[str, str, str]]:
    """Yield the forms that a file can use: the name, the code to insert, and what it does."""
    names = dict.fromkeys((*analysis.scope.names, *forms.NAMES))
    for name in names:
        value = analysis.evaluator.member(analysis.scope, name)
        own = value.library_name if isinstance(value, External) else ""
        if own not in forms.NAMES:
            continue
        form = getattr(forms, own)
        if isinstance(form, Form):
            yield name, name, f"shown {form.description}"
        else:
            call = forms.CALLED[form].replace("'", '"')
            summary = (form.__doc__ or "").partition("\n")[0]
            yield (
                name,
                name + call.removeprefix(own),
                summary.removeprefix("Return the form that ").rstrip("."),
            )
