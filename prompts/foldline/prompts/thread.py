"""The thread of a session: one exchange for each evaluation that gave an answer."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from foldline.prompts.dataclasses import FrozenDataclass

THREAD_LENGTH = 32
"""The most exchanges that a session remembers; the oldest are forgotten first."""


@FrozenDataclass()
class ToolUse:
    """One call of a tool, without its arguments and result."""

    name: str
    success: bool = True


@FrozenDataclass(kw_only=True)
class Exchange:
    """One evaluation: what the user wanted, the tools that the model used, and its answer.

    `goal` is the text of the goal section; empty where the evaluation named none.
    """

    prompt_ns: str
    prompt_key: str
    goal: str = ""
    text: str = ""
    tools: tuple[ToolUse, ...] = ()


@FrozenDataclass()
class Thread:
    """The exchanges of a session, the oldest first."""

    exchanges: tuple[Exchange, ...] = ()

    @property
    def tools(self) -> tuple[ToolUse, ...]:
        """All tool calls of the thread, in their order."""
        return tuple(use for exchange in self.exchanges for use in exchange.tools)


@runtime_checkable
class ThreadSource(Protocol):
    """A session that remembers what was said."""

    def thread(self) -> Thread:
        """The exchanges so far."""
        ...


def add_exchange(thread: Thread, exchange: Exchange) -> Thread:
    """The thread with one more exchange at its end."""
    return Thread((*thread.exchanges, exchange)[-THREAD_LENGTH:])
