"""The values that the rest of the package passes around."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from time import time
from typing import Final

DEFAULT_SESSION_SECONDS: Final = 8 * 60 * 60


class Role(IntEnum):
    """What a person may do; a higher role may do all that a lower one may."""

    READER = 10
    EDITOR = 20
    ADMIN = 30

    @classmethod
    def parse(cls, name: str) -> Role:
        """The role called `name`, in any case."""
        try:
            return cls[name.upper()]
        except KeyError:
            known = ", ".join(role.name.lower() for role in cls)
            raise ValueError(f"unknown role {name!r}; known are {known}") from None


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who can sign in."""

    name: str
    email: str
    password_hash: str = field(repr=False)
    role: Role = Role.READER
    failed_attempts: int = 0
    locked_until: float = 0.0

    @property
    def is_locked(self) -> bool:
        return time() < self.locked_until

    def may(self, role: Role) -> bool:
        """Whether this person has `role`, or a higher one."""
        return self.role >= role


@dataclass(slots=True)
class Session:
    """One person at one browser."""

    token: str = field(repr=False)
    user_name: str
    role: Role
    created_at: float = field(default_factory=time)
    lifetime: float = DEFAULT_SESSION_SECONDS
    data: dict[str, str] = field(default_factory=dict)

    @property
    def expires_at(self) -> float:
        return self.created_at + self.lifetime

    @property
    def is_expired(self) -> bool:
        return time() > self.expires_at

    def renew(self, lifetime: float | None = None) -> None:
        """Start the session's time again."""
        self.created_at = time()
        if lifetime is not None:
            self.lifetime = lifetime
