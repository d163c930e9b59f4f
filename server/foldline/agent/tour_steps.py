"""The steps of the tour: the operations that every shell has, on the example workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.base.waiting import run_async

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from foldline.ide.workspace import Workspace

FILE = "auth/service.py"
SYMBOL = "AuthService.sign_in"
SECTION = "reference-docs"
REASON = "The task asks for a security review"


class TourError(Exception):
    """A step of the tour failed."""


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the folded prompt; `if_opened` is set for summaries."""

    number: str
    title: str
    depth: int
    bytes: int
    if_opened: int | None


@dataclass(frozen=True, slots=True)
class Tour:
    workspace: str
    sections: tuple[Section, ...]
    steps: tuple[Step, ...]


async def run_tour(folder: Path) -> Tour:
    """Run the tour of a folder.

    Raises:
        TourError: A step failed.
    """
    from foldline.ide.errors import REFUSALS
    from foldline.ide.render.renderer import STOP_SECONDS
    from foldline.ide.settings import Settings
    from foldline.ide.workspace import Workspace

    workspace = Workspace.at(folder, settings=Settings(trusted=True))
    try:
        sections, steps = await _prompt_steps(workspace, folder / "reviewer_prompt.py")
        steps += await _code_steps(workspace, folder)
    except REFUSALS as error:
        raise TourError(str(error)) from error
    finally:
        await workspace.stop(STOP_SECONDS)
    return Tour(str(folder), tuple(sections), tuple(steps))


async def _prompt_steps(workspace: Workspace, file: Path) -> tuple[list[Section], list[Step]]:
    from foldline.ide.render import execution
    from foldline.ide.render.jobs import open_sections, summarize_section
    from foldline.ide.render.render_options import RenderOptions
    from foldline.ide.resolve import find_prompt
    from foldline.ide.uris import uri_of

    target = await find_prompt(workspace, uri_of(file), None)
    folded = await execution.render(workspace, target)
    summaries = {
        block.key: await execution.execute(workspace, target, summarize_section(block.key))
        for block in folded.blocks
        if block.visibility == "SUMMARY"
    }
    if SECTION not in summaries:
        raise TourError(f"the section {SECTION} is not folded")
    opening = open_sections([SECTION], REASON)
    opened = await execution.open_sections(workspace, target, opening)
    everything = folded
    while closed := [block.key for block in everything.blocks if block.visibility == "SUMMARY"]:
        open_keys = [block.key for block in everything.blocks if block.visibility == "FULL"]
        overrides = dict.fromkeys([*open_keys, *closed], "FULL")
        options = RenderOptions(overrides=overrides)
        everything = await execution.render(workspace, target, options)
    whole = (_size(everything.text), "the prompt with everything open")
    sections = [
        Section(
            number=block.number,
            title=block.title,
            depth=block.depth,
            bytes=_size(block.text),
            if_opened=summaries[block.key].size_if_opened if block.key in summaries else None,
        )
        for block in folded.blocks
    ]
    arguments: dict[str, object] = {"section_keys": [SECTION], "reason": REASON}
    return sections, [
        _step("The prompt, folded", "render", {}, folded.text, whole),
        _step(
            f"The model opens `{SECTION}`", "open_sections", arguments, opened.render.text, whole
        ),
    ]


async def _code_steps(workspace: Workspace, folder: Path) -> list[Step]:
    from foldline.ide.operations import OPERATIONS

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
    steps = []
    for title, tool, values, whole in looks:
        operation = operations[tool]
        arguments = operation.arguments(**values)
        result = await run_async(operation.run(access, arguments))
        steps.append(_step(title, tool, values, operation.text(result, arguments), whole))
    return steps


def _step(
    title: str, command: str, arguments: dict[str, object], text: str, whole: tuple[int, str]
) -> Step:
    if not text.strip():
        raise TourError(f"{command} gave an empty text")
    return Step(title, command, arguments, text, _size(text), whole)


def _size(text: str) -> int:
    return len(text.encode())
