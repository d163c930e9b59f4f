"""foldline for agents, over the Model Context Protocol: `foldline mcp`.

`server` handles the protocol's requests with one call of the core each: `operations` reads code
with `foldline.ide.operations`, `prompts` lists the prompts that `foldline.ide.analysis` finds and
renders them in the worker of `foldline.ide.render`. `roots` has the folders that the client lets us
read.
"""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__, {"catalog": (), "prompt_tools": (), "prompts": (), "server": ()}
)
