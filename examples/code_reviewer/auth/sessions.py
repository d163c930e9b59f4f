"""Where sessions live between two requests."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Protocol

from auth.errors import SessionExpired
from auth.models import Session, User

TOKEN_BYTES = 32


class SessionListener(Protocol):
    """Somebody who wants to know when a session begins or ends."""

    async def session_started(self, session: Session) -> None: ...

    async def session_ended(self, session: Session, *, reason: str) -> None: ...


class SessionStore:
    """Sessions in memory, shared by every request of one process."""

    def __init__(
        self,
        *,
        lifetime: float | None = None,
        make_token: Callable[[], str] = lambda: secrets.token_urlsafe(TOKEN_BYTES),
        listeners: Iterable[SessionListener] = (),
    ) -> None:
        self._sessions: dict[str, Session] = {}
        self._lifetime = lifetime
        self._make_token = make_token
        self._listeners = tuple(listeners)
        self._lock = asyncio.Lock()

    def __len__(self) -> int:
        return len(self._sessions)

    async def start(self, user: User) -> Session:
        """A new session of `user`."""
        session = Session(self._make_token(), user.name, user.role)
        if self._lifetime is not None:
            session.lifetime = self._lifetime
        async with self._lock:
            self._sessions[session.token] = session
        for listener in self._listeners:
            await listener.session_started(session)
        return session

    async def get(self, token: str, *, renew: bool = True) -> Session:
        """The session of `token`.

        Raises:
            SessionExpired: There is none, or it is over.
        """
        session = self._sessions.get(token)
        if session is None or session.is_expired:
            await self.end(token, reason="expired")
            raise SessionExpired(token)
        if renew:
            session.renew()
        return session

    async def end(self, token: str, *, reason: str = "signed out") -> bool:
        """End the session of `token`; False if there was none."""
        async with self._lock:
            session = self._sessions.pop(token, None)
        if session is None:
            return False
        for listener in self._listeners:
            await listener.session_ended(session, reason=reason)
        return True

    async def end_all_of(self, user_name: str) -> int:
        """End every session of one person, and say how many there were."""
        tokens = [
            token for token, session in self._sessions.items() if session.user_name == user_name
        ]
        for token in tokens:
            await self.end(token, reason="signed out everywhere")
        return len(tokens)

    async def sweep(self) -> int:
        """Forget the sessions that are over, and say how many there were."""
        over = [token for token, session in self._sessions.items() if session.is_expired]
        for token in over:
            await self.end(token, reason="expired")
        return len(over)

    @contextlib.asynccontextmanager
    async def sweeping(self, every: float = 60.0) -> AsyncIterator[SessionStore]:
        """This store, swept every so many seconds for as long as the block lasts."""

        async def sweep_for_ever() -> None:
            while True:
                await asyncio.sleep(every)
                await self.sweep()

        task = asyncio.create_task(sweep_for_ever())
        try:
            yield self
        finally:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
