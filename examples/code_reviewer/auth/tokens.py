"""Tokens that carry a claim and prove that we made it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from time import time
from typing import Any, Literal, overload

Encoding = Literal["text", "bytes"]


class InvalidToken(ValueError):
    """The token was not made by us, was changed, or is over."""


class TokenSigner:
    """Signs claims with a secret, and reads them back.

    A token is `payload.signature`, both in URL-safe base64.
    """

    digest = "sha256"

    def __init__(self, secret: str, *, lifetime: float = 3600.0, issuer: str = "auth") -> None:
        if not secret:
            raise ValueError("the secret is empty")
        self._secret = secret.encode()
        self.lifetime = lifetime
        self.issuer = issuer

    @overload
    def sign(self, claims: Mapping[str, Any]) -> str: ...

    @overload
    def sign(self, claims: Mapping[str, Any], *, encoding: Literal["text"]) -> str: ...

    @overload
    def sign(self, claims: Mapping[str, Any], *, encoding: Literal["bytes"]) -> bytes: ...

    def sign(self, claims: Mapping[str, Any], *, encoding: Encoding = "text") -> str | bytes:
        """A token that carries `claims`, our name and the time at which it ends."""
        payload = {**claims, "iss": self.issuer, "exp": time() + self.lifetime}
        body = _encode(json.dumps(payload, sort_keys=True).encode())
        token = b".".join((body, _encode(self._signature(body))))
        return token.decode() if encoding == "text" else token

    def read(self, token: str | bytes) -> dict[str, Any]:
        """The claims of `token`.

        Raises:
            InvalidToken: The token is not one of ours, or is over.
        """
        raw = token.encode() if isinstance(token, str) else token
        body, separator, signature = raw.partition(b".")
        if not separator or _encode(self._signature(body)) != signature:
            raise InvalidToken("the signature does not fit")
        claims: dict[str, Any] = json.loads(_decode(body))
        if claims.get("iss") != self.issuer:
            raise InvalidToken("the token is somebody else's")
        if claims.get("exp", 0) < time():
            raise InvalidToken("the token is over")
        return claims

    def refresh(self, token: str) -> str:
        """A token with the same claims and a new end."""
        claims = self.read(token)
        return self.sign({name: claims[name] for name in claims.keys() - {"iss", "exp"}})

    def _signature(self, body: bytes) -> bytes:
        return hmac.new(self._secret, body, self.digest).digest()


def fingerprint(token: str) -> str:
    """A short name for `token` that can be logged."""
    return hashlib.sha256(token.encode()).hexdigest()[:12]


def _encode(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")


def _decode(data: bytes) -> bytes:
    return base64.urlsafe_b64decode(data + b"=" * (-len(data) % 4))
