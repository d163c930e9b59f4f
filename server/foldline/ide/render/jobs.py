"""Requests to workers, built in one place for the language server, MCP and the command line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic

from foldline.ide.render.options import read_preview_options
from foldline.ide.render.render import (
    AnswerT,
    OpenedSections,
    Render,
    SectionSummary,
    SectionText,
    ToolAnswer,
)
from foldline.ide.render.renderer import Job
from foldline.ide.render.values import find_sources
from foldline.ide.settings import Network
from foldline.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from foldline.ide.render.render_options import RenderOptions
    from foldline.ide.resolve import PromptTarget
    from foldline.ide.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Action(Generic[AnswerT]):
    """Something that a worker does to a prompt, by its name there, and how it answers."""

    name: str
    answers: type[AnswerT]
    arguments: Mapping[str, object] = field(default_factory=dict)


RENDER = Action("render", Render)


def open_sections(
    section_keys: Sequence[str] | None, reason: str, opened: Sequence[str] = ()
) -> Action[OpenedSections]:
    """Open sections as a model does; None for all summarized ones. `opened` are open already."""
    keys = None if section_keys is None else list(section_keys)
    arguments = {"section_keys": keys, "reason": reason, "opened": list(opened)}
    return Action("open", OpenedSections, arguments)


def read_section(section_key: str | None, opened: Sequence[str] = ()) -> Action[SectionText]:
    """Read a section; without a key, the first summarized one. `opened` are open already."""
    return Action("read", SectionText, {"section_key": section_key, "opened": list(opened)})


def call_tool(
    tool: str, arguments: Mapping[str, object], opened: Sequence[str] = ()
) -> Action[ToolAnswer]:
    """Call a tool of the prompt, with the sections open that are `opened` already."""
    values = {"tool": tool, "tool_arguments": dict(arguments), "opened": list(opened)}
    return Action("call", ToolAnswer, values)


def summarize_section(section_key: str | None) -> Action[SectionSummary]:
    """Fold a section; without a key, the first summarized one."""
    return Action("summary", SectionSummary, {"section_key": section_key})


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """How a render differs from others besides its options.

    Attributes:
        texts: Texts by path, in place of files and of open documents.
        tolerant: A section that can't be rendered is a block that has an `error`.
        with_samples: The values that the project declares for previews are used.
        params_file: One more file of values.
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    tolerant: bool = False
    with_samples: bool = True
    params_file: Path | None = None


STRICT = Circumstances()
TOLERANT = Circumstances(tolerant=True)


def build_job(
    workspace: Workspace,
    target: PromptTarget,
    action: Action[AnswerT],
    options: RenderOptions,
    circumstances: Circumstances,
) -> tuple[Job, tuple[str, ...]]:
    """The job of a request about a prompt, and the problems of the project's options.

    It reads files: keep it off the event loop. Either of the project and the settings may deny the
    network.

    Raises:
        ValuesError: A file of values can't be read.
    """
    document, settings = target.document, workspace.settings
    if circumstances.with_samples:
        sources = find_sources(document.path, document.root, circumstances.params_file)
        values, of_project, problems = sources.request, sources.network, sources.problems
    else:
        project = read_preview_options(document.path, document.root)
        of_project = project.table.network or Network.ALLOW
        values, problems = None, project.problems
    denied = Network.DENY in (of_project, settings.preview.network)
    own = {} if document.text is None else {str(document.path): document.text}
    job = Job(
        file=document.path,
        root=document.root,
        overlays={**workspace.overlays(), **own, **circumstances.texts},
        deadline=settings.render_deadline,
        action={
            "action": action.name,
            "version": VERSION,
            "name": target.name,
            "network": Network.DENY if denied else Network.ALLOW,
            "values": values,
            "tolerant": circumstances.tolerant,
            **options.request(),
            **action.arguments,
        },
    )
    return job, problems
