"""Outlines from syntax trees, one module a family of languages."""
