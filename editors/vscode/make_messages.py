"""Writes the types of the server's messages about prompts from its dataclasses.

    uv run python editors/vscode/make_messages.py

`src/promptMessages.ts` has the answers of actions on prompts, a preview's state, and the events by
which the page asks for an action. A test fails while it is older than what it is made from.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from pathlib import Path
from textwrap import dedent
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from foldline.ide.operations.operation import Role
from foldline.ide.previews.state import PreviewState, Steps
from foldline.ide.prompts.actions import ACTIONS
from foldline.ide.render.diff import Comparison
from foldline.ide.render.matrix import Matrix
from foldline.ide.render.provenance import Occurrence, TextOrigin
from foldline.ide.render.render import OpenedSections, SectionSummary, SectionText
from foldline.ide.render.static import PromptTokens

MESSAGES = Path(__file__).parent / "src" / "promptMessages.ts"
HEAD = "// Made by make_messages.py: what the server says of prompts, and what the page asks.\n"
ROOTS = (
    PreviewState,
    OpenedSections,
    SectionText,
    SectionSummary,
    Comparison,
    Matrix,
    Steps,
    PromptTokens,
    TextOrigin,
    Occurrence,
)
# What a worker and the library say in JSON of their own.
OWN = {
    ("ParameterField", "origin"): "Origin | null",
    ("ParameterSet", "origins"): "Origin[]",
    ("PreviewState", "cache"): "CachePlan | null",
    ("Render", "cache"): "CachePlan",
}
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", NoneType: "null"}


def messages() -> str:
    """The types as they are now."""
    found: dict[type, str] = {}
    for kind in ROOTS:
        _add(kind, found)
    imports = "import type { CachePlan, Origin } from './wire';\n"
    return "\n".join([HEAD, imports, *found.values(), _events()])


def _add(kind: type[Any], found: dict[type, str]) -> None:
    """Add the interface of a dataclass, and before it those of its fields."""
    if kind in found:
        return
    found[kind] = ""
    hints = get_type_hints(kind, include_extras=True)
    documented = _documented(kind)
    lines = []
    for field in fields(kind):
        hint = hints[field.name]
        for inner in _dataclasses(hint):
            _add(inner, found)
        name = field.metadata.get("renamed", field.name)
        omitted = "?" if field.metadata.get("omitted") else ""
        shown = OWN.get((kind.__name__, field.name)) or _type(hint)
        if omitted:
            shown = shown.removesuffix(" | null")
        if about := documented.get(field.name):
            lines.append(f"  /** {about} */\n")
        lines.append(f"  {name}{omitted}: {shown};\n")
    about = (kind.__doc__ or "").partition("\n")[0]
    # The dictionary keeps the order of those that are complete.
    del found[kind]
    found[kind] = f"/** {about} */\nexport interface {kind.__name__} {{\n{''.join(lines)}}}\n"


def _documented(kind: type[Any]) -> dict[str, str]:
    text = dedent(inspect.getdoc(kind) or "").partition("Attributes:\n")[2]
    found = re.findall(r"^ +(\w+): (.*?)(?=^ +\w+: |\Z)", text, re.MULTILINE | re.DOTALL)
    return {name: re.sub(r"\s+", " ", about).strip() for name, about in found}


def _dataclasses(hint: Any) -> list[type[Any]]:
    if is_dataclass(hint) and isinstance(hint, type):
        return [hint]
    return [kind for argument in get_args(hint) for kind in _dataclasses(argument)]


def _type(hint: Any) -> str:
    """A type's name in TypeScript."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _type(arguments[0])
    if origin in (Union, UnionType):
        return " | ".join(map(_type, arguments))
    if origin is Literal:
        return " | ".join(f"'{value}'" for value in arguments)
    if origin is tuple:
        item = _type(arguments[0])
        if arguments[1:] != (...,):
            return f"[{', '.join(map(_type, arguments))}]"
        return f"({item})[]" if " " in item else f"{item}[]"
    if origin in (dict, Mapping):
        return f"Record<string, {_type(arguments[1])}>"
    if isinstance(hint, type) and issubclass(hint, Enum):
        return " | ".join(f"'{member.value}'" for member in hint)
    return hint.__name__ if is_dataclass(hint) else PLAIN.get(hint, "unknown")


def _events() -> str:
    """The events of the page, as `Controls` reads them."""
    lines = []
    for action in ACTIONS:
        if not action.names.event:
            continue
        hints = get_type_hints(action, include_extras=True)
        members = [f"action: '{action.names.camel}'"]
        for field in fields(action):
            required = field.default is MISSING and field.default_factory is MISSING
            if Role.KEY in get_args(hints[field.name]):
                members.insert(1, f"key{'' if required else '?'}: string")
            else:
                shown = _type(hints[field.name]).removesuffix(" | null")
                members.append(f"{field.name}{'' if required else '?'}: {shown}")
        lines.append(f"  | {{ {'; '.join(members)} }}\n")
    about = "/** What a user does in the page, or asks. */\n// prettier-ignore\n"
    return f"{about}export type PromptAction =\n{''.join(lines).rstrip()};\n"


if __name__ == "__main__":
    MESSAGES.write_text(messages(), encoding="utf-8")
