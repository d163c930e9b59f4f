"""Operations over the folders of a workspace: an answer is one text, with paths of all folders."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from foldline.agent.folders_reader import FoldersReader, with_prefix
from foldline.backends import errors
from foldline.backends.base.waiting import run_async
from foldline.backends.engine import ASKS_SEVERAL_FOLDERS
from foldline.backends.formatting.parts import plain
from foldline.backends.formatting.visible import visible
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations.advice import message_of
from foldline.ide.operations.arguments import Paged
from foldline.ide.operations.operation import Role, summary_text
from foldline.ide.operations.pages import ask
from foldline.ide.operations.reading import read_arguments, taken
from foldline.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from foldline.agent.folders import Folder, Folders
    from foldline.ide.operations.operation import Operation

    _ByFolder = list[tuple[Folder, Any]]

MOST_WORKTREES = 2
"""With more worktrees of a repository, a question to all folders is answered from the first."""
_LEFT_OUT = "(not asked: {}: worktrees or clones of the same repository; name one to ask it)"


@record
class Answer:
    """An operation's text for a model, and the text that can replace it after some turns."""

    text: str
    summary: str | None = None
    has_found: bool = False


async def call_operation(
    operation: Operation[Any, Any],
    folders: Folders,
    values: Mapping[str, object],
    *,
    largest_page: int | None = None,
) -> Answer:
    """Run an operation with unchecked arguments, and return its answer.

    `largest_page` is the most bytes of an answer that a cursor continues, whatever its budget is.

    Raises:
        ArgumentsError: The arguments are wrong.
        BackendError: The operation failed; the message says what to do instead.
    """
    values, note = taken(operation.arguments, values)
    arguments = read_arguments(operation.arguments, values, from_model=True)
    if largest_page is not None and isinstance(arguments, Paged):
        budget = min(arguments.budget or largest_page, largest_page)
        arguments = replace(arguments, budget=budget)
    answer = await run_async(run_in_folders(operation, folders, arguments), operation.threads)
    return replace(answer, text=f"{answer.text}\n({note})") if note else answer


def failure_text(operation: Operation[Any, Any], error: Exception, offered: Iterable[str]) -> str:
    """Format a failure for a model that has the tools `offered`."""
    if isinstance(error, ArgumentsError):
        return f"{operation.tool}: {error}"
    return message_of(error, {name: name for name in offered})


async def run_in_folders(
    operation: Operation[Any, Any], folders: Folders, arguments: Any
) -> Answer:
    """Run an operation in the folders that its arguments name.

    It awaits only `foldline.backends.base.waiting`; errors are those of `call_operation`.
    """
    if operation.run_across is not None and len(folders.folders) > 1:
        result = await operation.run_across(FoldersReader(folders), arguments)
        return Answer(operation.text(result, arguments))
    missing: list[errors.BackendError] = []
    by_folder = [*_arguments_by_folder(operation, folders, arguments)]
    ASKS_SEVERAL_FOLDERS.set(len(by_folder) > 1)
    asked, left_out = _by_repository(by_folder)
    if left_out:
        share = folders.share(arguments.budget, len(asked))
        asked = [(folder, replace(part, budget=share)) for folder, part in asked]
    answers = await _answers_in(operation, asked, missing)
    if not any(one.has_found for one in answers):
        answers += await _answers_in(operation, left_out, missing)
    elif left_out:
        names = ", ".join(folder.prefix for folder, _ in left_out)
        answers.append(Answer(_LEFT_OUT.format(visible(names))))
    if not answers and missing:
        raise next(
            (one for one in missing if not isinstance(one, errors.SymbolNotFoundError)), missing[0]
        )
    if len(answers) == 1:
        return answers[0]
    return Answer("\n".join(one.text for one in answers))


def _by_repository(by_folder: _ByFolder) -> tuple[_ByFolder, _ByFolder]:
    """Split into the folders to ask, and worktrees of the same repositories."""
    by_repository: dict[Path, _ByFolder] = {}
    for folder, arguments in by_folder:
        index = folder.access.index if len(by_folder) > MOST_WORKTREES else None
        repository = folder.root if index is None else index.location
        by_repository.setdefault(repository, []).append((folder, arguments))
    left_out = [
        pair
        for worktrees in by_repository.values()
        if len(worktrees) > MOST_WORKTREES
        for pair in worktrees[1:]
    ]
    roots = {folder.root for folder, _ in left_out}
    return [pair for pair in by_folder if pair[0].root not in roots], left_out


async def _answers_in(
    operation: Operation[Any, Any], by_folder: _ByFolder, missing: list[errors.BackendError]
) -> list[Answer]:
    """Run an operation in the folders; `missing` gets the errors that another may not have."""
    answers = []
    for folder, arguments in by_folder:
        try:
            answers.append(await _answer_in(operation, folder, arguments))
        except (errors.MissingPathError, errors.NoMatchError, errors.SymbolError) as error:
            missing.append(error)
    return answers


async def _answer_in(operation: Operation[Any, Any], folder: Folder, arguments: Any) -> Answer:
    """Run an operation in one folder; its answer has paths prefixed with the folder's name."""
    outline = None
    with folder.errors():
        result, lines = await ask(
            operation, folder.access, arguments, lambda result: with_prefix(result, folder)
        )
        text = plain(lines)
        if operation.outline is not None:
            outline = await operation.outline(folder.access, arguments)
    summary = summary_text(with_prefix(outline, folder))
    summary = summary if summary and len(summary) < len(text) else None
    return Answer(text, summary, bool(operation.found(result)))


def _arguments_by_folder(
    operation: Operation[Any, Any], folders: Folders, arguments: Any
) -> Iterator[tuple[Folder, Any]]:
    """Yield the folders to run in, each with its own arguments."""
    if len(folders.folders) == 1:
        yield folders.folders[0], arguments
        return
    by_role = {role: argument.name for argument in operation.parameters for role in argument.roles}
    named = by_role.get(Role.FILE) or by_role.get(Role.FOLDER)
    path = getattr(arguments, named) if named else None
    if named and path is not None and not (operation.across and path in ("", ".", "./")):
        location = folders.locate(path)
        located = {named: location.path}
        if isinstance(arguments, Paged) and arguments.cursor:
            located["cursor"] = arguments.cursor.removeprefix(location.folder.prefix)
        yield location.folder, replace(arguments, **located)
        return
    scope = getattr(arguments, by_role[Role.SCOPE]) if Role.SCOPE in by_role else None
    if scope is not None and (folder := folders.beginning(scope)):
        inside = scope.removeprefix(folder.prefix.rstrip("/")).lstrip("/") or None
        cursor = arguments.cursor
        if cursor is not None and not cursor.startswith(folder.prefix):
            raise ArgumentsError({"cursor": f"is from another folder than {scope!r}"})
        cursor = cursor and cursor.removeprefix(folder.prefix)
        yield folder, replace(arguments, **{by_role[Role.SCOPE]: inside, "cursor": cursor})
        return
    name = str(getattr(arguments, by_role[Role.SYMBOL])) if Role.SYMBOL in by_role else ""
    if "/" in name and (folder := folders.beginning(name)):
        inside = name.removeprefix(folder.prefix) or name
        yield folder, replace(arguments, **{by_role[Role.SYMBOL]: inside})
        return
    for folder, share, cursor in folders.each(arguments.budget, arguments.cursor):
        yield folder, replace(arguments, budget=share, cursor=cursor)
