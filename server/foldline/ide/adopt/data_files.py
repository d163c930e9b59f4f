"""Finds the prompts in files that aren't Python: front matter, chat files, YAML, TOML and JSON."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from foldline.backends.base.extras import needs
from foldline.ide.adopt.find import ROLES, SHORTEST, SHORTEST_WITH_VALUES, Candidate, style_of_text
from foldline.ide.adopt.model import AdoptError, Style

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
# A line of `.prompty` files, and dotprompt's mark.
_ROLE_LINE = re.compile(r"^#?[ \t]*(system|developer|user|assistant)[ \t]*:[ \t]*$", re.MULTILINE)
_ROLE_MARK = re.compile(r"\{\{\s*role\s+[\"'](\w+)[\"']\s*\}\}")
_HANDLEBARS = re.compile(r"\{\{\s*[#/>^!&][^}]*\}\}|\{\{\{[^}]*\}\}\}|\{\{\s*(?:media|history)\b")
_LEFT_OUT = ("the front matter is left out: it configures the prompt, and isn't sent",)
_DEEPEST = 30
_MOST = 2_000


def candidates(file: Path, text: str) -> list[Candidate] | None:
    """Return the prompts of a file; None for a file that is one text.

    Raises:
        AdoptError: The file isn't of its format, or has no prompt.
    """
    if file.suffix in _READERS:
        found = list(_of_value(_value(file, text), "", text, 0))
        if not found:
            raise AdoptError(
                f"no string of this {_READERS[file.suffix]} file looks like a prompt; if one is, "
                "name its key as FILE:KEY"
            )
        return found
    body = _FRONT_MATTER.sub("", text, count=1)
    is_dotprompt = file.suffix == ".prompt" and _ROLE_MARK.search(body)
    marks = _ROLE_MARK if is_dotprompt else _ROLE_LINE
    if body == text and not is_dotprompt and file.suffix != ".prompty":
        return None
    seems = Style.JINJA if file.suffix == ".prompty" else style_of_text(body)
    parts = marks.split(body) if marks is _ROLE_MARK or file.suffix == ".prompty" else [body]
    texts: list[tuple[str | None, str]] = [
        (ROLES.get(role, role), part) for role, part in zip(parts[1::2], parts[2::2], strict=True)
    ]
    if texts and parts[0].strip():
        texts.insert(0, ("system", parts[0]))
    line = text.count("\n", 0, len(text) - len(body)) + 1
    name = file.name.partition(".")[0]
    notes = _LEFT_OUT if body != text else ()
    whole = tuple(texts) or ((None, body),)
    return [Candidate(name, line, seems, texts=whole, notes=notes, name_is_key=False)]


def check_handlebars(text: str) -> None:
    """Refuse a text with more of Handlebars than names.

    Raises:
        AdoptError: It has a helper, a block or a partial.
    """
    if found := _HANDLEBARS.search(text):
        raise AdoptError(
            f"`{found[0]}` is of Handlebars, and adopting knows its names alone: "
            "write it as Jinja, or render it first"
        )


_READERS = {".json": "JSON", ".toml": "TOML", ".yaml": "YAML", ".yml": "YAML"}


def _value(file: Path, text: str) -> Any:
    try:
        if file.suffix == ".json":
            return json.loads(text)
        if file.suffix == ".toml":
            return tomllib.loads(text)
        try:
            import yaml
        except ModuleNotFoundError:
            raise AdoptError(needs("reading YAML", "yaml")) from None
        try:
            return yaml.safe_load(text)
        except yaml.YAMLError as error:
            raise AdoptError(f"this isn't YAML: {' '.join(str(error).split())}") from None
    except (ValueError, RecursionError) as error:
        if isinstance(error, AdoptError):
            raise
        raise AdoptError(f"this isn't {_READERS[file.suffix]}: {error}") from None


def _of_value(value: Any, path: str, text: str, depth: int) -> Iterator[Candidate]:
    """Yield the prompts in a value, named by their keys."""
    if depth > _DEEPEST:
        return
    if isinstance(value, str):
        style = style_of_text(value)
        shortest = SHORTEST if style is Style.TEXT else SHORTEST_WITH_VALUES
        is_likely = len(value.strip()) >= shortest and " " in value.strip()
        if value.strip():
            yield Candidate(
                path or "text",
                _line(text, value),
                style,
                is_likely=is_likely,
                texts=((None, value),),
            )
        return
    if isinstance(value, list) and (texts := _messages(value)):
        line = _line(text, texts[0][1])
        yield Candidate(path or "messages", line, Style.MESSAGES, texts=tuple(texts))
        return
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = [(f".{key}" if path else str(key), inner) for key, inner in value.items()]
    elif isinstance(value, list):
        items = [(f"[{place}]", inner) for place, inner in enumerate(value[:_MOST])]
    for key, inner in items[:_MOST]:
        yield from _of_value(inner, f"{path}{key}", text, depth + 1)


def _messages(value: list[Any]) -> list[tuple[str | None, str]] | None:
    found: list[tuple[str | None, str]] = []
    for item in value:
        if not isinstance(item, dict) or not {"role", "content"} <= item.keys():
            return None
        content = item["content"]
        if isinstance(content, list):
            texts = [part.get("text") for part in content if isinstance(part, dict)]
            content = texts[0] if len(texts) == len(content) == 1 else None
        if not isinstance(content, str):
            return None
        found.append((ROLES.get(str(item["role"]), str(item["role"])), content))
    return found


def _line(text: str, value: str) -> int:
    first = next((line.strip() for line in value.split("\n") if line.strip()), "")
    return text.count("\n", 0, max(0, text.find(first))) + 1
