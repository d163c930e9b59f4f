"""Answers to what an editor asks about prompts: one module for each question."""
