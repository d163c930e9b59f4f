from foldline.prompts.adapters.disclosure import (
    aevaluate_with_disclosure,
    evaluate_with_disclosure,
    stream_with_disclosure,
)
from foldline.prompts.adapters.streaming import EvaluationStream, StreamEvent, TextDelta
from foldline.prompts.bus import (
    EventBus,
    InProcessEventBus,
    PublishResult,
    SubscriberFailure,
    Subscription,
)
from foldline.prompts.disclosure.sent import SentPrompt, SentSection
from foldline.prompts.runtime.bounded import Cancellation
from foldline.prompts.runtime.conversation import (
    AssistantTurn,
    CallMade,
    Conversation,
    DeveloperTurn,
    File,
    Image,
    SystemTurn,
    ToolAnswer,
    ToolTurn,
    Turn,
    UserTurn,
)
from foldline.prompts.runtime.dispatch import ToolCall, ToolOutcome, dispatch_tool_calls, tool_text
from foldline.prompts.runtime.events import (
    ContextReplaced,
    Event,
    ModelAnswered,
    ModelFailed,
    PromptExecuted,
    PromptRendered,
    PromptStopped,
    RequestSent,
    SectionsOpened,
    ToolInvoked,
)
from foldline.prompts.runtime.options import EvaluationKeywords, EvaluationOptions
from foldline.prompts.runtime.redaction import Redact, Redaction
from foldline.prompts.runtime.response import Expansion, PromptResponse, TokenUsage
from foldline.prompts.runtime.session import (
    ClearVisibilityOverride,
    Reducer,
    Session,
    SessionSnapshot,
    SetVisibilityOverride,
    Slice,
    VisibilityOverrides,
)
from foldline.prompts.thread import Exchange, Thread, ToolUse

__all__ = [
    "AssistantTurn",
    "CallMade",
    "Cancellation",
    "ClearVisibilityOverride",
    "ContextReplaced",
    "Conversation",
    "DeveloperTurn",
    "EvaluationKeywords",
    "EvaluationOptions",
    "EvaluationStream",
    "Event",
    "EventBus",
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
    "Redact",
    "Redaction",
    "Reducer",
    "RequestSent",
    "SectionsOpened",
    "SentPrompt",
    "SentSection",
    "Session",
    "SessionSnapshot",
    "SetVisibilityOverride",
    "Slice",
    "StreamEvent",
    "SubscriberFailure",
    "Subscription",
    "SystemTurn",
    "TextDelta",
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
    "aevaluate_with_disclosure",
    "dispatch_tool_calls",
    "evaluate_with_disclosure",
    "stream_with_disclosure",
    "tool_text",
]
__version__: str
