"""The steps of the tour: the operations that every shell has, on the example workspace."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from foldline.backends.base.waiting import run_async
from foldline.backends.formatting.budget import size_of
from foldline.backends.formatting.parts import Code, Line, plain
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

FILE = "auth/service.py"
SYMBOL = "AuthService.sign_in"
SECTION = "reference-docs"
REASON = "The task asks for a security review"
_MOST_NEW = 14


class TourError(Exception):
    """A step of the tour failed."""


@record
class Step:
    """One step of the tour.

    Attributes:
        command: The operation, with its `arguments`.
        text: The answer, as a model gets it.
        bytes: The size of `text` in UTF-8.
        whole: Size and name of what the step shows a part of.
    """

    title: str
    command: str
    arguments: dict[str, object]
    text: str
    bytes: int
    whole: tuple[int, str]

    @property
    def share(self) -> str:
        """The part of the whole that the step shows."""
        return f"{self.bytes / self.whole[0]:.0%}"


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
    if SECTION not in closed:
        raise TourError(f"the section {SECTION} is not folded")
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
        everything = await perform(
            workspace, replace(prompt, view=View(overrides=overrides)), RenderPrompt()
        )
        closed = [block.key for block in everything.blocks if block.visibility == "SUMMARY"]
    full_size = (size_of(everything.text), "the prompt with everything open")
    arguments: dict[str, object] = {"section_keys": [SECTION], "reason": REASON}
    text, title = opened.render.text, f"The model opens `{SECTION}`"
    return [
        (_step("The prompt, folded", "render", {}, folded.text, full_size), sections),
        (
            _step(title, "open_sections", arguments, text, full_size),
            list(_new_lines(folded.text, text)),
        ),
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
    files = sorted((folder / "auth").glob("*.py"))
    all_files = (sum(file.stat().st_size for file in files), f"the {len(files)} files of auth/")
    whole_file = ((folder / FILE).stat().st_size, FILE)
    looks: Sequence[tuple[str, str, dict[str, object], tuple[int, str]]] = [
        ("The tree", "get_tree", {"path": "auth"}, all_files),
        ("An outline", "get_file_outline", {"path": FILE}, whole_file),
        ("One symbol", "read_symbol", {"path": FILE, "name": SYMBOL}, whole_file),
    ]
    access = workspace.folder(folder / FILE).access
    steps: list[Shown] = []
    for title, tool, values, size in looks:
        operation = operations[tool]
        arguments = operation.arguments(**values)
        lines = operation.lines(await run_async(operation.run(access, arguments)), arguments)
        steps.append((_step(title, tool, values, plain(lines), size), lines))
    return steps


def _step(
    title: str, command: str, arguments: dict[str, object], text: str, whole: tuple[int, str]
) -> Step:
    if not text.strip():
        raise TourError(f"{command} gave an empty text")
    return Step(title, command, arguments, text, size_of(text), whole)
