"""Syntax trees lowered to the small syntax that is evaluated."""
