"""Errors as each shell's user reads them: advice names operations as that shell calls them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from foldline.backends.errors import PathError
from foldline.ide.operations import OPERATIONS

_NAMES = re.compile(rf"\b(?:{'|'.join(op.tool for op in OPERATIONS if op.tool)})\b")


def message_of(error: Exception, names: Mapping[str, str]) -> str:
    """Return an error's message without advice that its reader can't follow.

    By the names of their tools, `names` has what the shell calls the operations it offers.
    """
    if not isinstance(error, PathError):
        return str(error)
    advice = error.reason.removeprefix(error.problem)
    if not all(name in names for name in _NAMES.findall(advice)):
        return error.summary
    return error.summary + _NAMES.sub(lambda found: names[found[0]], advice)
