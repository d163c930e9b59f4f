"""`foldline context`: the packed context of a question, or a model's answer from it."""

from __future__ import annotations

import argparse
from pathlib import Path

from foldline.agent.code import add_operation, run_operation
from foldline.agent.refusals import Refused
from foldline.agent.verbs import Verbs
from foldline.backends.formatting.budget import PIPELINE_BUDGET
from foldline.ide.operations.code_scoped_context import OPERATION

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
        from foldline.agent.context_answer import answer

        return answer(options)
    if options.record:
        raise Refused("--record needs --model or --transcript")
    return run_operation(OPERATION, options)


def _model(text: str) -> tuple[str, str]:
    from foldline.prompts.adapters.providers import SDK_ADAPTERS

    provider, _, name = text.partition(":")
    if provider not in SDK_ADAPTERS or not name:
        *most, last = (f"{one}:NAME" for one in SDK_ADAPTERS)
        raise argparse.ArgumentTypeError(f"{text!r} isn't {', '.join(most)} or {last}")
    return provider, name
