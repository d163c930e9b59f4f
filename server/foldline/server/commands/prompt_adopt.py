"""`foldline.server.prompt.adopt`: a prompt module from a string, f-string, template or messages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from lsprotocol.types import (
    ApplyWorkspaceEditParams,
    CreateFile,
    CreateFileOptions,
    MessageType,
    OptionalVersionedTextDocumentIdentifier,
    Position,
    Range,
    ResourceOperationKind,
    ShowMessageParams,
    TextDocumentEdit,
    TextEdit,
    WorkspaceEdit,
)

from foldline.backends.base.waiting import in_thread
from foldline.ide.errors import IdeError
from foldline.ide.resolve import find_document
from foldline.ide.uris import uri_of

if TYPE_CHECKING:
    from foldline.backends.files.base import FileBackend
    from foldline.ide.adopt.adoption import Adoption
    from foldline.ide.resolve import DocumentTarget
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.adopt"


@dataclass(frozen=True, slots=True)
class Arguments:
    """`name` is the variable or function of the prompt.

    With `apply`, the client is asked to create the module, and told how it compares; otherwise the
    `edit` that creates it is only answered. Where the style has to be named, the error has the
    `styles` that it may be.
    """

    uri: str | None = None
    name: str | None = None
    style: str | None = None
    apply: bool = False


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    document = await find_document(ls.core, arguments.uri)
    files = ls.core.folder(document.path).access.file_backend
    adoption, uri = await in_thread(partial(_adopt, document, files, arguments))
    if ls.core.settings.trusted:
        from foldline.ide.adopt.adoption import compare

        adoption = await compare(adoption)
    edit = _creation(uri, adoption.text)
    answer = await in_thread(partial(_answer, adoption, uri))
    if arguments.apply:
        await _apply(ls, adoption, edit)
    return {**answer, "edit": await in_thread(partial(ls.protocol.plain, edit))}


def _adopt(
    document: DocumentTarget, files: FileBackend, arguments: Arguments
) -> tuple[Adoption, str]:
    from foldline.ide.adopt.adoption import adopt, output_path, read
    from foldline.ide.adopt.model import AdoptError, Style

    try:
        style = None if arguments.style is None else Style(arguments.style)
    except ValueError:
        known = ", ".join(Style)
        raise IdeError(f"`style` is one of {known}, not {arguments.style!r}") from None
    if document.text is None:
        raise IdeError(f"{document.path.name} isn't text")
    try:
        original = read(document.path, document.text, name=arguments.name, style=style, files=files)
        adoption = adopt(original)
    except AdoptError as error:
        near = [candidate.name for candidate in error.candidates]
        styles = list(error.styles)
        choices = f": {', '.join(near or styles)}" if near or styles else ""
        raise IdeError(
            f"{document.path.name}: {error}{choices}", near=near or None, styles=styles or None
        ) from None
    output = output_path(document.path, adoption)
    if output.exists():
        raise IdeError(f"{output.name} exists, and is left alone: move it away, or rename it")
    return adoption, uri_of(output)


def _answer(adoption: Adoption, uri: str) -> dict[str, object]:
    from foldline.ide.adopt.adoption import as_data, report

    return {"uri": uri, **as_data(adoption), "report": list(report(adoption))}


def _creation(uri: str, text: str) -> WorkspaceEdit:
    start = Position(0, 0)
    document = OptionalVersionedTextDocumentIdentifier(uri=uri, version=None)
    return WorkspaceEdit(
        document_changes=[
            CreateFile(uri, options=CreateFileOptions(overwrite=False, ignore_if_exists=False)),
            TextDocumentEdit(document, [TextEdit(Range(start, start), text)]),
        ]
    )


async def _apply(ls: FoldlineServer, adoption: Adoption, edit: WorkspaceEdit) -> None:
    workspace = ls.client_capabilities.workspace
    supported = workspace and workspace.workspace_edit
    operations = (supported and supported.resource_operations) or ()
    if not (workspace and workspace.apply_edit and ResourceOperationKind.Create in operations):
        raise IdeError(
            "This editor can't create files for a language server: run `foldline adopt` instead"
        )
    done = await ls.workspace_apply_edit_async(
        ApplyWorkspaceEditParams(edit, label=f"Adopt {adoption.plan.original.name} as a prompt")
    )
    if not done.applied:
        raise IdeError(f"The editor didn't create the module: {done.failure_reason or 'refused'}")
    from foldline.ide.adopt.adoption import verdict

    kind = MessageType.Info if adoption.proof.is_same else MessageType.Warning
    ls.window_show_message(ShowMessageParams(kind, "\n".join(verdict(adoption))))
