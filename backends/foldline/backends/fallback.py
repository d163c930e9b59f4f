"""What a semantic backend may do to an answer: make it better, and never cost it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, TypeVar

from foldline.backends.errors import LSPError, PathError, SymbolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from foldline.backends.semantics import Navigator

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
    except (PathError, SymbolError):
        raise
    except LSPError as error:
        log.debug("answered from syntax trees: %s", error)
        return error
    except Exception as error:
        log.warning("a semantic backend failed; answered from syntax trees", exc_info=True)
        return error


def ask_navigator(
    engine: object, question: Callable[[Navigator], Answer], nothing: Callable[[str], Answer]
) -> Answer:
    """The server's answer, or `nothing` with the reason why there is none."""
    from foldline.backends.semantics import Navigator

    if not isinstance(engine, Navigator):
        return nothing("no language server was asked")
    navigator: Navigator = engine
    found = guarded(lambda: question(navigator))
    if isinstance(found, LSPError):
        return nothing(str(found))
    if isinstance(found, Exception):
        return nothing(f"the language server backend failed: {found}")
    return found
