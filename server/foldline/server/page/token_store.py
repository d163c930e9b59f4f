"""Access to a page: a one-time token, exchanged for a browser's secret."""

from __future__ import annotations

import hmac
import secrets
from collections import deque

# Tokens, and as many secrets; the oldest is dropped. People use few browsers.
MAX_TOKENS = 16


class TokenStore:
    """One page's tokens, and the secrets that they were exchanged for."""

    def __init__(self) -> None:
        self._tokens: deque[str] = deque(maxlen=MAX_TOKENS)
        self._secrets: deque[str] = deque(maxlen=MAX_TOKENS)

    def issue(self) -> str:
        """Return a new token that opens the page once."""
        token = secrets.token_urlsafe(32)
        self._tokens.append(token)
        return token

    def exchange(self, token: str) -> str | None:
        """Use up `token` and return a new secret; None if the token is unknown or used."""
        entry = _find(token, self._tokens)
        if entry is None:
            return None
        self._tokens.remove(entry)
        secret = secrets.token_urlsafe(32)
        self._secrets.append(secret)
        return secret

    def admits(self, secret: str | None) -> bool:
        """Return True if a token was exchanged for `secret`."""
        return secret is not None and _find(secret, self._secrets) is not None


def _find(token: str, known: deque[str]) -> str | None:
    """Return `token` as it is in `known`, or None, in constant time."""
    data = token.encode("utf-8", "surrogateescape")
    match = None
    for candidate in known:
        if hmac.compare_digest(candidate.encode(), data):
            match = candidate
    return match
