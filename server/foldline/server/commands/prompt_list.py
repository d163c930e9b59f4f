"""`foldline.server.prompt.list`: the prompts of a document, or of the workspace, with sections.

An instruction file is one prompt, with its path in place of `ns` and `key`.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from foldline import ide
from foldline.backends.base.waiting import in_thread
from foldline.ide.resolve import find_document, range_in
from foldline.ide.structuring import unstructure
from foldline.ide.uris import uri_of_file
from foldline.records import record
from foldline.server.snapshots import with_snapshot

if TYPE_CHECKING:
    from foldline.ide.analysis.model import StaticSection
    from foldline.server.server import FoldlineServer
    from foldline.server.snapshots import LspSnapshot

COMMAND = "foldline.server.prompt.list"


@record
class Arguments:
    uri: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> list[dict[str, object]]:
    if arguments.uri is not None:
        uris = [(await find_document(ls.core, arguments.uri)).uri]
    else:
        uris = await _documents(ls)
    lists = [await with_snapshot(ls, uri, _prompts) or [] for uri in dict.fromkeys(uris)]
    return [prompt for prompts in lists for prompt in prompts]


async def _documents(ls: FoldlineServer) -> list[str]:
    """The documents of the workspace that may hold prompts, open ones first."""
    from foldline.ide.instructions.files import instruction_files

    opened = ls.core.open_documents()
    folders = await in_thread(ls.core.folders)
    files = [file for folder in folders for file in await asyncio.wrap_future(folder.refresh())]
    files += await in_thread(
        lambda: [
            str(file)
            for folder in folders
            for file in instruction_files(folder, seconds=ide.folder.SEARCH_SECONDS)
        ]
    )
    ls.core.report([problem for folder in folders for problem in folder.unsearched])
    return [*opened.values(), *(uri_of_file(file) for file in files if file not in opened)]


def _prompts(snapshot: LspSnapshot) -> list[dict[str, object]]:
    return [
        {
            "uri": snapshot.uri,
            "name": prompt.name,
            "ns": prompt.ns,
            "key": prompt.key,
            "range": unstructure(snapshot.range(prompt.range)),
            "sections": [_section(snapshot, section) for section in prompt.sections],
        }
        for prompt in snapshot.analysis.module.prompts
    ]


def _section(snapshot: LspSnapshot, section: StaticSection) -> dict[str, object]:
    return {
        "key": ".".join(section.path),
        "path": section.path,
        "title": section.title,
        "number": section.number,
        "visibility": section.visibility,
        "range": unstructure(snapshot.range(range_in(section, snapshot.analysis.file))),
        "children": [_section(snapshot, child) for child in section.children],
    }
