"""One module for each LSP method: `METHOD`, `OPTIONS`, and `handle(ls, params)`."""
