"""The analysis of prompts from their source text alone: it imports and executes nothing of theirs.

Import what you need from its modules. The package itself imports none of them: a thread that loads
the package and one that loads a module of it would wait for each other.
"""
