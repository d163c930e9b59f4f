"""Files and numbers that a command line names."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

from foldline import agent
from foldline.agent.refusals import Refused
from foldline.backends.formatting.visible import visible
from foldline.links import is_loop, resolved


def check_python(path: Path) -> None:
    """Refuse a file whose suffix is that of another kind of file than a Python module.

    Raises:
        Refused: It has such a suffix.
    """
    if path.suffix not in (".py", ".pyi", ".pyw", ""):
        shown = visible(path_from_here(path))
        if path.suffix in (".md", ".mdc", ".mdx", ".markdown"):
            raise Refused(
                f"{shown} isn't a file that agents load, such as AGENTS.md; if yours do, put "
                f'instructions = ["{shown}"] into foldline.toml; '
                f"`foldline outline {shown}` and `foldline symbol {shown} HEADING` read any file"
            )
        raise Refused(f"{shown} is neither an instruction file nor a Python module")


def number_from(least: int) -> Callable[[str], int]:
    """Return the argument type of whole numbers from `least` up."""

    def number(text: str) -> int:
        if not (text.isascii() and text.isdecimal()) or int(text) < least:
            raise ArgumentTypeError(f"{text!r} is not a number from {least} up")
        return int(text)

    return number


def file_and_name(target: str) -> tuple[Path, str | None]:
    """Return the file and the name of `FILE[:NAME]`; a colon may be part of the file's own name.

    Raises:
        Refused: There is no such file, it is a folder, a pipe or a device, or a link leads to it
            out of the repository.
    """
    before, separator, name = target, "", ""
    if not Path(target).exists():
        before, separator, name = target.rpartition(":")
    path = Path(before if separator else target)
    if path.is_dir():
        raise Refused(f"{target}: {path} is a folder; give a FILE in it, or FILE:NAME")
    if path.exists() and not path.is_file():
        raise Refused(f"{target}: {path} is a pipe or a device, which isn't read; give a FILE")
    if is_loop(path):
        raise Refused(f"{target}: it is a link to itself; give a FILE")
    if not path.is_file():
        raise Refused(f"{visible(target)}: there is no such file; give FILE or FILE:NAME")
    file, root = resolved(path), agent.scan.analysis_root(path.absolute())
    if not file.is_relative_to(resolved(root)):
        shown, where = visible(str(path)), visible(str(root))
        raise Refused(f"{shown} links out of {where}: name {visible(str(file))}")
    return file, name if separator else None


def path_from_here(path: Path) -> str:
    """Return a path relative to the working folder; the whole path if it is outside."""
    try:
        return resolved(path).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def write_new(path: Path, text: str) -> None:
    """Write a new file: all of the text, or no file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("x", encoding="utf-8")
    try:
        with file:
            file.write(text)
    except BaseException:
        path.unlink()
        raise
