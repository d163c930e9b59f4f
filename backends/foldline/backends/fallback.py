"""What a semantic backend may do to an answer: make it better, and never cost it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar

from foldline.backends.errors import LSPError, PathError, SymbolError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from foldline.backends.locations import Navigator

    Answer = TypeVar("Answer")

log = logging.getLogger(__name__)

DEFAULT_SECONDS = 5.0


def guarded(question: Callable[[], Answer]) -> Answer | Exception:
    """The answer to `question`, or whatever a semantic backend died of.

    Raises:
        PathError, SymbolError: These are answers: another backend would say the same.
    """
    try:
        return question()
    except Exception as error:
        return _failure(error)


async def awaited(question: Awaitable[Answer]) -> Answer | Exception:
    """The answer to `question`, or whatever a semantic backend died of, like `guarded`."""
    try:
        return await question
    except Exception as error:
        return _failure(error)


async def ask_navigator(
    engine: object,
    question: Callable[[Navigator], Awaitable[Answer]],
    nothing: Callable[[str], Awaitable[Answer]],
) -> Answer:
    """The server's answer, or `nothing` with the reason why there is none."""
    from foldline.backends.locations import Navigator

    if not isinstance(engine, Navigator):
        return await nothing("no language server was asked")
    found = await awaited(question(engine))
    if isinstance(found, LSPError):
        return await nothing(str(found))
    if isinstance(found, Exception):
        return await nothing(f"the language server backend failed: {found}")
    return found


def _failure(error: Exception) -> Exception:
    if isinstance(error, PathError | SymbolError):
        raise error
    if isinstance(error, LSPError):
        log.debug("answered from syntax trees: %s", error)
    else:
        log.warning("a semantic backend failed; answered from syntax trees", exc_info=error)
    return error
