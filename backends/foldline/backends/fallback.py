"""The way back to syntax trees: an engine improves answers, and its failure costs none."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar

from foldline.backends.errors import InvalidArgumentError, LSPError, PathError, SymbolError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Answer = TypeVar("Answer")
    Other = TypeVar("Other")

log = logging.getLogger(__name__)

DEFAULT_SECONDS = 5.0


def check_seconds(seconds: float) -> None:
    """Reject a time limit that is none."""
    if not seconds >= 0:
        raise InvalidArgumentError("seconds", f"must be 0 or more, not {seconds:g}")


async def attempt(
    query: Awaitable[Answer], otherwise: Callable[[Exception], Other]
) -> Answer | Other:
    """The engine's answer to `query`, or `otherwise` of what it raised.

    A missing path isn't an error here: the engine may remember a file that the caller never named.

    Raises:
        SymbolError: It is an answer: another backend would say the same.
    """
    try:
        return await query
    except SymbolError:
        raise
    except (LSPError, PathError) as error:
        log.debug("answered from syntax trees: %s", error)
        failure: Exception = error
    except Exception as error:
        log.warning("a semantic backend failed; answered from syntax trees", exc_info=True)
        failure = error
    return otherwise(failure)


def nothing(_: Exception) -> None:
    """No answer, whatever the engine raised."""


async def by_engine(
    query: Awaitable[Answer], by_name: Callable[[str], Awaitable[Answer]]
) -> Answer:
    """The engine's answer to `query`, or `by_name` of the reason why there is none."""
    answer = await attempt(query, lambda error: error)
    if not isinstance(answer, Exception):
        return answer
    is_known = isinstance(answer, LSPError | PathError)
    return await by_name(
        str(answer) if is_known else f"the language server backend failed: {answer}"
    )
