"""Calls of `bind`: what a prompt has after them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.ide.analysis.values import Item, Nothing, PromptValue, Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foldline.ide.analysis.evaluator import Evaluator
    from foldline.ide.analysis.scopes import Scope
    from foldline.ide.analysis.syntax import Call
    from foldline.ide.analysis.values import Argument

SECTION_PARAMS = "section_params"
"""The keyword of parameters for single sections."""

_OTHER_TEXTS = ("overrides", "tag", "wording")


def bound(evaluator: Evaluator, prompt: PromptValue, call: Call, scope: Scope) -> PromptValue:
    """Return the prompt after a call of its `bind`.

    Overrides are files that may change at any time, so what they make of a prompt isn't certain.
    """
    items = tuple(Item(argument, evaluator.value(argument, scope)) for argument in call.args)
    keywords, opaque = evaluator.keywords(call, scope)
    return replace(
        prompt,
        bound=(*prompt.bound, *items),
        section_params=_merged(prompt.section_params, section_params(keywords, opaque=opaque)),
        maybe=prompt.maybe or opaque or any(_is_given(keywords, name) for name in _OTHER_TEXTS),
    )


def section_params(keywords: Mapping[str, Argument], *, opaque: bool) -> Record:
    """Return the parameters for single sections that a call gives; `complete` if they are all.

    Args:
        keywords: The call's keyword arguments.
        opaque: There may be others.
    """
    if not _is_given(keywords, SECTION_PARAMS):
        return Record({}, complete=not opaque)
    value = keywords[SECTION_PARAMS].value
    # Of an incomplete one, an unknown item may have the key of a known.
    return value if isinstance(value, Record) and value.complete else Record({}, complete=False)


def _merged(before: Record, after: Record) -> Record:
    if not after.complete:
        return after
    return Record({**before.arguments, **after.arguments}, before.complete)


def _is_given(keywords: Mapping[str, Argument], name: str) -> bool:
    return name in keywords and not isinstance(keywords[name].value, Nothing)
