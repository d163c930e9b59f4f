"""The judge of what others' plugins bring and answer: what is of a wrong kind is a fault.

It runs in the thread that waits for the plugin, as an answer may be code, too: an iterable that
never ends, a text whose methods raise. What passes is of exactly the types that the hooks name, and
can be sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin, get_type_hints

from foldline.backends.models import NamedIn
from foldline.ide.analysis.model import SourceSpan, Span
from foldline.ide.checks.codes import Code
from foldline.ide.checks.diagnostic import Change, Diagnostic, Fix, Related
from foldline.ide.features.completion import Completion
from foldline.ide.features.hover import Hover
from foldline.ide.plugins import TAKEN, Action, Link, Plugin, Target
from foldline.ide.sources.source import PromptSource

if TYPE_CHECKING:
    from foldline.ide.snapshot import Snapshot

MOST_ITEMS, MOST_CHARACTERS = 10_000, 1_000_000
"""Of an answer, and of each text and file in it."""
ITEMS = {
    "check": Diagnostic,
    "check_repository": Diagnostic,
    "links": Link,
    "completions": Completion,
    "actions": Action,
    "named": NamedIn,
    "follow": Change,
}
"""The items of the answers to the hooks that answer several."""
# The types of the fields, but of those that are judged where they're used. The classes' own modules
# import some of the names for types alone.
_FIELDS: dict[type, dict[str, Any]] = {
    kind: {
        name: hint
        for name, hint in get_type_hints(kind, localns=globals()).items()
        if name not in ("arguments", "resolve")
    }
    for kind in {*ITEMS.values(), Hover, Target, Change, Fix, Related, Span, SourceSpan}
}
_PLACE = (Span, SourceSpan)
_NAME = re.compile(r"\w[\w./:-]*")


def check_parts(plugin: Any, others: Sequence[Plugin]) -> None:
    """Check what a plugin brings.

    Raises:
        TypeError: It isn't a plugin, or a part isn't what it should be.
        ValueError: The house or one of the `others` has a part of that name.
    """
    if not isinstance(plugin, Plugin):
        raise TypeError(f"{type(plugin).__name__} isn't a foldline.ide.plugins.Plugin")
    _fit(plugin.heading, str)
    if not isinstance(plugin.clients, Path | None):
        raise TypeError("`clients` isn't a path")
    for kind in ("verbs", "commands", "transports", "codes"):
        taken = {name for other in others for name in getattr(other, kind)}
        if kind == "codes":
            taken.update(Code)
        if not isinstance(parts := getattr(plugin, kind), Mapping):
            raise TypeError(f"`{kind}` isn't a mapping")
        for name, value in parts.items():
            _fit(value, str)
            if not _NAME.fullmatch(_fit(name, str)):
                raise ValueError(f"{name!r} of its {kind} isn't a name")
            if name in taken:
                raise ValueError(TAKEN.format(name, kind))


def judged(hook: str, answer: Any, codes: Mapping[str, str], document: Snapshot | None) -> Any:
    """Return the answer to a hook about a document, whose diagnostics have these codes.

    Raises:
        TypeError: It, or something in it, is of another type.
        ValueError: Something in it is out of bounds.
    """
    finished = partial(_finished, document=document, codes=codes)
    if hook == "source":
        if answer is None or (isinstance(answer, type) and issubclass(answer, PromptSource)):
            return answer
        raise TypeError(f"{answer!r} isn't a kind of PromptSource")
    if hook == "hover":
        return None if answer is None else finished(_fit(answer, Hover, document))
    if not isinstance(answer, Iterable):
        raise TypeError(f"{type(answer).__name__} isn't iterable")
    items = [_fit(item, ITEMS[hook], document) for item in islice(answer, MOST_ITEMS + 1)]
    if len(items) > MOST_ITEMS:
        raise ValueError(f"more than {MOST_ITEMS:,} items")
    return list(map(finished, items))


def _fit(value: Any, kind: Any, document: Snapshot | None = None) -> Any:
    """Return a value that is of the kind, and its parts of theirs."""
    if get_origin(kind) is tuple:
        for item in _fit(value, tuple):
            _fit(item, get_args(kind)[0], document)
        return value
    kinds = get_args(kind) or (kind,)
    if type(value) not in kinds:
        # Methods of a subclass would be others' code.
        raise TypeError(f"{type(value).__name__} stands where {kinds[-1].__name__} should")
    for name, inner in _FIELDS.get(type(value), {}).items():
        _fit(getattr(value, name), inner, document)
    if type(value) is str:
        value.encode()  # Half a character can't be sent.
        if len(value) > MOST_CHARACTERS:
            raise ValueError(f"a text has more than {MOST_CHARACTERS:,} characters")
    elif type(value) in _PLACE and document is not None:
        is_here = getattr(value, "file", document.analysis.file) == document.analysis.file
        end = len(document.text) if is_here else MOST_CHARACTERS
        if not 0 <= value.start <= value.end <= end:
            raise ValueError(f"{value.start} to {value.end} is outside of the text")
    return value


def _finished(item: Any, document: Snapshot | None, codes: Mapping[str, str]) -> Any:
    """Return an item of an answer, once what isn't of its types alone is right, too."""
    place = getattr(item, "place", None)
    if type(place) is SourceSpan and document and place.file != document.analysis.file:
        raise ValueError(f"it is about a document, and answers about {place.file}")
    if isinstance(item, Diagnostic) and item.code not in codes:
        raise ValueError(f"its `codes` lack `{item.code}`")
    if isinstance(item, Action):
        sent = json.dumps(item.arguments, ensure_ascii=False, allow_nan=False).encode()
        return replace(item, arguments=json.loads(sent))
    return item


def target_of(resolve: Callable[[], Any]) -> Target | None:
    """Return what a link means.

    Raises:
        TypeError: It's no target.
    """
    target = resolve()
    return None if target is None else _fit(target, Target)
