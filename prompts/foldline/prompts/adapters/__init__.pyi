from foldline.prompts.adapters.base import BaseAdapter, render_for_evaluation
from foldline.prompts.adapters.protocol import (
    Evaluable,
    ModelExchange,
    ModelTurn,
    ProviderAdapter,
    report_request,
)
from foldline.prompts.adapters.schemas import (
    ToolDefinition,
    anthropic_tools,
    openai_responses_tools,
    openai_tools,
    output_schema,
)
from foldline.prompts.adapters.scripted import RecordingAdapter, ScriptedAdapter
from foldline.prompts.adapters.toolset import PromptToolset
from foldline.prompts.adapters.transcript import (
    Exchange,
    PromptSeen,
    ScriptedCall,
    ScriptedTurn,
    Transcript,
)
from foldline.prompts.disclosure.opening import Appending

__all__ = [
    "Appending",
    "BaseAdapter",
    "Evaluable",
    "Exchange",
    "ModelExchange",
    "ModelTurn",
    "PromptSeen",
    "PromptToolset",
    "ProviderAdapter",
    "RecordingAdapter",
    "ScriptedAdapter",
    "ScriptedCall",
    "ScriptedTurn",
    "ToolDefinition",
    "Transcript",
    "anthropic_tools",
    "openai_responses_tools",
    "openai_tools",
    "output_schema",
    "render_for_evaluation",
    "report_request",
]
__version__: str
