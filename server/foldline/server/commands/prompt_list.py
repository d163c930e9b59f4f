"""`foldline.server.prompt.list`: the prompts of a document, or of the workspace, with sections."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.backends.waiting import in_thread
from foldline.ide.structuring import unstructure
from foldline.server.client_configuration import report
from foldline.server.prompt_index import ask, uri_of_file
from foldline.server.resolve import find_document, range_in

if TYPE_CHECKING:
    from foldline.ide.analysis.model import StaticSection
    from foldline.server.prompt_index import Asked
    from foldline.server.server import FoldlineServer

COMMAND = "foldline.server.prompt.list"


@dataclass(frozen=True, slots=True)
class Arguments:
    uri: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> list[dict[str, object]]:
    if arguments.uri is not None:
        uris = [(await find_document(ls, arguments.uri)).uri]
    else:
        uris = await _documents(ls)
    lists = [await ask(ls, uri, _prompts) or [] for uri in uris]
    return [prompt for prompts in lists for prompt in prompts]


async def _documents(ls: FoldlineServer) -> list[str]:
    """The documents of the workspace that may hold prompts, open ones first."""
    opened = ls.prompts.open_documents()
    folders = await in_thread(ls.prompts.folders)
    files = [file for folder in folders for file in await asyncio.wrap_future(folder.refresh())]
    report(ls, [problem for folder in folders for problem in folder.unsearched])
    return [*opened.values(), *(uri_of_file(file) for file in files if file not in opened)]


def _prompts(asked: Asked) -> list[dict[str, object]]:
    return [
        {
            "uri": asked.uri,
            "name": prompt.name,
            "ns": prompt.ns,
            "key": prompt.key,
            "range": unstructure(asked.range(prompt.range)),
            "sections": [_section(asked, section) for section in prompt.sections],
        }
        for prompt in asked.analysis.module.prompts
    ]


def _section(asked: Asked, section: StaticSection) -> dict[str, object]:
    return {
        "key": ".".join(section.path),
        "path": section.path,
        "title": section.title,
        "number": section.number,
        "visibility": section.visibility,
        "range": unstructure(asked.range(range_in(section, asked.analysis.file))),
        "children": [_section(asked, child) for child in section.children],
    }
