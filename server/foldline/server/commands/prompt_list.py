"""`foldline.server.prompt.list`: the prompts of a document, or of the workspace, with sections."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from foldline.server.convert import unstructure
from foldline.server.static import parse_module
from foldline.server.targets import find_document, prompt_documents, range_in

if TYPE_CHECKING:
    from foldline.server.server import FoldlineServer
    from foldline.server.static import StaticSection
    from foldline.server.targets import DocumentTarget

COMMAND = "foldline.server.prompt.list"


@dataclass(frozen=True, slots=True)
class Arguments:
    uri: str | None = None


async def handle(ls: FoldlineServer, arguments: Arguments) -> list[dict[str, object]]:
    if arguments.uri is not None:
        documents = [await find_document(ls, arguments.uri)]
    else:
        documents = await prompt_documents(ls)
    lists = [await asyncio.to_thread(_prompts, document) for document in documents]
    return [prompt for prompts in lists for prompt in prompts]


def _prompts(document: DocumentTarget) -> list[dict[str, object]]:
    module = parse_module(document.text, str(document.path))
    return [
        {
            "uri": document.uri,
            "name": prompt.name,
            "ns": prompt.ns,
            "key": prompt.key,
            "range": unstructure(document.index.range(prompt.range.start, prompt.range.end)),
            "sections": [_section(document, section) for section in prompt.sections],
        }
        for prompt in module.prompts
    ]


def _section(document: DocumentTarget, section: StaticSection) -> dict[str, object]:
    whole, _ = range_in(section, document.path)
    return {
        "key": ".".join(section.path),
        "path": section.path,
        "title": section.title,
        "number": section.number,
        "visibility": section.visibility,
        "range": unstructure(document.index.range(whole.start, whole.end)),
        "children": [_section(document, child) for child in section.children],
    }
