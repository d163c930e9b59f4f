"""The operations as MCP tools: paths start with a folder's name, and a result is one text."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from foldline.backends.waiting import run_async
from foldline.ide.errors import ArgumentsError
from foldline.ide.operations.operation import Role, summary_text
from foldline.ide.operations.reading import read_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from foldline.agent.folders import Folder, Folders
    from foldline.ide.operations.operation import Operation

Model = TypeVar("Model")


@dataclass(frozen=True, slots=True)
class Answer:
    """An operation's text for a model, and the text that can replace it after some turns."""

    text: str
    summary: str | None = None


async def call_operation(
    operation: Operation[Any, Any], folders: Folders, values: Mapping[str, object]
) -> Answer:
    """Run an operation with unchecked arguments, and return its answer.

    Raises:
        ArgumentsError: The arguments are wrong.
        BackendError: The operation failed; the message says what to do instead.
    """
    arguments = read_arguments(operation, values, from_model=True)
    return joined(
        [
            await run_async(answer_in(operation, folder, own), operation.threads)
            for folder, own in arguments_by_folder(operation, folders, arguments)
        ]
    )


async def answer_in(operation: Operation[Any, Any], folder: Folder, arguments: Any) -> Answer:
    """Run an operation in one folder; its answer has paths prefixed with the folder's name.

    It awaits only `foldline.backends.waiting`.
    """
    result = await operation.run(folder.access, arguments)
    outline = None
    if operation.outline is not None:
        outline = await operation.outline(folder.access, arguments)
    text = operation.text(with_prefix(result, folder), arguments)
    return Answer(text, summary_text(with_prefix(outline, folder)))


def joined(answers: Sequence[Answer]) -> Answer:
    """Return the answers of several folders as one."""
    return answers[0] if len(answers) == 1 else Answer("\n".join(a.text for a in answers))


def arguments_by_folder(
    operation: Operation[Any, Any], folders: Folders, arguments: Any
) -> Iterator[tuple[Folder, Any]]:
    """Yield the folders to run in, each with its own arguments."""
    if len(folders.folders) == 1:
        yield folders.folders[0], arguments
        return
    by_role = {role: argument.name for argument in operation.parameters for role in argument.roles}
    files = [argument.name for argument in operation.parameters if Role.FILES in argument.roles]
    if any(getattr(arguments, name) for name in files):
        yield _in_one_folder(folders, arguments, files)
        return
    named = by_role.get(Role.FILE) or by_role.get(Role.FOLDER)
    path = str(getattr(arguments, named)) if named else ""
    if named and not (operation.across and path in ("", ".", "./")):
        place = folders.locate(path)
        own = {named: place.path}
        if getattr(arguments, "cursor", None):
            own["cursor"] = arguments.cursor.removeprefix(place.folder.prefix)
        yield place.folder, replace(arguments, **own)
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
    for folder, share, cursor in folders.each(arguments.budget, getattr(arguments, "cursor", None)):
        own_cursor = {"cursor": cursor} if hasattr(arguments, "cursor") else {}
        yield folder, replace(arguments, budget=share, **own_cursor)


def _in_one_folder(folders: Folders, arguments: Any, names: list[str]) -> tuple[Folder, Any]:
    """Return the folder that contains all files, and the arguments with relative paths."""
    places = {name: [folders.locate(path) for path in getattr(arguments, name)] for name in names}
    folders_used = {
        place.folder.prefix: place.folder for named in places.values() for place in named
    }
    if len(folders_used) != 1:
        raise ArgumentsError({names[0]: f"name files of one folder, of {folders.names}"})
    own = {name: tuple(place.path for place in named) for name, named in places.items()}
    return next(iter(folders_used.values())), replace(arguments, **own)


def with_prefix(model: Model, folder: Folder) -> Model:
    """Prefix the result's paths and cursors with the folder's name."""
    if not folder.prefix or not is_dataclass(model):
        return model
    changes: dict[str, object] = {}
    for field in fields(model):
        value = getattr(model, field.name)
        if field.name == "path":
            changes["path"] = folder.shown(value)
        elif field.name == "cursor":
            changes["cursor"] = folder.shown_cursor(value)
        elif isinstance(value, tuple) and value and hasattr(value[0], "path"):
            changes[field.name] = tuple(with_prefix(item, folder) for item in value)
    return cast("Model", replace(model, **changes)) if changes else model  # type: ignore[type-var]
