"""`foldline context`: the packed context of a question, or a model's answer from it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from foldline.agent.code import CLOSE_SECONDS, add_operation, run_operation
from foldline.agent.exit_statuses import FOUND, NOTHING
from foldline.agent.refusals import Refused
from foldline.agent.terminal import complain, json_text, show
from foldline.backends.formatting.budget import LARGEST_BUDGET, PIPELINE_BUDGET
from foldline.ide.operations.code_scoped_context import OPERATION

if TYPE_CHECKING:
    from foldline.agent.verbs import Verbs
    from foldline.prompts.adapters import BaseAdapter

DESCRIPTION = """\
Packs the code that a question is about: the source of the symbols that match best, and outlines;
and files that are named, in full or as outlines. With --model, a model chooses the symbols by the
outlines, and answers from the context; both are sent to its provider. Keys come from its
environment variables, such as OPENAI_API_KEY."""


def register(verbs: Verbs) -> None:
    parser = add_operation(verbs, OPERATION)
    parser.description = DESCRIPTION
    models = parser.add_mutually_exclusive_group()
    models.add_argument(
        "--model",
        type=_model,
        metavar="PROVIDER:NAME",
        help="the model that answers, such as openai:gpt-4o",
    )
    models.add_argument(
        "--transcript", type=Path, metavar="FILE", help="play recorded answers, offline"
    )
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="write a transcript of the model's answers"
    )
    parser.set_defaults(run=run, budget=PIPELINE_BUDGET)


def run(options: argparse.Namespace) -> int:
    if options.model or options.transcript:
        return _answer(options)
    if options.record:
        raise Refused("--record needs --model or --transcript")
    return run_operation(OPERATION, options)


def _answer(options: argparse.Namespace) -> int:
    """Print a model's answer, and return the exit status."""
    from foldline.agent.folders import NoFolderError
    from foldline.agent.pipeline import Pipeline
    from foldline.ide.workspace import AccessOptions, Workspace
    from foldline.prompts import adapters
    from foldline.prompts.errors import PromptError

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
        from foldline.ide.structuring import unstructure

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
    # The package first: a submodule alone may be half loaded by another thread.
    from foldline.prompts import adapters
    from foldline.prompts.adapters.providers import sdk_adapter

    if options.transcript is not None:
        # With --record, the transcript is updated, so prompts may differ from it.
        return adapters.ScriptedAdapter(
            adapters.Transcript.load(options.transcript).relaxed(prompts=options.record is not None)
        )
    provider, name = options.model
    adapter = sdk_adapter(provider)(name)
    _ = adapter.client
    return adapter


def _model(text: str) -> tuple[str, str]:
    from foldline.prompts.adapters.providers import SDK_ADAPTERS

    provider, _, name = text.partition(":")
    if provider not in SDK_ADAPTERS or not name:
        *most, last = (f"{one}:NAME" for one in SDK_ADAPTERS)
        raise argparse.ArgumentTypeError(f"{text!r} isn't {', '.join(most)} or {last}")
    return provider, name
