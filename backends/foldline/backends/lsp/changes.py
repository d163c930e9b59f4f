"""What kind of change a server was told of."""

from __future__ import annotations

from enum import Enum, auto


class Change(Enum):
    """Between two looks at the workspace: nothing, contents only, or which files there are."""

    NONE = auto()
    CONTENTS = auto()
    FILES = auto()
