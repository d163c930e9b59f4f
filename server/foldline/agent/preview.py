"""`foldline preview`: one prompt as a model would get it, in a terminal.

The file is executed: the user who names it trusts it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.agent.targets import file_and_name
from foldline.agent.terminal import complain, show

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from foldline.agent.verbs import Verbs
    from foldline.ide.render.jobs import Action
    from foldline.ide.render.render import Chapter, OpenedSections, Render
    from foldline.ide.render.render_options import RenderOptions
    from foldline.ide.resolve import PromptTarget
    from foldline.ide.workspace import Workspace

RENDER_SECONDS = 30.0


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "preview",
        help="show a prompt as a model would get it",
        description="Runs FILE in the Python of its project and shows its prompt, folded.",
    )
    parser.add_argument(
        "target",
        metavar="FILE[:NAME]",
        help="a module, and the variable or ns/key of a prompt in it",
    )
    parser.add_argument(
        "--open",
        action="append",
        default=[],
        metavar="KEY",
        help="open a summarised section, as a model does; may be repeated",
    )
    parser.add_argument(
        "--params",
        metavar="FILE",
        type=Path,
        help="values by dataclass name or section key, in JSON or TOML",
    )
    parser.add_argument(
        "--set", metavar="NAME", dest="parameter_set", help="the parameter set, or `none`"
    )
    parser.add_argument(
        "--chapter",
        action="append",
        default=[],
        metavar="KEY",
        help="open a chapter, as an evaluation may; may be repeated",
    )
    parser.add_argument(
        "--diff", metavar="REV[..REV]", help="show what has changed since a revision of git"
    )
    parser.add_argument("--interpreter", metavar="PYTHON", help="the Python that renders it")
    parser.add_argument(
        "--watch", action="store_true", help="show it again whenever a file below changes"
    )
    parser.add_argument(
        "--serve", action="store_true", help="show it as a web page that follows its files"
    )
    parser.add_argument("--json", action="store_true", help="print it with costs and cache plan")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    import asyncio

    return asyncio.run(_serve(options) if options.serve else _run(options))


async def _serve(options: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    from foldline.agent.preview_page import Served, serve
    from foldline.backends.errors import PathError
    from foldline.ide.errors import REFUSALS, ValuesError
    from foldline.ide.workspace import Workspace

    workspace = Workspace()
    workspace.report = _complain
    try:
        file, name = file_and_name(options.target)
        params, parameter_set = _read_params(options), options.parameter_set
        _open_workspace(workspace, file, options)
        served = Served(file, name, options.open, options.chapter, params, parameter_set)
    except (ValuesError, FileNotFoundError) as error:
        complain(f"foldline preview: {error}")
        return 2
    try:
        await serve(workspace, served)
    except PathError as error:
        complain(f"foldline preview: {error.summary}")
        return 1
    except REFUSALS as error:
        complain(f"foldline preview: {error}")
        return 1
    return 0


async def _run(options: argparse.Namespace) -> int:
    from foldline.ide.render.renderer import STOP_SECONDS
    from foldline.ide.workspace import Workspace

    workspace = Workspace()
    workspace.report = _complain
    try:
        shown = await _render(workspace, options)
        _print(shown)
        if options.watch:
            from foldline.agent.watching import changed_files

            file, _ = file_and_name(options.target)
            async for _ in changed_files(file, _root_of(file)):
                shown = await _render(workspace, options)
                # What fails leaves the last good text where it is.
                if shown.text is not None:
                    _clear()
                _print(shown)
        return shown.status
    finally:
        await workspace.stop(STOP_SECONDS)


@dataclass(frozen=True, slots=True)
class _Shown:
    """The output of one render, and its exit status; the text is None where it failed."""

    status: int
    text: str | None
    problems: tuple[str, ...] = ()


async def _render(workspace: Workspace, options: argparse.Namespace) -> _Shown:
    from foldline.ide.errors import RenderError, RevisionError, ValuesError
    from foldline.ide.render.render import OpenedSections
    from foldline.ide.structuring import unstructured

    try:
        prompt = _named_prompt(workspace, options)
        if options.diff is not None:
            from foldline.agent.preview_diff import diff, format_diff

            found = await diff(prompt, options.diff)
            text = json.dumps(unstructured(found), indent=2) if options.json else format_diff(found)
            return _Shown(0, text)
        answer = await prompt.execute(tolerant=True)
    except (RenderError, RevisionError, ValuesError, FileNotFoundError) as error:
        of_user = isinstance(error, RenderError) and error.kind not in ("prompt", "tool")
        return _Shown(1 if of_user else 2, None, (str(error),))
    render = answer.render if isinstance(answer, OpenedSections) else answer
    closed = list(_closed_chapters(answer.chapters, options.chapter))
    failed = [(block.key, block.error) for block in render.blocks if block.error is not None]
    problems = [f"{key}: {error.message}" for key, error in failed]
    problems += closed
    if options.json:
        from foldline.ide.render.token_costs import with_costs

        render = with_costs(render, workspace.folder(prompt.target.document.path).counter)
        told = replace(answer, render=render) if isinstance(answer, OpenedSections) else render
        text = json.dumps({**unstructured(told), "fidelity": "executed"}, indent=2)
    else:
        text = render.text
        problems = [f"{name} was made up: give --params" for name in answer.generated] + problems
    return _Shown(1 if failed or closed else 0, text, tuple(problems))


def _closed_chapters(chapters: Sequence[Chapter], wanted: Iterable[str]) -> Iterator[str]:
    """Why the wanted chapters that are not open are closed."""
    known = {chapter.key: chapter for chapter in chapters}
    for key in wanted:
        if key not in known:
            yield f"there is no chapter {key!r}; there is {', '.join(known) or 'none'}"
        elif not known[key].open:
            yield f"the chapter {key!r} stays closed: {'; '.join(known[key].reasons)}"


def _print(shown: _Shown) -> None:
    if shown.text is not None:
        show(shown.text)
    for problem in shown.problems:
        complain(f"foldline preview: {problem}")


def _clear() -> None:
    """Make room for the next text: in a terminal all of it, else an empty line."""
    from rich.console import Console

    console = Console()
    if console.is_terminal:
        console.clear()
    else:
        print()  # noqa: T201


@dataclass(frozen=True, slots=True)
class NamedPrompt:
    """The prompt that the command line names, and how it's rendered."""

    workspace: Workspace
    target: PromptTarget
    options: RenderOptions
    opening: Action[OpenedSections] | None
    params_file: Path | None

    async def execute(
        self, texts: Mapping[str, str] | None = None, *, tolerant: bool = False
    ) -> Render | OpenedSections:
        """Render it, with `texts` in place of files."""
        from foldline.ide.render.execution import execute
        from foldline.ide.render.jobs import RENDER, Circumstances

        circumstances = Circumstances(
            texts=texts or {}, tolerant=tolerant, params_file=self.params_file
        )
        given = (self.options, circumstances)
        if self.opening is not None:
            return await execute(self.workspace, self.target, self.opening, *given)
        return await execute(self.workspace, self.target, RENDER, *given)

    async def render(self, texts: Mapping[str, str] | None = None) -> Render:
        """Render it, with `texts` in place of files; what can't be rendered is a failure."""
        from foldline.ide.render.render import OpenedSections

        answer = await self.execute(texts)
        return answer.render if isinstance(answer, OpenedSections) else answer


