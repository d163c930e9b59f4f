"""`foldline.server.show`: a prompt, an outline, the tree or the status, opened as a document.

For editors that can run a server's command and show a document, and no more than that.
"""

from __future__ import annotations

import hashlib
import json
import re
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from lsprotocol import types

from foldline.backends.base.caches import private_folder
from foldline.backends.base.waiting import in_thread
from foldline.ide.errors import PathRefused
from foldline.ide.operations import code_outline, code_tree
from foldline.ide.prompts.actions import RenderPrompt
from foldline.ide.prompts.perform import perform
from foldline.ide.prompts.request import PromptRef, RenderMode, View
from foldline.ide.render.render import STATIC
from foldline.ide.resolve import find_document
from foldline.ide.structuring import unstructure
from foldline.ide.uris import uri_of
from foldline.records import record
from foldline.server.commands import status
from foldline.server.operation_commands import OperationCommand

if TYPE_CHECKING:
    from pathlib import Path

    from foldline.ide.operations.operation import Operation
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.show"
# In bytes: a person scrolls; the commands' own budgets are a model's.
BUDGET = 100_000


class Shown(StrEnum):
    PROMPT = "prompt"
    OUTLINE = "outline"
    TREE = "tree"
    STATUS = "status"


@record
class Arguments:
    """`section_keys` are the summarized sections of a prompt that are shown open."""

    what: Shown = Shown.PROMPT
    uri: str | None = None
    name: str | None = None
    section_keys: tuple[str, ...] = ()


async def handle(ls: FoldlineServer, arguments: Arguments) -> dict[str, object]:
    """Answers the text, and the address of the file that holds it until it is shown again."""
    title, text = await _text(ls, arguments)
    try:
        path = await in_thread(
            partial(_write, arguments.uri or ls.core.focus.uri or "", title, text)
        )
    except OSError as error:
        raise PathRefused(
            f"{error.filename} cannot be written: {error.strerror}", path=error.filename
        ) from error
    _open(ls, path)
    return {"uri": uri_of(path), "text": text}


async def _text(ls: FoldlineServer, arguments: Arguments) -> tuple[str, str]:
    """A file name that says what is shown, and what it holds."""
    if arguments.what is Shown.STATUS:
        answer = await status.handle(ls, status.Arguments(arguments.uri))
        return "status.json", json.dumps(unstructure(answer), indent=2)
    if arguments.what is Shown.TREE:
        return "tree.txt", await _operation(ls, code_tree.OPERATION, arguments.uri)
    if arguments.what is Shown.OUTLINE:
        document = await find_document(ls.core, arguments.uri)
        text = await _operation(ls, code_outline.OPERATION, document.uri)
        return f"{document.path.name}.outline.txt", text
    view, mode = View(opened=arguments.section_keys), RenderMode(fallback=True)
    prompt = PromptRef(uri=arguments.uri, name=arguments.name, view=view, mode=mode)
    render = await perform(ls.core, prompt, RenderPrompt())
    ending = ".static.md" if render.fidelity == STATIC else ".md"
    return f"{render.name}{ending}", render.text


async def _operation(ls: FoldlineServer, operation: Operation[Any, Any], uri: str | None) -> str:
    answer = await OperationCommand(operation).execute(ls, {"uri": uri, "budget": BUDGET})
    return str(answer["text"])


def _write(uri: str, title: str, text: str) -> Path:
    """The path of a file with the text, outside of the workspace and for this user alone."""
    digest = hashlib.sha256(uri.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    path = private_folder("shown", digest) / re.sub(r"[^\w.-]", "_", title)
    path.touch(mode=0o600)
    data = (text if text.endswith("\n") else f"{text}\n").encode("utf-8", "replace")
    path.write_bytes(data)
    return path


def _open(ls: FoldlineServer, path: Path) -> None:
    window = ls.client_capabilities.window
    if window is not None and window.show_document is not None and window.show_document.support:
        # Its answer is not waited for: it may come only after that of the command.
        ls.window_show_document(types.ShowDocumentParams(uri=uri_of(path), take_focus=True))
    else:
        ls.window_show_message(
            types.ShowMessageParams(types.MessageType.Info, f"foldline: see {path}")
        )
