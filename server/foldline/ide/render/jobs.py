"""Requests to workers, made in one place for the language server, MCP and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.ide.render.options import read_preview_options
from foldline.ide.render.renderer import Job
from foldline.ide.render.values import find_sources
from foldline.ide.settings import Network
from foldline.ide.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def prompt_job(
    action: str,
    file: Path,
    root: Path,
    *,
    name: str | None,
    deadline: float,
    network: Network = Network.ALLOW,
    overlays: Mapping[str, str] | None = None,
    params_file: Path | None = None,
    with_samples: bool = True,
    **arguments: object,
) -> tuple[Job, tuple[str, ...]]:
    """The job that does `action` to a prompt as its project wants it, and problems of its options.

    It reads files: keep it off the event loop. Either of the project and `network` may deny the
    network.

    Args:
        action: What the worker does.
        file: The prompt's module.
        root: The workspace folder.
        name: The prompt's variable; None for the first.
        deadline: Seconds to import the module and answer.
        network: What the client lets a prompt reach.
        overlays: Texts by path that stand for the disk's.
        params_file: One more file of values.
        with_samples: The values that the project declares for previews are used.
        arguments: What the action takes.

    Raises:
        ValuesError: A file of values cannot be read.
    """
    if with_samples:
        sources = find_sources(file, root, params_file)
        values, of_project, problems = sources.request, sources.network, sources.problems
    else:
        options = read_preview_options(file, root)
        of_project = options.table.network or Network.ALLOW
        values, problems = None, options.problems
    denied = Network.DENY in (of_project, network)
    job = Job(
        file=file,
        root=root,
        overlays=overlays or {},
        deadline=deadline,
        action={
            "action": action,
            "version": VERSION,
            "name": name,
            "network": Network.DENY if denied else Network.ALLOW,
            "values": values,
            **arguments,
        },
    )
    return job, problems