def _named_prompt(workspace: Workspace, options: argparse.Namespace) -> NamedPrompt:
    from foldline.ide.render.jobs import open_sections
    from foldline.ide.render.render_options import RenderOptions
    from foldline.ide.resolve import PromptTarget

    file, name = file_and_name(options.target)
    _open_workspace(workspace, file, options)
    opening = open_sections(options.open, "Opened on the command line")
    return NamedPrompt(
        workspace,
        PromptTarget.on_disk(file, _root_of(file), name or _first_prompt(workspace, file)),
        RenderOptions(
            params=_read_params(options),
            parameter_set=options.parameter_set,
            chapters=frozenset(options.chapter),
        ),
        opening if options.open else None,
        options.params,
    )


def _open_workspace(workspace: Workspace, file: Path, options: argparse.Namespace) -> None:
    """Open the folder of a file, which is trusted: the user named it to be run."""
    from foldline.ide.settings import Settings

    settings = Settings(
        trusted=True, interpreter=options.interpreter, render_deadline=RENDER_SECONDS
    )
    workspace.set_settings(settings)
    workspace.set_roots([_root_of(file)])


def _complain(problems: Sequence[str]) -> None:
    for problem in problems:
        complain(f"foldline preview: {problem}")


def _root_of(file: Path) -> Path:
    """The folder that `file` belongs to: this one, if it is below."""
    here = Path.cwd().resolve()
    return here if file.is_relative_to(here) else file.parent


def _first_prompt(workspace: Workspace, file: Path) -> str | None:
    """The prompt to show of `file` where none is named."""
    from foldline.ide.resolve import first_prompt
    from foldline.ide.uris import uri_of

    return workspace.with_snapshot(
        uri_of(file), lambda snapshot: first_prompt(snapshot.analysis.module.prompts)
    )


def _read_params(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The values of `--params`: those in every set, below those in the one that is shown."""
    from foldline.ide.render.values import DEFAULT_SET, read_values

    if options.params is None:
        return {}
    sets = read_values(options.params)
    params: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys((DEFAULT_SET, options.parameter_set)):
        for kind, values in sets.get(name, {}).items():
            params[kind] = {**params.get(kind, {}), **values}
    return params
