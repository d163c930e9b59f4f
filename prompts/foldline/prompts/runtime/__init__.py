"""The parts of an evaluation besides the prompt: events, a session, tool dispatch, the loop.

Nothing here talks to a provider: `foldline.prompts.adapters` does.
"""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        ".adapters.disclosure": (
            "aevaluate_with_disclosure",
            "evaluate_with_disclosure",
            "stream_with_disclosure",
        ),
        ".adapters.streaming": ("EvaluationStream", "StreamEvent", "TextDelta"),
        ".bus": (
            "EventBus",
            "InProcessEventBus",
            "PublishResult",
            "SubscriberFailure",
            "Subscription",
        ),
        ".disclosure.sent": ("SentPrompt", "SentSection"),
        ".thread": ("Exchange", "Thread", "ToolUse"),
        "bounded": ("Cancellation",),
        "conversation": (
            "AssistantTurn",
            "CallMade",
            "Conversation",
            "DeveloperTurn",
            "File",
            "Image",
            "SystemTurn",
            "ToolAnswer",
            "ToolTurn",
            "Turn",
            "UserTurn",
        ),
        "dispatch": ("ToolCall", "ToolOutcome", "dispatch_tool_calls", "tool_text"),
        "events": (
            "ContextReplaced",
            "Event",
            "ModelAnswered",
            "ModelFailed",
            "PromptExecuted",
            "PromptRendered",
            "PromptStopped",
            "RequestSent",
            "SectionsOpened",
            "ToolInvoked",
        ),
        "options": ("EvaluationKeywords", "EvaluationOptions"),
        "redaction": ("Redact", "Redaction"),
        "response": ("Expansion", "PromptResponse", "TokenUsage"),
        "session": (
            "ClearVisibilityOverride",
            "Reducer",
            "Session",
            "SessionSnapshot",
            "SetVisibilityOverride",
            "Slice",
            "VisibilityOverrides",
        ),
    },
)
