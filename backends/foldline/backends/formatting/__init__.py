"""Answers as text for models and people, and how much of an answer a byte budget holds."""
