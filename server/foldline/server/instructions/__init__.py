"""LSP features of Markdown alone: the names in it, and their history in git."""
