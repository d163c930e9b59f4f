"""Options for prompts: those of a project, and the client's configuration section.

The client's options override the project's; `tokenBudget` and `token-budget` are the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Generic, TypeVar

from foldline.backends.base.reading import PROJECT_FILES, Between, OneOf, read_project, read_table
from foldline.backends.errors import PathError
from foldline.ide.checks import Code, Severity
from foldline.ide.clients import ClientName
from foldline.ide.entry_points import others_installed
from foldline.ide.settings import Settings
from foldline.ide.token_counter import Encoding
from foldline.records import record

if TYPE_CHECKING:
    from pathlib import Path

    from _typeshed import DataclassInstance

# Keys of the client's section and of a project's settings that other code reads.
_OTHERS = (
    *("lsp", "preview", "server", "store", "trace"),
    *(setting.name for setting in fields(Settings)),
)
TableT = TypeVar("TableT", bound="DataclassInstance")


@record
class Nearest(Generic[TableT]):
    """A table of the nearest project's file that has it.

    Attributes:
        folder: The folder that its paths are relative to.
        table: Its values, as far as they fit.
        problems: A sentence per value that doesn't, and per file that can't be read.
    """

    folder: Path
    table: TableT
    problems: tuple[str, ...] = ()


def nearest_table(
    file: Path, root: Path, kind: type[TableT], *names: str, others: tuple[str, ...] = ()
) -> Nearest[TableT]:
    """Read the settings, or a table in them, for a file: from its folder up to the root."""
    problems: list[str] = []
    for folder, files in _upward(file.parent, root):
        stamps = tuple(map(_stamp, files))
        if not any(stamps):
            continue
        table, found = _read(folder, root, kind, names, others, stamps)
        problems += found
        if table is not None:
            return Nearest(folder, table, tuple(problems))
    return Nearest(root, kind(), tuple(problems))


# A check asks for each file of a repository.
@lru_cache(maxsize=4096)
def _upward(folder: Path, root: Path) -> tuple[tuple[Path, tuple[Path, ...]], ...]:
    """Return the folders from one up to the root, each with the files that may be settings."""
    folders = [one for one in (folder, *folder.parents) if one.is_relative_to(root)] or [root]
    return tuple((one, tuple(one / name for name in PROJECT_FILES)) for one in folders)


def _stamp(file: Path) -> tuple[int, int] | None:
    try:
        stamp = file.stat()
    except OSError as error:  # Of other errors, reading it says what is wrong.
        return None if isinstance(error, (FileNotFoundError, NotADirectoryError)) else (0, 0)
    return stamp.st_mtime_ns, stamp.st_size


@lru_cache(maxsize=256)
def _read(
    folder: Path,
    root: Path,
    kind: type[TableT],
    names: tuple[str, ...],
    others: tuple[str, ...],
    _stamps: tuple[tuple[int, int] | None, ...],
) -> tuple[TableT | None, tuple[str, ...]]:
    """The table of a folder as it was at that time, None without one; and what is wrong there."""
    try:
        found = read_project(folder, root, kind(), *names, others=others)
    except PathError as error:
        return None, (error.summary,)
    return found[:2] if found else (None, ())


@record
class PromptOptions:
    """All options with their defaults.

    Attributes:
        tokens: The encoding in which tokens are counted.
        exact_tokens: Use a tokenizer if one is installed.
        token_budget: The most tokens that a request with a prompt may cost, tools and output schema
            included; prompts over it are reported.
        code_lens: Show code lenses on prompts and sections.
        inlay_hints: Show the numbers and token counts of sections.
        instructions: More files that instruct agents, besides those that clients load by
            themselves, in the syntax of `.gitignore`; `!` takes files out.
        clients: The clients that the project is for, such as `claude-code`; by default all.
        severity: Severities by diagnostic code that differ from the defaults; plugins' codes, too.
    """

    tokens: Encoding = "o200k"
    exact_tokens: bool = True
    token_budget: Annotated[int | None, Between(0)] = None
    code_lens: bool = True
    inlay_hints: bool = True
    instructions: tuple[str, ...] = ()
    clients: tuple[Annotated[str, ClientName()], ...] = ()
    severity: Mapping[Annotated[str, OneOf(tuple(Code), others_installed)], Severity] = field(
        default_factory=dict
    )


def read_project_options(file: Path, root: Path) -> Nearest[PromptOptions]:
    return nearest_table(file, root, PromptOptions, others=_OTHERS)


def read_options(
    values: object, base: PromptOptions | None = None
) -> tuple[PromptOptions, tuple[str, ...]]:
    """Read a client's section over the options `base`; also returns a sentence per wrong value."""
    return read_table(values, base or PromptOptions(), "foldline", others=_OTHERS)
