"""Adapters without a provider: one plays a transcript, the other records one."""

from __future__ import annotations

import difflib
import itertools
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, Unpack

from foldline.prompts.adapters import transcript
from foldline.prompts.adapters.base import DEFAULT_MAX_TURNS, BaseAdapter
from foldline.prompts.adapters.protocol import Bounds, ModelExchange, ModelTurn
from foldline.prompts.disclosure.opening import Appending
from foldline.prompts.errors import EvaluationFailure, PromptEvaluationError
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.runtime.conversation import Conversation, DeveloperTurn, SystemTurn
from foldline.prompts.runtime.dispatch import ToolOutcome, tool_text

__all__ = ["RecordingAdapter", "Responder", "ScriptedAdapter"]

Responder: TypeAlias = Callable[
    [RenderedPrompt[object], Sequence[Sequence[ToolOutcome]]],
    ModelTurn | transcript.ScriptedTurn | str,
]
"""Replaces a model: returns the next turn for the prompt and the outcomes of all turns so far."""

DIFF_LINES = 40
_PIECE = re.compile(r"\s*\S+\s*|\s+")


class ScriptedAdapter(BaseAdapter):
    """Answers from a transcript or with a function, for tests and demos without a network.

    >>> from foldline.prompts import MarkdownSection, PromptTemplate
    >>> from foldline.prompts.adapters import ScriptedTurn, Transcript
    >>> template = PromptTemplate(
    ...     ns="demo",
    ...     key="hello",
    ...     sections=[MarkdownSection[None](title="Hi", key="hi", template="Say hello.")],
    ... )
    >>> adapter = ScriptedAdapter(Transcript.of([ScriptedTurn("Hello!")]))
    >>> adapter.evaluate(template).text
    'Hello!'

    Each evaluation plays the next exchange. If the transcript has the prompt, tools and results
    that it was recorded with, an evaluation that differs from them fails, and the error says where;
    so does an evaluation after the last exchange. Everything else works as with a provider: tools
    run, events are published, outputs are parsed.

    Args:
        script: The transcript, or a function that answers.
        max_turns: See `BaseAdapter`, also for `max_concurrency`.
        appending: The means to open sections without rendering the prompt anew; by default, those
            of the recorded adapter, and none for a function.
    """

    provider = "scripted"

    def __init__(
        self,
        script: transcript.Transcript | Responder,
        *,
        max_turns: int = DEFAULT_MAX_TURNS,
        appending: Appending | None = None,
        max_concurrency: int | None = None,
    ) -> None:
        super().__init__(max_turns=max_turns, max_concurrency=max_concurrency)
        self._script = script
        self._appending = script.appending if isinstance(script, transcript.Transcript) else None
        if appending is not None:
            self._appending = appending
        self._lock = threading.Lock()
        self._next = 0

    @property
    def appending(self) -> Appending | None:
        """The means to open sections without rendering the prompt anew."""
        return self._appending

    @property
    def remaining(self) -> int:
        """The number of exchanges that haven't been played; 0 for a function."""
        if not isinstance(self._script, transcript.Transcript):
            return 0
        return len(self._script.exchanges) - self._next

    def converse(
        self, rendered: RenderedPrompt[object], conversation: Conversation
    ) -> ModelExchange:
        """Return the next exchange, or a conversation with the function."""
        script = self._script
        if not isinstance(script, transcript.Transcript):
            return _Answering(script, rendered)
        with self._lock:
            number = self._next
            self._next += 1
        if number >= len(script.exchanges):
            raise _mismatch(
                f"The transcript holds {len(script.exchanges)} evaluations; this is one more."
            )
        return _Playing(script.exchanges[number], number + 1, rendered)


class RecordingAdapter(BaseAdapter):
    """Evaluates with another adapter and records the conversation.

    `recording.transcript.save(path)` writes a file that a `ScriptedAdapter` can play. It has the
    prompt, the model's messages and the tools' results, verbatim.
    """

    def __init__(self, adapter: BaseAdapter) -> None:
        super().__init__(max_turns=adapter.max_turns, max_concurrency=adapter.max_concurrency)
        self.provider = adapter.provider
        self._adapter = adapter
        self._lock = threading.Lock()
        self._recorded: list[_Recorded] = []

    @property
    def transcript(self) -> transcript.Transcript:
        """The transcript so far."""
        with self._lock:
            recorded = list(self._recorded)
        return transcript.Transcript(
            tuple(transcript.Exchange(tuple(r.turns), r.prompt) for r in recorded if r.turns),
            provider=self.provider,
            appending=self.appending,
        )

    @property
    def appending(self) -> Appending | None:
        """The means of the other adapter."""
        return self._adapter.appending

    def converse(
        self, rendered: RenderedPrompt[object], conversation: Conversation
    ) -> ModelExchange:
        """Return the other adapter's conversation, recorded."""
        recorded = _Recorded(_seen(rendered))
        with self._lock:
            self._recorded.append(recorded)
        return _Listening(self._adapter.converse(rendered, conversation), recorded)


@dataclass(slots=True)
class _Recorded:
    prompt: transcript.PromptSeen
    turns: list[transcript.ScriptedTurn] = field(default_factory=list)


