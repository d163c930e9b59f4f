"""The coverage of an answer: `complete`, or `partial: …` with the reason."""

COMPLETE = "complete"
# Begins the coverage of an answer that has more than its budget can show.
CUT_SHORT = "partial: stopped before"

TEXT_ALONE = "partial: text: "
"""The beginning of a coverage of which all references are known."""
