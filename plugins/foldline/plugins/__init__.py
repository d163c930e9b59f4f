"""Rooms that the house doesn't import: `foldline.ide.plugins` finds them by their entry points."""
