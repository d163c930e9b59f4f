"""Tests of prompts: snapshots whose differences read section by section, and budgets.

These functions need no test framework; `foldline.prompts.pytest_plugin` makes fixtures of them.

A snapshot is a Markdown file with the text of a rendered prompt, and the names of its tools; it has
neither folded text nor schemas. A comment above each section has its key, how it is shown, and the
number of its lines:

```
<!-- task: full, 3 lines -->
## 1. Task

Answer questions about foldline.
<!-- docs: summary, 6 lines -->
```
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import copy
from itertools import chain
from pathlib import Path
from types import ModuleType

from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.disclosure.disclosure import ReadSectionParams
from foldline.prompts.errors import did_you_mean, near_names
from foldline.prompts.layout.blocks import Block
from foldline.prompts.layout.fitting import Fit
from foldline.prompts.layout.layout import OPEN_SECTIONS, READ_SECTION
from foldline.prompts.parameter_sets import instances, misfit, set_functions
from foldline.prompts.prompt import Prompt
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.runtime.response import PromptResponse
from foldline.prompts.visibility import SectionVisibility

__all__ = [
    "Snapshot",
    "assert_run",
    "assert_sets",
    "assert_snapshot",
    "assert_within",
    "differences",
    "sizes",
    "snapshot_of",
]

_SECTION = re.compile(r"<!-- (\S+): (full|summary|disabled), (\d+) lines? -->")
_TOOLS = re.compile(r"<!-- tools: (.*) -->")
NO_TOOLS = "none"


@FrozenDataclass()
class ShownSection:
    """A section of a snapshot: `shown` is `full`, `summary` or `disabled`."""

    shown: str
    text: str


@FrozenDataclass()
class Snapshot:
    """The sections of a rendered prompt by dotted key, in order, and the names of its tools."""

    sections: Mapping[str, ShownSection]
    tools: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines: list[str] = []
        for key, section in self.sections.items():
            text_lines = section.text.split("\n") if section.text else []
            count = f"{len(text_lines)} {'line' if len(text_lines) == 1 else 'lines'}"
            lines += [f"<!-- {key}: {section.shown}, {count} -->", *text_lines]
        lines.append(f"<!-- tools: {', '.join(self.tools) or NO_TOOLS} -->")
        return "\n".join(lines) + "\n"

    @classmethod
    def parse(cls, text: str) -> Snapshot:
        """Return the snapshot that `str` wrote.

        Raises:
            ValueError: It was changed by hand so that its lines don't add up.
        """
        lines = text.split("\n")
        sections: dict[str, ShownSection] = {}
        at = 0
        while header := _SECTION.fullmatch(lines[at]):
            end = at + 1 + int(header[3])
            sections[header[1]] = ShownSection(header[2], "\n".join(lines[at + 1 : end]))
            at = end
            if at >= len(lines):
                break
        tools = _TOOLS.fullmatch(lines[at]) if at < len(lines) else None
        if tools is None:
            raise ValueError(f"line {at + 1} is neither the comment of a section nor that of tools")
        names = tools[1].split(", ") if tools[1] != NO_TOOLS else ()
        return cls(sections, tuple(names))


def snapshot_of(rendered: RenderedPrompt[object]) -> Snapshot:
    """Return the snapshot of a rendered prompt."""
    sections = {
        block.dotted_key: ShownSection(_shown(block), block.text.rstrip("\n"))
        for block in rendered.blocks
    }
    return Snapshot(sections, tuple(tool.name for tool in rendered.tools))


def assert_snapshot(
    rendered: RenderedPrompt[object],
    path: str | os.PathLike[str],
    *,
    may_change: Collection[str] = (),
    update: bool = False,
) -> None:
    """Assert that a rendered prompt is as the snapshot at `path` has it.

    Args:
        rendered: The prompt.
        path: The file; with `update`, it is written, together with its folder.
        may_change: Dotted keys of sections whose text isn't compared, as it has today's date or
            the like. That they are there, and how they are shown, is.
        update: Write the snapshot instead of comparing with it.

    Raises:
        AssertionError: The prompt differs; the message says how, section by section. Or there is no
            snapshot.
        ValueError: `may_change` names a section that the prompt doesn't have.
    """
    __tracebackhide__ = True
    path = Path(path)
    new = snapshot_of(rendered)
    for key in may_change:
        if key not in new.sections:
            near = near_names(key, new.sections)
            raise ValueError(f"`may_change`: there is no section {key!r}{did_you_mean(near)}")
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(str(new).encode("utf-8"))
        return
    try:
        old = Snapshot.parse(path.read_bytes().decode("utf-8"))
    except FileNotFoundError:
        raise AssertionError(f"there is no snapshot {path} yet") from None
    except ValueError as error:
        raise AssertionError(f"{path} isn't a snapshot: {error}") from error
    problems = list(differences(old, new, may_change=may_change))
    if problems:
        raise AssertionError(f"the prompt differs from {path}:\n\n" + "\n\n".join(problems))


def differences(old: Snapshot, new: Snapshot, *, may_change: Collection[str] = ()) -> Iterator[str]:
    """Yield the differences, a paragraph each: sections first, then their order, then tools."""
    for key, section in old.sections.items():
        now = new.sections.get(key)
        if now is None:
            yield f"section {key} is gone"
            continue
        if now.shown != section.shown:
            yield f"section {key} is {now.shown}, and was {section.shown}"
        if now.text != section.text and key not in may_change:
            lines = difflib.unified_diff(
                section.text.split("\n"), now.text.split("\n"), n=2, lineterm=""
            )
            yield "\n".join([f"section {key} has another text:", *list(lines)[2:]])
    for key in new.sections:
        if key not in old.sections:
            yield f"section {key} is new"
    common = [key for key in new.sections if key in old.sections]
    before = [key for key in old.sections if key in new.sections]
    if common != before:
        yield f"sections are in another order: {', '.join(common)}"
    if new.tools != old.tools:
        names = [", ".join(tools) or NO_TOOLS for tools in (new.tools, old.tools)]
        yield f"the tools are {names[0]}, and were {names[1]}"


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def sizes(rendered: RenderedPrompt[object], count: Callable[[str], int] = _bytes) -> dict[str, int]:
    """Return the size of each section with all below it, by dotted key.

    Args:
        rendered: The prompt.
        count: Returns the size of a text: bytes of UTF-8 by default, or tokens by your model's
            counter.
    """
    counts = {block.path: count(block.text) for block in rendered.blocks}
    return {
        ".".join(path): sum(size for below, size in counts.items() if below[: len(path)] == path)
        for path in counts
    }


def assert_within(
    rendered: RenderedPrompt[object],
    total: int | None = None,
    *,
    sections: Mapping[str, int] | None = None,
    count: Callable[[str], int] = _bytes,
) -> None:
    """Assert that a rendered prompt keeps its budgets.

    Args:
        rendered: The prompt.
        total: The most that its text may have.
        sections: The most that sections with all below them may have, by dotted key.
        count: As in `sizes`.

    Raises:
        AssertionError: A budget is exceeded; it lists the largest sections.
        ValueError: `sections` names a section that the prompt doesn't have.
    """
    __tracebackhide__ = True
    problems = list(_exceeded(rendered, total, sections or {}, count))
    if problems:
        raise AssertionError("\n".join(problems))


def _exceeded(
    rendered: RenderedPrompt[object],
    total: int | None,
    sections: Mapping[str, int],
    count: Callable[[str], int],
) -> Iterator[str]:
    __tracebackhide__ = True
    counts = sizes(rendered, count)
    unit = " bytes" if count is _bytes else ""
    for key, most in sections.items():
        _check("section", key, counts)
        if counts[key] > most:
            yield f"section {key} has {counts[key]:,}{unit}, and may have {most:,}"
    size = count(rendered.text)
    if total is not None and size > total:
        largest = sorted(counts.items(), key=lambda item: -item[1])[:5]
        yield (
            f"the prompt has {size:,}{unit}, and may have {total:,}; its largest sections are "
            + ", ".join(f"{key} ({size:,})" for key, size in largest)
        )


def assert_sets(
    module: ModuleType,
    prompt: str,
    total: int | None = None,
    *,
    sections: Mapping[str, int] | None = None,
    count: Callable[[str], int] = _bytes,
    enabled: Mapping[str, Collection[str]] | None = None,
    fixtures: Iterable[ModuleType] = (),
    fit: Fit | None = None,
) -> dict[str, RenderedPrompt[object]]:
    """Assert that a prompt renders with each of its parameter sets, and what holds for all of them.

    Args:
        module: The module of the prompt, with its `preview_*()` functions.
        prompt: The variable that holds the prompt.
        total: The most that its text may have with any set.
        sections: As in `assert_within`, for each set that shows the section.
        count: As in `sizes`.
        enabled: By dotted key, the names of the sets that show a section; no other may.
        fixtures: Further modules with such functions.
        fit: The budget into which each set has to fit; see `Fit`.

    Returns:
        The prompt as `evaluate` would send it by default, by the name of the set.

    Raises:
        AssertionError: An expectation isn't met, and each line names the set and the section; or
            the prompt has no set.
        ValueError: An argument names a section or a set that there isn't.
    """
    __tracebackhide__ = True
    template = getattr(module, prompt)
    bound = template if isinstance(template, Prompt) else Prompt(template)
    functions: dict[str, list[Callable[[], object]]] = {}
    for source in (module, *fixtures):
        for name, function in set_functions(source, module, prompt):
            functions.setdefault(name, []).append(function)
    if not functions:
        raise AssertionError(f"{prompt} has no parameter set: no preview_*() is for it")
    enabled, declared = enabled or {}, bound.template.plan.declared
    for key in (*enabled, *(sections or ())):
        _check("section", key, declared)
    for name in chain.from_iterable(enabled.values()):
        _check("parameter set", name, functions)
    rendered_sets: dict[str, RenderedPrompt[object]] = {}
    problems: list[str] = []
    for name, instances_of in functions.items():
        try:
            rendered = rendered_sets[name] = _with_set(bound, instances_of, fit)
        except Exception as error:  # Whatever the author's code raises.
            problems.append(f"set {name}: not rendered: {type(error).__name__}: {error}")
            continue
        shown = {block.dotted_key for block in rendered.blocks if block.enabled}
        for key, sets in enabled.items():
            if (key in shown) is not (name in sets):
                is_shown = "is" if key in shown else "isn't"
                problems.append(f"set {name}: section {key} {is_shown} shown")
        most = {key: size for key, size in (sections or {}).items() if key in shown}
        exceeded = _exceeded(rendered, total, most, count)
        problems += (f"set {name}: {problem}" for problem in exceeded)
    if problems:
        raise AssertionError("\n".join(problems))
    return rendered_sets


def assert_run(
    response: PromptResponse[object],
    *,
    called: Iterable[str] | None = None,
    opened: Iterable[str] | None = None,
    tokens: int | None = None,
) -> None:
    """Assert what the model did since the prompt was rendered for the last time.

    Args:
        response: The answer.
        called: The tools that it called, in order, but for those that open or read sections.
        opened: The dotted keys of the sections that it opened, also before, or read.
        tokens: The most that it may take, input and output together.

    Raises:
        AssertionError: A line for each that differs.
    """
    __tracebackhide__ = True
    outcomes, used = response.tool_outcomes, response.usage.total
    names = (outcome.call.name for outcome in outcomes)
    tools = [name for name in names if name not in (OPEN_SECTIONS, READ_SECTION)]
    keys = {key for expansion in response.expansions for key in expansion.section_keys}
    read = (outcome.params for outcome in outcomes if outcome.result.success)
    keys |= {params.section_key for params in read if isinstance(params, ReadSectionParams)}
    problems = []
    if called is not None and tools != (expected := [*called]):
        problems.append(f"called {tools}; expected {expected}")
    if opened is not None and sorted(keys) != (expected := sorted(opened)):
        problems.append(f"opened {sorted(keys)}; expected {expected}")
    if tokens is not None and used > tokens:
        problems.append(f"took {used:,} tokens, and may take {tokens:,}")
    if problems:
        raise AssertionError("\n".join(problems))


def _check(kind: str, name: str, known: Collection[str]) -> None:
    __tracebackhide__ = True
    if name not in known:
        near = did_you_mean(near_names(name, known), f"; there is {', '.join(known)}")
        raise ValueError(f"there is no {kind} {name!r}{near}")


def _with_set(
    prompt: Prompt[object], functions: Iterable[Callable[[], object]], fit: Fit | None
) -> RenderedPrompt[object]:
    from foldline.prompts.adapters.base import render_for_evaluation

    declared = prompt.template.plan.declared
    kinds = {section.params_type for section in declared.values()}
    kinds |= {section.params_type for section in prompt.template.sections}
    shared: list[object] = []
    single: dict[str, object] = {}
    for function in functions:
        sets = list(instances(function()))
        whole_sets = [value for value, key in sets if key is None and type(value) in kinds]
        by_key = {key: value for value, key in sets if key in declared}
        if sets and not (whole_sets or by_key):
            takes = sorted(kind.__name__ for kind in kinds if kind is not None)
            raise ValueError(f"{function.__name__}() {misfit(function, sets, takes)}")
        shared += whole_sets
        single |= by_key
    return render_for_evaluation(copy(prompt).bind(*shared, section_params=single), fit=fit)


def _shown(block: Block) -> str:
    if not block.enabled:
        return "disabled"
    return "summary" if block.visibility is SectionVisibility.SUMMARY else "full"
