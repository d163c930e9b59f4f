"""How far an answer can be relied on."""

COMPLETE = "complete"
# Begins the coverage of an answer that has more than its budget can show.
CUT_SHORT = "partial: stopped before"
