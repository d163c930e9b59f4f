"""Which Python this is, and which foldline it has. Started by its path, it prints that as JSON."""

import json
import platform
from functools import cache
from importlib.metadata import PackageNotFoundError, version


@cache
def identity() -> dict[str, str | None]:
    """The version of Python, and that of the installed foldline; None where there is none."""
    try:
        installed = version("foldline")
    except PackageNotFoundError:
        installed = None
    return {"python": platform.python_version(), "foldline": installed}


if __name__ == "__main__":
    print(json.dumps(identity()))  # noqa: T201
