from foldline.agent.mcp import catalog as catalog
from foldline.agent.mcp import prompt_tools as prompt_tools
from foldline.agent.mcp import prompts as prompts
from foldline.agent.mcp import server as server

__all__ = []
__version__: str
