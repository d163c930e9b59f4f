"""foldline without an editor: the command line, MCP, and what agents need around it.

`code_tools(workspace)` are the tools for code of a Python agent, `agent_prompt(tools)` says how to
use them, and a `Pipeline` answers a question in two calls of a model.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from foldline.agent.instructions import agent_prompt, agent_template
    from foldline.agent.pipeline import Pipeline, PipelineResult
    from foldline.agent.tools import code_tools

__all__ = ["Pipeline", "PipelineResult", "agent_prompt", "agent_template", "code_tools"]

_LATER = {
    "instructions": ("agent_prompt", "agent_template"),
    "pipeline": ("Pipeline", "PipelineResult"),
    "tools": ("code_tools",),
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        from foldline.backends.references.exports import load

        return load(__name__, _LATER, name)
