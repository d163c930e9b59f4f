"""The beginning of an evaluation: its prompt against what the conversation has been sent."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from foldline.prompts.layout import OPEN_SECTIONS, READ_SECTION
from foldline.prompts.opening import (
    Opened,
    offering,
    opened_since,
    proxy_name,
    result_of,
    sent_sections,
    stable,
)
from foldline.prompts.roles import Role
from foldline.prompts.runtime.conversation import SentPrompt
from foldline.prompts.visibility import SectionVisibility

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foldline.prompts.opening import Appending
    from foldline.prompts.rendered import RenderedPrompt
    from foldline.prompts.runtime.conversation import Conversation
    from foldline.prompts.visibility import SectionPath

__all__ = ["brings", "continued", "shown"]

OutputT = TypeVar("OutputT")


def continued(
    conversation: Conversation,
    rendered: RenderedPrompt[OutputT],
    render: Callable[[Mapping[SectionPath, SectionVisibility]], RenderedPrompt[OutputT]],
    means: Appending | None,
    *,
    opens: bool,
    appends: bool,
) -> tuple[RenderedPrompt[OutputT], Conversation]:
    """Return the prompt with the tools to offer, and the conversation with all that it shows.

    A conversation that has shown all of it goes on as it is. What is new is appended, if the tools
    of its requests can stay the same. Otherwise its beginning is rendered anew: after that it shows
    what the prompt shows now, and nothing else of the prompt.

    Args:
        conversation: What was said, begun or not.
        rendered: The prompt as it is now.
        render: Renders it with other visibility.
        means: The means of the model to get sections later.
        opens: Offer the tools with which sections can be opened by appending them.
        appends: False if the prompt is to be rendered anew in any case.
    """
    fresh = stable(rendered, means) if opens and means is not None else rendered
    if conversation.begun:
        going_on = _going_on(conversation, rendered, render, means, appends=appends)
        if going_on is not None and (conversation.appends or fresh is rendered):
            return going_on
        opened = conversation.opened
        note = rendered.wording.sections_above
        conversation = replace(conversation.restart(note), opened=opened)
    names = tuple(tool.name for tool in fresh.tools)
    proxy = proxy_name(rendered)
    sent = SentPrompt(
        sent_sections(rendered),
        names,
        tuple(tool.name for tool in fresh.deferred_tools),
        proxy if fresh is not rendered and proxy in names else "",
    )
    return fresh, conversation.begin(fresh.messages, appends=fresh is not rendered, sent=sent)


def brings(found: Opened, sent: SentPrompt, *, called: bool) -> str:
    """Return the reason why the tools of new sections can't be brought; empty if they can.

    Args:
        found: The sections.
        sent: What the conversation has been sent.
        called: True if the sections are the result of a call, which can refer to deferred tools.
    """
    deferred = set(sent.deferred) if called else set[str]()
    missing = [tool.name for tool in found.tools if not sent.proxy and tool.name not in deferred]
    return f"the tool {missing[0]!r} can't be brought" if missing else ""


def _going_on(
    conversation: Conversation,
    rendered: RenderedPrompt[OutputT],
    render: Callable[[Mapping[SectionPath, SectionVisibility]], RenderedPrompt[OutputT]],
    means: Appending | None,
    *,
    appends: bool,
) -> tuple[RenderedPrompt[OutputT], Conversation] | None:
    """Return the two without a change of what was sent; None if that isn't possible."""
    sent = conversation.sent
    now = [tool.name for tool in rendered.tools]
    begun = _begun(conversation, rendered, render)
    offered: RenderedPrompt[OutputT] | None = begun
    if conversation.appends:
        kind = "proxy" if sent.proxy else "deferred" if sent.deferred else ""
        stays = means is not None and kind in ("", means.tools) and sent.proxy not in now
        stays = stays and {OPEN_SECTIONS, READ_SECTION} & {*now} <= {*sent.tools}
        offered = offering(begun, sent.tools, sent.deferred)
    else:
        stays = sent.tools == tuple(now)
    found = opened_since(sent, rendered)
    if not stays or offered is None or isinstance(found, str):
        return None
    if not found.texts and not found.tools:
        return offered, conversation
    if not appends or means is None or brings(found, sent, called=False):
        return None
    text, found = result_of(found, rendered.wording.sections_added, rendered, means)
    conversation = conversation.append([(Role.USER, text), *found.follow], found.paths)
    return offered, shown(conversation, rendered, found)


def shown(
    conversation: Conversation, rendered: RenderedPrompt[object], found: Opened
) -> Conversation:
    """Return the conversation after new sections of a prompt were appended, with their tools."""
    brought = (*conversation.sent.brought, *(tool.name for tool in found.tools))
    sections = sent_sections(rendered)
    return replace(
        conversation, sent=replace(conversation.sent, sections=sections, brought=brought)
    )


def _begun(
    conversation: Conversation,
    rendered: RenderedPrompt[OutputT],
    render: Callable[[Mapping[SectionPath, SectionVisibility]], RenderedPrompt[OutputT]],
) -> RenderedPrompt[OutputT]:
    """Return the prompt as the conversation began with it, for the breakpoints in its beginning.

    If other things than openings have changed since, the prompt as it is now.
    """
    if not conversation.opened:
        return rendered
    begun = render(dict.fromkeys(conversation.opened, SectionVisibility.SUMMARY))
    texts = {turn.text for turn in conversation.turns[: conversation.begun] if turn.role != "tool"}
    return begun if all(message.text in texts for message in begun.messages) else rendered
