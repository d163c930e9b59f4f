"""Renders Jinja templates in a process of its own: sandboxed, with limits of time and memory.

This file is run by its path, reads a job from its standard input, and imports nothing of foldline.
"""

from __future__ import annotations

import json
import sys
from typing import Any

SECONDS = 10
MEMORY = 1 << 30
LONGEST = 2_000_000
REFUSED = 3
"""The exit status if a template can't be rendered; standard error says why."""


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


def render(job: dict[str, Any]) -> list[list[str]]:
    """Return the texts of each template of a job with each of its contexts.

    Raises:
        Exception: Whatever a template raises.
    """
    from jinja2 import FunctionLoader
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
        template = environment.from_string(source)
        texts = [
            template.render(**{name: made(value) for name, value in context.items()})
            for context in job["contexts"]
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
