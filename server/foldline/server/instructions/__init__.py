"""What LSP features have of Markdown alone: the names in it, and what git says of them."""
