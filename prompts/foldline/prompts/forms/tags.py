"""Tags of stored overrides, and what they fall back to."""

__all__ = ["LATEST", "fallback_tags"]

LATEST = "latest"
"""The tag that every other tag falls back to."""


def fallback_tags(tag: str) -> tuple[str, ...]:
    """Return the tags whose overrides apply under `tag`, the first with precedence.

    A tag falls back to the part before its last hyphen, and in the end to `latest`: so does a
    language (BCP 47) to the one that includes it.

    >>> fallback_tags("de-CH")
    ('de-CH', 'de', 'latest')
    """
    parts = tag.split("-")
    tags = ("-".join(parts[:count]) for count in range(len(parts), 0, -1))
    return tuple(dict.fromkeys((*tags, LATEST)))
