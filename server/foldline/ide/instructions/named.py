"""The instruction files and prompts that name a definition."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from foldline.backends.errors import PathError
from foldline.backends.models import NamedIn, ReferenceKind
from foldline.backends.outlines.syntax import ParseRefusedError
from foldline.ide.config import read_project_options
from foldline.ide.instructions.document import InstructionFile
from foldline.ide.instructions.files import is_instructions
from foldline.ide.instructions.mentions import Kind, mentions, mentions_of
from foldline.ide.instructions.targets import Targets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from foldline.backends import SmartFileAccess
    from foldline.backends.models import References
    from foldline.ide.instructions.mentions import Mention

_MOST_FILES = 50


def with_mentions(
    access: SmartFileAccess, found: References, texts: Iterable[str], modules: Iterable[str]
) -> References:
    """Return references with the places in instruction files and prompts that name the same.

    They are among these texts and modules. They are no uses: nothing else counts them. Names that
    may mean another definition are left out.
    """
    options, _ = read_project_options(access.file_backend.root)
    files = [path for path in texts if is_instructions(path, options.instructions)]
    places = [
        *(one for path in files[:_MOST_FILES] for one in _in_file(access, found, path)),
        *(
            one
            for path in sorted(modules)[:_MOST_FILES]
            for one in _in_prompts(access, found, path)
        ),
    ]
    return replace(found, named=tuple(places))


def _in_file(access: SmartFileAccess, found: References, path: str) -> Iterator[NamedIn]:
    try:
        file = InstructionFile(path, access.file_backend.load(path).text)
        every = mentions(file.markdown)
    except (PathError, ParseRefusedError):
        return
    for mention in _meaning(access, found, path, every):
        around = [one for one in file.sections if one.start <= mention.start < one.own]
        yield NamedIn(path, file.line(mention.start), around[0].key if around else "")


def _in_prompts(access: SmartFileAccess, found: References, path: str) -> Iterator[NamedIn]:
    from foldline.ide.analysis.project import Project

    if not path.endswith(".py"):
        return
    root = access.file_backend.root
    analysis = Project(root).analysis(str(root / path))
    if analysis is None:
        return
    every = dict(mentions_of(analysis))
    for mention in _meaning(access, found, path, every):
        line = analysis.text.count("\n", 0, every[mention].start) + 1
        yield NamedIn(path, line, "")


def _meaning(
    access: SmartFileAccess, found: References, path: str, every: Iterable[Mention]
) -> Iterator[Mention]:
    """Yield the mentions that mean a definition whose uses these are."""
    word = found.name.rpartition(".")[2]
    some = [one for one in every if one.kind == Kind.SYMBOL and one.word == word]
    if not some:
        return
    targets = Targets(access, path)
    defined = {
        (use.path, use.line)
        for use in found
        if use.kind == ReferenceKind.DEFINITION and use.tier != "another"
    }
    for mention in some:
        meant = {(one.path, one.line) for one in targets.symbols(mention)}
        if meant & defined or (not meant and mention.dotted == found.name):
            yield mention
