"""`foldline context`: the packed context of a question, or a model's answer from it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foldline.agent.exit_statuses import FOUND, NOTHING
from foldline.agent.refusals import Refused
from foldline.agent.targets import number_from
from foldline.agent.terminal import complain, json_text, show
from foldline.ide.operations.arguments import SMALLEST_BUDGET

if TYPE_CHECKING:
    from foldline.agent.verbs import Verbs
    from foldline.prompts.adapters import BaseAdapter
    from foldline.prompts.adapters.sdk import SdkAdapter

PROVIDERS = ("openai", "openai-responses", "anthropic")
CLOSE_SECONDS = 10.0
DESCRIPTION = """\
Packs the code that a question is about: the source of the symbols that match best, and outlines.
With --model, a model chooses the symbols by the outlines, and answers from the context; both are
sent to its provider. Keys come from its environment variables, such as OPENAI_API_KEY."""


def register(verbs: Verbs) -> None:
    parser = verbs.add_parser(
        "context",
        help="pack the code that a question is about, or answer it",
        description=DESCRIPTION,
    )
    parser.add_argument("question", nargs="+", help="a question about the code")
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
    parser.add_argument(
        "--budget",
        type=number_from(SMALLEST_BUDGET),
        metavar="BYTES",
        help="the most bytes of the context (default: 30000)",
    )
    parser.add_argument("--root", default=".", metavar="DIR", help="the workspace (default: .)")
    parser.add_argument("--json", action="store_true", help="the whole result, for programs")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    from foldline.agent.folders import NoFolderError
    from foldline.agent.pipeline import CONTEXT_BUDGET, Pipeline
    from foldline.ide.workspace import AccessOptions, Workspace
    from foldline.prompts import adapters
    from foldline.prompts.errors import PromptError

    try:
        adapter = _adapter(options)
        recording = adapters.RecordingAdapter(adapter) if adapter and options.record else None
        if options.record and not recording:
            raise Refused("--record needs --model or --transcript")
        if recording and not Path(options.record).parent.is_dir():
            raise Refused(f"{options.record}: there is no such folder to record in")
        workspace = Workspace.at(
            options.root, access=AccessOptions(parse_in_workers=True, patient=True)
        )
        try:
            workspace.access(workspace.roots[0])
            pipeline = Pipeline(
                workspace, recording or adapter, budget=options.budget or CONTEXT_BUDGET
            )
            result = pipeline.run(" ".join(options.question))
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
    elif result.context:
        show(result.context if result.answer is None else result.answer)
    else:
        complain(f"foldline context: {result.reason}")
    return FOUND if result.context else NOTHING


def _adapter(options: argparse.Namespace) -> BaseAdapter | None:
    """Return the adapter of the options; None without a model.

    Raises:
        PromptConfigurationError: An SDK or its key is missing; found before any file is read.
        OSError, ValueError: The transcript can't be read.
    """
    if options.transcript is not None:
        from foldline.prompts import adapters

        # With --record, the transcript is updated, so prompts may differ from it.
        return adapters.ScriptedAdapter(
            adapters.Transcript.load(options.transcript).relaxed(prompts=options.record is not None)
        )
    if options.model is None:
        return None
    adapter = _sdk_adapter(*options.model)
    _ = adapter.client
    return adapter


def _sdk_adapter(provider: str, model: str) -> SdkAdapter[Any]:
    # Import the package first: a submodule alone may be half loaded by another thread.
    from foldline.prompts import adapters  # noqa: F401

    if provider == "openai":
        from foldline.prompts.adapters.openai import OpenAIAdapter

        return OpenAIAdapter(model)
    if provider == "openai-responses":
        from foldline.prompts.adapters.openai_responses import OpenAIResponsesAdapter

        return OpenAIResponsesAdapter(model)
    from foldline.prompts.adapters.anthropic import AnthropicAdapter

    return AnthropicAdapter(model)


def _model(text: str) -> tuple[str, str]:
    provider, _, name = text.partition(":")
    if provider not in PROVIDERS or not name:
        *most, last = (f"{one}:NAME" for one in PROVIDERS)
        raise argparse.ArgumentTypeError(f"{text!r} isn't {', '.join(most)} or {last}")
    return provider, name
