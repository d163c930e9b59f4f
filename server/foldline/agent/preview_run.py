"""A run of `foldline preview`: renders a prompt, and shows it as the options say."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from foldline import agent
from foldline.agent.exit_statuses import FOUND, NOTHING
from foldline.agent.preview_lines import diff_lines, tree_lines
from foldline.agent.refusals import Refused
from foldline.agent.scan import analysis_root, root_of
from foldline.agent.targets import check_python, file_and_name
from foldline.agent.terminal import complain, console_of, is_styled, json_text, show, show_styled
from foldline.backends.formatting.parts import Line
from foldline.ide import checks
from foldline.ide.analysis.model import LineTable
from foldline.ide.errors import REFUSALS
from foldline.ide.instructions.document import read_instructions
from foldline.ide.instructions.features import skill_levels
from foldline.ide.operations.operation import parameters_of
from foldline.ide.operations.reading import read_arguments
from foldline.ide.prompts.action import NOT_SHOWN, Action, Change
from foldline.ide.prompts.actions import (
    Body,
    CompareSets,
    Diff,
    OpenSections,
    RenderPrompt,
    SetParams,
)
from foldline.ide.prompts.arguments import key_argument
from foldline.ide.prompts.perform import perform
from foldline.ide.prompts.request import PromptRef, RenderMode, View
from foldline.ide.render.matrix import Matrix, matrix_lines, render_sets
from foldline.ide.render.render import Answer, Block, OpenedSections, Render, chapters_shown
from foldline.ide.render.renderer import STOP_SECONDS
from foldline.ide.render.values import DEFAULT_SET, read_values
from foldline.ide.resolve import resolve, source_kind
from foldline.ide.settings import Settings
from foldline.ide.snapshot import Snapshot
from foldline.ide.structuring import unstructured
from foldline.ide.uris import uri_of
from foldline.ide.workspace import Workspace
from foldline.records import record

RENDER_SECONDS = 30.0
REASON = "Opened in the terminal"
SKILL = "SKILL.md"
_OF_PROMPTS = ("tag", "params", "parameter_set", "chapter", "interpreter")
"""Options that mean nothing for an instruction file."""


def actions_of(options: argparse.Namespace) -> Iterator[Action[Any]]:
    """Yield the actions whose options are given.

    Raises:
        ArgumentsError: An argument is wrong.
    """
    for action in options.actions:
        key = key_argument(action)
        names = {
            one.name: action.names.snake if one == key else f"{action.names.snake}_{one.name}"
            for one in parameters_of(action)
        }
        values = {name: getattr(options, dest, None) for name, dest in names.items()}
        chosen = {name: value for name, value in values.items() if value}
        if key is not None and key.name in chosen:
            if "reason" in names:
                chosen["reason"] = REASON
            yield read_arguments(action, chosen, from_model=True)


def preview(options: argparse.Namespace) -> int:
    """Show what the command line names, and return the exit status."""
    file, name = file_and_name(options.target)
    workspace = _open_workspace(file, options)
    options.executes = source_kind(workspace, file).trust_needed
    if options.executes:
        check_python(file)
    elif name is not None:
        raise Refused(f"{file.name} has sections, and no prompts by name: leave :{name} out")
    elif of_prompts := [one for one in _OF_PROMPTS if getattr(options, one) is not None]:
        option = "--set" if of_prompts[0] == "parameter_set" else f"--{of_prompts[0]}"
        raise Refused(f"{file.name} has no parameters or chapters: leave {option} out")
    if options.compare_sets and options.parameter_set:
        raise Refused("--compare-sets shows every parameter set: leave --set out")
    if options.loop and not options.provider:
        raise Refused("--loop goes with --as PROVIDER: it shows that request")
    if options.serve and options.tag:
        raise Refused("--serve shows the texts that the prompt is bound to: leave --tag out")
    if options.chapter is not None:
        options.chapter = frozenset(options.chapter) - {"none"}
    if options.serve:
        return asyncio.run(_serve(workspace, options, file, name))
    return asyncio.run(_run(workspace, options, file))


async def _serve(
    workspace: Workspace, options: argparse.Namespace, file: Path, name: str | None
) -> int:
    """Serve the page until Ctrl-C."""
    if options.executes:
        complain(f"foldline preview: running {file.name}…")
    await agent.preview_page.serve(workspace, file, name, _first_actions(options))
    return FOUND


@record(kw_only=True)
class _CloseChapters(Change):
    """Close every chapter of a preview."""

    def changed(self, view: View, shown: Render) -> View:
        return replace(view, chapters=frozenset(), action="close")


def _first_actions(options: argparse.Namespace) -> list[Action[Any]]:
    actions: list[Action[Any]] = []
    params = _read_params(options)
    if params or options.parameter_set:
        actions.append(SetParams(params=params, parameter_set=options.parameter_set))
    if options.chapter is not None:
        actions.append(_CloseChapters())
    if options.chapter:
        actions.append(OpenSections(chapters=tuple(sorted(options.chapter)), reason=REASON))
    return [*actions, *actions_of(options)]


async def _run(workspace: Workspace, options: argparse.Namespace, file: Path) -> int:
    try:
        shown = await _render(workspace, options)
        _print(shown)
        if options.watch:
            async for _ in agent.watching.changed_files(file, _root_of(file)):
                try:
                    shown = await _render(workspace, options)
                except REFUSALS as error:
                    # The last good text stays where it is.
                    complain(f"foldline preview: {error}")
                    continue
                _clear()
                _print(shown)
        return shown.status
    finally:
        await workspace.stop(STOP_SECONDS)


@record
class _Shown:
    """The output of one render, and its exit status."""

    status: int
    lines: Sequence[Line]
    problems: tuple[str, ...] = ()
    wrap: bool = False


async def _render(workspace: Workspace, options: argparse.Namespace) -> _Shown:
    as_tree = options.tree or (is_styled() and not options.text)
    prompt = _prompt(options, costs=options.json or as_tree)
    opening: Action[Any] | None = None
    for action in actions_of(options):
        if isinstance(action, Change):
            prompt = replace(prompt, view=action.changed(prompt.view, NOT_SHOWN))
        else:
            opening = action
    keys = opening.section_keys if isinstance(opening, OpenSections) else ()
    mode = replace(prompt.mode, tolerant=options.html is not None, costs=True)
    opened = replace(prompt, view=replace(prompt.view, opened=keys), mode=mode)
    if options.html is not None:
        return await _save(workspace, options, opened)
    if options.compare_sets or options.diff is not None:
        return await _compare(workspace, options, opened)
    if options.provider is not None:
        body = Body(provider=options.provider, model=options.model or "MODEL", loop=options.loop)
        sent = await perform(workspace, opened, body)
        unnamed = () if options.model else ("the model is a placeholder: name one with --model",)
        return _Shown(FOUND, _plain(json_text(sent.body)), (*_made_up(sent), *unnamed))
    answer = await perform(workspace, prompt, opening or RenderPrompt())
    render = answer.render if isinstance(answer, OpenedSections) else answer
    file, _ = file_and_name(options.target)
    states = {chapter.key: chapter.open for chapter in answer.chapters}
    wanted = options.chapter or frozenset()
    for key in wanted - states.keys():
        message = f"there is no chapter {key!r}; there is {', '.join(states) or 'none'}"
        raise Refused(message, kind="prompt", data={"near": list(states)})
    closed = not all(states[key] for key in wanted)
    failed = [(block.key, block.error) for block in render.blocks if block.error is not None]
    problems = [f"{key}: {error.message}" for key, error in failed]
    status = NOTHING if failed or closed else FOUND
    if options.json:
        text = json_text({**unstructured(answer), "fidelity": "executed"})
        return _Shown(status, _plain(text), tuple(problems))
    made_up = _made_up(answer)
    if options.executes:
        made_up = (*made_up, *_notes(workspace, file, answer.name, is_named=bool(prompt.name)))
    if file.name == SKILL:
        made_up = (*made_up, *_levels(workspace, file))
    if as_tree:
        counter = workspace.folder(file).counter(file)
        return _Shown(status, list(tree_lines(render, counter)), made_up, wrap=True)
    problems = [*made_up, *problems]
    if answer.chapters:
        problems.insert(0, f"chapters: {chapters_shown(answer.chapters)}")
    text = render.text.removesuffix("\n")
    lines = list(_messages(render.blocks)) if is_styled() else _plain(text)
    return _Shown(status, lines, tuple(problems))


def _notes(workspace: Workspace, file: Path, name: str, *, is_named: bool) -> list[str]:
    """Return what a text alone doesn't say: odd placeholders, and prompts that aren't shown."""

    def notes(snapshot: Snapshot) -> list[str]:
        lines = LineTable(snapshot.text)
        remarks = [
            f"{file.name}:{lines.position(one.place.start).line + 1}: {one.message}"
            for one in checks.diagnostics(snapshot.analysis, severities=snapshot.options.severity)
            if one.code in (checks.Code.FOREIGN_TEMPLATE_SYNTAX, checks.Code.REPR_PLACEHOLDER)
        ]
        prompts = snapshot.analysis.module.prompts
        shown = {(prompt.ns, prompt.key) for prompt in prompts if prompt.name == name}
        others = [one.name for one in prompts if (one.ns, one.key) not in shown]
        if others and not is_named:
            remarks.append(f"{', '.join(others)}: not shown; name one as {file.name}:{others[0]}")
        return remarks

    return workspace.with_snapshot(uri_of(file), notes) or []


def _levels(workspace: Workspace, file: Path) -> Iterator[str]:
    """Yield what a skill costs before and after it's used."""
    folder = workspace.folder(file)
    counter = folder.counter(file)
    levels = skill_levels(read_instructions(file, folder.root), file, folder, counter)
    if levels is not None:
        yield levels.sentence(counter)


