"""One module for each LSP method: `METHOD`, `OPTIONS`, and `handle(ls, params)`.

What answers a question is imported in the question, which a thread asks: an editor waits for the
answer to `initialize`, and that needs none of it. `warm_up` loads it right after.
"""
