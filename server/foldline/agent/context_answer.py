"""A model's answer to a question, from the code that it chose by outlines."""

from __future__ import annotations

import argparse
from pathlib import Path

from foldline.agent.code import CLOSE_SECONDS
from foldline.agent.exit_statuses import FOUND, NOTHING
from foldline.agent.folders import NoFolderError
from foldline.agent.pipeline import Pipeline
from foldline.agent.refusals import Refused
from foldline.agent.terminal import complain, json_text, show
from foldline.backends.formatting.budget import LARGEST_BUDGET
from foldline.ide.structuring import unstructure
from foldline.ide.workspace import AccessOptions, Workspace
from foldline.prompts import adapters
from foldline.prompts.adapters import BaseAdapter
from foldline.prompts.adapters.providers import sdk_adapter
from foldline.prompts.errors import PromptError


def answer(options: argparse.Namespace) -> int:
    """Print a model's answer, and return the exit status."""
    if not options.query:
        raise Refused("a model answers a question: give one")
    if options.supporting:
        raise Refused("a model gets outlines of what it chooses from: name the files by --within")
    try:
        adapter = _adapter(options)
        recording = adapters.RecordingAdapter(adapter) if options.record else None
        if recording and not Path(options.record).parent.is_dir():
            raise Refused(f"{options.record}: there is no such folder to record in")
        workspace = Workspace.at(
            options.root,
            access=AccessOptions(parse_in_workers=True, no_ignore=options.no_ignore, patient=True),
        )
        try:
            workspace.access(workspace.roots[0])
            budget = LARGEST_BUDGET if options.all else options.budget
            pipeline = Pipeline(workspace, recording or adapter, budget=budget)
            result = pipeline.run(
                " ".join(options.query), files=options.paths, candidates=options.within or None
            )
        finally:
            workspace.close_files(CLOSE_SECONDS)
            # Also save after a failed call: the earlier ones were paid for.
            if recording and recording.transcript.exchanges:
                recording.transcript.save(options.record)
    except (PromptError, NoFolderError, OSError, ValueError) as error:
        raise Refused(str(error)) from error
    if options.json:
        show(json_text(unstructure(result)))
    elif result.answer is not None:
        show(result.answer)
    else:
        complain(f"foldline context: {result.reason}")
    return FOUND if result.context else NOTHING


def _adapter(options: argparse.Namespace) -> BaseAdapter:
    """Return the adapter of the options.

    Raises:
        PromptConfigurationError: An SDK or its key is missing; found before any file is read.
        OSError, ValueError: The transcript can't be read.
    """
    if options.transcript is not None:
        # With --record, the transcript is updated, so prompts may differ from it.
        return adapters.ScriptedAdapter(
            adapters.Transcript.load(options.transcript).relaxed(prompts=options.record is not None)
        )
    provider, name = options.model
    adapter = sdk_adapter(provider)(name)
    _ = adapter.client
    return adapter
