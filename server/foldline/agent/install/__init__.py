"""`foldline install`: writes foldline into the configuration of an agent, or removes it.

`clients` says where each client looks and what it expects, as data; `jsonc` and `toml` change one
value of a text and keep the rest of it; `files` reads and replaces the file; `verb` is the command.
"""
