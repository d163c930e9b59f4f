"""The core behind every shell; it knows neither LSP nor MCP nor the command line."""
