"""Previews: what a user looks at, step by step."""
