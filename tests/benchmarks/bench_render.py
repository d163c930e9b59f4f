"""How long prompts take to import, build, render, open and close, and what they weigh.

    uv run python -m tests.benchmarks.bench_render [--json]

Times are processor time, the least of many rounds, because a shared machine only ever adds to it;
imports are timed in fresh processes that find their bytecode. The same text is also made by a
plain `string.Template` and by Jinja2, which know nothing of sections.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import subprocess
import sys
import tempfile
import time
import tracemalloc
from dataclasses import asdict, dataclass
from string import Template
from typing import TYPE_CHECKING

from jinja2 import Environment
from tests.benchmarks.measurement import Measurement, as_json

from foldline.prompts import MarkdownSection, PromptTemplate, SectionVisibility
from foldline.prompts.dataclasses import FrozenDataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldline.prompts import RenderedPrompt, SectionPath

SIZES = (1, 100, 2_000)
CHILDREN = 4
"""How many of five sections are children of the fifth."""


@FrozenDataclass()
class Params:
    project: str = "foldline"
    language: str = "Python"


@dataclass(frozen=True, slots=True)
class Row:
    """What one template of `sections` sections costs; times in milliseconds, sizes in bytes."""

    sections: int
    characters: int
    build: float
    render: float
    open_one: float
    """A render with one more section open than before."""
    close_one: float
    if_opened: float
    string_template: float
    jinja2: float
    template_bytes: int
    rendered_bytes: int


def template_of(sections: int) -> PromptTemplate[None]:
    """A template in which every fifth section is summarized and the last of each five a parent."""
    roots: list[MarkdownSection[Params]] = []
    while sections > 0:
        below = min(CHILDREN, sections - 1)
        children = [section(f"child-{place}") for place in range(below)]
        roots.append(section(f"root-{len(roots)}", *children))
        sections -= below + 1
    return PromptTemplate(ns="bench", key="render", sections=roots)


def section(key: str, *children: MarkdownSection[Params]) -> MarkdownSection[Params]:
    """A section of four lines with two placeholders."""
    return MarkdownSection[Params](
        title=f"Section {key}",
        key=key,
        template="""
            The project ${project} is written in ${language}.

            - Read the outline of a file before its symbols.
            - Say what is wrong, where, and how to mend it.
        """,
        summary="About ${project}.",
        visibility=(SectionVisibility.SUMMARY if key == "child-2" else SectionVisibility.FULL),
        children=children,
    )


def measure(sections: int, *, rounds: int) -> Row:
    """The costs of a template with that many sections."""
    template = template_of(sections)
    params = Params()
    bound = template.bind(params)
    rendered = bound.render()
    last = list(template.plan.by_path)[-1]
    opened: dict[SectionPath, SectionVisibility] = dict.fromkeys(
        template.plan.by_path, SectionVisibility.FULL
    )
    closed: dict[SectionPath, SectionVisibility] = {last: SectionVisibility.SUMMARY}
    flat = rendered.text.replace("$", "$$").replace("foldline", "${project}")
    flat = flat.replace("Python", "${language}")
    plain = Template(flat)
    jinja = Environment(autoescape=False, keep_trailing_newline=True).from_string(
        flat.replace("${project}", "{{ project }}").replace("${language}", "{{ language }}")
    )
    values = asdict(params)
    assert plain.substitute(values) == rendered.text == jinja.render(values)
    return Row(
        sections=sections,
        characters=len(rendered.text),
        build=fastest(lambda: template_of(sections), max(1, rounds // 5)),
        render=fastest(bound.render, rounds),
        open_one=fastest(lambda: bound.render(visibility_overrides=opened), rounds),
        close_one=fastest(lambda: bound.render(visibility_overrides=closed), rounds),
        if_opened=fastest(lambda: rendered.if_opened(last), rounds),
        string_template=fastest(lambda: plain.substitute(values), rounds),
        jinja2=fastest(lambda: jinja.render(values), rounds),
        template_bytes=weight(lambda: template_of(sections)),
        rendered_bytes=weight(bound.render),
    )


def fastest(
    call: Callable[[], object], rounds: int, clock: Callable[[], int] = time.thread_time_ns
) -> float:
    """The least time of a call in milliseconds."""
    call()
    best = float("inf")
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            start = clock()
            call()
            best = min(best, clock() - start)
    finally:
        gc.enable()
    return best / 1e6


def weight(call: Callable[[], RenderedPrompt[None] | PromptTemplate[None]]) -> int:
    """The memory that the result of a call keeps."""
    call()
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept = call()
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept is not None
    return after - before


def children_time_ns() -> int:
    """The processor time of all child processes so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((usage.ru_utime + usage.ru_stime) * 1e9)


def import_milliseconds(module: str, rounds: int) -> float:
    """What importing a module adds to the start of Python, in processes that find the bytecode."""
    with tempfile.TemporaryDirectory() as bytecode:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": bytecode}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)

        def start(code: str) -> float:
            def run() -> None:
                subprocess.run([sys.executable, "-c", code], check=True, env=environment)

            return fastest(run, rounds, children_time_ns)

        return start(f"import {module}") - start("pass")


def measurements(imports: dict[str, float], rows: list[Row]) -> list[Measurement]:
    """Each cost as the one value that it is: the least of its rounds."""
    name = "foldline.prompts"
    made = [
        Measurement(
            work=f"import {name}",
            values=(imports[name],),
            anchor="jinja2",
            anchor_values=(imports["jinja2"],),
        )
    ]
    for row in rows:
        suffix = f"{row.sections:,} section{'s' if row.sections > 1 else ''}"
        made += [
            Measurement(
                work=f"render, {suffix}",
                values=(row.render,),
                anchor="the same text by jinja2",
                anchor_values=(row.jinja2,),
            ),
        ]
    return made


def main() -> None:
    """Measure everything and print it."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--json", action="store_true", help="print one JSON object")
    options = arguments.parse_args()
    imports = {
        name: import_milliseconds(name, 15)
        for name in ("foldline.prompts", "dataclasses", "jinja2")
    }
    rows = [measure(size, rounds=max(20, 20_000 // size)) for size in SIZES]
    if options.json:
        print(as_json(measurements(imports, rows)))
        return
    for name, milliseconds in imports.items():
        print(f"import {name:<18} {milliseconds:7.1f} ms")
    columns = list(asdict(rows[0]))
    print("".join(f"{column:>16}" for column in columns))
    for row in rows:
        values = asdict(row).values()
        print("".join(f"{v:16,.3f}" if isinstance(v, float) else f"{v:16,}" for v in values))


if __name__ == "__main__":
    main()
