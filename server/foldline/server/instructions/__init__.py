"""What LSP features have of instruction files alone: fold marks, names, and their history."""
