"""The state of a preview, as clients are sent it."""

# ruff: noqa: N815  # Names on the wire, and types that structuring looks up.

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from foldline.backends.errors import BackendError
from foldline.ide.errors import IdeError, data_of
from foldline.ide.render import render
from foldline.records import record


@record
class Stale:
    """Why the blocks of a preview aren't executed ones of the newest text."""

    kind: str
    message: str
    file: str | None
    line: int | None
    interpreter: str | None = None
    """The one that failed to execute it."""

    @classmethod
    def of(cls, error: IdeError | BackendError) -> Stale:
        """An error, for the user of a preview."""
        data = data_of(error)
        file, line, interpreter = (data.get(name) for name in ("file", "line", "interpreter"))
        return cls(
            str(data["kind"]),
            str(error),
            file if isinstance(file, str) else None,
            line if isinstance(line, int) else None,
            interpreter if isinstance(interpreter, str) else None,
        )


@record
class Spent:
    """A section's part of a budget, or that of the tools or the output's schema."""

    key: str
    used: int


@record
class Budget:
    """A limit and the cost of a request, in `tokens` or `bytes`, with the dearest sections.

    Attributes:
        words: `4,255 of 3,000 tokens (1,255 over)`.
    """

    limit: int
    unit: str
    used: int
    over: int
    words: str
    largest: tuple[Spent, ...]


@record(kw_only=True)
class PreviewState:
    """A preview as a client shows it.

    Attributes:
        order: The ids of all blocks.
        chapters_shown: Which chapters are open, in words.
        blocks: Those that the client hasn't seen as they are now.
        kept: What a provider's cache keeps of the version before.
        cache: The part that a provider's cache can keep, `CachePlan.to_json`.
        steps: How many steps there are, the first of which can't be undone.
        milliseconds: How long the last execution took; None before there was one.
    """

    sessionId: str
    uri: str
    name: str | None
    version: int
    documentVersion: int | None
    fidelity: str
    order: tuple[str, ...]
    blocks: tuple[render.Block, ...]
    tools: tuple[render.RenderedTool, ...]
    tokens: render.Tokens | None
    output: render.Output | None
    descriptor: render.Descriptor | None
    fits: tuple[str, ...]
    kept: render.Kept | None
    cache: Mapping[str, Any] | None
    params: Mapping[str, Mapping[str, Any]]
    parameter_set: str | None
    parameter_sets: tuple[render.ParameterSet, ...]
    parameters: tuple[render.Parameters, ...]
    chapters: tuple[render.Chapter, ...]
    chapters_shown: str
    budget: Budget | None
    generated: tuple[str, ...]
    effects: tuple[render.Effect, ...]
    interpreter: render.UsedInterpreter | None
    steps: int
    milliseconds: int | None
    stale: Stale | None


@record(kw_only=True)
class Step:
    """A step that undo goes back through; its `chapters` are None where all are open."""

    action: str
    section_keys: tuple[str, ...]
    reason: str | None
    params: Mapping[str, Mapping[str, Any]]
    parameter_set: str | None
    chapters: tuple[str, ...] | None
    budget: int | None
    overrides: Mapping[str, str]
    version: int


@record
class Steps:
    """The steps of a preview, and the versions that can be compared."""

    sessionId: str
    steps: tuple[Step, ...]
    versions: tuple[int, ...]
