"""The files that a question is about, best first: one ranking for every operation that searches."""
