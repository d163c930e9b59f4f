"""Fills in texts by Python's own means: nothing of their source is executed.

Values are texts. Attributes, items and formats of them are shown as the field that stands for the
whole, and are never looked up or carried out: `{x.__class__}`, `{x:>999999999}`.
"""

from __future__ import annotations

import re
from string import Formatter, Template
from typing import TYPE_CHECKING, Any

from foldline.ide.adopt.model import AdoptError, Slot, Style, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from foldline.ide.adopt.model import Message, Node, Use

PERCENT = re.compile(
    r"%(?:\((?P<name>[^)]*)\))?(?P<form>[-#0 +]*(?:\d+|\*)?(?:\.(?:\d+|\*))?[a-zA-Z%])"
)
_FORMS = re.compile(r"[-#0 +]*\d*(?:\.\d+)?[diouxXeEfFgGcrsa]")
_JSON = re.compile(r"[\"'\n]")
_ADVICE = {
    Style.FORMAT: "`format` raises {}; is the JSON text? If so, double its "
    "braces, or name the style: --style replace",
    Style.PERCENT: "`%` raises {}; a `%` that is text is `%%`",
    Style.TEMPLATE: "`substitute` raises {}; a `$` that is text is `$$`",
}


class _Value(str):
    """A value at a path, such as `user.name`, that shows the next text for that."""

    def __new__(cls, path: str, texts: dict[str, list[str]]) -> _Value:
        made = super().__new__(cls)
        made.__dict__.update(path=path, texts=texts)
        return made

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, "__dict__")
        return own if name == "__dict__" else _Value(f"{own['path']}.{name}", own["texts"])

    def __getitem__(self, key: Any) -> Any:
        own = self.__dict__
        return _Value(f"{own['path']}[{key}]", own["texts"])

    def __format__(self, _: str) -> str:
        own = self.__dict__
        # The width in `{x:{width}}` is shown by itself.
        left: list[str] = own["texts"].get(own["path"]) or ["1"]
        return left.pop(0)

    def __str__(self) -> str:
        return self

    __repr__ = __str__


class _Values(dict[str, list[str]]):
    """The texts of names, of which each is shown once."""

    def __getitem__(self, name: str) -> Any:
        return super().__getitem__(name).pop(0)


def filled(message: Message, shown: Mapping[str, str], uses: Sequence[Use]) -> str:
    """Return a message's text as its source fills it in, with texts by the sources of slots.

    Raises:
        AdoptError: Python refuses the text.
    """
    text, style = message.written, message.style
    uses = [use for use in uses if use.style is style]
    paths = list(_paths(text, style))
    texts = _Values()
    slots = [node for node in message.raw if isinstance(node, Slot)]
    for path, slot in zip(paths, slots, strict=False):
        texts.setdefault(path, []).append(shown[slot.source])
    try:
        if style is Style.PERCENT:
            plain = PERCENT.sub(_without_form, text)
            return plain % (texts if "%(" in text else tuple(texts.get("", ())))
        if style is Style.TEMPLATE:
            is_safe = not uses or any("safe_substitute" in use.source for use in uses)
            template = Template(text)
            return (template.safe_substitute if is_safe else template.substitute)(texts)
        if style is Style.FORMAT:
            return _formatted(text, paths, texts, uses)
    except (ValueError, LookupError, TypeError) as error:
        fault = f"{type(error).__name__}: {error}"
        raise AdoptError(f"the source's own {_ADVICE[style].format(fault)}") from None
    return shown_as_read(message.raw, shown)


def _formatted(
    text: str, paths: Sequence[str], texts: dict[str, list[str]], uses: Sequence[Use]
) -> str:
    """Call `format` with what its calls give: where none is known, with all that can be named."""
    heads = dict.fromkeys(re.split(r"[.\[]", path)[0] for path in paths)
    names = [head for head in heads if not head.isdecimal()]
    # A mapping may have any key; those of JSON are none.
    is_mapping = any("**" in use.source or "format_map" in use.source for use in uses)
    names = [one for one in names if one.isidentifier() or (is_mapping and not _JSON.search(one))]
    names += [name for use in uses for name in use.keywords]
    given = [argument for use in uses[:1] for argument in use.arguments]
    is_any = not (uses or names) or any(argument.startswith("*") for argument in given)
    arguments = [_Value(str(place), texts) for place in range(len(paths if is_any else given))]
    return text.format(*arguments, **{name: _Value(name, texts) for name in names})


def _paths(text: str, style: Style) -> Iterable[str]:
    """Return what names the value of each slot of a text, in their order."""
    if style is Style.PERCENT:
        return [found["name"] or "" for found in PERCENT.finditer(text) if found["form"] != "%"]
    if style is Style.TEMPLATE:
        found = (one["named"] or one["braced"] for one in Template.pattern.finditer(text))
        return [name for name in found if name]
    if style is not Style.FORMAT:
        return []
    names = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
    count = iter(range(len(names)))
    return [name if re.match(r"[^.\[]", name) else f"{next(count)}{name}" for name in names]


def _without_form(found: re.Match[str]) -> str:
    """Return a conversion that shows a text as it is, where Python knows the one written."""
    name = "" if found["name"] is None else f"({found['name']})"
    return f"%{name}s" if _FORMS.fullmatch(found["form"]) else found[0]


def shown_as_read(nodes: Iterable[Node], shown: Mapping[str, str]) -> str:
    """Return the text of nodes, with texts by the sources of slots."""
    return "".join(
        node.text if isinstance(node, Text) else shown[node.source]
        for node in nodes
        if isinstance(node, Text | Slot)
    )
