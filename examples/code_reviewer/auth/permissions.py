"""Guards for functions that not everybody may call."""

from __future__ import annotations

import functools
import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

from auth.errors import PermissionDenied
from auth.models import Role, Session

log = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

current_session: ContextVar[Session | None] = ContextVar("current_session", default=None)


def requires_role(
    role: Role, *, audit: bool = False
) -> Callable[[Callable[P, Awaitable[R]]], Callable[P, Awaitable[R]]]:
    """A guard that lets only sessions with `role`, or a higher one, through.

    With `audit`, each call that is let through is logged.
    """

    def guard(function: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
        @functools.wraps(function)
        async def guarded(*args: P.args, **kwargs: P.kwargs) -> R:
            session = current_session.get()
            if session is None or session.role < role:
                raise PermissionDenied(f"{function.__qualname__} asks for {role.name.lower()}")
            if audit:
                log.info("%s called %s with %s", session.user_name, function.__qualname__, kwargs)
            return await function(*args, **kwargs)

        return guarded

    return guard


def requires_login(function: Callable[P, Awaitable[R]]) -> Callable[P, Awaitable[R]]:
    """A guard that lets every session through, and nobody else."""
    return requires_role(Role.READER)(function)
