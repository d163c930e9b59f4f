"""Makes sample values, and renders a source and its new prompt with them.

This file is run by its path, in a process with limits, and reads a job from its standard input. Of
foldline, it imports what the new module does.
"""

from __future__ import annotations

import json
import operator
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias

SECONDS = 10
MEMORY = 1 << 30
LONGEST = 2_000_000
REFUSED = 3
"""The exit status if a template can't be rendered; standard error says why."""

COUNT = 24
"""The number of sets of values: in the first all is there, in the second nothing."""
TEXTS = (
    "text",
    "two words",
    "$amount ${name} $$ {brace} {{ name }} {% if x %} {# no #}",
    "naïve café 漢字 🙂",
    "# Heading",
    'it\'s "quoted" \\n %s',
    "<tag>&amp;</tag>",
    " blanks around ",
    "None",
)
LINES = ("first line\nsecond line", "one\n\n  three\n")

# What `format` shows could be chosen by the template.
_METHODS = {name for name in dir(str) if not name.startswith(("_", "format"))}
_OWN = {"job", "place", "path", "parent"}


class Sample(str):
    """A value that is what a template makes of it: a text, number, list, mapping, record, function.

    All it shows follows from its path and the number of the set of values, so that it is the same
    in each template of a job.
    """

    def __new__(cls, job: Mapping[str, Any], place: int, path: str, parent: str = "") -> Sample:
        instance = super().__new__(cls, _text(job, place, path))
        instance.job, instance.place, instance.path, instance.parent = job, place, path, parent  # type: ignore[attr-defined]
        return instance

    def __getattribute__(self, name: str) -> Any:
        if name.startswith("__") or name in _OWN:
            return super().__getattribute__(name)
        if name.startswith(("_", "jinja_")) or name in ("unsafe_callable", "alters_data"):
            raise AttributeError(name)
        return Sample(self.job, self.place, f"{self.path}.{name}", str.__str__(self))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return list(self)[key]
        return Sample(self.job, self.place, f"{self.path}.{key}")

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        name = self.path.rpartition(".")[2]
        owner = Sample(self.job, self.place, self.path.rpartition(".")[0])
        if name in _METHODS:
            return getattr(str, name)(self.parent, *arguments, **keywords)
        if name == "items":
            return [(f"key {number}", value) for number, value in enumerate(owner)]
        return list(owner) if name == "values" else Sample(self.job, self.place, f"{self.path}()")

    def __iter__(self) -> Iterator[Any]:
        return iter([Sample(self.job, self.place, f"{self.path}[{n}]") for n in range(len(self))])

    def __len__(self) -> int:
        # An item has two parts, for a loop that takes it apart.
        if self.path.endswith("]") or self.place == 0:
            return 2
        return 0 if _is_empty(self.place, self.path) else Random(self.path).randint(1, 3)

    def __bool__(self) -> bool:
        return not _is_empty(self.place, self.path)

    def __str__(self) -> str:
        return str.__str__(self)

    def __float__(self) -> float:
        return float(_number(self.job, self.place, self.path))

    def __int__(self) -> int:
        return int(float(self))

    __index__ = __int__

    def __round__(self, digits: int = 0) -> float:
        return round(float(self), digits)

    def __hash__(self) -> int:
        return hash(str(self))


def _operator(name: str) -> Callable[[Sample, Any], Any]:
    """Return the method that compares or computes with a number as a number, else as a text."""
    operate = getattr(operator, name)
    kind = float if name in ("sub", "mul", "truediv") else str

    def method(self: Sample, other: Any) -> Any:
        kind_made = float if _is_number(other) else kind
        return operate(kind_made(self), kind_made(other))

    return method


for _name in ("eq", "ne", "lt", "le", "gt", "ge", "add", "sub", "mul", "truediv", "mod"):
    setattr(Sample, f"__{_name}__", _operator(_name))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _is_empty(place: int, path: str) -> bool:
    return place == 1 or (place > 1 and Random(f"{place} {path}").random() < 0.3)


def _text(job: Mapping[str, Any], place: int, path: str) -> str:
    kind = job["types"].get(path)
    if kind is not None:
        number = _number(job, place, path)
        return str(int(number) if kind == "int" else number)
    if _is_empty(place, path):
        return ""
    random = Random(f"{path} {place}")
    words = [one for one in _constants(job, path) if isinstance(one, str)]
    texts = (*TEXTS, *LINES) if job["lines"] else TEXTS
    if place == 0:
        return (words or texts)[0]
    return random.choice(words if words and random.random() < 0.6 else texts)


def _number(job: Mapping[str, Any], place: int, path: str) -> float:
    random = Random(f"{path} {place}")
    numbers = [one for one in _constants(job, path) if _is_number(one)]
    if _is_empty(place, path):
        return 0
    if numbers:
        return float(random.choice(numbers) + random.choice((-1, 0, 1)))
    return random.randint(1, 40) + (0.125 if job["types"].get(path) == "float" else 0)


