"""Renders Jinja templates in a process of its own: sandboxed, with limits of time and memory.

This file is run by its path, reads a job from its standard input, and imports nothing of foldline.
"""

from __future__ import annotations

import json
import sys
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SECONDS = 10
MEMORY = 1 << 30
LONGEST = 2_000_000
REFUSED = 3
"""The exit status if a template can't be rendered; standard error says why."""

# What `format` shows could be chosen by the template.
_METHODS = {name for name in dir(str) if not name.startswith(("_", "format"))}
_OWN = {"job", "place", "path", "parent"}


class Sample(str):
    """A value that is what a template makes of it: a text, number, list, mapping, record, function.

    All it shows follows from its path and the number of the set of values, so that it is the same
    in each template of a job.
    """

    def __new__(cls, job: Mapping[str, Any], place: int, path: str, parent: str = "") -> Sample:
        made = super().__new__(cls, _text(job, place, path))
        made.job, made.place, made.path, made.parent = job, place, path, parent  # type: ignore[attr-defined]
        return made

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

    def __call__(self, *given: Any, **named: Any) -> Any:
        name = self.path.rpartition(".")[2]
        owner = Sample(self.job, self.place, self.path.rpartition(".")[0])
        if name in _METHODS:
            return getattr(str, name)(self.parent, *given, **named)
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

    def __eq__(self, other: object) -> bool:
        return float(self) == other if _is_number(other) else str(self) == str(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(self))

    def __lt__(self, other: Any) -> bool:
        return bool(float(self) < other if _is_number(other) else str(self) < str(other))

    def __le__(self, other: Any) -> bool:
        return bool(self < other or self == other)

    def __gt__(self, other: Any) -> bool:
        return not self <= other

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def __add__(self, other: Any) -> Any:
        return float(self) + other if _is_number(other) else str(self) + str(other)

    def __sub__(self, other: Any) -> float:
        return float(self) - float(other)

    def __mul__(self, other: Any) -> Any:
        return float(self) * float(other)

    def __truediv__(self, other: Any) -> float:
        return float(self) / float(other)

    def __mod__(self, other: Any) -> Any:
        return int(self) % other if _is_number(other) else str(self) % other


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _is_empty(place: int, path: str) -> bool:
    return place == 1 or (place > 1 and Random(f"{place} {path}").random() < 0.3)


def _text(job: Mapping[str, Any], place: int, path: str) -> str:
    if path in job["types"]:
        number = _number(job, place, path)
        return str(int(number) if job["types"][path] == "int" else number)
    random = Random(f"{path} {place}")
    words = [one for one in job["constants"].get(_last(path), ()) if isinstance(one, str)]
    if _is_empty(place, path):
        return ""
    if words and (place == 0 or random.random() < 0.6):
        return words[0] if place == 0 else random.choice(words)
    texts: list[str] = list(filter(None, job["texts"]))
    return texts[0] if place == 0 else random.choice(texts)


def _number(job: Mapping[str, Any], place: int, path: str) -> float:
    random = Random(f"{path} {place}")
    numbers: list[float] = [one for one in job["constants"].get(_last(path), ()) if _is_number(one)]
    if _is_empty(place, path):
        return 0
    return random.choice(numbers) + random.choice((-1, 0, 1)) if numbers else random.randint(1, 40)


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def render(job: dict[str, Any]) -> list[list[str]]:
    """Return the texts of each template of a job with each set of values.

    Raises:
        Exception: Whatever a template raises.
    """
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
    results = []
    for source in job["sources"]:
        names = meta.find_undeclared_variables(environment.parse(source))
        template = environment.from_string(source)
        texts = [
            template.render({name: Sample(job, place, name) for name in names - {"range"}})
            for place in range(job["count"])
        ]
        if max(map(len, texts)) > LONGEST:
            raise ValueError(f"a text is longer than {LONGEST:,} characters")
        results.append(texts)
    return results


def main() -> None:
    """Render the job of standard input."""
    try:
        import resource
    except ImportError:
        pass  # Windows: the parent's deadline is the limit.
    else:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    try:
        texts = render(json.load(sys.stdin))
    except Exception as error:
        sys.stderr.write(f"{type(error).__name__}: {error}".replace("\n", " "))
        sys.exit(REFUSED)
    json.dump(texts, sys.stdout)


if __name__ == "__main__":
    main()
