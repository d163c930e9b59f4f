"""Answers to editors' queries about prompts: one module for each query."""
