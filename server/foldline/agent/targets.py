"""The files of a command line, as it names them and as it shows them."""

from __future__ import annotations

from pathlib import Path

from foldline.agent.refusals import Refused
from foldline.backends.formatting.visible import visible


def check_python(path: Path) -> None:
    """Return if a file's name is that of a Python module, or that of no kind of file.

    Raises:
        Refused: It's another kind of file.
    """
    if path.suffix not in (".py", ".pyi", ".pyw", ""):
        shown = visible(path_from_here(path))
        by_heading = f"; `foldline outline {shown}` and `foldline symbol {shown} HEADING` read it"
        hint = by_heading if path.suffix in (".md", ".mdx", ".markdown") else ""
        raise Refused(f"{shown} isn't a Python module, and only those hold prompts{hint}")


def file_and_name(target: str) -> tuple[Path, str | None]:
    """Return the file and the name of `FILE[:NAME]`; a colon may be part of the file's own name.

    Raises:
        Refused: There is no such file.
    """
    file, separator, name = target, "", ""
    if not Path(target).is_file():
        file, separator, name = target.rpartition(":")
    path = Path(file)
    if not path.is_file():
        raise Refused(f"{target}: there is no such file; give FILE or FILE:NAME")
    return path.resolve(), name if separator else None


def path_from_here(path: Path) -> str:
    """Return how to name a path in the working folder; of others the whole path."""
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return str(path)


def write_new(path: Path, text: str) -> None:
    """Write a file that isn't there yet, with all of the text or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("x", encoding="utf-8")
    try:
        with file:
            file.write(text)
    except BaseException:
        path.unlink()
        raise
