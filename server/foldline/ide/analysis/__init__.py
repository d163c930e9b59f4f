"""Static analysis of prompts: reads their source, and never imports or executes it.

Import what you need from its modules. The package itself imports none of them: a thread that loads
the package and one that loads a module of it would deadlock.
"""
