"""The beginning of an evaluation: its prompt against what the conversation has been sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from foldline.prompts.adapters.context import label_of
from foldline.prompts.context import READ_RESULT
from foldline.prompts.disclosure.opening import (
    Appending,
    Opened,
    definitions,
    offering,
    opened_since,
    proxy_name,
    result_of,
    sent_sections,
    stable,
)
from foldline.prompts.disclosure.sent import SentPrompt
from foldline.prompts.layout.layout import OPEN_SECTIONS, READ_SECTION
from foldline.prompts.rendered import RenderedPrompt
from foldline.prompts.roles import Role
from foldline.prompts.runtime.conversation import (
    AssistantTurn,
    Conversation,
    DeveloperTurn,
    SystemTurn,
    ToolTurn,
    shows,
)
from foldline.prompts.visibility import SectionPath, SectionVisibility

# A provider's cache ends at the first byte that differs. So what was sent is never rendered again:
# its sections are known by digests (`SentPrompt`), and compared before anything is decided. Each
# doubt (a text, an order, a tool or a definition that changed) leads to a fresh beginning, which
# costs the cache and is always right.

OutputT = TypeVar("OutputT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning(Generic[OutputT]):
    """A prompt at the beginning of an evaluation.

    Attributes:
        rendered: The prompt as it is now.
        prompt: Its namespace and key.
        render: Renders it with other visibility.
        means: The means of the model to get sections later.
        opens: Offer the tools with which sections can be opened by appending them.
        appends: False if the prompt is to be rendered anew in any case.
        handles: True if the requests have the tool `read_result`.
    """

    rendered: RenderedPrompt[OutputT]
    prompt: str
    render: Callable[[Mapping[SectionPath, SectionVisibility]], RenderedPrompt[OutputT]]
    means: Appending | None
    opens: bool
    appends: bool
    handles: bool

    def continued(self, conversation: Conversation) -> tuple[RenderedPrompt[OutputT], Conversation]:
        """Return the prompt with the tools to offer, and the conversation with all that it shows.

        A conversation that has shown all of it goes on as it is. What is new is appended, if the
        tools of its requests can stay the same. Otherwise its beginning is rendered anew: after
        that it shows what the prompt shows now, and nothing else of the prompt.
        """
        if conversation.begun:
            going_on = self._going_on(conversation)
            if going_on is not None:
                return going_on
        rendered, means = self.rendered, self.means
        fresh = stable(rendered, means) if self.opens and means is not None else rendered
        names = tuple(tool.name for tool in fresh.tools)
        deferred = tuple(tool.name for tool in fresh.deferred_tools)
        proxy = proxy_name(rendered)
        sent = SentPrompt(
            sent_sections(rendered),
            self.prompt,
            (*names, READ_RESULT) if self.handles else names,
            deferred,
            proxy if fresh is not rendered and proxy in names else "",
            definitions=definitions(rendered, (*names, *deferred)),
        )
        blocks = rendered.blocks
        opened = conversation.opened
        if conversation.begun or conversation.shows:
            conversation = conversation.restart(
                rendered.wording.sections_above, self._unreadable(conversation)
            )
        conversation = conversation.begin(
            fresh.messages,
            appends=fresh is not rendered,
            sent=sent,
            sections=[
                tuple(blocks[n].path for n in message.blocks if blocks[n].enabled) or ((),)
                for message in fresh.messages
            ],
        )
        return fresh, replace(conversation, opened=opened)

    def _unreadable(self, conversation: Conversation) -> set[str]:
        """Return the ids of the calls that read sections which the prompt doesn't have any more."""
        keys = {block.dotted_key for block in self.rendered.blocks if block.enabled}
        calls = (c for t in conversation.turns if isinstance(t, AssistantTurn) for c in t.calls)
        return {
            call.id
            for call in calls
            if call.name == READ_SECTION
            and not any(f"{label_of(call)}.".startswith(f"{key}.") for key in keys)
        }

    def _going_on(
        self, conversation: Conversation
    ) -> tuple[RenderedPrompt[OutputT], Conversation] | None:
        """Return the two without a change of what was sent; None if that isn't possible."""
        sent, rendered, means = conversation.sent, self.rendered, self.means
        openings = opened_since(sent, rendered)
        if isinstance(openings, str) or not self._stays(conversation):
            return None
        # As it began, for the breakpoints; the summaries that were sent may have changed, too.
        later = {path for turn in conversation.turns[conversation.begun :] for path in shows(turn)}
        before = self._folded({*openings.folded, *(p for p in conversation.opened if p in later)})
        if before is None:
            return None
        summaries = {
            section for section in sent_sections(before) if section.path in openings.folded
        }
        first = conversation.turns[: conversation.begun]
        texts = {turn.text for turn in first if not isinstance(turn, ToolTurn)}
        begun = before if all(m.text in texts for m in before.messages) else rendered
        names = [name for name in sent.tools if name != READ_RESULT]
        offered = offering(begun, names, sent.deferred, appends=conversation.appends)
        if offered is None or not summaries <= set(sent.sections):
            return None
        if not openings.texts and not openings.tools:
            return offered, conversation
        if not self.appends or means is None or brings(openings, sent, called=False):
            return None
        text, openings = result_of(openings, rendered.wording.sections_added, rendered, means)
        conversation = conversation.append([(Role.USER, text), *openings.follow], openings.paths)
        return offered, shown(conversation, rendered, openings)

    def _stays(self, conversation: Conversation) -> bool:
        """Return True if the requests can have the same tools, and show what they showed."""
        sent, means = conversation.sent, self.means
        tools = {tool.name for tool in self.rendered.tools}
        disclosing = tools & {OPEN_SECTIONS, READ_SECTION}
        own_tools = {*sent.tools} - {OPEN_SECTIONS, READ_SECTION, READ_RESULT}
        if conversation.appends:
            kind = "proxy" if sent.proxy else "deferred" if sent.deferred else ""
            reached = means is not None and kind in ("", means.tools) and sent.proxy not in tools
        else:
            reached = tools - disclosing == own_tools
        later = conversation.turns[conversation.begun :]
        instructed = any(isinstance(t, (SystemTurn, DeveloperTurn)) and t.sections for t in later)
        return (
            reached
            and bool(sent.sections)
            # Turns may have been dropped since.
            and {section.path for section in sent.sections} <= conversation.shows
            and sent.definitions.items() >= definitions(self.rendered, sent.definitions).items()
            and (READ_RESULT in sent.tools) == self.handles
            and disclosing <= {*sent.tools}
            and (not instructed or (means is not None and means.system))
        )

    def _folded(self, paths: Iterable[SectionPath]) -> RenderedPrompt[OutputT] | None:
        """Return the prompt with the summaries of these sections; None if one has none any more."""
        sections = self.rendered._sections  # noqa: SLF001 - Those that aren't shown, too.
        folded = [path for path in paths if path in sections]
        if not all(sections[path].section.has_summary for path in folded):
            return None
        if not folded:
            return self.rendered
        return self.render(dict.fromkeys(folded, SectionVisibility.SUMMARY))


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


def shown(
    conversation: Conversation, rendered: RenderedPrompt[object], found: Opened
) -> Conversation:
    """Return the conversation after new sections of a prompt were appended, with their tools."""
    sent = conversation.sent
    names = tuple(tool.name for tool in found.tools)
    return replace(
        conversation,
        sent=replace(
            sent,
            sections=sent_sections(rendered),
            brought=(*sent.brought, *names),
            definitions=sent.definitions | definitions(rendered, names),
        ),
    )
