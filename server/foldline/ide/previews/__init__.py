"""Previews: what a user looks at, step by step."""

from foldline.lazy import exports

__all__, __getattr__, __dir__ = exports(__name__, {"previews": ("Previews",)})
