"""Finds the prompts in files that aren't Python: front matter, chat files, YAML, TOML and JSON."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from foldline.backends.base.extras import needs
from foldline.backends.base.python_ast import parse_expression
from foldline.ide.analysis.modules import with_line_feeds
from foldline.plugins.adopt import find
from foldline.plugins.adopt.model import AdoptError, Style
from foldline.plugins.adopt.read import RETURNS
from foldline.plugins.adopt.scopes import Module
from foldline.plugins.adopt.texts import ROLES

JINJA_SUFFIXES = (".j2", ".jinja", ".jinja2")
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_SETTING = re.compile(r"[ \t#].*|[\w.-]+[ \t]*:(?:[ \t].*)?|-[ \t].*|")
"""A line of front matter, as far as it can be told without YAML."""
# A line of `.prompty` files, as its own parser reads it, and dotprompt's mark.
_ROLE_LINE = re.compile(
    r"^[^\S\n]*#?[^\S\n]*(system|developer|user|assistant|tool|function)"
    r"(?:\[[^\]\n]*\])?[^\S\n]*:[^\S\n]*$",
    re.IGNORECASE | re.MULTILINE,
)
_ROLE_MARK = re.compile(r"\{\{\s*role\s+[\"'](\w+)[\"']\s*\}\}")
_HISTORY = re.compile(r"\{\{\s*history\b[^}]*\}\}")
_SETTINGS = "the front matter is left out: it configures the prompt, and isn't sent"
LONE_RETURNS = "some of its line breaks are a lone `\\r`, and those of the new prompt `\\n`"
ORDER_MARK = "the file begins with a byte order mark, which is left out"
_BREAKS = {
    re.compile("\r\n"): RETURNS,
    re.compile("\r(?!\n)"): LONE_RETURNS,
    re.compile("\\A\ufeff"): ORDER_MARK,
}
"""What the new prompt leaves out of a file that is one text, with the note that says so."""
_DEEPEST = 30


def candidates(file: Path, module: Module, *, is_whole: bool = False) -> list[find.Candidate]:
    """Return the prompts of a file that isn't a Python module, of which `module` has the texts.

    With `is_whole`, a YAML, TOML or JSON file is one text.

    Raises:
        AdoptError: The file isn't of its format, or has no prompt.
    """
    text = module.text
    if file.suffix in _READERS and not is_whole:
        kind, read = _READERS[file.suffix]
        try:
            prompts = list(_Values(module).prompts(read(text.removeprefix("\ufeff"))))
        except AdoptError:
            raise
        except RecursionError:
            raise AdoptError(f"the {kind} is nested too deep to be read") from None
        except ValueError as error:
            raise AdoptError(f"this isn't {kind}: {error}") from None
        if not prompts:
            raise AdoptError(
                f"no string of this {kind} file looks like a prompt; if one is, name its key as "
                "FILE:KEY"
            )
        return prompts
    notes = [note for mark, note in _BREAKS.items() if mark.search(text)]
    text = body = with_line_feeds(text.removeprefix("\ufeff")).replace("\r\n", "\n")
    front = None if file.suffix in _READERS else _FRONT_MATTER.match(text)
    if front is not None and (file.suffix == ".prompty" or _is_settings(front[1])):
        body = text[front.end() :]
    marks = {".prompty": _ROLE_LINE, ".prompt": _ROLE_MARK}.get(file.suffix)
    if marks is _ROLE_MARK and (history := _HISTORY.search(body)):
        raise AdoptError(f"`{history[0]}` {find.HANDLEBARS}")
    parts = [body] if marks is None else marks.split(body)
    texts = [
        (ROLES.get(role.lower(), role.lower()), part)
        for role, part in zip(parts[1::2], parts[2::2], strict=True)
    ]
    if texts and parts[0].strip():
        texts.insert(0, ("system", parts[0]))
    is_certain = file.suffix in (*JINJA_SUFFIXES, ".prompty")
    return [
        find.Candidate(
            module,
            file.name.partition(".")[0],
            text.count("\n", 0, len(text) - len(body)) + 1,
            Style.JINJA if is_certain else find.style_of_text(body),
            _messages_node(texts) if texts else ast.Constant(body),
            module.scope,
            is_certain=is_certain,
            notes=((_SETTINGS,) if body != text else ()) + tuple(notes),
            name_is_key=False,
        )
    ]


def _messages_node(texts: Sequence[tuple[str, str]]) -> ast.expr:
    """Return roles and texts as the list of messages that they would be in Python."""
    shown = [{"role": role, "content": text} for role, text in texts]
    return parse_expression(repr(shown))


def _is_settings(text: str) -> bool:
    """Return True if a text is a mapping in YAML; without a reader, if it looks like one."""
    try:
        import yaml
    except ModuleNotFoundError:
        return bool(text.strip()) and all(map(_SETTING.fullmatch, text.splitlines()))
    try:
        return isinstance(yaml.safe_load(text), dict)
    except (yaml.YAMLError, ValueError, RecursionError):
        return False


def _yaml(text: str) -> Any:
    try:
        import yaml
    except ModuleNotFoundError:
        raise AdoptError(needs("reading YAML", "yaml")) from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise AdoptError(f"this isn't YAML: {' '.join(str(error).split())}") from None


_READERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    ".json": ("JSON", json.loads),
    ".toml": ("TOML", tomllib.loads),
    ".yaml": ("YAML", _yaml),
    ".yml": ("YAML", _yaml),
}


@dataclass(slots=True)
class _Values:
    """The prompts in the values of a file, and their lines, in its order: no part is read twice."""

    module: Module
    seen: set[int] = field(default_factory=set)
    offset: int = 0
    line: int = 1

    def prompts(self, value: Any, path: str = "", depth: int = 0) -> Iterator[find.Candidate]:
        """Yield the prompts in a value, named by their keys; what YAML aliases, once."""
        if depth > _DEEPEST or id(value) in self.seen:
            return
        items: list[tuple[str, Any]] = []
        if isinstance(value, str) and value.strip():
            style = find.style_of_text(value)
            shortest = find.SHORTEST if style is Style.TEXT else find.SHORTEST_WITH_VALUES
            is_likely = len(value.strip()) >= shortest and " " in value.strip()
            node = ast.Constant(value)
            yield self._candidate(path or "text", value, style, node, is_likely=is_likely)
        elif isinstance(value, list) and (texts := _messages(value)):
            messages = _messages_node(texts)
            yield self._candidate(path or "messages", texts[0][1], Style.MESSAGES, messages)
        elif isinstance(value, dict):
            items = [(_key_part(key, is_first=not path), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            items = [(f"[{index}]", inner) for index, inner in enumerate(value)]
        if isinstance(value, (dict, list)):
            self.seen.add(id(value))
        for key, inner in items:
            yield from self.prompts(inner, f"{path}{key}", depth + 1)

    def _candidate(
        self, name: str, text: str, style: Style, node: ast.expr, *, is_likely: bool = True
    ) -> find.Candidate:
        """Return a prompt, on the line on which its text seems to begin; else the last one's."""
        first = next((line.strip() for line in text.split("\n") if line.strip()), "")
        offset = self.module.text.find(first, self.offset)
        if offset >= 0:
            self.line += self.module.text.count("\n", self.offset, offset)
            self.offset = offset
        module = self.module
        return find.Candidate(
            module, name, self.line, style, node, module.scope, is_likely=is_likely
        )


def _key_part(key: Any, *, is_first: bool) -> str:
    """Return a key as a part of a name: `.key`, or `[a.key]` where that would be two keys."""
    if not str(key) or re.search(r"[.\[\]]", str(key)):
        return f"[{key}]"
    return str(key) if is_first else f".{key}"


def _messages(value: list[Any]) -> list[tuple[str, str]] | None:
    messages: list[tuple[str, str]] = []
    for item in value:
        if not isinstance(item, dict) or not {"role", "content"} <= item.keys():
            return None
        content = item["content"]
        if isinstance(content, list):
            texts = [part.get("text") for part in content if isinstance(part, dict)]
            content = texts[0] if len(texts) == len(content) == 1 else None
        if not isinstance(content, str):
            return None
        role = str(item["role"])
        messages.append((ROLES.get(role, role), content))
    return messages