def _constants(job: Mapping[str, Any], path: str) -> Sequence[Any]:
    """Return what the templates compare a value with."""
    constants: Sequence[Any] = job["constants"].get(path.rpartition(".")[2], ())
    return constants


Case: TypeAlias = "tuple[dict[str, Any], list[str], list[tuple[str, str, list[str]]]]"
"""Values of the fields, the texts of the templates, and the messages of the new prompt."""


def cases(job: Mapping[str, Any]) -> list[Case]:
    """Return the texts of a job with each set of values.

    Raises:
        ValueError: One can't be rendered; the message says which, and why.
    """
    try:
        originals = list(_originals(job))
    except Exception as error:
        raise ValueError(f"Jinja can't render it with sample values: {_said(error)}") from error
    try:
        scope: dict[str, Any] = {"__name__": "adopted_prompt"}
        exec(compile(job["module"], "adopted_prompt.py", "exec", dont_inherit=True), scope)
        return [(*one, messages_of(_rendered(job, scope, one[0]))) for one in originals]
    except Exception as error:
        raise ValueError(f"the new prompt can't be rendered: {_said(error)}") from error


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".replace("\n", " ")


def _originals(job: Mapping[str, Any]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield the values of the fields, and the texts of the templates."""
    fields, templates = job["fields"], job["templates"]
    rows: list[tuple[Any, ...]] = []
    sources = [*templates, *(field["template"] for field in fields)] if templates else []
    compiled = _compiled(job, sources, rows)
    for index in range(COUNT if fields else 1):

        def shown(source: str, place: int = index) -> str:
            template, names = compiled[source]
            text = template.render({name: Sample(job, place, name) for name in names})
            if len(text) > LONGEST:
                raise ValueError(f"a text is longer than {LONGEST:,} characters")
            return str(text)

        texts, values = [shown(source) for source in templates], {}
        for field in fields:
            rows[:] = [] if templates else [(Sample(job, index, field["source"]),)]
            if templates:
                # Jinja makes all values of a prompt that has a template.
                shown(field["template"])
            values[field["name"]] = _value(field, rows)
        yield values, texts


def _compiled(
    job: Mapping[str, Any], sources: Sequence[str], rows: list[tuple[Any, ...]]
) -> dict[str, tuple[Any, set[str]]]:
    """Return templates, each with its variables; what they give to `_row` is added to `rows`."""
    if not sources:
        return {}
    from jinja2 import FunctionLoader, meta
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        **job["options"],
        keep_trailing_newline=True,
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        # Other templates aren't read: each is a text that names it.
        loader=FunctionLoader(lambda name: f"[{name}]"),
        cache_size=0,
    )
    environment.globals["_row"] = lambda *row: rows.append(row)
    names = {"_row", "range"}
    return {
        source: (
            environment.from_string(source),
            meta.find_undeclared_variables(environment.parse(source)) - names,
        )
        for source in sources
    }


def _value(field: Mapping[str, Any], rows: Sequence[Sequence[Any]]) -> Any:
    if field["item"]:
        return [dict(zip(field["parts"], row, strict=True)) for row in rows]
    if field["is_list"]:
        return [row[0] for row in rows]
    (value,) = rows[0]
    kind = field["type"].removesuffix(" | None")
    if kind != field["type"] and not value:
        return None
    return {"int": int, "float": float, "bool": bool}.get(kind, str)(value)


def _rendered(job: Mapping[str, Any], scope: Mapping[str, Any], values: Mapping[str, Any]) -> Any:
    params = {}
    for field in job["fields"]:
        value = values[field["name"]]
        if field["is_list"]:
            item = scope[field["item"]] if field["item"] else None
            value = tuple(item(**row) if item else row for row in value)
        params[field["name"]] = value
    return scope[job["prompt"]].render(*([scope[job["params"]](**params)] if params else []))


def messages_of(rendered: Any) -> list[tuple[str, str, list[str]]]:
    """Return the messages of a rendered prompt: role, text, and its headings and bodies."""
    texts = []
    for message in rendered.messages:
        pieces = [""]
        for index in message.blocks:
            for segment in rendered.blocks[index].segments:
                if segment.kind == "separator":
                    pieces.append("")
                else:
                    pieces[-1] += segment.text
        texts.append((str(message.role), message.text, pieces))
    return texts


def main() -> None:
    """Answer the job of standard input."""
    try:
        import resource
    except ImportError:
        pass  # Windows: the parent's deadline is the limit.
    else:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        results = cases(json.load(sys.stdin))
    except ValueError as error:
        sys.stderr.write(str(error))
        sys.exit(REFUSED)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
