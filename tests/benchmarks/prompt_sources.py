"""Renders prompts of foreign projects by their own means, without what `adopt` knows of them.

A text in Python is evaluated by the few expressions that texts are made of; nothing else of a
project is run. `str.format`, `%`, `string.Template`, Jinja and LangChain's own classes fill it in.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import string
import textwrap
import tomllib
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import jinja2
import yaml
from jinja2 import meta

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

Texts = list[tuple[str, str]]
"""The roles of messages, and their texts; the role of a prompt that is one text is `user`."""

ROLES = {"human": "user", "ai": "assistant"}
_STRIPS = ("strip", "lstrip", "rstrip", "lower", "upper", "removeprefix", "removesuffix")
_TEMPLATES = ("Template", "PromptTemplate", "from_template", "from_string")
_ARGUMENTS = (*("messages", "template", "content", "prompt", "variable_name", "template_format"),)
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_PROMPTY_ROLE = re.compile(r"^\s*#?\s*(system|user|assistant|developer)\s*:\s*$", re.M)
_DOTPROMPT_ROLE = re.compile(r"\{\{\s*role\s+[\"'](\w+)[\"']\s*\}\}")


class SourceError(Exception):
    """A prompt can't be rendered by its own means."""


@dataclass(frozen=True)
class Source:
    """A prompt of a project.

    Attributes:
        file: Its file.
        name: The variable, function or key; None for a file that is one prompt.
        fill: Who fills it in: `text`, `format`, `percent`, `template`, `replace`, `jinja`,
            `langchain`, `handlebars`, or `f-string` for a text that Python makes where it stands.
        arguments: The arguments of the call that fills it in by their places, or the texts that it
            replaces.
        numbers: The variables of a template that are numbers.
        options: The options of its Jinja environment.
    """

    file: Path
    name: str | None
    fill: str
    arguments: Sequence[str] = ()
    numbers: Sequence[str] = ()
    options: Mapping[str, Any] | None = None

    def texts(self, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield its messages with these values, by the expressions and names of the source."""
        if self.file.suffix == ".py":
            yield from _Module(self.file, values, self).messages(self.name or "")
            return
        for role, text in self._stored():
            yield role, self.filled(text, values)

    def filled(self, text: str, values: Mapping[str, Any]) -> str:
        """Return a text with its values."""
        fills: dict[str, Callable[[str, Mapping[str, Any], Source], str]] = {
            "format": _formatted,
            "percent": _percent,
            "template": _template,
            "replace": _replaced,
            "jinja": lambda text, values, source: self.jinja().from_string(text).render(values),
            "handlebars": _handlebars,
        }
        fill = fills.get(self.fill)
        return text if fill is None else fill(text, values, self)

    def jinja(self) -> jinja2.Environment:
        """Return the environment that renders the project's templates."""
        folders = [str(folder) for folder in list(self.file.parents)[:6]]
        environment = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folders),
            keep_trailing_newline=True,
            extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
            **(self.options or {}),
        )
        environment.policies["json.dumps_kwargs"] = {"default": str}
        return environment

    def templates(self) -> list[str]:
        """Return the texts as they are stored, and those of the templates that they include."""
        if self.file.suffix != ".py":
            pending = [text for _, text in self._stored()]
        else:
            module = _Module(self.file, {}, self, is_raw=True)
            pending = [text for _, text in module.messages(self.name or "")]
        environment, found = self.jinja(), []
        while pending:
            found.append(pending.pop())
            for name in meta.find_referenced_templates(environment.parse(found[-1])):
                if name is not None and environment.loader is not None:
                    pending.append(environment.loader.get_source(environment, name)[0])
        return found

    def _stored(self) -> Texts:
        text = self.file.read_text("utf-8").replace("\r\n", "\n")
        suffix = self.file.suffix
        if suffix in (".yaml", ".yml", ".toml", ".json"):
            load = {".toml": tomllib.loads, ".json": json.loads}.get(suffix, yaml.safe_load)
            found = _at(load(text), self.name or "")
            return [("user", found)] if isinstance(found, str) else list(_chat(found))
        if suffix == ".prompty" or text.startswith("---"):
            text = _FRONT_MATTER.sub("", text, count=1)
        marks = {".prompty": _PROMPTY_ROLE, ".prompt": _DOTPROMPT_ROLE}.get(suffix)
        parts = marks.split(text) if marks is not None else [text]
        if len(parts) == 1:
            return [("user", text)]
        found = list(zip(parts[1::2], parts[2::2], strict=True))
        return [("system", parts[0]), *found] if parts[0].strip() else found


