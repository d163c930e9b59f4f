"""foldline without an editor: the command line, MCP, and what agents need around it.

`code_tools(workspace)` are the tools for code of a Python agent, `agent_prompt(tools)` says how to
use them, and a `Pipeline` answers a question in two calls of a model.
"""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "code_tokens": (),
        "highlight": (),
        "instructions": ("agent_prompt", "agent_template"),
        "pipeline": ("Pipeline", "PipelineResult"),
        "pipeline_prompts": (),
        "preview_page": (),
        "reading_steps": (),
        "scan": (),
        "token_baseline": (),
        "token_counts": (),
        "tools": ("code_tools",),
        "tour_steps": (),
        "watching": (),
    },
)
