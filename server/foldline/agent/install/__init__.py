"""`foldline install`: writes foldline into the configuration of an agent, or removes it.

`jsonc` and `toml` change one entry of a text and keep the rest; `files` reads and replaces the
file; `verb` is the command.
"""
