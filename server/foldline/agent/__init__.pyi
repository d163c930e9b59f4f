from foldline.agent import code_tokens as code_tokens
from foldline.agent import highlight as highlight
from foldline.agent import pipeline_prompts as pipeline_prompts
from foldline.agent import preview_page as preview_page
from foldline.agent import reading_steps as reading_steps
from foldline.agent import scan as scan
from foldline.agent import token_baseline as token_baseline
from foldline.agent import token_counts as token_counts
from foldline.agent import tour_steps as tour_steps
from foldline.agent import watching as watching
from foldline.agent.instructions import agent_prompt, agent_template
from foldline.agent.pipeline import Pipeline, PipelineResult
from foldline.agent.tools import code_tools

__all__ = [
    "Pipeline",
    "PipelineResult",
    "agent_prompt",
    "agent_template",
    "code_tools",
]
__version__: str
