"""`foldline.server.prompt.adopt`: a prompt module from a string, f-string, template or messages."""

from __future__ import annotations

import os
import re
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path

from lsprotocol import types

from foldline.backends.base.waiting import in_thread
from foldline.backends.errors import PathError
from foldline.backends.files.base import FileBackend
from foldline.backends.files.limits import PROMPT_MODULE_BYTES
from foldline.backends.files.reader import read_text
from foldline.ide.errors import IdeError
from foldline.ide.resolve import find_document
from foldline.ide.sources.source import SourceDocument
from foldline.ide.uris import local_path, uri_of
from foldline.plugins.adopt.adoption import (
    Adoption,
    adopt,
    as_data,
    compare,
    output_path,
    read,
    report,
    verdict,
)
from foldline.plugins.adopt.listing import prompts_of
from foldline.plugins.adopt.model import AdoptError, Style
from foldline.plugins.adopt.rewrite import Rewritten, rewrite
from foldline.records import record
from foldline.server.server import FoldlineServer

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


@record
class Arguments:
    """`name` is the variable, function or key of the prompt; without one, the text at `line` is.

    With `apply`, the client is asked to create the module, and told how it compares; otherwise the
    `edit` that creates it is only answered. `call_edit` renders the prompt in the one place that
    made the text. Where the style has to be named, the error has the `styles` that it may be; where
    the module exists, its URI as `exists`, and `output` is another name. For the `uri` of a folder,
    its `prompts` are listed.
    """

    uri: str | None = None
    name: str | None = None
    line: int | None = None
    output: str | None = None
    style: str | None = None
    apply: bool = False


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    path = None if arguments.uri is None else local_path(arguments.uri)
    if path is not None and path.is_dir():
        files = ls.core.folder(path / "_").access.file_backend
        return {"prompts": await in_thread(partial(_listed, path, files))}
    document = await find_document(ls.core, arguments.uri)
    files = ls.core.folder(document.path).access.file_backend
    adoption, output = await in_thread(partial(_adopt, document, files, arguments))
    if ls.core.settings.trusted:
        adoption = await compare(adoption)
    uri = uri_of(output)
    edit = _creation(uri, adoption.text)
    answer = await in_thread(partial(_answer, adoption, uri))
    rewritten = await in_thread(partial(_rewritten, adoption, files, document.path, output))
    call_edit = None if rewritten is None else _change(ls, files.root, rewritten)
    if arguments.apply:
        await _apply(ls, adoption, edit)
        _tell(ls, adoption, rewritten, call_edit)
    plain = [await in_thread(partial(ls.protocol.plain, one)) for one in (edit, call_edit)]
    return {**answer, "edit": plain[0], "call_edit": plain[1]}


def _listed(folder: Path, files: FileBackend) -> list[dict[str, object]]:
    listed = prompts_of(files, str(folder))
    return [{**one.as_data(), "uri": uri_of(files.root / one.path)} for one in listed]


def _adopt(
    document: SourceDocument, files: FileBackend, arguments: Arguments
) -> tuple[Adoption, Path]:
    try:
        style = None if arguments.style is None else Style(arguments.style)
    except ValueError:
        names = ", ".join(Style)
        raise IdeError(f"`style` is one of {names}, not {arguments.style!r}") from None
    text = document.text
    if text is None or document.version is None:
        text = read_text(document.path, PROMPT_MODULE_BYTES, root=document.root, strict=True)
    name, line = arguments.name, arguments.line
    try:
        original = read(document.path, text, name=name, style=style, files=files, line=line)
        adoption = adopt(original)
    except AdoptError as error:
        near = [candidate.name for candidate in error.candidates]
        styles = list(error.styles)
        choices = f": {', '.join(near or styles)}" if near or styles else ""
        raise IdeError(
            f"{document.path.name}: {error}{choices}", near=near or None, styles=styles or None
        ) from None
    output = output_path(document.path, adoption)
    if arguments.output is not None:
        output = output.with_name(Path(arguments.output).with_suffix(".py").name)
    if os.path.lexists(output):
        raise IdeError(
            f"{output.name} exists, and is left alone: move it away, or name another module",
            exists=uri_of(output),
        )
    return adoption, output


def _rewritten(
    adoption: Adoption, files: FileBackend, source: Path, output: Path
) -> Rewritten | None:
    """Return the file that makes the text, rewritten, if that is one place and the same text."""
    if not adoption.is_same:
        return None
    try:
        paths = [files.resolve_unsaved(str(path)) for path in (source, output)]
        return rewrite(adoption.plan, files, *paths)
    except (AdoptError, PathError):
        return None


def _change(ls: FoldlineServer, root: Path, rewritten: Rewritten) -> types.WorkspaceEdit:
    uri = uri_of(root / rewritten.path)
    opened = ls.core.document(uri)
    version = None if opened is None else opened.version
    before, after = (_LINE.findall(text) for text in (rewritten.before, rewritten.after))
    edits = [
        types.TextEdit(
            types.Range(types.Position(start, 0), types.Position(end, 0)),
            "".join(after[first:last]),
        )
        for tag, start, end, first, last in SequenceMatcher(None, before, after).get_opcodes()
        if tag != "equal"
    ]
    document = types.OptionalVersionedTextDocumentIdentifier(uri, version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, edits)])


def _answer(adoption: Adoption, uri: str) -> dict[str, object]:
    return {"uri": uri, **as_data(adoption), "report": list(report(adoption))}


def _creation(uri: str, text: str) -> types.WorkspaceEdit:
    start = types.Position(0, 0)
    document = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=None)
    return types.WorkspaceEdit(
        document_changes=[
            types.CreateFile(
                uri, options=types.CreateFileOptions(overwrite=False, ignore_if_exists=False)
            ),
            types.TextDocumentEdit(document, [types.TextEdit(types.Range(start, start), text)]),
        ]
    )


async def _apply(ls: FoldlineServer, adoption: Adoption, edit: types.WorkspaceEdit) -> None:
    workspace = ls.client_capabilities.workspace
    supported = workspace and workspace.workspace_edit
    operations = (supported and supported.resource_operations) or ()
    if not (
        workspace and workspace.apply_edit and types.ResourceOperationKind.Create in operations
    ):
        raise IdeError(
            "This editor can't create files for a language server: run `foldline adopt` instead"
        )
    done = await ls.workspace_apply_edit_async(
        types.ApplyWorkspaceEditParams(
            edit, label=f"Adopt {adoption.plan.original.name} as a prompt"
        )
    )
    if not done.applied:
        raise IdeError(f"The editor didn't create the module: {done.failure_reason or 'refused'}")


def _tell(
    ls: FoldlineServer,
    adoption: Adoption,
    rewritten: Rewritten | None,
    edit: types.WorkspaceEdit | None,
) -> None:
    """Tell the user how the texts compare, and offer to rewrite the call."""
    kind = types.MessageType.Info if adoption.is_same else types.MessageType.Warning
    message = "\n".join(verdict(adoption))
    window = ls.client_capabilities.window
    if rewritten is None or edit is None or window is None or window.show_message is None:
        ls.window_show_message(types.ShowMessageParams(kind, message))
        return
    label = f"Render It in {rewritten.path}:{rewritten.line}"

    def answered(item: types.MessageActionItem | None) -> None:
        if item is not None and item.title == label:
            ls.workspace_apply_edit(types.ApplyWorkspaceEditParams(edit, label=label))

    params = types.ShowMessageRequestParams(kind, message, [types.MessageActionItem(label)])
    ls.window_show_message_request(params, answered)
