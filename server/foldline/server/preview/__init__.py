"""Rendering prompts by running them, in the user's interpreter and never in the server.

`interpreter` finds the Python, `renderer` starts `worker` in it by its path, and the worker forks
the process that imports the user's module and watches over it. `prompts` asks for what a command
needs; `hub` keeps the previews that somebody looks at up to date.
"""
