"""The command line of the code reviewer."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from code_reviewer import loopback
from code_reviewer.reviewer import CodeReviewer
from foldline.plugins.stores import SQLiteEventStore
from foldline.prompts import Deadline
from foldline.prompts.adapters import BaseAdapter, RecordingAdapter, ScriptedAdapter, Transcript
from foldline.prompts.errors import PromptError, VisibilityExpansionRequired
from foldline.prompts.runtime import (
    InProcessEventBus,
    ModelAnswered,
    Session,
    TokenUsage,
    ToolInvoked,
)
from reviewer_prompt import CodeReviewTask, Review

ROOT = Path(__file__).resolve().parents[1]
TRANSCRIPT = Path(__file__).with_name("transcript.json")
PROVIDERS = ("transcript", "openai", "openai-responses", "anthropic")
REQUEST = "Review the authentication module for security vulnerabilities."
BACKGROUND = "Follow-up to the Q4 security audit findings."


def main(arguments: Sequence[str]) -> int:
    """Review, print, and say by the exit status whether that worked."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for path in options.file:
        if not (ROOT / path).is_file():
            parser.error(f"{path} is not a file below {ROOT}")
    task = CodeReviewTask(
        request=options.request,
        background=options.background or None,
        files=tuple(options.file) or None,
        focus=options.focus,
    )
    bus = InProcessEventBus()
    bus.subscribe(ToolInvoked, _tell_call)
    bus.subscribe(ModelAnswered, _tell_usage)
    with ExitStack() as closing:
        if options.events is not None:
            closing.enter_context(SQLiteEventStore(options.events)).attach(bus)
        try:
            adapter = _adapter(options, closing)
            recording = None if options.record is None else RecordingAdapter(adapter)
            reviewer = CodeReviewer(
                ROOT,
                adapter if recording is None else recording,
                session=Session(bus=bus),
                on_expansion=_tell_expansion,
            )
            response = reviewer.review(task, deadline=Deadline.after(options.deadline))
            if recording is not None:
                recording.transcript.save(options.record)
        except (PromptError, OSError, ValueError) as error:
            print(f"code_reviewer: {error}", file=sys.stderr)
            return 1
    assert response.output is not None
    print(_text(response.output))
    _tell(f"all {response.turns} messages: {_usage(response.usage)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="code_reviewer",
        description="Reviews the package `auth`. Without --provider it plays a transcript, "
        "offline, which goes with the default task only.",
    )
    parser.add_argument("request", nargs="?", default=REQUEST, help="what to review")
    parser.add_argument("--background", default=BACKGROUND, help="why")
    parser.add_argument(
        "--file",
        action="append",
        default=[],
        help="a file to review, such as auth/tokens.py; repeatable",
    )
    parser.add_argument(
        "--focus", help="what to look for first, such as 'security' or 'performance'"
    )
    parser.add_argument("--provider", choices=PROVIDERS)
    parser.add_argument(
        "--loopback",
        action="store_true",
        help="play the transcript through the provider's adapter, with a server on loopback",
    )
    parser.add_argument("--model", help="the provider's name of the model")
    parser.add_argument("--base-url", help="another endpoint that speaks the provider's protocol")
    parser.add_argument("--deadline", type=float, default=600.0, help="seconds for everything")
    parser.add_argument("--transcript", type=Path, default=TRANSCRIPT, help="what to play")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write a transcript")
    parser.add_argument(
        "--events", type=Path, metavar="FILE", help="keep events in this SQLite file"
    )
    return parser


def _adapter(options: argparse.Namespace, closing: ExitStack) -> BaseAdapter:
    provider = options.provider or ("openai" if options.base_url else "transcript")
    base_url, api_key = options.base_url, None
    if options.loopback:
        if provider not in loopback.WIRES:
            raise ValueError(f"--loopback needs --provider {', '.join(loopback.WIRES)}")
        played = Transcript.load(options.transcript)
        base_url = closing.enter_context(loopback.serving(provider, played)).url
        api_key = "none"
    if provider == "openai":
        from foldline.prompts.adapters.openai import OpenAIAdapter

        # Compatible endpoints need not know the breakpoints of later models.
        model = options.model or ("gpt-5.6" if options.loopback else "gpt-4o")
        return OpenAIAdapter(model, base_url=base_url, api_key=api_key)
    if provider == "openai-responses":
        from foldline.prompts.adapters.openai_responses import OpenAIResponsesAdapter

        return OpenAIResponsesAdapter(
            options.model or "gpt-5.6", base_url=base_url, api_key=api_key
        )
    if provider == "anthropic":
        from foldline.prompts.adapters.anthropic import AnthropicAdapter

        return AnthropicAdapter(
            options.model or "claude-sonnet-5-5", base_url=base_url, api_key=api_key
        )
    # Who records from a transcript brings it up to date with a prompt that has changed.
    return ScriptedAdapter(
        Transcript.load(options.transcript).relaxed(prompts=options.record is not None)
    )


def _tell_call(event: ToolInvoked) -> None:
    _tell(f"{event.name} {event.params}" + ("" if event.success else f" failed: {event.message}"))


def _tell_usage(event: ModelAnswered) -> None:
    _tell(f"message {event.turn}: {_usage(event.usage)}")


def _usage(usage: TokenUsage) -> str:
    return (
        f"{usage.input:,} tokens, {usage.cached_share:.0%} read from the cache, "
        f"{usage.written:,} written, {usage.fresh:,} neither; billed as {usage.billed():,.0f}"
    )


def _tell_expansion(request: VisibilityExpansionRequired) -> None:
    _tell(f"opened {', '.join(request.section_keys)}: {request.reason}")


def _tell(text: str) -> None:
    print(f"· {text}", file=sys.stderr)


def _text(review: Review) -> str:
    lines = [review.summary]
    for finding in review.findings:
        rule = f" {finding.rule}" if finding.rule else ""
        lines += [
            "",
            f"{finding.path}:{finding.line} [{finding.severity}{rule}]",
            f"  {finding.problem}",
            f"  {finding.remedy}",
        ]
    return "\n".join(lines)
