"""Sources of prompts: Python, whose code makes them, and Markdown, which is one."""