async def _compare(workspace: Workspace, options: argparse.Namespace, prompt: PromptRef) -> _Shown:
    """All parameter sets, or what has changed since a revision."""
    action: Action[Any] = (
        CompareSets() if options.compare_sets else Diff(revision=options.diff or "")
    )
    comparison = await perform(workspace, prompt, action)
    status = NOTHING if isinstance(comparison, Matrix) and comparison.failed else FOUND
    if options.json:
        return _Shown(status, _plain(json_text(unstructured(comparison))))
    width = console_of(sys.stdout).width if is_styled() else sys.maxsize
    lines = matrix_lines(comparison, width) if options.compare_sets else diff_lines(comparison)
    return _Shown(status, list(lines))


async def _save(workspace: Workspace, options: argparse.Namespace, prompt: PromptRef) -> _Shown:
    """Write the page of the prompt with all of its sets."""
    from foldline.server.page.saved import is_saved_page, saved_page

    renders = await render_sets(await resolve(workspace, prompt), prompt.view)
    shown = options.parameter_set or next(iter(renders))
    render = renders.get(
        shown, f"there is no parameter set {shown!r}; there is {', '.join(renders)}"
    )
    if isinstance(render, str):
        raise Refused(render, kind="prompt", data={"near": list(renders)})
    out = Path(options.html or f"{render.name}.html")
    text = saved_page(renders, shown, _root_of(file_and_name(options.target)[0]))
    try:
        # Only a page that was saved before is replaced.
        with out.open("w" if is_saved_page(out) else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise Refused(f"{out} exists, and isn't a saved preview: name another file") from None
    except OSError as error:
        raise Refused(f"{out}: {error.strerror}") from error
    failed = [f"{name}: {why}" for name, why in renders.items() if isinstance(why, str)]
    return _Shown(NOTHING if failed else FOUND, _plain(str(out)), tuple(failed))


def _made_up(answer: Answer) -> tuple[str, ...]:
    return tuple(f"{name} was made up: give --params" for name in answer.generated)


def _messages(blocks: Sequence[Block]) -> Iterator[Line]:
    """Yield the text with the roles of its messages, if they are several."""
    roles = [[*group] for _, group in groupby(blocks, lambda block: block.role)]
    for group in roles:
        if len(roles) > 1:
            yield [(f"── {group[0].role} ──", "dim")]
        yield from _plain("".join(block.text for block in group).removesuffix("\n"))


def _plain(text: str) -> list[Line]:
    return [[(line, "")] for line in text.split("\n")]


def _print(shown: _Shown) -> None:
    show_styled(shown.lines, wrap=shown.wrap)
    _complain(shown.problems)


def _clear() -> None:
    """Make room for the next text: in a terminal all of it, else an empty line."""
    if sys.stdout.isatty():
        console_of(sys.stdout).clear()
    else:
        show("")


def _prompt(options: argparse.Namespace, *, costs: bool) -> PromptRef:
    """The prompt that the command line names, and how it's rendered."""
    file, name = file_and_name(options.target)
    view = View(
        params=_read_params(options),
        parameter_set=options.parameter_set,
        chapters=options.chapter,
        reason=REASON,
        tag=options.tag,
    )
    mode = RenderMode(opening_reason=REASON, tolerant=True, costs=costs, params_file=options.params)
    return PromptRef(file=file, root=_root_of(file), name=name, view=view, mode=mode)


def _open_workspace(file: Path, options: argparse.Namespace) -> Workspace:
    """Open the folder of a file, which is trusted: the user named it to be run."""
    settings = Settings(
        trusted=True, interpreter=options.interpreter, render_deadline=RENDER_SECONDS
    )
    root = _root_of(file)
    workspace = Workspace.at(root, settings=settings)
    workspace.reach = analysis_root(root)
    workspace.report = _complain
    return workspace


def _complain(problems: Sequence[str]) -> None:
    for problem in problems:
        complain(f"foldline preview: {problem}")


def _root_of(file: Path) -> Path:
    """The folder that `file` belongs to: this one, if it is below; that of its project for text."""
    if file.suffix in (".md", ".mdc"):
        return root_of(file)
    here = Path.cwd().resolve()
    return here if file.is_relative_to(here) else file.parent


def _read_params(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The values of `--params`: those in every set, below those in the one that is shown."""
    if options.params is None or options.compare_sets or options.html is not None:
        # Where all sets are shown, the file adds to each of them.
        return {}
    sets = read_values(options.params)
    params: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys((DEFAULT_SET, options.parameter_set or DEFAULT_SET)):
        for kind, values in sets.get(name, {}).items():
            params[kind] = {**params.get(kind, {}), **values}
    return params
