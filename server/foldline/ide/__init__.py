"""What every shell asks: the core that knows neither LSP nor MCP nor the command line."""