class _Listening:
    def __init__(self, inner: ModelExchange, recorded: _Recorded) -> None:
        self._inner = inner
        self._recorded = recorded

    def ask(self, **bounds: Unpack[Bounds]) -> ModelTurn:
        turn = self._inner.ask(**bounds)
        self._recorded.turns.append(
            transcript.ScriptedTurn(
                text=turn.text,
                tool_calls=tuple(
                    transcript.ScriptedCall(
                        call.name,
                        call.arguments if isinstance(call.arguments, str) else dict(call.arguments),
                        call.id,
                    )
                    for call in turn.tool_calls
                ),
                usage=turn.usage,
                model=turn.model,
            )
        )
        return turn

    def tell(self, outcomes: Sequence[ToolOutcome]) -> None:
        turns = self._recorded.turns
        turns[-1] = replace(turns[-1], results=tuple(tool_text(o.result) for o in outcomes))
        self._inner.tell(outcomes)

    def add(self, turn: SystemTurn | DeveloperTurn) -> None:
        self._inner.add(turn)

    def revise(self, texts: Mapping[int, str]) -> None:
        self._inner.revise(texts)


class _Playing:
    def __init__(
        self, exchange: transcript.Exchange, number: int, rendered: RenderedPrompt[object]
    ) -> None:
        self._turns = exchange.turns
        self._number = number
        self._played = 0
        if exchange.prompt is not None:
            self._compare_prompt(exchange.prompt, _seen(rendered))

    def ask(self, **bounds: Unpack[Bounds]) -> ModelTurn:
        if self._played == len(self._turns):
            raise _mismatch(
                f"Evaluation {self._number} of the transcript ends after {self._played} messages, "
                "but the last one called tools and the model is asked again."
            )
        turn = self._turns[self._played].message(self._played + 1)
        self._played += 1
        _stream(turn.text, bounds["on_text"])
        return turn

    def tell(self, outcomes: Sequence[ToolOutcome]) -> None:
        expected = self._turns[self._played - 1].results
        if expected is None:
            return
        told = [tool_text(outcome.result) for outcome in outcomes]
        for outcome, was, now in zip(outcomes, expected, told, strict=False):
            if was != now:
                raise _mismatch(
                    f"In evaluation {self._number}, message {self._played}, the tool "
                    f"{outcome.call.name!r} returns something else than in the transcript:\n"
                    + _difference(was, now)
                )
        if len(expected) != len(told):
            raise _mismatch(
                f"In evaluation {self._number}, message {self._played}, the transcript has "
                f"{len(expected)} results for {len(told)} tool calls."
            )

    def add(self, turn: SystemTurn | DeveloperTurn) -> None:
        """Do nothing, as in `revise`."""

    def revise(self, texts: Mapping[int, str]) -> None:
        """Do nothing: the next message of a transcript doesn't depend on it."""

    def _compare_prompt(self, expected: transcript.PromptSeen, seen: transcript.PromptSeen) -> None:
        if expected.tools != seen.tools:
            raise _mismatch(
                f"Evaluation {self._number} of the transcript offers the tools "
                f"{', '.join(expected.tools) or 'none'}; the prompt now offers "
                f"{', '.join(seen.tools) or 'none'}."
            )
        if expected.text != seen.text:
            raise _mismatch(
                f"The prompt of evaluation {self._number} is not the one in the transcript; "
                "record it again if that is right:\n" + _difference(expected.text, seen.text)
            )


class _Answering:
    def __init__(self, respond: Responder, rendered: RenderedPrompt[object]) -> None:
        self._respond = respond
        self._rendered = rendered
        self._history: list[Sequence[ToolOutcome]] = []

    def ask(self, **bounds: Unpack[Bounds]) -> ModelTurn:
        answer = self._respond(self._rendered, tuple(self._history))
        if isinstance(answer, str):
            turn = ModelTurn(answer)
        elif isinstance(answer, transcript.ScriptedTurn):
            turn = answer.message(len(self._history) + 1)
        else:
            turn = answer
        _stream(turn.text, bounds["on_text"])
        return turn

    def tell(self, outcomes: Sequence[ToolOutcome]) -> None:
        self._history.append(tuple(outcomes))

    def add(self, turn: SystemTurn | DeveloperTurn) -> None:
        """Do nothing: the outcomes have the text, too."""

    def revise(self, texts: Mapping[int, str]) -> None:
        numbers = itertools.count()
        self._history = [
            tuple(_revised(outcome, texts.get(next(numbers))) for outcome in outcomes)
            for outcomes in self._history
        ]


def _revised(outcome: ToolOutcome, text: str | None) -> ToolOutcome:
    if text is None:
        return outcome
    return replace(outcome, result=replace(outcome.result, message=text, value=None))


def _seen(rendered: RenderedPrompt[object]) -> transcript.PromptSeen:
    return transcript.PromptSeen(rendered.text, tuple(tool.name for tool in rendered.tools))


def _stream(text: str, on_text: Callable[[str], object] | None) -> None:
    if on_text is not None:
        for piece in _PIECE.findall(text):
            on_text(piece)


def _difference(expected: str, found: str) -> str:
    lines = list(
        difflib.unified_diff(
            expected.splitlines(), found.splitlines(), "transcript", "now", lineterm="", n=1
        )
    )
    if len(lines) > DIFF_LINES:
        lines[DIFF_LINES:] = [f"… {len(lines) - DIFF_LINES} more lines"]
    return "\n".join(lines)


def _mismatch(message: str) -> PromptEvaluationError:
    return PromptEvaluationError(message, kind=EvaluationFailure.SCRIPT, provider="scripted")
