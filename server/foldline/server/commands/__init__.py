"""One module for each `foldline.server.*` command.

A module has `COMMAND`, the name; `Arguments`, a dataclass of the one JSON object that the command
takes, in which every field may be left out; and `handle(ls, arguments)`, whose result becomes JSON.
"""
