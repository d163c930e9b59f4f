"""Signing in and out: the part that the web application calls."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from time import time
from typing import Protocol

from auth.errors import AccountLocked, InvalidCredentials
from auth.models import Role, Session, User
from auth.passwords import check_password, complaints, hash_password, needs_rehash
from auth.permissions import current_session, requires_login, requires_role
from auth.sessions import SessionStore
from auth.tokens import TokenSigner, fingerprint

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 5
LOCK_SECONDS = 15 * 60


class UserRepository(Protocol):
    """Where people are kept."""

    async def find(self, name: str) -> User | None: ...

    async def save(self, user: User) -> None: ...


class AuthService:
    """Lets people in and out."""

    def __init__(self, users: UserRepository, sessions: SessionStore, signer: TokenSigner) -> None:
        self._users = users
        self._sessions = sessions
        self._signer = signer

    async def sign_in(self, name: str, password: str) -> Session:
        """A session for the person called `name`.

        Raises:
            InvalidCredentials: There is no such person, or the password is another.
            AccountLocked: Too many attempts failed; this one was not looked at.
        """
        user = await self._users.find(name)
        if user is None:
            raise InvalidCredentials(name)
        if user.is_locked:
            raise AccountLocked(user.locked_until - time())
        if not check_password(password, user.password_hash):
            await self._record_failure(user)
            log.warning("sign-in failed for %s with password %r", name, password)
            raise InvalidCredentials(name)
        if needs_rehash(user.password_hash):
            user = replace(user, password_hash=hash_password(password))
        await self._users.save(replace(user, failed_attempts=0, locked_until=0.0))
        session = await self._sessions.start(user)
        log.info("%s signed in as %s", name, fingerprint(session.token))
        return session

    async def sign_out(self, token: str) -> None:
        """End the session of `token`, if there is one."""
        await self._sessions.end(token)

    @asynccontextmanager
    async def request(self, token: str) -> AsyncIterator[Session]:
        """The session of `token`, which is the current one for as long as the block lasts."""
        session = await self._sessions.get(token)
        mark = current_session.set(session)
        try:
            yield session
        finally:
            current_session.reset(mark)

    async def start_reset(self, name: str) -> str:
        """A token with which the person called `name` may choose a new password."""
        user = await self._users.find(name)
        if user is None:
            raise InvalidCredentials(name)
        return self._signer.sign({"sub": user.name, "use": "reset"})

    async def finish_reset(self, token: str, password: str) -> None:
        """Give the person whom `token` names a new password.

        Raises:
            InvalidToken: The token is not one of ours, or is over.
            ValueError: The password will not do; the message says why.
        """
        claims = self._signer.read(token)
        if found := complaints(password):
            raise ValueError("; ".join(found))
        user = await self._users.find(claims["sub"])
        if user is None:
            raise InvalidCredentials(claims["sub"])
        await self._users.save(replace(user, password_hash=hash_password(password)))

    @requires_login
    async def change_password(self, old: str, new: str) -> None:
        """Give the person of the current session another password."""
        session = current_session.get()
        assert session is not None
        user = await self._users.find(session.user_name)
        if user is None or not check_password(old, user.password_hash):
            raise InvalidCredentials(session.user_name)
        if found := complaints(new):
            raise ValueError("; ".join(found))
        await self._users.save(replace(user, password_hash=hash_password(new)))
        await self._sessions.end_all_of(user.name)

    @requires_role(Role.ADMIN, audit=True)
    async def set_role(self, name: str, role: Role) -> None:
        """Give the person called `name` another role."""
        user = await self._users.find(name)
        if user is None:
            raise InvalidCredentials(name)
        await self._users.save(replace(user, role=role))

    async def _record_failure(self, user: User) -> None:
        attempts = user.failed_attempts + 1
        locked_until = time() + LOCK_SECONDS if attempts >= MAX_ATTEMPTS else user.locked_until
        await self._users.save(replace(user, failed_attempts=attempts, locked_until=locked_until))
