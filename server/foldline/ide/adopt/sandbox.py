"""Renders Jinja templates in a process of its own: sandboxed, with limits of time and memory.

This file is run by its path, reads jobs from its standard input, and imports nothing of foldline.
"""

from __future__ import annotations

import json
import sys
from typing import Any

SECONDS = 10
MEMORY = 1 << 30
LONGEST = 2_000_000


class Record:
    """A value with attributes, which are its items, too."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)

    def __getitem__(self, name: str) -> Any:
        try:
            return self.__dict__[name]
        except TypeError:
            raise KeyError(name) from None

    def __str__(self) -> str:
        return f"<{', '.join(self.__dict__)}>"


def made(value: Any) -> Any:
    """Return the value that JSON stands for."""
    if isinstance(value, list):
        return [made(item) for item in value]
    if not isinstance(value, dict):
        return value
    ((kind, inner),) = value.items()
    if kind == "map":
        return {key: made(item) for key, item in inner}
    if kind == "call":
        result = made(inner)
        return lambda *_, **__: result
    return Record({name: made(item) for name, item in inner.items()})


def render(job: dict[str, Any]) -> list[list[Any]]:
    """Return for each context True and the text, or False and what went wrong."""
    from jinja2 import FunctionLoader
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=job["trim_blocks"],
        lstrip_blocks=job["lstrip_blocks"],
        keep_trailing_newline=True,
        extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"],
        # Other templates aren't read: each is a text that names it.
        loader=FunctionLoader(lambda name: f"[{name}]"),
        cache_size=0,
    )
    try:
        template = environment.from_string(job["source"])
    except Exception as error:
        return [[False, f"{type(error).__name__}: {error}"]] * len(job["contexts"])
    results: list[list[Any]] = []
    for context in job["contexts"]:
        try:
            text = template.render(**{name: made(value) for name, value in context.items()})
            results.append([len(text) <= LONGEST, text[:LONGEST]])
        except Exception as error:
            results.append([False, f"{type(error).__name__}: {error}"])
    return results


def main() -> None:
    """Render the jobs of standard input."""
    try:
        import resource
    except ImportError:
        pass  # Windows: the parent's deadline is the limit.
    else:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    jobs = json.load(sys.stdin)
    json.dump([render(job) for job in jobs], sys.stdout)


if __name__ == "__main__":
    main()
