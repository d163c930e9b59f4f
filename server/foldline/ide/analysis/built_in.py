"""The library's own values for arguments that a call of a section class leaves out."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from foldline.ide.analysis.source_map import MappedText, Run
from foldline.ide.analysis.syntax import Anchor
from foldline.ide.analysis.values import Argument, Text
from foldline.prompts import ENGLISH, ExamplesSection, Task, TaskSection
from foldline.prompts.sections.listing import SEPARATOR

if TYPE_CHECKING:
    from foldline.ide.analysis.syntax import Call

_TASK = TaskSection[Task]()
_EXAMPLES = ExamplesSection[None, str, str](items=())
_LIST = {"separator": SEPARATOR, "empty": ENGLISH.no_items, "more": ENGLISH.more_items}
_TEXTS = {
    "task": {"key": _TASK.key, "title": _TASK.title, "template": _TASK.template},
    "each": _LIST,
    "examples": {
        "key": _EXAMPLES.key,
        "title": _EXAMPLES.title,
        "template": _EXAMPLES.template,
        **_LIST,
    },
}


def default_texts(kind: str, node: Call) -> dict[str, Argument]:
    """Return the texts that a section of this kind has by default."""
    texts = _TEXTS.get(kind, {})
    return {name: Argument(node.func, Text(_mapped(text))) for name, text in texts.items()}


def sentence(name: str) -> MappedText:
    """Return the text around a list's items where the section's argument is None."""
    return _mapped(_LIST[name])


@lru_cache
def _mapped(text: str) -> MappedText:
    """Return the library's own text, which has no location in the workspace."""
    return MappedText(text, (Run(0, len(text), Anchor("", 0, text), 0, len(text)),))
