"""Adopting prompts: strings, f-strings, templates and messages become prompt modules."""
