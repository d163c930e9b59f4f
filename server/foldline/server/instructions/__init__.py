"""LSP features of instruction files, a module for each method, as `features` has for prompts."""
