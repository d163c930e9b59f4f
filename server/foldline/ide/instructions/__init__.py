"""Instruction files: the Markdown that agents read before they work in a repository."""
