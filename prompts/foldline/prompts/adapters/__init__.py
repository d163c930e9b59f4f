"""Adapters, which evaluate prompts with a provider's model.

`foldline.prompts.adapters.anthropic` needs the extra `anthropic`, and
`foldline.prompts.adapters.openai` and `foldline.prompts.adapters.openai_responses` need the extra
`openai`; the names exported here need no extra.
"""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        ".disclosure.opening": ("Appending",),
        "base": ("BaseAdapter", "render_for_evaluation"),
        "protocol": (
            "Evaluable",
            "ModelExchange",
            "ModelTurn",
            "ProviderAdapter",
            "report_request",
        ),
        "schemas": (
            "ToolDefinition",
            "anthropic_tools",
            "openai_responses_tools",
            "openai_tools",
            "output_schema",
        ),
        "scripted": ("RecordingAdapter", "ScriptedAdapter"),
        "toolset": ("PromptToolset",),
        "transcript": ("Exchange", "PromptSeen", "ScriptedCall", "ScriptedTurn", "Transcript"),
    },
)
