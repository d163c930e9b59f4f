"""One module for each LSP method: `METHOD`, `OPTIONS`, and `handle(ls, params)`.

The code that computes an answer is imported inside the query, which runs in a thread: editors wait
for `initialize`, which needs none of it. `warm_up` loads it right after.
"""
