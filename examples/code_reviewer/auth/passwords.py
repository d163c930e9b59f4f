"""Hashing and checking passwords."""

from __future__ import annotations

import hashlib
import os
import re
from typing import NamedTuple

ALGORITHM = "pbkdf2_sha256"
ITERATIONS = 20_000
SALT_BYTES = 16
MIN_LENGTH = 8

_COMMON = frozenset({"password", "12345678", "qwertyui", "letmein1"})


class PasswordHash(NamedTuple):
    """The parts of a stored hash: `algorithm$iterations$salt$digest`."""

    algorithm: str
    iterations: int
    salt: str
    digest: str

    @classmethod
    def parse(cls, stored: str) -> PasswordHash:
        """The parts of `stored`.

        Raises:
            ValueError: It is not in the stored form.
        """
        parts = stored.split("$")
        if len(parts) != 4:
            raise ValueError("a stored hash has four parts")
        algorithm, iterations, salt, digest = parts
        return cls(algorithm, int(iterations), salt, digest)

    def __str__(self) -> str:
        return f"{self.algorithm}${self.iterations}${self.salt}${self.digest}"


def hash_password(password: str, *, salt: bytes | None = None, iterations: int = ITERATIONS) -> str:
    """The form in which `password` is stored."""
    salt = salt if salt is not None else os.urandom(SALT_BYTES)
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, iterations)
    return str(PasswordHash(ALGORITHM, iterations, salt.hex(), digest.hex()))


def check_password(password: str, stored: str) -> bool:
    """Whether `password` is the one that `stored` was made from."""
    expected = PasswordHash.parse(stored)
    given = hash_password(
        password, salt=bytes.fromhex(expected.salt), iterations=expected.iterations
    )
    return given == stored


def needs_rehash(stored: str) -> bool:
    """Whether `stored` was made with weaker settings than today's."""
    parsed = PasswordHash.parse(stored)
    return parsed.algorithm != ALGORITHM or parsed.iterations < ITERATIONS


def complaints(password: str) -> list[str]:
    """What is wrong with `password` as a new one; nothing if it will do."""
    found = []
    if len(password) < MIN_LENGTH:
        found.append(f"shorter than {MIN_LENGTH} characters")
    if password.lower() in _COMMON:
        found.append("one of the most common passwords")
    if not re.search(r"\d", password):
        found.append("without a digit")
    return found
