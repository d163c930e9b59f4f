"""Fills in texts by Python's own means; formats, attributes and items of values are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from string import Formatter, Template
from typing import Any

from foldline.plugins.adopt.model import AdoptError, Message, Slot, Style, Use
from foldline.plugins.adopt.read import PERCENT

REFUSED = {
    Style.FORMAT: "`format` raises {}; is the JSON text? If so, double its braces, or name the "
    "style: --style replace",
    Style.PERCENT: "`%` raises {}; a `%` that is text is `%%`",
    Style.TEMPLATE: "`substitute` raises {}; a `$` that is text is `$$`",
}
"""What is said where Python refuses a text, by the styles that are filled in."""
_FORMS = re.compile(r"[-#0 +]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa]")
_JSON = re.compile(r"[\"'\n]")


class _Formatter(Formatter):
    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = _in_turn(texts)

    def parse(self, format_string: str) -> Iterator[tuple[str, str | None, str | None, str | None]]:
        for literal, name, _, conversion in super().parse(format_string):
            head = None if name is None else re.split(r"[.\[]", name)[0]
            yield literal, head, "", None if conversion in ("r", "s", "a") else conversion

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        super().get_value(key, args, kwargs)
        return next(self._texts)


class _InOrder(dict[str, str]):
    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = _in_turn(texts)

    def __getitem__(self, _: str) -> str:
        return next(self._texts)


def _in_turn(texts: Iterable[str]) -> Iterator[str]:
    yield from texts
    raise LookupError("a placeholder in it isn't plain enough to be read")


def filled(message: Message, shown: Mapping[str, str], uses: Sequence[Use]) -> str:
    """Return a message's text as its source fills it in, with texts by the sources of slots.

    Raises:
        AdoptError: Python refuses the text.
    """
    text, style = message.written, message.style
    uses = [use for use in uses if use.style is style]
    texts = [shown[node.source] for node in message.raw if isinstance(node, Slot)]
    try:
        if style is Style.FORMAT:
            return _formatted(text, texts, uses)
        if style is Style.PERCENT:
            plain = PERCENT.sub(_without_form, text)
            return plain % (_InOrder(texts) if "%(" in text else tuple(texts))
        is_safe = not uses or any("safe_substitute" in use.source for use in uses)
        template = Template(text)
        return (template.safe_substitute if is_safe else template.substitute)(_InOrder(texts))
    except (ValueError, LookupError, TypeError) as error:
        fault = REFUSED[style].format(f"{type(error).__name__}: {error}")
        raise AdoptError(f"the source's own {fault}") from None


def _formatted(text: str, texts: Sequence[str], uses: Sequence[Use]) -> str:
    """Call `format` with what its calls give: where none is known, with all that can be named."""
    formatter = _Formatter(texts)
    heads = [head for _, head, _, _ in formatter.parse(text) if head]
    # A mapping may have any key; those of JSON are none.
    is_mapping = any("**" in use.source or "format_map" in use.source for use in uses)
    names = [one for one in heads if one.isidentifier() or (is_mapping and not _JSON.search(one))]
    arguments = next(
        (use.arguments for use in uses if use.arguments), () if uses or names else texts
    )
    if any(argument.startswith("*") for argument in arguments):
        arguments = texts
    return formatter.vformat(text, arguments, dict.fromkeys(names))


def _without_form(found: re.Match[str]) -> str:
    """Return a conversion that shows a text as it is, where Python knows the one written."""
    name = "" if found["name"] is None else f"({found['name']})"
    return f"%{name}s" if _FORMS.fullmatch(found["form"]) else found[0]
