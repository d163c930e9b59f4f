"""Instruction files in their repository: what clients load of them, and what git says."""
