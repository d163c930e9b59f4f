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
)
from foldline.ide.render.render_options import RenderOptions
from foldline.ide.render.renderer import Job
from foldline.ide.render.values import find_sources
from foldline.ide.settings import Network
from foldline.ide.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from foldline.ide.settings import Settings


@dataclass(frozen=True, slots=True)
class Action(Generic[AnswerT]):
    """Something that a worker does to a prompt, by its name there, and how it answers."""

    name: str
    answers: type[AnswerT]
    arguments: Mapping[str, object] = field(default_factory=dict)


RENDER = Action("render", Render)


def open_sections(section_keys: Sequence[str], reason: str) -> Action[OpenedSections]:
    """Open sections as a model does; without keys, all summarized ones."""
    arguments = {"section_keys": list(section_keys), "reason": reason}
    return Action("open", OpenedSections, arguments)


def read_section(section_key: str | None) -> Action[SectionText]:
    """Read a section; without a key, the first summarized one."""
    return Action("read", SectionText, {"section_key": section_key})


def summarize_section(section_key: str | None) -> Action[SectionSummary]:
    """Fold a section; without a key, the first summarized one."""
    return Action("summary", SectionSummary, {"section_key": section_key})


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderRequest:
    """A prompt, and how it's to be rendered.

    Attributes:
        file: The prompt's module.
        root: The workspace folder.
        name: The prompt's variable; None for the first.
        options: What a user chose.
        overlays: Texts by path that stand for the disk's.
        params_file: One more file of values.
        with_samples: The values that the project declares for previews are used.
        tolerant: A section that can't be rendered is a block that has an `error`.
    """

    file: Path
    root: Path
    name: str | None
    options: RenderOptions = field(default_factory=RenderOptions)
    overlays: Mapping[str, str] = field(default_factory=dict)
    params_file: Path | None = None
    with_samples: bool = True
    tolerant: bool = False


def build_job(
    request: RenderRequest, action: Action[AnswerT], settings: Settings
) -> tuple[Job, tuple[str, ...]]:
    """The job of a request, and the problems of the project's options.

    It reads files: keep it off the event loop. Either of the project and the settings may deny the
    network.

    Raises:
        ValuesError: A file of values can't be read.
    """
    if request.with_samples:
        sources = find_sources(request.file, request.root, request.params_file)
        values, of_project, problems = sources.request, sources.network, sources.problems
    else:
        options = read_preview_options(request.file, request.root)
        of_project = options.table.network or Network.ALLOW
        values, problems = None, options.problems
    denied = Network.DENY in (of_project, settings.preview.network)
    job = Job(
        file=request.file,
        root=request.root,
        overlays=request.overlays,
        deadline=settings.render_deadline,
        action={
            "action": action.name,
            "version": VERSION,
            "name": request.name,
            "network": Network.DENY if denied else Network.ALLOW,
            "values": values,
            "tolerant": request.tolerant,
            **request.options.request(),
            **action.arguments,
        },
    )
    return job, problems
