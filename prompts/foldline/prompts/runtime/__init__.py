"""The parts of an evaluation besides the prompt: events, a session, tool dispatch, the loop.

Nothing here talks to a provider: `foldline.prompts.adapters` does.
"""

from foldline.prompts.runtime.bounded import Cancellation
from foldline.prompts.runtime.conversation import (
    AssistantTurn,
    CallMade,
    Conversation,
    DeveloperTurn,
    File,
    Image,
    SentPrompt,
    SentSection,
    SystemTurn,
    ToolAnswer,
    ToolTurn,
    Turn,
    UserTurn,
)
from foldline.prompts.runtime.disclosure import evaluate_with_disclosure
from foldline.prompts.runtime.dispatch import (
    ToolCall,
    ToolOutcome,
    dispatch_tool_calls,
    tool_text,
)
from foldline.prompts.runtime.events import (
    ContextCleared,
    ContextReplaced,
    Event,
    EventBus,
    InProcessEventBus,
    ModelAnswered,
    ModelFailed,
    PromptExecuted,
    PromptRendered,
    PromptStopped,
    PublishResult,
    SectionsOpened,
    SubscriberFailure,
    Subscription,
    ToolInvoked,
)
from foldline.prompts.runtime.overrides import (
    ClearVisibilityOverride,
    SetVisibilityOverride,
    VisibilityOverrides,
)
from foldline.prompts.runtime.response import Expansion, PromptResponse
from foldline.prompts.runtime.session import Reducer, Session, SessionSnapshot, Slice
from foldline.prompts.runtime.store import EventStore, SectionOpening, StoredEvent
from foldline.prompts.runtime.usage import TokenUsage
from foldline.prompts.thread import Exchange, Thread, ToolUse

__all__ = [
    "AssistantTurn",
    "CallMade",
    "Cancellation",
    "ClearVisibilityOverride",
    "ContextCleared",
    "ContextReplaced",
    "Conversation",
    "DeveloperTurn",
    "Event",
    "EventBus",
    "EventStore",
    "Exchange",
    "Expansion",
    "File",
    "Image",
    "InProcessEventBus",
    "ModelAnswered",
    "ModelFailed",
    "PromptExecuted",
    "PromptRendered",
    "PromptResponse",
    "PromptStopped",
    "PublishResult",
    "Reducer",
    "SectionOpening",
    "SectionsOpened",
    "SentPrompt",
    "SentSection",
    "Session",
    "SessionSnapshot",
    "SetVisibilityOverride",
    "Slice",
    "StoredEvent",
    "SubscriberFailure",
    "Subscription",
    "SystemTurn",
    "Thread",
    "TokenUsage",
    "ToolAnswer",
    "ToolCall",
    "ToolInvoked",
    "ToolOutcome",
    "ToolTurn",
    "ToolUse",
    "Turn",
    "UserTurn",
    "VisibilityOverrides",
    "dispatch_tool_calls",
    "evaluate_with_disclosure",
    "tool_text",
]
