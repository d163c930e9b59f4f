"""Who may see a page: whoever brings a token, once, and then the browser that brought it."""

from __future__ import annotations

import hmac
import secrets
from collections import deque

# Of each kind; the oldest goes. A person has a few browsers, each opened once.
KEPT = 16


class Admission:
    """One page's tokens and the secrets that they were exchanged for."""

    def __init__(self) -> None:
        self._tokens: deque[str] = deque(maxlen=KEPT)
        self._secrets: deque[str] = deque(maxlen=KEPT)

    def issue(self) -> str:
        """A token that opens the page once."""
        token = secrets.token_urlsafe(32)
        self._tokens.append(token)
        return token

    def exchange(self, token: str) -> str | None:
        """A secret for `token`, which is worth nothing from then on; None for any other text."""
        found = _find(token, self._tokens)
        if found is None:
            return None
        self._tokens.remove(found)
        secret = secrets.token_urlsafe(32)
        self._secrets.append(secret)
        return secret

    def admits(self, secret: str | None) -> bool:
        """Whether a token was exchanged for `secret`."""
        return secret is not None and _find(secret, self._secrets) is not None


def _find(token: str, known: deque[str]) -> str | None:
    """The one of `known` that is `given`, in a time that does not tell how much of it is alike."""
    data = token.encode("utf-8", "surrogateescape")
    found = None
    for candidate in known:
        if hmac.compare_digest(candidate.encode(), data):
            found = candidate
    return found
