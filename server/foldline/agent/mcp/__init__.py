"""foldline for agents, over the Model Context Protocol: `foldline mcp`.

`server` answers the protocol's requests, each by one call of the core: `tools` read code through
`foldline.backends`, `prompts` lists what `foldline.ide.analysis` finds and renders it in the
worker of `foldline.ide.render`. `roots` knows which folders the client lets us read.
"""
