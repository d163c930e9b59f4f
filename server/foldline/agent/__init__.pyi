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
