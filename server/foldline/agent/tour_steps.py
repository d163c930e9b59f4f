"""The steps of the tour: actions and operations on a prompt's workspace, verbs on one of Go."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import chdir
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from foldline.agent.cli import installed, run_words
from foldline.agent.code import operation_of
from foldline.agent.terminal import collected, show
from foldline.backends.base.caches import VARIABLE as CACHES
from foldline.backends.base.waiting import run_async
from foldline.backends.files.reader import read_toml
from foldline.backends.formatting.budget import size_of
from foldline.backends.formatting.parts import Code, Line, note, plain
from foldline.ide.errors import REFUSALS
from foldline.ide.operations import OPERATIONS
from foldline.ide.prompts.actions import OpenSections, RenderPrompt, Summary
from foldline.ide.prompts.perform import perform
from foldline.ide.prompts.request import PromptRef, View
from foldline.ide.render.renderer import STOP_SECONDS
from foldline.ide.settings import Settings
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace
from foldline.records import record

SECTION = "reference-docs"
REASON = "The task asks for a security review"
_MOST_NEW = 14
_ROWS: Any = read_toml(Path(__file__).with_name("tour.toml"))
Whole: TypeAlias = tuple[int, str] | None


class TourError(Exception):
    """A step of the tour failed."""


@record
class Step:
    """One step of the tour.

    Attributes:
        command: The operation, with its `arguments`, or a command line, with none.
        text: The answer, as a model gets it.
        bytes: The size of `text` in UTF-8.
        whole: Size and name of what the step shows a part of; None for a change.
    """

    title: str
    command: str
    arguments: dict[str, object]
    text: str
    bytes: int
    whole: Whole


Shown = tuple[Step, "Sequence[Line | Code]"]
"""A step, and its lines for people."""


async def run_tour(folder: Path) -> list[Shown]:
    """Run the tour of a folder.

    Raises:
        TourError: A step failed.
    """
    workspace = Workspace.at(folder, settings=Settings(trusted=True))
    try:
        steps = await _prompt_steps(workspace, folder / "reviewer_prompt.py")
        return [*steps, *await _code_steps(workspace, folder)]
    except REFUSALS as error:
        raise TourError(str(error)) from error
    finally:
        await workspace.stop(STOP_SECONDS)


async def _prompt_steps(workspace: Workspace, file: Path) -> list[Shown]:
    prompt = PromptRef(uri=uri_of(file))
    folded = await perform(workspace, prompt, RenderPrompt())
    closed = [block.key for block in folded.blocks if block.visibility == "SUMMARY"]
    sections: list[Line] = []
    for block in folded.blocks:
        indent = "  " * block.depth
        size = (f"  {size_of(block.text):,} bytes", "dim")
        if block.key in closed:
            summary = await perform(workspace, prompt, Summary(section_key=block.key))
            size = (f"{size[0]}, {summary.size_if_opened:,} if opened", "dim")
            sections.append([(f"{indent}▸ {block.number}. {block.title}", ""), size])
        else:
            sections.append([(f"{indent}▾ {block.number}. {block.title}", "bold"), size])
    opened = await perform(workspace, prompt, OpenSections(section_keys=(SECTION,), reason=REASON))
    everything = folded
    while closed:
        overrides = dict.fromkeys((block.key for block in everything.blocks), "FULL")
        opened_all = replace(prompt, view=View(overrides=overrides))
        everything = await perform(workspace, opened_all, RenderPrompt())
        closed = [block.key for block in everything.blocks if block.visibility == "SUMMARY"]
    full_size = (size_of(everything.text), "the prompt with everything open")
    arguments: dict[str, object] = {"section_keys": [SECTION], "reason": REASON}
    text, title = opened.render.text, f"The model opens `{SECTION}`"
    step = _step(title, "open_sections", arguments, text, full_size)
    return [
        (_step("The prompt, folded", "render", {}, folded.text, full_size), sections),
        (step, [*_new_lines(folded.text, text)]),
    ]


def _new_lines(before: str, after: str) -> Iterator[Line]:
    """Yield the first lines of `after` that aren't in `before`."""
    old_lines = set(before.splitlines())
    lines = [line for line in after.splitlines() if line and line not in old_lines]
    for line in lines[:_MOST_NEW]:
        yield [(f"+ {line}", "green")]
    if len(lines) > _MOST_NEW:
        yield [(f"  … and {len(lines) - _MOST_NEW} more lines", "dim")]


async def _code_steps(workspace: Workspace, folder: Path) -> list[Shown]:
    operations = {operation.tool: operation for operation in OPERATIONS}
    access = workspace.folder(folder / "auth").access
    steps: list[Shown] = []
    for row in _ROWS["operations"]:
        operation = operations[row["command"]]
        arguments = operation.arguments(**row["arguments"])
        lines = operation.lines(await run_async(operation.run(access, arguments)), arguments)
        steps.append(_shown(row, folder, lines))
    return steps


def run_verbs(example: Path) -> list[Shown]:
    """Run the tour's command lines in a copy of a repository.

    Raises:
        TourError: One failed.
    """
    caches = os.environ.get(CACHES, "")
    try:
        with TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
            folder = Path(scratch, example.name)
            # A repository of its own, wherever the system keeps temporary files.
            (folder / ".git").mkdir(parents=True)
            shutil.copytree(example, folder, dirs_exist_ok=True)
            os.environ[CACHES] = scratch
            with chdir(folder):
                return [_verb_step(row, folder) for row in _ROWS["verbs"]]
    except OSError as error:
        raise TourError("temporary files can't be written: set TMPDIR to another folder") from error
    finally:
        os.environ[CACHES] = caches


def _verb_step(row: dict[str, Any], folder: Path) -> Shown:
    words = row["command"].split()[1:]
    brought = (part.name for part in installed().parts(lambda plugin: plugin.verbs))
    with collected() as lines:
        if not operation_of(words[0]) and words[0] not in brought:
            row = {**row, "files": "-"}
            show(f"Left out: no installed plugin has the verb {words[0]}.")
        elif status := run_words(words):
            raise TourError(f"`{row['command']}` exited with status {status}")
    return _shown(row, folder, lines)


def _shown(row: dict[str, Any], folder: Path, lines: Sequence[Line | Code]) -> Shown:
    sizes = [file.stat().st_size for file in folder.glob(row.get("files", "-"))]
    whole = (sum(sizes), row["whole"].format(len(sizes))) if sizes else None
    step = _step(row["title"], row["command"], row.get("arguments", {}), plain(lines), whole)
    shown = lines[-row.get("most_lines", len(lines)) :]
    cut = len(lines) - len(shown)
    return step, [*[note(f"… {cut} lines of the change, then:")] * (cut > 0), *shown]


def _step(title: str, command: str, arguments: dict[str, object], text: str, whole: Whole) -> Step:
    if not text.strip():
        raise TourError(f"{command} gave an empty text")
    return Step(title, command, arguments, text, size_of(text), whole)
