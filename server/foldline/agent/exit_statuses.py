"""The exit statuses of every verb."""

FOUND = 0
NOTHING = 1
REFUSED = 2
FAULT = 3
INTERRUPTED = 130
CLOSED = 141

STATUSES = {
    FOUND: "Done: there is an answer, and nothing is wrong.",
    NOTHING: "Done, and nothing was found; or problems were found, as by `check`, by `diagnostics` "
    "and in a prompt that `preview` runs.",
    REFUSED: "Not done: the command line, a file or a setting is wrong, or what it takes is "
    "missing. The message says what to do.",
    FAULT: "foldline itself failed: please report it.",
    INTERRUPTED: "Ended by Ctrl-C.",
    CLOSED: "What reads the output closed it, as `head` does.",
}


def table() -> str:
    """Return the statuses as text, for the help."""
    return "\n".join(f"{status:>3}  {meaning}" for status, meaning in STATUSES.items())
