"""foldline without an editor: the command line, MCP, and what agents need around it."""