def _at(value: Any, path: str) -> Any:
    if path == "messages" and isinstance(value, list):
        return value
    for key in re.findall(r"\[(\d+)\]|((?:[^.\[\\]|\\.)+)", path):
        value = value[int(key[0])] if key[0] else value[key[1]]
    return value


def _chat(items: Any) -> Iterator[tuple[str, str]]:
    for item in items:
        content = item["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        yield ROLES.get(item["role"], item["role"]), text


def _formatted(text: str, values: Mapping[str, Any], source: Source) -> str:
    found, count = "", 0
    for literal, name, spec, conversion in string.Formatter().parse(text):
        found += literal
        if name is None:
            continue
        if not name or name.isdecimal():
            place = int(name or count)
            count += 1
            found += str(_given(values, source, place))
            continue
        extra = (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "")
        hole = f"{{{name}{extra}}}"
        found += str(values[hole] if hole in values else _value(values, name))
    return found


def _given(values: Mapping[str, Any], source: Source, place: int) -> Any:
    if place < len(source.arguments):
        return _value(values, source.arguments[place])
    return _value(values, f"argument {place}")


def _value(values: Mapping[str, Any], name: str) -> Any:
    if name not in values:
        raise SourceError(f"the adopted prompt has no value for `{name}`")
    return values[name]


def _percent(text: str, values: Mapping[str, Any], source: Source) -> str:
    class Named(dict[str, Any]):
        def __missing__(self, name: str) -> Any:
            return _value(values, name)

    names = source.arguments or tuple(values)
    is_named = re.search(r"%\(\w+\)", text)
    return text % (Named() if is_named else tuple(_value(values, name) for name in names))


def _template(text: str, values: Mapping[str, Any], source: Source) -> str:
    return string.Template(text).safe_substitute(values)


def _replaced(text: str, values: Mapping[str, Any], source: Source) -> str:
    for hole in (hole for hole in source.arguments if hole in text):
        text = text.replace(hole, str(_of_hole(values, hole)))
    return text


def _of_hole(values: Mapping[str, Any], hole: str, source: str = "") -> Any:
    words = re.sub(r"\W+", " ", hole).strip().lower().replace(" ", "_")
    return _value(values, words if words in values else source or words)


def _handlebars(text: str, values: Mapping[str, Any], source: Source) -> str:
    return re.sub(r"\{\{\s*([\w.]+)\s*\}\}", lambda match: str(_value(values, match[1])), text)


class _Module:
    """Evaluates the texts of a module."""

    def __init__(
        self, file: Path, values: Mapping[str, Any], source: Source, *, is_raw: bool = False
    ) -> None:
        self.tree = ast.parse(file.read_text("utf-8"))
        self.values, self.source, self.is_raw = values, source, is_raw
        self.constants: dict[str, ast.expr] = {}
        for statement in self.tree.body:
            self.constants |= dict(_assigned(statement))

    def messages(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield the messages of a text by its name, such as `Class.name` or `function.variable`."""
        node = self.find(name)
        if self.source.fill == "langchain":
            yield from self._langchain(node)
        elif isinstance(node, ast.List | ast.Tuple):
            yield from self._chat(node)
        else:
            text = self.text(node)
            fills_itself = self.is_raw or self.source.fill == "f-string"
            yield "user", text if fills_itself else self.source.filled(text, self.values)

    def find(self, name: str) -> ast.expr:
        """Return the expression of a name, with what `+=` adds to it."""
        *scopes, last = name.split(".")
        body: list[ast.stmt] = self.tree.body
        for scope in scopes:
            body = next((_body(one) for one in _walk(body) if _name(one) == scope), body)
        if body is not self.tree.body:
            local = [pair for statement in _walk(body) for pair in _assigned(statement)]
            names = [name for name, _ in local]
            self.constants |= {name: value for name, value in local if names.count(name) == 1}
        found: ast.expr | None = None
        for statement in _walk(body):
            for target, value in _assigned(statement):
                is_it = target in (last, f"{'.'.join(scopes)}[{last!r}]")
                found = value if is_it and found is None else found
            if isinstance(statement, ast.AugAssign) and ast.unparse(statement.target) == last:
                assert found is not None
                found = ast.BinOp(found, ast.Add(), statement.value)
        if found is not None:
            return found
        for statement in _walk(body):
            if _name(statement) == last:
                block = _walk(_body(statement))
                returns = [one.value for one in block if isinstance(one, ast.Return)]
                return next(one for one in returns if one and len(ast.unparse(one)) > 20)
        return self._in_call(body, scopes, last)

    def _in_call(self, body: list[ast.stmt], scopes: list[str], last: str) -> ast.expr:
        word, _, number = last.rpartition("_")
        place = int(number) - 1 if number.isdecimal() else 0
        word = word if number.isdecimal() else last
        found = []
        for statement in _walk(body):
            names = [name for name, _ in _assigned(statement)]
            for call in (one for one in _shallow(statement) if isinstance(one, ast.Call)):
                if scopes and body is self.tree.body and scopes[-1] not in names:
                    continue
                given = [(key.arg or "", key.value) for key in call.keywords]
                given += [("messages", one) for one in call.args if isinstance(one, ast.List)]
                found += [value for key, value in given if key == word]
        if place >= len(found):
            raise SourceError(f"no text {last!r} in {self.source.file.name}")
        return found[place]

    def _chat(self, node: ast.List | ast.Tuple) -> Iterator[tuple[str, str]]:
        for item in node.elts:
            if isinstance(item, ast.Dict):
                pairs = zip(item.keys, item.values, strict=True)
                part = {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
                role, content = part["role"], part["content"]
                word = str(role.value) if isinstance(role, ast.Constant) else ""
                yield ROLES.get(word, word), self._content(content)
            elif isinstance(item, ast.Call):
                name = ast.unparse(item.func).rpartition(".")[2].removesuffix("Message").lower()
                given = [key.value for key in item.keywords if key.arg == "content"]
                yield ROLES.get(name, name), self._content([*given, *item.args][0])
            else:
                yield "", ast.unparse(item)

    def _content(self, node: ast.expr) -> str:
        if (
            isinstance(node, ast.List)
            and len(node.elts) == 1
            and isinstance(node.elts[0], ast.Dict)
        ):
            keys = [ast.unparse(key) for key in node.elts[0].keys if key]
            node = node.elts[0].values[keys.index("'text'")]
        text = self.text(node)
        is_plain = self.is_raw or isinstance(node, ast.JoinedStr) or self.source.fill == "f-string"
        return text if is_plain else self.source.filled(text, self.values)

    def text(self, node: ast.expr) -> str:
        """Return the text that an expression makes, with the values where it needs some."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return node.value
        if isinstance(node, ast.JoinedStr):
            return "".join(map(self._part, node.values))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.text(node.left) + self.text(node.right)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            return self._modulo(node)
        if isinstance(node, ast.Name):
            if node.id in self.values:
                return str(self.values[node.id])
            if node.id in self.constants:
                return self.text(self.constants[node.id])
        if isinstance(node, ast.Call) and (made := self._called(node)) is not None:
            return made
        return str(_value(self.values, ast.unparse(node)))

    def _part(self, part: ast.expr) -> str:
        if not isinstance(part, ast.FormattedValue):
            return self.text(part)
        whole = ast.unparse(ast.JoinedStr([part]))
        if whole in self.values:
            return str(self.values[whole])
        text = self.text(part.value)
        if self.source.fill == "format":
            # What is filled in first isn't meant to be filled in again.
            text = text.replace("{", "{{").replace("}", "}}")
        return repr(text) if part.conversion == ord("r") else text

    def _modulo(self, node: ast.BinOp) -> str:
        text, right = self.text(node.left), node.right
        if isinstance(right, ast.Dict):
            return _percent(text, self.values, Source(self.source.file, None, "percent"))
        parts = right.elts if isinstance(right, ast.Tuple) else [right]
        return text % tuple(self.text(part) for part in parts)

    def _called(self, node: ast.Call) -> str | None:
        func = node.func
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        owner = func.value if isinstance(func, ast.Attribute) else None
        if ast.unparse(node) in self.values:
            return str(self.values[ast.unparse(node)])
        if name in ("dedent", "cleandoc") and node.args:
            return {"dedent": textwrap.dedent, "cleandoc": inspect.cleandoc}[name](
                self.text(node.args[0])
            )
        if name in _TEMPLATES:
            given = [key.value for key in node.keywords if key.arg == "template"]
            return self.text((node.args or given)[0])
        if owner is None:
            return None
        if name in _STRIPS:
            return str(getattr(self.text(owner), name)(*map(ast.literal_eval, node.args)))
        if name == "join" and isinstance(node.args[0], ast.List | ast.Tuple):
            return self.text(owner).join(map(self.text, node.args[0].elts))
        if name == "format":
            arguments = tuple(ast.unparse(argument) for argument in node.args)
            source = Source(self.source.file, None, "format", arguments)
            return _formatted(self.text(owner), self.values, source)
        if name in ("substitute", "safe_substitute"):
            return _template(self.text(owner), self.values, self.source)
        if name == "replace" and isinstance(node.args[0], ast.Constant):
            hole = str(node.args[0].value)
            value = str(_of_hole(self.values, hole, ast.unparse(node.args[1])))
            return self.text(owner).replace(hole, value)
        return None

    def _langchain(self, node: ast.expr) -> Texts:
        # The dependency group `corpus` has it.
        names = ("langchain_core.messages", "langchain_core.prompts")
        messages, prompts = map(import_module, names)
        modules = (messages, prompts)
        known = {name: getattr(module, name) for module in modules for name in module.__all__}
        values = {name: value for name, value in self.values.items() if name.isidentifier()}

        def made(node: ast.expr) -> Any:
            if isinstance(node, ast.List | ast.Tuple):
                parts = [made(part) for part in node.elts]
                return tuple(parts) if isinstance(node, ast.Tuple) else parts
            if isinstance(node, ast.Call):
                func = node.func
                if isinstance(func, ast.Attribute) and getattr(func.value, "id", "") in known:
                    function = getattr(known[getattr(func.value, "id", "")], func.attr)
                elif getattr(func, "id", "") in known:
                    function = known[getattr(func, "id", "")]
                else:
                    return self.text(node)
                given = {key.arg: made(key.value) for key in node.keywords if key.arg in _ARGUMENTS}
                return function(*map(made, node.args), **given)
            if isinstance(node, ast.Name) and node.id in self.constants and node.id not in values:
                return made(self.constants[node.id])
            if isinstance(node, ast.Constant | ast.Dict):
                return ast.literal_eval(node)
            return self.text(node)

        prompt = made(node)
        if isinstance(prompt, list):
            prompt = prompts.ChatPromptTemplate.from_messages(prompt)
        if isinstance(prompt, str):
            prompt = prompts.PromptTemplate.from_template(prompt)
        if not isinstance(prompt, prompts.ChatPromptTemplate):
            text = prompt.format(**values)
            return [("user", str(getattr(text, "content", text)))]
        holders = (prompts.MessagesPlaceholder,)
        empty: dict[str, list[object]] = {
            one.variable_name: [] for one in prompt.messages if isinstance(one, holders)
        }
        return [
            (ROLES.get(message.type, message.type), str(message.content))
            for message in prompt.format_messages(**(values | empty))
        ]


def _assigned(statement: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(statement, ast.Assign):
        for target in statement.targets:
            yield ast.unparse(target), statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield ast.unparse(statement.target), statement.value


def _name(statement: ast.stmt) -> str:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement.name
    return ""


def _body(statement: ast.stmt) -> list[ast.stmt]:
    found: list[ast.stmt] = getattr(statement, "body", [])
    return found


def _walk(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements and those in their blocks, in the order of the source."""
    for statement in body:
        yield statement
        for name in ("body", "orelse", "finalbody"):
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from _walk(getattr(statement, name, []))
        for handler in getattr(statement, "handlers", []):
            yield from _walk(handler.body)


def _shallow(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement, without those of the statements in it."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop(0)
        yield node
        pending += [
            child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt)
        ]


class Thing:
    """A value of a template with attributes, items and calls, each of which is a text as well."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        return self._text

    def __getattr__(self, name: str) -> Thing:
        if name.startswith("__"):
            raise AttributeError(name)
        return Thing(f"{self._text}{name}"[-60:])

    def __getitem__(self, key: object) -> Thing | str:
        if isinstance(key, slice):
            return self._text[key]
        return Thing(f"{self._text}{key}"[-60:])

    def __call__(self, *args: object, **kwargs: object) -> Thing:
        return self

    def __iter__(self) -> Iterator[Thing]:
        if self._text:
            yield Thing(f"{self._text}1")
            yield Thing(f"{self._text}2")

    def __len__(self) -> int:
        return 2 if self._text else 0

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return self._text == str(other)

    def __hash__(self) -> int:
        return hash(self._text)

    def __contains__(self, other: object) -> bool:
        return str(other) in self._text
