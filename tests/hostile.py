"""What may stand where a file is expected: in a clone, an archive, or by mistake."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

Making = Callable[[Path], object]


def make_socket(file: Path) -> None:
    # A path of a socket is short.
    here = Path.cwd()
    os.chdir(file.parent)
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(file.name)
    finally:
        os.chdir(here)


def make_sparse(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(10 << 30)


SECRET = "root:x:0:0:secret"


def link_outside(file: Path) -> None:
    secret = file.parent.parent / "passwd"
    secret.write_text(f"{SECRET}\n")
    file.symlink_to(secret)


HOSTILE: dict[str, Making] = {
    "/dev/zero": lambda file: file.symlink_to("/dev/zero"),
    "/dev/random": lambda file: file.symlink_to("/dev/random"),
    "a pipe": os.mkfifo,
    "a socket": make_socket,
    "a folder": Path.mkdir,
    "a link to a pipe": lambda file: file.symlink_to("pipe"),
    "a link outside": link_outside,
    "a link to itself": lambda file: file.symlink_to(file),
    "ten gigabytes": make_sparse,
    "deep nesting": lambda file: file.write_text("a = " + "[" * 200_000),
    "a long key": lambda file: file.write_text("a." * 300_000 + "a = 1\n"),
    "not UTF-8": lambda file: file.write_bytes(b"a = '\xe9'\n"),
}

CONFIGURATION = ("pyproject.toml", ".gitignore", ".ignore", "ty.toml", "pyrightconfig.json")


def names_for(what: str) -> tuple[str, ...]:
    """The names that are hostile together: code too, unless the hostility is in what TOML says."""
    return CONFIGURATION if what in {"deep nesting", "a long key"} else (*CONFIGURATION, "x.py")
