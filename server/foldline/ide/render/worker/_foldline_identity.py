"""The versions of Python and of its foldline; run as a script, it prints them as JSON."""

import json
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def identity() -> dict[str, str | None]:
    """Return the versions of Python and of the installed foldline, None if it isn't installed."""
    try:
        installed = version("foldline")
    except PackageNotFoundError:
        installed = None
    return {"python": platform.python_version(), "foldline": installed}


if __name__ == "__main__":
    print(json.dumps(identity()))  # noqa: T201
