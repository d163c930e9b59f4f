"""Anthropic's context editing: `clear_tool_uses_20250919`, as far as its page states it.

Source: https://platform.claude.com/docs/en/build-with-claude/context-editing. Once the input passes
`trigger` (100,000 tokens, unless it says something else), the results of the oldest tool uses are
replaced by a short text, except those of the last `keep` (3) uses and of `exclude_tools`, if that
clears at least `clear_at_least` tokens. Each request is judged by itself, as the client sent it.
"""

from collections.abc import Callable

from .prefix import Json, RefusedError, tokens_of

BETA = "context-management-2025-06-27"
CLEARED = "[old tool result cleared]"


def edited(
    request: Json, betas: frozenset[str], measure: Callable[[Json], int]
) -> tuple[Json, list[Json]]:
    """The request as the model reads it, and the edits that were applied.

    Raises:
        RefusedError: The beta isn't asked for.
    """
    management = request.get("context_management")
    if not management:
        return request, []
    if BETA not in betas:
        raise RefusedError("context_management: Extra inputs are not permitted")
    applied: list[Json] = []
    for edit in management.get("edits", ()):
        if edit["type"] == "clear_tool_uses_20250919":
            request, done = _cleared(request, edit, measure)
            applied += done
    return request, applied


def _cleared(request: Json, edit: Json, measure: Callable[[Json], int]) -> tuple[Json, list[Json]]:
    uses = [
        part
        for message in request["messages"]
        if not isinstance(message["content"], str)
        for part in message["content"]
        if part["type"] == "tool_use"
    ]
    trigger = edit.get("trigger") or {"type": "input_tokens", "value": 100_000}
    reached = len(uses) if trigger["type"] == "tool_uses" else measure(request)
    if reached <= trigger["value"]:
        return request, []
    keep = (edit.get("keep") or {"value": 3})["value"]
    excluded = edit.get("exclude_tools") or ()
    old = {use["id"] for use in uses[: max(len(uses) - keep, 0)] if use["name"] not in excluded}
    shorter = {**request, "messages": [_without(message, old) for message in request["messages"]]}
    saved = measure(request) - measure(shorter)
    if not old or saved < ((edit.get("clear_at_least") or {}).get("value") or 0):
        return request, []
    done = {"type": edit["type"], "cleared_tool_uses": len(old), "cleared_input_tokens": saved}
    return shorter, [done]


def _without(message: Json, old: set[str]) -> Json:
    if isinstance(message["content"], str):
        return message
    parts = [
        {**part, "content": CLEARED}
        if part["type"] == "tool_result"
        and part["tool_use_id"] in old
        and tokens_of(str(part.get("content", ""))) > tokens_of(CLEARED)
        else part
        for part in message["content"]
    ]
    return {**message, "content": parts}
